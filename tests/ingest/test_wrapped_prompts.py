"""A block that a host puts around a prompt is the host's, and the rest the person's."""

from __future__ import annotations

import json

import pytest

from picomem.engine.past_sessions import hit_sessions
from picomem.engine.review import waiting_suggestions
from picomem.injection.prompt_context import hits_block
from picomem.records.kinds import Origin

_WORDS = "We always use pnpm in this repo. Fix the login page."
_BLOCK = (
    "<{tag}>\nYou are working inside Lantern, an app that runs many agents in parallel.\n"
    "Your work takes place in the folder lima unless otherwise directed. We always push to main.\n</{tag}>"
)


@pytest.mark.parametrize("tag", ["system_instruction", "workspace-notes"])
@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize(
    ("entrypoint", "folder", "origin", "contents"),
    [
        ("cli", "/w/lantern", Origin.USER, ["We always use pnpm in this repo"]),
        ("sdk-ts", "/Users/ann/conductor/workspaces/lantern/lima", Origin.USER, ["We always use pnpm in this repo"]),
        ("sdk-ts", "/w/lantern", Origin.AGENT, []),
        ("sdk-cli", "/Users/ann/conductor/workspaces/lantern/lima", Origin.AGENT, []),
    ],
)
@pytest.mark.requirement("X7")
def test_a_block_around_a_prompt_does_not_make_the_prompt_untrusted(
    engine, tmp_path, tag, place, entrypoint, folder, origin, contents
):
    block = _BLOCK.format(tag=tag)
    text = f"{block}\n\n\n{_WORDS}" if place == "before" else f"{_WORDS}\n\n{block}"
    message = {"role": "user", "content": text}
    record = {"type": "user", "sessionId": "s1", "uuid": "u1", "timestamp": "2026-04-03T09:00:00Z", "message": message}
    path = tmp_path / "s1.jsonl"
    path.write_text(json.dumps({**record, "entrypoint": entrypoint, "cwd": folder}) + "\n")
    engine.ingest([path])
    assert {engine.show(hit.id)[0].origin for hit in engine.timeline()} == {origin}
    assert [suggestion.text for suggestion in waiting_suggestions(engine)] == contents
    (episode,) = engine.recall("login page").hits
    assert "Lantern" in episode.text  # it is found, and shown as it was said
    assert [session.title for session in hit_sessions(engine, [episode])] == [_WORDS]
    if origin is Origin.USER:
        assert "Lantern" not in hits_block([episode], 500)[0]

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard

from picomem.ingest.format import format_of
from picomem.records.kinds import Origin

_HEADER = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-05-03T10:00:00Z", "cwd": "/w"}


def _entry(entry_id: str, parent: str | None, message: dict) -> dict:
    return {
        "type": "message",
        "id": entry_id,
        "parentId": parent,
        "timestamp": "2026-05-03T10:00:01Z",
        "message": message,
    }


def test_messages_are_turns_and_the_programs_own_entries_are_not(read):
    turns, state = read(
        [
            {**_HEADER, "parentSession": "/x/sessions/s0.jsonl"},
            {"type": "model_change", "id": "e0", "parentId": None, "provider": "p", "modelId": "m"},
            _entry("e1", "e0", {"role": "user", "content": "hello", "timestamp": 1}),
            _entry(
                "e2",
                "e1",
                {
                    "role": "assistant",
                    "content": [
                        {"type": "thinking", "thinking": "hm"},
                        {"type": "text", "text": "hi"},
                        {"type": "toolCall", "id": "t", "name": "x", "arguments": {}},
                    ],
                },
            ),
            _entry("e3", "e2", {"role": "toolResult", "content": [{"type": "text", "text": "SECRET"}]}),
            _entry("e4", "e3", {"role": "assistant", "content": [{"type": "text", "text": "NO_REPLY"}]}),
            {"type": "compaction", "id": "e5", "parentId": "e4", "summary": "we said hello"},
            {"type": "custom_message", "id": "e6", "parentId": "e5", "customType": "x", "content": "no"},
            _entry("e7", "e1", {"role": "user", "content": [{"type": "text", "text": "other way"}]}),
            {"type": "session_info", "id": "e8", "parentId": "e7", "name": "greeting"},
        ],
        name="agents/main/sessions/s1.jsonl",
        expected="openclaw",
    )
    assert [(turn.text, turn.id, turn.parent) for turn in turns] == [
        ("hello", "e1", "e0"),
        ("hi", "e2", "e1"),
        ("we said hello", "e5", "e4"),
        ("other way", "e7", "e1"),
    ]
    info = state.info
    assert (info.session, info.parent_session, info.cwd, info.agent, info.title) == (
        "s1",
        "s0",
        "/w",
        "main",
        "greeting",
    )
    assert state.skipped.counts["tool"] == 2
    assert [turn.summarises for turn in turns] == [False, False, True, False]


def test_who_wrote_a_user_message_is_told_by_its_provenance(read):
    turns, _ = read(
        [
            _HEADER,
            _entry("e1", None, {"role": "user", "content": "a", "provenance": {"kind": "external_user"}}),
            _entry("e2", "e1", {"role": "user", "content": "b", "provenance": {"kind": "inter_session"}}),
            _entry("e3", "e2", {"role": "user", "content": "c", "provenance": {"kind": "internal_system"}}),
            _entry("e4", "e3", {"role": "user", "content": "Pre-compaction memory flush. Store …"}),
        ],
        name=".pi/agent/sessions/--w--/s1.jsonl",  # elsewhere nothing says that the chat is the user's
    )
    assert [turn.origin for turn in turns] == [Origin.USER, Origin.AGENT, Origin.OTHER]


def test_version_1_has_no_ids_and_times_in_milliseconds(read):
    line = {
        "type": "message",
        "message": {"role": "user", "content": "hello", "timestamp": 1_760_000_000_000},
    }
    turns, _ = read([{"type": "session", "id": "s1", "cwd": "/w"}, line, line])
    assert [turn.at for turn in turns] == [1_760_000_000_000_000]


def test_files_that_are_not_conversations_are_not_claimed():
    head = b'{"type":"session","version":3,"id":"s","cwd":"/"}\n'
    for name in ("s.trajectory.jsonl", "s.checkpoint.1.jsonl", "session-sqlite-import-archive/s.jsonl"):
        assert format_of(Path(name), head) is None
    assert format_of(Path("s.jsonl"), head) is not None


@pytest.mark.parametrize("archive", ["s7.jsonl.reset.2026-04-03T09-00-00.000Z", "s7.jsonl.deleted.1775206800.zst"])
def test_what_was_archived_is_found_and_its_pointers_move_to_it(engine, tmp_path, archive):
    folder = tmp_path / "agents" / "main" / "sessions"
    said = {"role": "user", "content": "Where does the crane log go?"}
    lines = [
        {"type": "session", "version": 3, "id": "s7", "timestamp": "2026-04-03T09:00:00Z", "cwd": "/home/ann"},
        {"type": "message", "id": "m1", "parentId": None, "timestamp": "2026-04-03T09:00:01Z", "message": said},
    ]
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    folder.mkdir(parents=True)
    (folder / "s7.jsonl").write_bytes(data)
    engine.ingest([folder])
    (folder / "s7.jsonl").unlink()
    (folder / archive).write_bytes(zstandard.compress(data) if archive.endswith(".zst") else data)
    assert engine.ingest([folder]).files == 1
    (hit,) = engine.timeline()
    assert engine.show(hit.id)[2].state == "open"
    assert hit.transcript.endswith(archive)

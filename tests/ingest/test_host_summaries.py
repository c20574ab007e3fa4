"""What a host wrote itself when a conversation became too long is a timeline entry: it costs nothing and no model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from picomem.engine.engine import Engine
from picomem.records.kinds import Origin
from picomem.text.own_prompts import OWN_PROMPT

pytestmark = pytest.mark.requirement("X17")

TOLD = "1. Primary request: move the job queue from Redis to Postgres.\n2. Pending: the backfill of the dead letters."
CLAUDE = (
    "This session is being continued from a previous conversation that ran out of context. The summary below covers "
    f"the earlier portion of the conversation.\n\nAnalysis:\nFirst the user asked.\n\nSummary:\n{TOLD}\n\n"
    "Please continue the conversation from where we left it off without asking the user any further questions."
)
_AT = "2026-05-01T10:{:02d}:00.000Z"


def claude(kind: str, minute: int, content: object, **more: Any) -> dict[str, Any]:
    identity = f"{minute:08d}-0000-4000-8000-000000000000"
    record = {"type": kind, "uuid": identity, "parentUuid": None, "sessionId": "s-claude", "cwd": "/home/kim/harbor"}
    return {**record, "timestamp": _AT.format(minute), "message": {"role": kind, "content": content}, **more}


def codex(kind: str, minute: int, payload: dict[str, Any]) -> dict[str, Any]:
    return {"timestamp": _AT.format(minute), "type": kind, "payload": payload}


def item(role: str, minute: int, text: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    return codex("response_item", minute, {"type": "message", "role": role, "content": [{"type": kind, "text": text}]})


SESSIONS = {
    "claude-code": [
        claude("user", 1, "Move the queue to Postgres."),
        claude("assistant", 2, [{"type": "text", "text": "I moved the queue."}]),
        claude("user", 3, CLAUDE, isCompactSummary=True, isVisibleInTranscriptOnly=True),
        claude("assistant", 4, [{"type": "text", "text": "Now the backfill."}]),
    ],
    "codex": [
        codex("session_meta", 0, {"id": "s-codex", "cwd": "/home/kim/harbor", "source": "cli"}),
        item("user", 1, "Move the queue to Postgres."),
        item("assistant", 2, "I moved the queue."),
        codex("compacted", 3, {"message": TOLD, "replacement_history": [item("user", 1, "Move the queue")["payload"]]}),
        item("assistant", 4, "Now the backfill."),
    ],
    "openclaw": [
        {"type": "session", "version": 3, "id": "s-openclaw", "cwd": "/home/kim/harbor", "timestamp": _AT.format(0)},
        {"type": "message", "id": "e1", "parentId": None, "timestamp": _AT.format(1), "message": {"role": "user", "content": "Move the queue to Postgres."}},
        {"type": "message", "id": "e2", "parentId": "e1", "timestamp": _AT.format(2), "message": {"role": "assistant", "content": "I moved the queue."}},
        {"type": "compaction", "id": "e3", "parentId": "e2", "timestamp": _AT.format(3), "summary": TOLD, "firstKeptEntryId": "e2"},
        {"type": "message", "id": "e4", "parentId": "e3", "timestamp": _AT.format(4), "message": {"role": "assistant", "content": "Now the backfill."}},
    ],
}  # fmt: skip


def written(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record, separators=(",", ":")) + "\n" for record in records))
    return path


def entries(engine: Engine) -> list[Any]:
    return [hit for hit in engine.timeline() if hit.kind == "timeline"]


@pytest.mark.parametrize("host", SESSIONS)
def test_a_hosts_own_summary_is_one_entry_that_opens(engine: Engine, tmp_path: Path, host: str) -> None:
    folder = tmp_path / "sessions"
    written(folder / "a.jsonl", *SESSIONS[host])
    engine.ingest([folder])
    (entry,) = entries(engine)
    assert (entry.text, entry.origin) == (TOLD, Origin.AGENT)
    episode, _, opened = engine.show(entry.id)
    assert (episode.role, opened.state) == ("summary", "open")
    assert [turn.text for turn in opened.turns] == [TOLD]
    assert [hit.text for hit in engine.recall("backfill of the dead letters").hits][:1] == [TOLD]


@pytest.mark.parametrize("host", SESSIONS)
def test_it_is_read_once_and_goes_with_its_session(engine: Engine, tmp_path: Path, host: str) -> None:
    path = written(tmp_path / "sessions" / "a.jsonl", *SESSIONS[host][:-1])
    engine.ingest([path.parent])
    engine.ingest([path.parent])
    written(path, *SESSIONS[host])
    engine.ingest([path.parent])
    written(path, *SESSIONS[host][:1], *SESSIONS[host])  # rewritten: all of it is read again
    engine.ingest([path.parent])
    assert len(entries(engine)) == 1
    done = engine.purge(session=f"s-{host.partition('-')[0]}")
    assert done.scan is not None
    assert done.scan.clean, done.scan
    assert entries(engine) == []
    engine.ingest([path.parent])
    assert entries(engine) == []


def test_a_summary_of_a_session_that_read_a_page_has_the_pages_origin(engine: Engine, tmp_path: Path) -> None:
    """The mark of what was heard ends with the user's next message; the summary is of the whole session."""
    fetch = {"type": "tool_use", "id": "t1", "name": "WebFetch", "input": {"url": "https://example.com"}}
    first, second, *rest = SESSIONS["claude-code"]
    path = tmp_path / "sessions" / "a.jsonl"
    written(path, first, claude("assistant", 1, [fetch], uuid="f"), claude("user", 2, "Go on.", uuid="g"), second)
    engine.ingest([path.parent])
    written(path, *map(json.loads, path.read_text().splitlines()), *rest)
    engine.ingest([path.parent])  # another reading, which goes on from the stored state
    (entry,) = entries(engine)
    assert entry.origin is Origin.WEB


def test_what_begins_like_a_summary_and_has_no_words_is_none(engine: Engine, tmp_path: Path) -> None:
    written(tmp_path / "s" / "a.jsonl", claude("user", 1, CLAUDE.partition("\n")[0], isCompactSummary=True))
    engine.ingest([tmp_path / "s"])
    assert entries(engine) == []


def own(host: str) -> list[dict[str, Any]]:
    """The transcript that a host writes of a prompt of picomem's own."""
    prompt, answer = f"{OWN_PROMPT}\n\nWhat is to be kept?\n[1] user: I live in Lyon", '{"facts": ["I live in Lyon"]}'
    if host == "codex":
        meta = codex("session_meta", 0, {"id": "s-codex", "cwd": "/x", "source": "exec", "originator": "codex_exec"})
        return [meta, item("user", 1, prompt), item("assistant", 2, answer)]
    said = [{"type": "text", "text": answer}]
    title = {"type": "ai-title", "aiTitle": "What is to be kept", "sessionId": "s-claude"}
    return [
        claude("user", 1, prompt, entrypoint="sdk-cli"),
        title,
        claude("assistant", 2, said, entrypoint="sdk-cli"),
    ]


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_transcript_of_a_prompt_of_picomems_own_is_left_out(engine: Engine, tmp_path: Path, host: str) -> None:
    written(tmp_path / "s" / "a.jsonl", *own(host))
    report = engine.ingest([tmp_path / "s"])
    assert (report.turns, report.skipped["picomem's own prompt"]) == (0, 2)
    assert engine.timeline() == []
    assert engine.recall("Lyon").hits == ()


def test_what_a_person_says_after_such_a_prompt_is_read_again(engine: Engine, tmp_path: Path) -> None:
    later = [{**record, "uuid": f"{number}-later", "sessionId": "s-claude"} for number, record in enumerate(SESSIONS["claude-code"][:2])]  # fmt: skip
    written(tmp_path / "s" / "a.jsonl", *own("claude-code"), *later)
    engine.ingest([tmp_path / "s"])
    assert sorted(hit.text for hit in engine.timeline()) == ["I moved the queue.", "Move the queue to Postgres."]

"""Files that repeat a session: each turn is stored once, and the session's own file says who spoke."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.records.kinds import Origin

_REQUEST = "Please remember that the harbour office opens at seven."
_ANSWER = "I keep that in mind."
_TASK = "Look up when the ferry leaves."
_REPORT = "The ferry leaves at nine."


def _uuid(number: int) -> str:
    return f"{number:08}-d00d-4bad-9fee-1badb002c0de"


def _record(number: int, role: str, text: str, **fields: object) -> dict:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    at = f"2026-04-03T09:00:{number:02}.123Z"
    return {"type": role, "sessionId": "s1", "uuid": _uuid(number), "timestamp": at, "message": message, **fields}


_SESSION = [
    _record(0, "user", _REQUEST, entrypoint="cli"),
    _record(1, "assistant", _ANSWER),
]
_OF_SUB_AGENT = {"isSidechain": True, "agentId": "x-1"}
_OWN = [
    _record(2, "user", _TASK, **_OF_SUB_AGENT),
    _record(3, "assistant", _REPORT, **_OF_SUB_AGENT),
]


def _write(path: Path, records: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return _write(tmp_path / "projects/-w/s1.jsonl", _SESSION)


def _sub_agent(session: Path, marks: dict, rename: Callable[[str], str] = str) -> Path:
    copied = [{**record, **marks, "uuid": rename(str(record["uuid"]))} for record in _SESSION]
    return _write(session.parent / "s1/subagents/agent-x-1.jsonl", [*copied, *_OWN])


def _said(engine: Engine) -> list[tuple[str, Origin, str]]:
    """The episodes: their words, their origins and the files that they point into."""
    shown = [engine.show(hit.id) for hit in engine.timeline()]
    assert {opened.state for _, _, opened in shown} == {"open"}
    rows = [(episode.preview, episode.origin, Path(transcript.path).name) for episode, transcript, _ in shown]
    return sorted(rows)


_EACH_ONCE = sorted(
    [
        (_REQUEST, Origin.USER, "s1.jsonl"),
        (_ANSWER, Origin.AGENT, "s1.jsonl"),
        (_TASK, Origin.AGENT, "agent-x-1.jsonl"),
        (_REPORT, Origin.AGENT, "agent-x-1.jsonl"),
    ]
)
_IDS = pytest.mark.parametrize("rename", [str, lambda uuid: uuid.replace("d00d", "beef")], ids=["same ids", "new ids"])
_MARKS = pytest.mark.parametrize("marks", [{}, _OF_SUB_AGENT], ids=["as they were", "marked"])


@_IDS
@_MARKS
@pytest.mark.parametrize("order", ["together", "session first", "sub-agent first"])
@pytest.mark.requirement("A5")
def test_what_a_sub_agents_file_repeats_is_the_sessions(engine, session, rename, marks, order):
    copy = _sub_agent(session, marks, rename)
    runs = {
        "together": [[session.parent]],
        "session first": [[session], [copy]],
        "sub-agent first": [[copy], [session]],
    }
    for paths in runs[order]:
        engine.ingest(paths)
    assert [memory.content for memory in engine.memories()] == ["The harbour office opens at seven"]
    assert [memory.origin for memory in engine.memories()] == [Origin.USER]
    assert _said(engine) == _EACH_ONCE
    texts = [hit.text for hit in engine.recall("When does the harbour office open? And the ferry?").hits]
    assert len(set(texts)) == len(texts)
    assert engine.ingest([session.parent]).episodes == 0
    assert _said(engine) == _EACH_ONCE


@_IDS
def test_the_copy_stands_for_a_session_whose_file_is_gone(engine, session, rename):
    copy = _sub_agent(session, {}, rename)
    engine.ingest([session])
    engine.ingest([copy])
    session.unlink()
    engine.ingest([copy])
    assert {name for _, _, name in _said(engine)} == {"agent-x-1.jsonl"}
    assert len(_said(engine)) == len(_EACH_ONCE)


def test_two_sub_agents_that_are_asked_the_same_at_the_same_moment_have_a_turn_each(engine, session):
    for number in (1, 2):
        task = {**_OWN[0], "uuid": _uuid(90 + number), "agentId": f"x-{number}"}
        _write(session.parent / f"s1/subagents/agent-x-{number}.jsonl", [task])
    engine.ingest([session.parent])
    assert [name for text, _, name in _said(engine) if text == _TASK] == ["agent-x-1.jsonl", "agent-x-2.jsonl"]

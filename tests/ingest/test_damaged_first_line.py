"""A first line that is damaged: what stands behind it is read, and what was left out is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.records.kinds import Origin

_SAID = {"role": "user", "content": "I never eat fish, it makes me ill"}
_AT = "2026-05-03T10:00:00"
_HEADERS = {
    "codex": {"timestamp": f"{_AT}Z", "type": "session_meta", "payload": {"id": "s1", "cwd": "/w"}},
    "gemini-cli": {"sessionId": "s1", "projectHash": "06", "kind": "subagent"},
    "nanobot": {"_type": "metadata", "key": "telegram:-100", "updated_at": _AT},
    "plain": {"_type": "metadata", "key": "telegram:-100"},
}
_LINES = {
    "codex": {
        "timestamp": f"{_AT}Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": _SAID["content"]}]},
    },
    "gemini-cli": {"id": "m1", "timestamp": f"{_AT}Z", "type": "user", "content": [{"text": _SAID["content"]}]},
    "nanobot": {**_SAID, "timestamp": _AT},
    "plain": {**_SAID, "timestamp": f"{_AT}Z"},
}


def _damaged(header: bytes, damage: str) -> bytes:
    return {
        "zeros": b"\0" * len(header),
        "cut": header[: len(header) // 2],
        "its beginning lost": header[9:],
        "other bytes": b"\xff\xfe" + header[::-1],
        "too long": header[:-1] + b',"pad":"' + b"x" * (9 << 20) + b'"}',
    }[damage]


@pytest.mark.parametrize("damage", ["zeros", "cut", "its beginning lost", "other bytes", "too long"])
@pytest.mark.parametrize("host", _HEADERS)
def test_without_the_line_that_says_who_speaks_no_word_is_the_users_and_that_is_told(
    engine: Engine, tmp_path: Path, host: str, damage: str
) -> None:
    header = _damaged(json.dumps(_HEADERS[host]).encode(), damage)
    path = tmp_path / "a.jsonl"
    path.write_bytes(header + b"\n" + json.dumps(_LINES[host]).encode() + b"\n")
    report = engine.ingest([path])
    assert [hit.origin for hit in engine.timeline()] == [Origin.AGENT] and report.turns == 1
    assert any("first line" in problem for problem in report.problems)
    assert report.skipped["unreadable first line"] == 1


@pytest.mark.parametrize("damage", ["zeros", "cut", "too long", "another name"])
def test_a_file_that_was_read_before_keeps_its_format_when_its_first_line_is_damaged(
    engine: Engine, tmp_path: Path, damage: str
) -> None:
    path = tmp_path / "a.jsonl"
    header = json.dumps(_HEADERS["nanobot"]).encode()
    lines = [{**_LINES["nanobot"], "content": f"{_SAID['content']} ({n})", "timestamp": f"{_AT}.{n}"} for n in range(3)]
    written = [json.dumps(line).encode() for line in lines]
    path.write_bytes(b"\n".join((header, *written[:2])) + b"\n")
    engine.ingest([path])
    broken = header.replace(b"_type", b"_tpye") if damage == "another name" else _damaged(header, damage)
    path.write_bytes(b"\n".join((broken, *written)) + b"\n")
    report = engine.ingest([path])
    assert report.hosts == {"nanobot": 1}
    assert not any("was read as" in problem for problem in report.problems)
    assert sorted(hit.text for hit in engine.timeline()) == [line["content"] for line in lines]
    assert engine.ingest([path]).unchanged == 1

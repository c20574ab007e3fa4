"""Files that a host keeps beside its transcripts are read only where they are regular files, and no open database."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from picomem.engine.engine import Engine

pytestmark = pytest.mark.skipif(os.name != "posix", reason="makes pipes, and links to devices")

_SAID = "The crane is rented from Nordic"


def _gemini(folder: Path) -> Path:
    chats = folder / "tmp" / "harbor" / "chats"
    chats.mkdir(parents=True)
    header = {"sessionId": "s1", "projectHash": "0" * 64, "startTime": "2026-05-01T00:00:00Z", "kind": "main"}
    said = {"id": "m1", "timestamp": "2026-05-01T00:00:01Z", "type": "user", "content": _SAID}
    (chats / "session-1.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(said)}\n")
    return chats.parent / ".project_root"


def _openclaw(folder: Path) -> Path:
    sessions = folder / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    header = {"type": "session", "version": 3, "id": "s1", "timestamp": "2026-05-01T00:00:00Z", "cwd": "/w"}
    message = {"role": "user", "content": _SAID}
    said = {"type": "message", "id": "m1", "parentId": None, "timestamp": "2026-05-01T00:00:01Z", "message": message}
    (sessions / "s1.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(said)}\n")
    return sessions / "sessions.json"


def _openclaw_settings(folder: Path) -> Path:
    return _openclaw(folder).parents[3] / "openclaw.json"


HOSTS = {"gemini-cli": _gemini, "openclaw's list": _openclaw, "openclaw's settings": _openclaw_settings}
KINDS: dict[str, Callable[[Path, Path], object]] = {
    "pipe": lambda path, _: os.mkfifo(path),
    "device": lambda path, _: path.symlink_to("/dev/zero"),
    "open database": lambda path, database: path.hardlink_to(database),
}


@pytest.mark.requirement("X2")
@pytest.mark.sqlite_file("links to the file of the open database")
@pytest.mark.timeout(60)
@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("host", HOSTS.values(), ids=HOSTS)
def test_no_other_file_than_a_regular_one_is_read_or_waited_for(
    engine: Engine, db: Path, tmp_path: Path, host: Callable[[Path], Path], make: Callable[[Path, Path], object]
) -> None:
    make(host(tmp_path / "host"), db)
    report = engine.ingest([tmp_path / "host"])
    if host is _gemini:
        assert [hit.text for hit in engine.timeline()] == [_SAID]
    else:
        assert engine.timeline() == []  # nobody knows what OpenClaw's owner allows
        assert {problem.count("Until it can be read") for problem in report.problems} - {0} == {1}

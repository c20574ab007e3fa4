"""A real `picomem ingest`, killed with SIGKILL at many points and run again: the rows are those of one calm run.

The process kills itself right before its n-th SQL statement, which the database library announces to a hook; so every
boundary is reached without a clock: inside a transaction, before and after its commit, between two files.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.forked_program import program

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGKILL"),
    pytest.mark.sqlite_file("kills a process at one of SQLite's statements"),
]

_PROGRAM = """
import os, signal, sys
import apsw
from picomem.cli.main import main
from picomem.ingest import queue, storing

left = int(sys.argv[1])
queue.BATCH_PIECES = int(sys.argv[2])
queue.BATCH_SECONDS = storing.LOCK_SECONDS = 1e9  # the number of statements does not depend on a clock

def count(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return True

apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
code = main(sys.argv[3:])
print(left, file=sys.stderr)
sys.exit(code)
"""
_MANY = 1_000_000


def _run(db: Path, folder: Path, statement: int = _MANY, batch: int = 5) -> int:
    """Ingest until that statement; how many statements there were, or 0 when it was killed."""
    words = [str(statement), str(batch), "--db", str(db), "ingest", str(folder)]
    code, _, err = program().run(words, stdin=b"", cwd=Path.cwd(), env=os.environ, timeout=120, code=_PROGRAM)
    assert code in (0, -signal.SIGKILL), err
    return statement - int(err.split()[-1]) if code == 0 else 0


def _claude(number: int, role: str, text: str, session: str = "s1") -> dict[str, Any]:
    return {
        "type": role,
        "sessionId": session,
        "uuid": f"{number:08}-0000-4000-8000-000000000000",
        "cwd": "/w/crane",
        "gitBranch": "main",
        "timestamp": f"2026-04-03T09:{number // 60 % 60:02}:{number % 60:02}Z",
        "message": {"role": role, "content": text},
    }


def _codex(number: int, role: str, text: str) -> dict[str, Any]:
    kind = "input_text" if role == "user" else "output_text"
    payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
    return {"timestamp": f"2026-04-04T09:00:{number:02}Z", "type": "response_item", "payload": payload}


def _lines(folder: Path) -> dict[Path, list[dict[str, Any]]]:
    """Transcripts of several hosts: requests, scraps of agents, words that repeat, a copy that goes on differently."""
    wishes = {4: "Remember that the beacon for releases is green.", 12: "From now on, always run the linter first."}
    main = []
    for number in range(30):
        role = "user" if number % 4 == 0 else "assistant"
        main.append(_claude(number, role, wishes.get(number, f"Message {number} about the loader")))
    copy = [record | {"sessionId": "s2"} for record in main[:14]]
    copy += [_claude(100, "assistant", "Only in the copy", "s2"), _claude(101, "user", "The copy's own end", "s2")]
    plain = [{"role": "assistant" if number % 3 else "user", "content": f"Again {number % 5}"} for number in range(14)]
    codex = [_codex(number, "assistant" if number % 3 else "user", f"Codex says {number}") for number in range(12)]
    return {
        folder / "a" / "s1.jsonl": main,
        folder / "b" / "s2.jsonl": copy,
        folder / "chat.jsonl": plain,
        folder / "rollout-2026-04-04T09-00-00-019c0000-0000-7000-8000-000000000001.jsonl": codex,
    }


def _write(folder: Path, share: float = 1.0) -> Path:
    """The first `share` of every transcript, the last line half written where lines are left out."""
    for path, records in _lines(folder).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(record).encode() + b"\n" for record in records]
        count = int(len(lines) * share)
        path.write_bytes(b"".join(lines[:count]) + b"".join(lines[count : count + 1])[:30])
    _write_database(folder / "openclaw-agent.sqlite", share)
    said = [{"User": {"content": f"Ask {number}"}} for number in range(4)]
    sessions = [{"id": f"w{number}", "conversation": said[: number + 2]} for number in range(3)]
    (folder / "sessions.json").write_text(json.dumps({"sessions": sessions}))
    return folder


def _write_database(path: Path, share: float) -> None:
    """OpenClaw's database with the first `share` of two sessions; what is there is not written again."""
    with closing(apsw.Connection(str(path))) as host:
        host.execute(
            "CREATE TABLE IF NOT EXISTS transcript_events(session_id, seq, event_json, PRIMARY KEY (session_id, seq))"
        )
        host.execute("CREATE TABLE IF NOT EXISTS session_windows(session_id PRIMARY KEY, session_key)")
        for session in ("c1", "c2"):
            host.execute("INSERT OR IGNORE INTO session_windows VALUES (?, 'agent:main:main')", (session,))
            for number in range(int(14 * share)):
                record = _openclaw(session, number)
                host.execute("INSERT OR IGNORE INTO transcript_events VALUES (?, ?, ?)", (session, number, record))


def _openclaw(session: str, number: int) -> str:
    text = "Remember that the crane is yellow." if (session, number) == ("c2", 4) else f"{session} says {number}"
    return json.dumps(
        {
            "type": "message",
            "id": f"e{number}",
            "parentId": f"e{number - 1}" if number else None,
            "timestamp": f"2026-04-05T09:00:{number:02}Z",
            "message": {"role": "assistant" if number % 4 else "user", "content": text},
        }
    )


def _rows(db: Path, order: str = "e.doc") -> dict[str, list[tuple[Any, ...]]]:
    """All that ingest stored, but for ids and the times of storing."""
    with closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:

        def select(statement: str) -> list[tuple[Any, ...]]:
            return connection.execute(statement).fetchall()

        return {
            "episodes": select(
                "SELECT t.path, t.session, first_turn, last_turn, part, start_offset, end_offset, role, origin, "
                "e.branch, preview, e.started_at, e.ended_at, tokens, identity FROM episodes AS e "
                f"JOIN transcripts AS t ON t.id = e.transcript_id ORDER BY {order}"
            ),
            "transcripts": select(
                "SELECT path, host, session, project, branch, cwd, title, started_at, ended_at, size, "
                "fingerprint, cursor, turns, skipped, state -> '$.reader', state -> '$.packer' FROM transcripts ORDER BY path, session"
            ),
            "memories": select(
                "SELECT project, key, kind, content, valid_from, importance, origin, count(*) FROM memories AS m "
                "JOIN lineage ON child_id = m.id AND parent_kind = 'episode' GROUP BY m.id, m.version ORDER BY 1, 2"
            ),
            "changes": select("SELECT decision, count(*) FROM changes GROUP BY decision ORDER BY decision"),
            "vectors": select(
                "SELECT count(*), count(DISTINCT doc) FROM vectors JOIN vector_spaces USING (user_id, space) WHERE source = 'episode'"
            ),
        }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "transcripts"


@pytest.fixture
def calm(folder: Path, tmp_path: Path) -> tuple[dict[str, list[tuple[Any, ...]]], int]:
    """The rows of one undisturbed run, in transactions of the usual size, and the statements of one in small ones."""
    _write(folder)
    _run(tmp_path / "calm.db", folder, batch=400)
    return _rows(tmp_path / "calm.db"), _run(tmp_path / "count.db", folder)


def test_a_killed_run_that_is_run_again_leaves_the_rows_of_one_calm_run(calm, folder, tmp_path, disagreements):
    expected, statements = calm
    points = random.Random(20260403).sample(range(2, statements), int(os.environ.get("KILLS", "10")))
    for point in points:
        db = tmp_path / f"{point}.db"
        assert _run(db, folder, point) == 0
        _run(db, folder)
        assert _rows(db) == expected, f"killed at statement {point}"
        assert disagreements(db) == []


def test_runs_that_are_killed_over_and_over_while_files_grow_lose_and_double_nothing(
    calm, folder, tmp_path, disagreements
):
    _, statements = calm
    by_place = "t.path, t.session, first_turn, part, e.identity"
    expected = _rows(tmp_path / "calm.db", by_place)
    db, seeded, kills = tmp_path / "memory.db", random.Random(7), 0
    for step in range(1, 7):
        _write(folder, step / 6)
        kills += _run(db, folder, seeded.randrange(20, statements // 2)) == 0
    _run(db, folder)
    actual = _rows(db, by_place)
    assert kills >= 3
    assert [row[:12] for row in actual["episodes"]] == [row[:12] for row in expected["episodes"]]
    assert actual == expected
    assert disagreements(db) == []


def test_two_processes_that_read_the_same_files_at_once_store_them_once(calm, folder, tmp_path, disagreements):
    db = tmp_path / "shared.db"
    command = [sys.executable, "-c", _PROGRAM, str(_MANY), "3", "--db", str(db), "ingest", str(folder)]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(process.communicate(timeout=120)[1].split()[:-1], process.returncode) for process in both] == [([], 0)] * 2
    # Which process stores a piece first is not decided, so neither is the order, nor whose turns the copy repeats, nor to
    # which of two that begin alike the later identity falls: one of its own each.
    actual, expected = _rows(db, "e.identity"), _rows(tmp_path / "calm.db", "e.identity")
    assert sorted((row[2:-1] for row in actual["episodes"]), key=str) == sorted(
        (row[2:-1] for row in expected["episodes"]), key=str
    )
    assert len({row[-1] for row in actual["episodes"]}) == len(expected["episodes"])
    assert actual["memories"] == expected["memories"]
    assert actual["transcripts"] == expected["transcripts"]
    assert disagreements(db) == []

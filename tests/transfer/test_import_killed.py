"""A real `picomem import`, killed with SIGKILL and run again: the rows are those of one calm run.

As in tests/ingest/test_interrupted.py the process kills itself right before its n-th SQL statement.
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
from tests.distinct_texts import distinct_text
from tests.transfer.conftest import exported

from picomem.app import open_engine
from picomem.engine.record_chain import verify_record
from picomem.records.session import NewMessage, Role

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGKILL"),
    pytest.mark.sqlite_file("kills a process at one of SQLite's statements"),
]

_PROGRAM = """
import os, signal, sys
import apsw
from picomem.cli.main import main
from picomem.transfer import importer

left = int(sys.argv[1])
importer.BATCH_ENTRIES, importer.BATCH_SECONDS = 3, 1e9

def count(*_):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return True

apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
code = main(sys.argv[2:])
print(left, file=sys.stderr)
sys.exit(code)
"""
_MANY = 1_000_000


def _run(db: Path, path: Path, statement: int = _MANY) -> int:
    """Import until that statement; how many statements there were, or 0 when it was killed."""
    command = [sys.executable, "-c", _PROGRAM, str(statement), "--db", str(db), "import", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return statement - int(done.stderr.split()[-1]) if done.returncode == 0 else 0


def _rows(db: Path) -> dict[str, list[Any]]:
    with closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        return {
            "memories": connection.execute(
                "SELECT key, content, version, closed_by IS NULL, origin, count(*) FROM memories GROUP BY content, version "
                "ORDER BY content, version"
            ).fetchall(),
            "messages": connection.execute("SELECT session_id, seq, content FROM messages ORDER BY 1, 2").fetchall(),
            "lineage": connection.execute("SELECT count(*) FROM lineage").fetchall(),
            "changes": connection.execute(
                "SELECT decision, count(*) FROM changes GROUP BY decision ORDER BY decision"
            ).fetchall(),
        }


def _own_export(engine: Any, folder: Path) -> Path:
    log = engine.sessions()
    session = log.create("tui")
    for number in range(5):
        engine.remember(distinct_text("a", number), key=f"note_{number}")
        engine.revise(f"note_{number}", distinct_text("b", number))
        log.append(session.id, NewMessage(role=Role.USER, content=distinct_text("c", number)))
    path = folder / "export.jsonl"
    path.write_text("".join(exported(engine)), "utf-8", newline="")
    return path


def _graph(_engine: Any, folder: Path) -> Path:
    path = folder / "memory.jsonl"
    names = [distinct_text("name", number).split()[0] for number in range(8)]
    records = [
        {"type": "entity", "name": name, "entityType": "boat", "observations": [f"{distinct_text(name)} is its berth"]}
        for name in names
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.requirement("X13")
@pytest.mark.parametrize("write", [_own_export, _graph], ids=["picomem", "mcp-memory"])
def test_a_killed_import_that_is_run_again_leaves_the_rows_of_one_calm_run(
    write: Any, engine: Any, tmp_path: Path, disagreements: Any
) -> None:
    path = write(engine, tmp_path)
    statements = _run(tmp_path / "calm.db", path)
    expected = _rows(tmp_path / "calm.db")
    assert len(expected["memories"]) >= 8
    for point in random.Random(7).sample(range(30, statements), int(os.environ.get("KILLS", "2"))):
        db = tmp_path / f"{point}.db"
        assert _run(db, path, point) == 0
        _run(db, path)
        assert _rows(db) == expected, f"killed at statement {point}"
        assert disagreements(db) == []
        with open_engine(db, create=False, embedder="none") as imported:
            assert verify_record(imported).whole

"""An old store whose migration is killed at any statement is the old one or the migrated one, never between (R13).

    test → nursery: one interpreter, everything loaded, nothing open → a child, forked for each kill, opens the store

The child kills itself with SIGKILL before its n-th SQL statement. SQLite's own trace counts the statements, those of
FTS5 included. This file is the nursery's program too.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import apsw
import pytest
from tests.amounts import amount
from tests.programs import start
from tests.store.old_stores import as_version, filled

import picomem.store.row_hash_migration  # noqa: F401 - loaded once in the nursery, not in each child
from picomem.store.sqlite import SqliteConnector
from picomem.store.sqlite_migrations import SCHEMA_VERSION

pytestmark = pytest.mark.sqlite_file("migrates the schema of a file")

KILLS = amount(6, 50)  # of the opening of each version, spread over its statements
_NEVER = 1 << 62

Open = Callable[[Path, int], int]


def _open_and_die(path: str, last: int) -> None:
    """Open a store and kill this process before the statement `last`; exit with 0 if it has fewer."""
    numbers = count(1)

    def trace(_event: dict) -> None:
        if next(numbers) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    apsw.connection_hooks.append(lambda connection: connection.trace_v2(apsw.SQLITE_TRACE_STMT, trace))
    SqliteConnector(Path(path)).close()
    os.write(1, f"{next(numbers) - 1}\n".encode())


def _nursery() -> None:
    for line in sys.stdin:
        path, last = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                _open_and_die(path, last)
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            os.write(1, f"-{os.WTERMSIG(status)}\n".encode())
        elif os.WEXITSTATUS(status):
            os.write(1, b"failed\n")


@pytest.fixture(scope="module")
def open_and_kill() -> Iterator[Open]:
    """Open a store in a child and kill it before a statement; gives the number of statements, or -9 if the child was
    killed."""
    nursery = start(__file__)
    assert nursery.stdin is not None
    assert nursery.stdout is not None

    def _run(path: Path, last: int) -> int:
        print(json.dumps([str(path), last]), file=nursery.stdin, flush=True)
        return int(nursery.stdout.readline())

    with nursery:
        yield _run
        nursery.stdin.close()


def _content(path: Path) -> tuple[object, ...]:
    """Everything that a store holds: the version, the tables and every row of them."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        schema = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()
        tables = [name for kind, name, sql in schema if kind == "table" and "VIRTUAL" not in sql]
        rows = {table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}
        if "meta" in rows:  # a new store draws its key at random
            rows["meta"] = [row for row in rows["meta"] if row[0] != "redaction_key"]
        return connection.pragma("user_version"), connection.pragma("application_id"), schema, rows


def _copy(store: Path, to: Path) -> Path:
    for end in ("", "-wal", "-shm", "-ballast"):
        if (file := Path(f"{store}{end}")).exists():
            shutil.copy(file, f"{to}{end}")
    return to


@pytest.mark.requirement("X1", "P3")
@pytest.mark.reliability("R13")
@pytest.mark.parametrize("version", range(SCHEMA_VERSION))
def test_a_killed_migration_leaves_the_old_store_or_the_new_one(
    version: int, tmp_path: Path, open_and_kill: Open, open_engine, monkeypatch
) -> None:
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    filled(new, tmp_path, open_engine)
    as_version(version, new, old, open_engine, monkeypatch)
    before = _content(_copy(old, tmp_path / "before.db"))
    statements = open_and_kill(_copy(old, tmp_path / "migrated.db"), _NEVER)
    migrated = _content(tmp_path / "migrated.db")
    assert migrated[0] == SCHEMA_VERSION
    kills = min(KILLS, statements)
    seen = set()
    for number in range(kills):
        last = 1 + number * (statements - 1) // max(1, kills - 1)
        path = _copy(old, tmp_path / f"killed{number}.db")
        assert open_and_kill(path, last) == -signal.SIGKILL, f"before statement {last} of {statements}"
        left = _content(_copy(path, tmp_path / f"left{number}.db"))
        assert left in (before, migrated), f"between, after a kill before statement {last} of {statements}"
        seen.add(left[0])
        assert open_and_kill(path, _NEVER) > 0
        assert _content(path) == migrated, f"after a kill before statement {last} of {statements}"
    assert version in seen


if __name__ == "__main__":
    _nursery()

"""A store of version 1 takes a later step as a whole or not at all, once, and is like a fresh store afterwards.

No such step exists yet: `later_step.py` has one that adds a table, a column and an index. This file is also the program
of the process that is killed in the middle of it.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count
from pathlib import Path

import apsw
import pytest
from tests.programs import forking
from tests.store.later_step import COLUMNS, USERS, learn, put_marks

from picomem.errors import NewerSchema
from picomem.store.row_hash import is_whole
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.sqlite.schema import APPLICATION_ID

pytestmark = pytest.mark.sqlite_file("changes the schema of the file")

_NEVER = 1 << 62


def program(path: str, last: int) -> int:
    """Open a store and kill this process before the statement `last`; the number of statements if there are fewer."""
    numbers = count(1)

    def trace(_event: dict) -> None:
        if next(numbers) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        learn(patch)
        patch.setattr(apsw, "connection_hooks", [lambda made: made.trace_v2(apsw.SQLITE_TRACE_STMT, trace)])
        SqliteConnector(Path(path)).close()
    return next(numbers) - 1


@pytest.fixture(scope="module")
def open_and_kill() -> Iterator:
    with forking(__file__) as call:
        yield call


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A store of version 1 with a row of each user, of which that of the last is damaged."""
    path = tmp_path / "old.db"
    connector = SqliteConnector(path)
    put_marks(connector)
    connector.connection().execute("UPDATE user_marks SET value = 'x' WHERE user_id = ?", (USERS[-1],))
    connector.close()
    return path


def _content(path: Path) -> tuple[object, ...]:
    """The version, the schema and every row, but for the key, which is random."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        parts = connection.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name").fetchall()
        tables = [name for kind, name, sql in parts if kind == "table" and "VIRTUAL" not in sql]
        rows = {table: sorted(connection.execute(f"SELECT * FROM {table}"), key=repr) for table in tables}
        rows["meta"] = [row for row in rows.get("meta", []) if row[0] != "redaction_key"]
        return connection.pragma("user_version"), connection.pragma("application_id"), parts, rows


def _copy(store: Path, to: Path) -> Path:
    for end in ("", "-wal", "-shm", "-ballast"):
        if (file := Path(f"{store}{end}")).exists():
            shutil.copy(file, f"{to}{end}")
    return to


@pytest.mark.requirement("X1", "P3")
@pytest.mark.reliability("R13")
def test_a_store_that_is_killed_in_a_step_is_as_before_or_after_it(old: Path, tmp_path: Path, open_and_kill) -> None:
    before = _content(_copy(old, tmp_path / "before.db"))
    statements = open_and_kill(str(_copy(old, tmp_path / "after.db")), _NEVER)
    after = _content(tmp_path / "after.db")
    assert (before[0], after[0]) == (1, 2)
    seen = set()
    for last in range(1, statements + 1):
        path = _copy(old, tmp_path / f"killed{last}.db")
        assert open_and_kill(str(path), last) is None
        left = _content(_copy(path, tmp_path / f"left{last}.db"))
        assert left in (before, after), f"between, after a kill before statement {last} of {statements}"
        seen.add(left[0])
        assert open_and_kill(str(path), _NEVER) > 0
        assert _content(path) == after, f"after a kill before statement {last} of {statements}"
    assert seen == {1, 2}


@pytest.mark.reliability("R13")
def test_a_new_store_that_is_killed_while_it_is_made_is_empty_or_whole(tmp_path: Path, open_and_kill) -> None:
    statements = open_and_kill(str(tmp_path / "whole.db"), _NEVER)
    whole = _content(tmp_path / "whole.db")
    for number in range(8):
        path = tmp_path / f"{number}.db"
        assert open_and_kill(str(path), 1 + number * (statements - 1) // 7) is None
        if path.exists() and path.stat().st_size:
            assert _content(_copy(path, tmp_path / f"left{number}.db")) in (whole, (0, 0, [], {"meta": []}))
        assert open_and_kill(str(path), _NEVER) > 0
        assert _content(path) == whole


@pytest.mark.requirement("X1")
def test_a_step_makes_of_an_old_store_what_a_fresh_one_is(old: Path, tmp_path: Path, monkeypatch) -> None:
    learn(monkeypatch)
    SqliteConnector(old).close()
    SqliteConnector(tmp_path / "fresh.db").close()
    upgraded, fresh = _content(old), _content(tmp_path / "fresh.db")
    assert upgraded[:3] == fresh[:3]
    assert upgraded[0] == 2


@pytest.mark.requirement("X1", "X2")
def test_a_step_hashes_rows_anew_and_a_damaged_row_stays_damaged(old: Path, monkeypatch) -> None:
    learn(monkeypatch)
    SqliteConnector(old).close()
    with closing(apsw.Connection(str(old))) as connection:
        rows = connection.execute(f"SELECT {', '.join(COLUMNS)}, row_hash FROM user_marks ORDER BY user_id").fetchall()
    assert [is_whole("user_marks", row) for row in rows] == [True, True, False]
    assert [row[-2] for row in rows] == [f"of {user}" for user in USERS]


@pytest.mark.requirement("X10")
def test_processes_that_open_an_old_store_at_once_apply_the_step_once(old: Path) -> None:
    with forking(__file__) as one, forking(__file__) as other, ThreadPoolExecutor(2) as pool:
        opened = [pool.submit(call, str(old), _NEVER) for call in (one, other)]
        assert all(process.result() for process in opened)
    assert _content(old)[0] == 2


class _Overtaken(SqliteConnector):
    """A program that was still to take the lock when a newer one brought the file up to date."""

    @staticmethod
    def _switch_to_wal(connection: apsw.Connection) -> None:
        SqliteConnector._switch_to_wal(connection)
        with closing(apsw.Connection(connection.filename)) as newer:
            newer.pragma("application_id", APPLICATION_ID)
            newer.pragma("user_version", 2)


@pytest.mark.requirement("X10")
def test_a_store_that_a_newer_program_upgraded_meanwhile_is_not_taken_back(tmp_path: Path) -> None:
    with pytest.raises(NewerSchema):
        _Overtaken(tmp_path / "memory.db")
    with closing(apsw.Connection(str(tmp_path / "memory.db"))) as connection:
        assert connection.pragma("user_version") == 2

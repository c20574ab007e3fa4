"""A database of another program may be made to harm: what its schema says never runs, and each statement ends."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import apsw
import pytest

from picomem.errors import InvalidInput
from picomem.ingest import host_database
from picomem.ingest.host_database import HostDatabase

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, 'a' AS title FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "claude-mem.db"


def write(path: Path, *statements: str) -> None:
    with closing(apsw.Connection(str(path))) as database:
        database.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        for statement in statements:
            database.execute(statement)


FULL_TEXT = (
    f"CREATE VIEW endless AS {ENDLESS}",
    "CREATE VIRTUAL TABLE observations USING fts5(title, facts, content='endless', content_rowid='id')",
)
DISGUISED = (
    f"CREATE VIEW observations AS {ENDLESS}",
    "CREATE TABLE other(id, title, facts)",
    "PRAGMA writable_schema = 1",
    "UPDATE sqlite_schema SET type = 'table', rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'other') "
    "WHERE name = 'observations'",
)


@pytest.mark.sqlite_file("reads a database file of another program")
@pytest.mark.parametrize("statements", [FULL_TEXT, FULL_TEXT[:1], DISGUISED], ids=["full text", "view", "disguised"])
def test_only_ordinary_tables_are_read(path: Path, statements: tuple[str, ...]) -> None:
    write(path, *statements)
    with closing(HostDatabase(path)) as database:
        for table in ("observations", "endless"):
            with pytest.raises(InvalidInput, match="cannot be read"):
                if not database.columns(table):
                    database.select(f"SELECT count(*) FROM {table}")
                    pytest.fail("it was read")
                database.select(f"SELECT count(*) FROM {table}")


@pytest.mark.sqlite_file("reads a database file of another program")
def test_a_statement_ends_that_takes_more_steps_than_the_size_explains(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_database, "_LEAST_STEPS", 1_000_000)
    numbers = f"INSERT INTO observations(id) VALUES {', '.join(f'({number})' for number in range(300))}"
    write(path, "CREATE TABLE observations(id INTEGER PRIMARY KEY)", numbers)
    with closing(HostDatabase(path)) as database, pytest.raises(InvalidInput, match="more steps than its size"):
        database.select("SELECT count(a.id + b.id + c.id) FROM observations a, observations b, observations c")

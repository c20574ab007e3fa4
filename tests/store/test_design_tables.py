"""SQLite's schema has every table, column, key, check and index that the design of sessions lists (P2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.sqlite_file import connection_of
from tests.store.design_tables import CASCADES, COLUMNS, MESSAGE_TYPES, OPTIONAL, UNIQUE_KEY, missing

from picomem.engine.engine import Engine
from picomem.records.session import Channel, NewMessage, Role
from picomem.store.sqlite.connector import SqliteConnector

pytestmark = [
    pytest.mark.requirement("P2"),
    pytest.mark.sqlite_file("asks SQLite what its schema says"),
]


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    path: Path = tmp_path_factory.mktemp("design") / "memory.db"
    SqliteConnector(path).close()
    with closing(apsw.Connection(str(path))) as connection:
        yield connection


def _tables() -> list[str]:
    return sorted({ours.partition(".")[0] for ours in COLUMNS.values()})


def _indexes(schema: apsw.Connection, *, unique: bool = False) -> list[tuple[str, tuple[str, ...]]]:
    indexes = []
    for table in _tables():
        for _, name, is_unique, *_ in schema.execute("SELECT * FROM pragma_index_list(?)", (table,)).fetchall():
            columns = schema.execute("SELECT name FROM pragma_index_info(?) ORDER BY seqno", (name,)).fetchall()
            if is_unique or not unique:
                indexes.append((table, tuple(column for (column,) in columns)))
    return indexes


def test_every_column_and_index_of_the_design_is_there(schema: apsw.Connection) -> None:
    columns = {
        f"{table}.{name}"
        for table in _tables()
        for (name,) in schema.execute("SELECT name FROM pragma_table_info(?)", (table,))
    }
    assert missing(columns, _indexes(schema)) == []
    assert UNIQUE_KEY in _indexes(schema, unique=True)


def test_what_may_not_be_null_in_the_design_may_not_be_null_here(schema: apsw.Connection) -> None:
    required = {ours for theirs, ours in COLUMNS.items() if theirs not in OPTIONAL}
    nullable = {
        f"{table}.{name}"
        for table in _tables()
        for (name,) in schema.execute('SELECT name FROM pragma_table_info(?) WHERE "notnull" = 0', (table,))
    }
    assert required & nullable == set()


def test_a_session_takes_its_messages_and_its_summary_along(schema: apsw.Connection) -> None:
    for table, columns in CASCADES.items():
        keys = schema.execute(
            'SELECT "from", "table", "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY seq', (table,)
        ).fetchall()
        assert keys == [
            (column, "sessions", ours, "CASCADE") for column, ours in zip(columns, ("user_id", "id"), strict=True)
        ]


def test_a_message_is_of_one_of_four_types(engine: Engine) -> None:
    session = engine.sessions().create(Channel.TUI)
    said = NewMessage(role=Role.USER, content="The relay is tested on Fridays")
    engine.sessions().append(session.id, said)
    connection = connection_of(engine)
    for kind in MESSAGE_TYPES:
        connection.execute("UPDATE messages SET role = ?", (kind,))
    with pytest.raises(apsw.ConstraintError, match="CHECK"):
        connection.execute("UPDATE messages SET role = 'narrator'")


def test_the_log_is_written_ahead_and_foreign_keys_are_checked(engine: Engine) -> None:
    connection = connection_of(engine)
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("foreign_keys") == 1

"""The tables that hold the rows of users, as the schema says.

They are read from an empty database that the files of `schema/` make, so a table or a column of a later version is
among them without being listed here. Both databases are made from the same files.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import apsw

from picomem.store.row_hash import COLUMNS
from picomem.store.sqlite_schema import prepare


class UserTable(NamedTuple):
    """A table: its columns, in the order of row_hash.py with the hash at the end where its rows have one; its primary
    key without the user; and the tables to which its foreign keys lead."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    parents: frozenset[str]

    @property
    def has_hash(self) -> bool:
        return self.name in COLUMNS

    def select(self, *, is_first: bool) -> str:
        """The statement for a page of a user's rows in the order of their key: the first page, or the rows behind the
        key `:after_…`."""
        key = ", ".join(self.key)
        behind = "" if is_first else f" AND ({key}) > ({', '.join(f':after_{name}' for name in self.key)})"
        order = f" ORDER BY {key}" if key else ""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} WHERE user_id = :user{behind}{order} LIMIT :limit"

    def insert(self) -> str:
        """The statement that stores a row."""
        values = ", ".join(f":{name}" for name in self.columns)
        return f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({values})"

    def count_rows(self) -> str:
        """The statement that counts a user's rows."""
        return f"SELECT count(*) FROM {self.name} WHERE user_id = :user"


@cache
def user_tables() -> tuple[UserTable, ...]:
    """Every table that holds rows of users, each behind those to which its foreign keys lead."""
    connection = apsw.Connection(":memory:")
    prepare(connection, Path(":memory:"))
    return tuple(_parents_first(list(_tables(connection))))


def _tables(connection: apsw.Connection) -> Iterator[UserTable]:
    names = [str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in sorted(names):
        rows = list(connection.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)))
        columns = tuple(str(column) for column, _ in rows)
        if "user_id" not in columns:
            continue
        keyed = sorted((place, str(column)) for column, place in rows if place)
        leading = connection.execute('SELECT "table" FROM pragma_foreign_key_list(?)', (name,))
        parents = frozenset(str(parent) for (parent,) in leading)
        if name in COLUMNS:
            columns = (*COLUMNS[name], "row_hash")
        yield UserTable(name, columns, tuple(column for _, column in keyed if column != "user_id"), parents)


def _parents_first(tables: list[UserTable]) -> Iterator[UserTable]:
    placed: set[str] = set()
    while tables:
        ready = [table for table in tables if table.parents <= placed]
        assert ready, "foreign keys lead in a circle"
        yield from ready
        placed |= {table.name for table in ready}
        tables = [table for table in tables if table.name not in placed]

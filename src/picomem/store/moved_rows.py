"""The rows of a user in two stores: copied from one to the other, and compared.

Every table of the schema is copied as it stands, but for those in NOT_COPIED. What is derived and not keyed by a row of
its own, full text, is made at the target from the rows. Rows are read in pages by their primary key, so memory is
bounded whatever a user has.

On SQLite the numbers of documents are unique in the file (doc_numbers.py), and elsewhere another user may have them. So
they may be shifted, by the same amount everywhere: the columns in `_DOCUMENTS`. A row that matches its hash then gets
the hash of the shifted row; a damaged row stays damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

import apsw

from picomem.records.scope import Scope
from picomem.store import doc_numbers, search
from picomem.store.connector import Row, Transaction
from picomem.store.reading_order import check_rises
from picomem.store.row_hash import COLUMNS, is_whole, row_hash
from picomem.store.search import Document
from picomem.store.sql_access import table_rows
from picomem.store.sqlite.schema import prepare
from picomem.store.tables import episodes, memories, memory_rows, note_rows, user_entries

# The tables that hold the rows of users, as the schema says.
#
# They are read from an empty database that the files of `schema/` make, so a table or a column of a later version is
# among them without being listed here. Both databases are made from the same files.


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


NOT_COPIED = {
    "leases": "which process works for a user at this moment; a lease ends within 45 seconds",
    "doc_ranges": "the last number in the search index; the target has one of its own",
}
_DOCUMENTS = ("doc", "last_doc")  # the names of columns that hold numbers of documents
_PAGE = 200  # rows
_MARKS = "user_marks"


class Comparison(NamedTuple):
    """The table in which the rows differ, empty if they are the same; and how many rows do not match their hash."""

    differs_in: str
    damaged: int


def _memory_document(row: Row) -> Document | None:
    memory = memory_rows.unchecked(row)
    return memories.document(memory) if memory.searchable else None


def _episode_document(row: Row) -> Document:
    return episodes.document(episodes.unchecked(row))


def _note_document(row: Row) -> Document:
    section = note_rows.unchecked(row)
    return note_rows.document(section.doc, section.path, section.section)


INDEXED: dict[str, tuple[str, Callable[[Row], Document | None]]] = {
    "memories": ("memory", _memory_document),
    "episodes": ("episode", _episode_document),
    "note_sections": ("note", _note_document),
}  # by table: the source in full text, and the document that a row makes, if any


def tables() -> tuple[UserTable, ...]:
    """The tables that are copied, each behind those to which its foreign keys lead."""
    return tuple(table for table in user_tables() if table.name not in NOT_COPIED)


def counts(tx: Transaction, scope: Scope) -> dict[str, int]:
    """Return how many rows of a user there are, by table; tables without any are left out."""
    counted = {
        table.name: int(table_rows(tx).rows_of(table.count_rows(), {"user": scope.user})[0][0]) for table in tables()
    }
    return {name: count for name, count in counted.items() if count}


def has_any(tx: Transaction, scope: Scope) -> bool:
    """Return whether a user has rows in any table."""
    return any(next(_pages(tx, scope, table), ()) for table in tables())


def shift(source: Transaction, target: Transaction, scope: Scope) -> int:
    """What the numbers of a user's documents are raised by in the target."""
    return table_rows(target).doc_shift(doc_numbers.lowest_taken(source, scope))


def shift_between(source: Transaction, target: Transaction, scope: Scope) -> int:
    """What the numbers of a user's documents were raised by when they were moved."""
    return doc_numbers.lowest_taken(target, scope) - doc_numbers.lowest_taken(source, scope)


def copy(
    source: Transaction, target: Transaction, scope: Scope, shift: int, tell: Callable[[int], None] = lambda _: None
) -> None:
    """Copy all rows of a user, who has none in the target. `tell` is told of so many rows more."""
    for table in tables():
        for page in _pages(source, scope, table):
            rows = [_shifted(table, row, shift) for row in page if not _is_of_a_move(table, row)]
            table_rows(target).put_rows(table.insert(), [dict(zip(table.columns, row, strict=True)) for row in rows])
            if table.name in INDEXED:
                indexed_as, document_of = INDEXED[table.name]
                search.of(target).add(scope, indexed_as, filter(None, map(document_of, rows)))
            tell(len(page))
    highest = max(doc_numbers.highest_taken(source, scope), doc_numbers.whole_last(source, scope) or 0)
    if highest:
        doc_numbers.put(target, scope, highest + shift)


def compare(
    source: Transaction,
    target: Transaction,
    scope: Scope,
    shift: int,
    tell: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Compare the rows of a user in two stores, by their keys, up to the first difference.

    Each row of the target is compared with that of the source, and hashed anew: it matches its hash where that of the
    source does.
    """
    damaged = 0
    for table in tables():
        pairs = zip_longest(_rows(source, scope, table), _rows(target, scope, table))
        for number, (before, now) in enumerate(pairs, 1):
            if before is None or now is None or _shifted(table, before, shift) != now:
                return Comparison(table.name, damaged)
            if table.has_hash and not is_whole(table.name, now):
                damaged += 1
                if is_whole(table.name, before):
                    return Comparison(table.name, damaged)
            if number % _PAGE == 0:
                tell(_PAGE)
    return Comparison("", damaged)


def _rows(tx: Transaction, scope: Scope, table: UserTable) -> Iterator[Row]:
    return (row for row in chain.from_iterable(_pages(tx, scope, table)) if not _is_of_a_move(table, row))


def _pages(tx: Transaction, scope: Scope, table: UserTable) -> Iterator[list[Row]]:
    values: dict[str, object] = {"user": scope.user, "limit": _PAGE}
    rows = table_rows(tx).rows_of(table.select(is_first=True), values)
    before: tuple[object, ...] = ()
    while rows:
        yield rows
        if len(rows) < _PAGE:
            return
        last = dict(zip(table.columns, rows[-1], strict=True))
        behind = {f"after_{name}": last[name] for name in table.key}
        if before:
            check_rises(before, tuple(behind.values()), f"rows of {table.name}")
        before = tuple(behind.values())
        rows = table_rows(tx).rows_of(table.select(is_first=False), values | behind)


def _shifted(table: UserTable, row: Row, shift: int) -> Row:
    """A row with the numbers of documents in the target."""
    if not shift or not any(name in table.columns for name in _DOCUMENTS):
        return row
    moved = tuple(
        value + shift if name in _DOCUMENTS and isinstance(value, int) else value
        for name, value in zip(table.columns, row, strict=True)
    )
    if table.has_hash and is_whole(table.name, row):
        return (*moved[:-1], row_hash(table.name, moved[:-1]))
    return moved


def _is_of_a_move(table: UserTable, row: Row) -> bool:
    """Return whether a row is the mark of a move itself, or the turns of the record, which each store has for its
    own."""
    own = (user_entries.MOVED, user_entries.CHAIN, user_entries.HANDOUT_CHAIN)
    return table.name == _MARKS and row[table.columns.index("name")] in own

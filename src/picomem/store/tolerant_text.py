"""Reads rows in which a text is no longer valid UTF-8, because a bit flipped in the file.

The library refuses to decode such a text, and with it the whole statement. Then the statement is run once more with
every text read as bytes; bytes that cannot be decoded become U+FFFD. Such a row does not match its hash, so it is
left out and reported like any other damaged row. While all texts can be read, none of this happens.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import apsw

from picomem.store.connector import Row


def rows_of(connection: apsw.Connection, sql: str, values: Mapping[str, object]) -> list[Row]:
    """The rows of a statement that reads."""
    try:
        return list(connection.execute(sql, values))  # type: ignore[arg-type]
    except UnicodeDecodeError:
        return legible_rows(connection, sql, values)


def legible_rows(connection: apsw.Connection, sql: str, values: Mapping[str, object]) -> list[Row]:
    """The rows of a statement that reads, with a mark in place of every byte that is no text."""
    return [tuple(map(_legible, row[::2], row[1::2])) for row in _with_types(connection, sql, values)]


def _with_types(connection: apsw.Connection, sql: str, values: Mapping[str, object]) -> apsw.Cursor:
    """Rows of the type and the value of each column in turn; the texts are bytes."""
    names = [f"c{number}" for number in range(_count_columns(connection, sql, values))]
    as_bytes = ", ".join(
        f"typeof({c}), CASE typeof({c}) WHEN 'text' THEN CAST({c} AS BLOB) ELSE {c} END" for c in names
    )
    tolerant = f"WITH legible ({', '.join(names)}) AS ({sql}) SELECT {as_bytes} FROM legible"
    return connection.execute(tolerant, values)  # type: ignore[arg-type]


def _legible(kind: str, value: object) -> object:
    return value.decode("utf-8", "replace") if kind == "text" and isinstance(value, bytes) else value


def _count_columns(connection: apsw.Connection, sql: str, values: Mapping[str, object]) -> int:
    """Return how many columns a statement gives; it is prepared for that, and not run."""
    counts: list[int] = []

    def count(cursor: apsw.Cursor, _sql: str, _values: object) -> bool:
        counts.append(len(cursor.description_full))
        return False

    cursor = connection.cursor()
    cursor.exec_trace = count
    with suppress(apsw.ExecTraceAbort):
        cursor.execute(sql, values)  # type: ignore[arg-type]
    return counts[0]

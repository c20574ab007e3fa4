"""The migration steps of row hashes that SQL cannot do.

Schema 0006 gives every existing row a hash; `hash_anew` replaces the hashes of a table with a new column. A row that
did not match its previous hash, which covered its texts alone, gets none, so it still counts as damaged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import apsw

from picomem.records.ids import content_hash
from picomem.store.connector import Row
from picomem.store.reading_order import check_rises
from picomem.store.row_hash import COLUMNS, KEYS, row_hash
from picomem.store.tolerant_text import rows_of

_PAGE = 1_000  # rows that are read at once
_NONE = ""  # no row has this hash
_WITHOUT_ROWID = {"tombstones"}
_LATER = {  # tables that 0006 does not have
    "user_marks",
    "doc_ranges",
    "transcript_consolidations",
    "access_tokens",
    "channel_messages",
    "contacts",
    "pairings",
}

Fields = Mapping[str, object]


def hash_rows(connection: apsw.Connection) -> None:
    """Give every row its hash, in the caller's transaction."""
    for table in COLUMNS.keys() - _LATER:
        if table in _WITHOUT_ROWID:
            _hash_few(connection, table)
        else:
            _hash_by_rowid(connection, table)


def hash_anew(
    connection: apsw.Connection,
    table: str,
    added: tuple[str, ...],
    changes_of: Callable[[Fields], Mapping[str, object]] = lambda _: {},
) -> None:
    """Give the rows of a table the hash over columns that were added as the last ones; a damaged row stays damaged.
    `changes_of` gives what else is to change in a row: the values of columns by their names."""
    names = COLUMNS[table][: COLUMNS[table].index(added[-1]) + 1]  # a later step adds the others
    assert names[-len(added) :] == added
    page = f"SELECT rowid, {', '.join(names)}, row_hash FROM {table} WHERE rowid > :last ORDER BY rowid LIMIT {_PAGE}"
    last = -(1 << 63)
    while rows := rows_of(connection, page, {"last": last}):
        for rowid, *values, stored in rows:
            if stored != row_hash(table, values[: -len(added)]):
                continue
            fields = dict(zip(names, values, strict=True))
            changes = changes_of(fields)
            digest = row_hash(table, {**fields, **changes}.values())
            settings = ", ".join(f"{name} = ?" for name in (*changes, "row_hash"))
            connection.execute(f"UPDATE {table} SET {settings} WHERE rowid = ?", (*changes.values(), digest, rowid))
        check_rises(last, rows[-1][0], f"rows of {table}")
        last = rows[-1][0]


def _hash_by_rowid(connection: apsw.Connection, table: str) -> None:
    names = ", ".join(_columns_there(connection, table))
    # A damaged file may give any rowid, so the first page has no lower bound.
    page = f"SELECT rowid, {names}, {_stored(table)} FROM {table} WHERE rowid > :last ORDER BY rowid LIMIT {_PAGE}"
    last = -(1 << 63)
    while rows := rows_of(connection, page, {"last": last}):
        hashes = [(_hash(table, row[1:]), row[0]) for row in rows]
        connection.executemany(f"UPDATE {table} SET row_hash = ? WHERE rowid = ?", hashes)
        check_rises(last, rows[-1][0], f"rows of {table}")
        last = rows[-1][0]


def _columns_there(connection: apsw.Connection, table: str) -> list[str]:
    """The columns that are hashed, as far as the schema has them by now: later steps add others."""
    there = {name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")}
    return [name for name in COLUMNS[table] if name in there]


def _hash_few(connection: apsw.Connection, table: str) -> None:
    names, keys = COLUMNS[table], KEYS[table]
    condition = " AND ".join(f"{key} = ?" for key in keys)
    for row in rows_of(connection, f"SELECT {', '.join(names)}, NULL FROM {table}", {}):
        key = [row[names.index(name)] for name in keys]
        connection.execute(f"UPDATE {table} SET row_hash = ? WHERE {condition}", [_hash(table, row), *key])


def _stored(table: str) -> str:
    """The column that holds the hash from before."""
    return "content_hash" if table == "changes" else "row_hash" if table in OLD_HASHES else "NULL"


def _hash(table: str, row: Row) -> str:
    fields = dict(zip(COLUMNS[table], row, strict=False))
    old_hash = OLD_HASHES.get(table)
    if old_hash is not None and old_text_hash(table, fields) != row[-1]:
        return _NONE
    return row_hash(table, row[:-1])


def old_text_hash(table: str, fields: Fields) -> str:
    """The hash that a row had before schema 0006; empty for a row of which a text is none."""
    try:
        return content_hash(*OLD_HASHES[table](fields))  # type: ignore[arg-type]
    except (AttributeError, TypeError):
        return _NONE


def _texts(*names: str) -> Callable[[Fields], list[object]]:
    return lambda fields: [fields[name] for name in names]


def _memory(fields: Fields) -> list[object]:
    texts = [fields[name] for name in ("key", "kind", "origin", "content", "context")]
    return [*texts, *_names(fields["tags"]), "\x1f", *_names(fields["related"])]


def _names(stored: object) -> tuple[str, ...]:
    try:
        names = json.loads(stored)  # type: ignore[arg-type]
    except ValueError:
        names = None
    return tuple(map(str, names)) if isinstance(names, list) else ("(damaged)",)


def _message(fields: Fields) -> list[object]:
    names = COLUMNS["messages"][: COLUMNS["messages"].index("user_id")]
    return [str(fields[name]) for name in names]


def _summary(fields: Fields) -> list[object]:
    numbers = [str(fields[name]) for name in ("message_count", "covered_seq")]
    return [fields["session_id"], fields["summary"], *numbers, fields["origin"]]


def _consolidation(fields: Fields) -> list[object]:
    texts = [fields[name] for name in ("run", "session_id", "before_summary")]
    return [*texts, fields["episodes"]] if "{" in str(fields["episodes"]) else texts


OLD_HASHES: dict[str, Callable[[Fields], list[object]]] = {
    "memories": _memory,
    "changes": _texts("reason", "candidate"),
    "transcripts": _texts("path", "session", "title", "cwd", "state"),
    "episodes": _texts("role", "origin", "key", "preview", "summary"),
    "index_pages": _texts("page"),
    "sessions": _texts(
        "id", "agent", "project", "channel", "channel_id", "title", "state", "permissions", "forked_from"
    ),
    "messages": _message,
    "session_summaries": _summary,
    "consolidations": _consolidation,
    "note_sections": _texts("path", "heading", "content"),
}

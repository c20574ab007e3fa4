"""Repairs rows that do not match their hash, and reports those that cannot be repaired."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import cast

from picomem.errors import StoreError
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.bit_repair import mended
from picomem.store.connector import RepairTransaction, Row, Transaction
from picomem.store.damaged_rows import decoded, legible
from picomem.store.row_hash import COLUMNS, KEYS, is_whole, row_hash
from picomem.store.sql_access import repairs, sql
from picomem.store.unchecked_rows import Stored

_MOST_MENDED = 200  # rows of a table; more of them are no single flipped bits
_ROW_NAMES = {
    "meta": "the entry",
    "user_marks": "the entry",
    "doc_ranges": "the counter of the search index",
    "memories": "memory",
    "changes": "change",
    "lineage": "the record of what was made from what:",
    "transcripts": "transcript",
    "episodes": "episode",
    "index_pages": "the index page",
    "sessions": "session",
    "messages": "message",
    "session_summaries": "the summary of session",
    "consolidations": "the record of consolidation",
    "transcript_consolidations": "the record of consolidation",
    "spending": "the cost of day",
    "note_files": "the record of the note",
    "note_sections": "the section of a note",
    "tombstones": "tombstone",
    "exports": "the record of the exported page",
    "access_tokens": "the access token",
    "channel_messages": "the channel's message",
    "contacts": "the contact",
    "pairings": "the pairing",
}


def rebuild_indexes(tx: RepairTransaction) -> None:
    """Make the indexes of the tables anew from the rows, where the rows let it; full text that is gone is empty."""
    repairs(tx).rebuild_indexes()


def mend(tx: RepairTransaction) -> Iterator[str]:
    """Turn back every bit that flipped alone in its row; the names of the rows that were mended."""
    for table in COLUMNS:
        damaged = [row for row in repairs(tx).undecoded(table) if not is_whole(table, decoded(row))]
        for row in damaged[:_MOST_MENDED]:
            whole = mended(table, row)
            if whole is not None and _is_restored(tx, table, row, whole):
                yield _named(table, whole)


def keep_as_it_reads(tx: RepairTransaction, damaged: Stored[Memory]) -> bool:
    """Give a damaged memory plain values where it cannot be read, and the hash of what it says then; whether it was
    possible."""
    row = cast(Row, damaged.row)
    values = legible("memories", row)[:-1]
    return _is_restored(tx, "memories", row, (*values, row_hash("memories", values)))


def _is_restored(tx: RepairTransaction, table: str, was: Row, row: Row) -> bool:
    with suppress(StoreError):  # the key that it had was given to another row since
        return repairs(tx).restore(table, was, row) > 0
    return False


def damaged_rows(tx: Transaction, scope: Scope) -> list[str]:
    """The names of the damaged rows of the tables that no other check reads."""
    return [
        _named(table, row)
        for table, rows in (
            ("lineage", sql(tx).all("all_lineage", user=scope.user)),
            ("tombstones", sql(tx).all("all_tombstones", user=scope.user)),
            ("exports", sql(tx).all("exports", user=scope.user)),
            ("spending", sql(tx).all("all_spending", user=scope.user)),
            ("access_tokens", sql(tx).all("access_tokens", user=scope.user)),
            ("channel_messages", sql(tx).all("channel_messages", user=scope.user)),
            ("contacts", sql(tx).all("contacts", user=scope.user)),
            ("pairings", sql(tx).all("pairings", user=scope.user)),
        )
        for row in rows
        if not is_whole(table, row)
    ]


def _named(table: str, row: Row) -> str:
    """A row as a sentence names it."""
    key = [str(row[COLUMNS[table].index(name)]) for name in KEYS[table] if name != "user_id"]
    return f"{_ROW_NAMES.get(table, table)} {' '.join(key)}"

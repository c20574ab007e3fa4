"""The checks of rows by the doctor, and what a repair does to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import legible
from picomem.store.row_hash import COLUMNS, KEYS, is_whole, row_hash
from picomem.store.sql_access import repairs, sql
from picomem.store.unchecked_rows import Stored

_TABLES = {
    "changes": ("whole_changes", "change"),
    "handouts": ("handouts", "the record of what was handed out"),
    "lineage": ("all_lineage", "the record of what was made from what:"),
    "transcripts": ("transcripts", "transcript"),
    "sessions": ("all_sessions", "session"),
    "messages": ("all_messages", "message"),
    "consolidations": ("all_consolidations", "the record of consolidation"),
    "transcript_consolidations": ("all_transcript_consolidations", "the record of consolidation"),
    "tombstones": ("all_tombstones", "tombstone"),
    "exports": ("exports", "the record of the exported page"),
    "spending": ("all_spending", "the cost of day"),
    "access_tokens": ("access_tokens", "the access token"),
    "channel_messages": ("channel_messages", "the channel's message"),
    "contacts": ("contacts", "the contact"),
    "pairings": ("pairings", "the pairing"),
}  # whose rows no repair changes; the statement that reads those of a user with their hashes, and what one is called
_REFERENCES = {
    "memories_without_change": "memory {} has a version that no change tells of",
    "closed_without_change": "memory {} has a version that was closed by a change that is not there",
    "changes_without_memory": "change {} is about a memory that is not there",
    "lineage_without_child": "a record of what memory {} was made from belongs to no version of it",
}  # by statement


class CheckedTable(NamedTuple):
    """The rows of a user in a table: how many there are, and the names of those that do not match their hash."""

    name: str
    rows: int
    damaged: list[str]


def check_tables(tx: Transaction, scope: Scope) -> Iterator[CheckedTable]:
    """Compare the rows of each table with their hashes, in tables whose rows no repair changes."""
    for table, (statement, name) in _TABLES.items():
        rows = sql(tx).all(statement, user=scope.user)
        places = [COLUMNS[table].index(key) for key in KEYS[table] if key != "user_id"]
        damaged = [row for row in rows if not is_whole(table, row)]
        yield CheckedTable(
            table, len(rows), [f"{name} {' '.join(str(row[place]) for place in places)}" for row in damaged]
        )


def dangling_references(tx: Transaction, scope: Scope) -> list[str]:
    """A sentence about each row that refers to one that is not there, beyond the foreign keys."""
    return [
        problem.format(row_id)
        for statement, problem in _REFERENCES.items()
        for (row_id,) in sql(tx).all(statement, user=scope.user)
    ]


def rebuild_indexes(tx: Transaction) -> None:
    """Make the indexes of the tables anew from the rows, where the rows let it; full text that is gone is empty."""
    repairs(tx).rebuild_indexes()


def keep_as_it_reads(tx: Transaction, damaged: Stored[Memory]) -> bool:
    """Give a damaged memory plain values where it cannot be read, and the hash of what it says then; whether it was
    possible: not where its key is damaged."""
    values = legible("memories", cast(Row, damaged.row))[:-1]
    return repairs(tx).overwrite("memories", (*values, row_hash("memories", values))) > 0

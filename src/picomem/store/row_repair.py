"""What a repair does to rows, and the damaged rows that it leaves as they are."""

from __future__ import annotations

from typing import cast

from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import RepairTransaction, Row, Transaction
from picomem.store.damaged_rows import legible
from picomem.store.row_hash import COLUMNS, KEYS, is_whole, row_hash
from picomem.store.sql_access import repairs, sql
from picomem.store.unchecked_rows import Stored

_UNREAD = {
    "lineage": ("all_lineage", "the record of what was made from what:"),
    "tombstones": ("all_tombstones", "tombstone"),
    "exports": ("exports", "the record of the exported page"),
    "spending": ("all_spending", "the cost of day"),
    "access_tokens": ("access_tokens", "the access token"),
    "channel_messages": ("channel_messages", "the channel's message"),
    "contacts": ("contacts", "the contact"),
    "pairings": ("pairings", "the pairing"),
}  # by table, the statement that reads the rows of a user with their hashes, and what a row is called


def rebuild_indexes(tx: RepairTransaction) -> None:
    """Make the indexes of the tables anew from the rows, where the rows let it; full text that is gone is empty."""
    repairs(tx).rebuild_indexes()


def keep_as_it_reads(tx: RepairTransaction, damaged: Stored[Memory]) -> bool:
    """Give a damaged memory plain values where it cannot be read, and the hash of what it says then; whether it was
    possible: not where its key is damaged."""
    values = legible("memories", cast(Row, damaged.row))[:-1]
    return repairs(tx).overwrite("memories", (*values, row_hash("memories", values))) > 0


def damaged_rows(tx: Transaction, scope: Scope) -> list[str]:
    """The names of the damaged rows of the tables that no other check reads."""
    return [
        f"{name} {' '.join(str(row[COLUMNS[table].index(key)]) for key in KEYS[table] if key != 'user_id')}"
        for table, (statement, name) in _UNREAD.items()
        for row in sql(tx).all(statement, user=scope.user)
        if not is_whole(table, row)
    ]

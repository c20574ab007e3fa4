"""The daily check of a file: when it was last done, and what it found; an entry about the store (see tables/meta.py).

A row carries a hash, so whoever reads it sees that it is damaged. What is derived from rows carries none: a bit that
flips in an index or in full text may hide a row from a list, and the list cannot tell. So once a day, before a write, a
copy of the store is made and checked (daily_copies.py), and the outcome is kept: every process that opens a damaged
store warns, until a repair.
"""

from __future__ import annotations

from typing import NamedTuple

from picomem.clock import DAY, Micros
from picomem.errors import Corrupt
from picomem.store.connector import Transaction
from picomem.store.tables import meta

_DAMAGED, _INTACT = "damaged", "intact"


class FileCheck(NamedTuple):
    """One check: when it began, and whether the file was damaged."""

    at: Micros
    is_damaged: bool

    def is_recent(self, now: Micros) -> bool:
        """Return whether less than a day has passed. A check that is dated later than now is not recent."""
        return 0 <= now - self.at < DAY


def last_check(tx: Transaction) -> FileCheck | None:
    """The last check; None where there was none, or its entry is damaged."""
    try:
        at, _, outcome = (meta.value(tx, meta.FILE_CHECK) or "").partition(" ")
    except Corrupt:
        return None
    return FileCheck(int(at), outcome == _DAMAGED) if at.isdigit() else None


def note(tx: Transaction, check: FileCheck) -> None:
    """Keep a check in place of the one before."""
    meta.put(tx, meta.FILE_CHECK, f"{check.at} {_DAMAGED if check.is_damaged else _INTACT}")


def make_due(tx: Transaction) -> None:
    """Let the next check be due now: a purge has removed the copies that the last one made."""
    last = last_check(tx)
    if last is not None:
        note(tx, last._replace(at=0))


def settle(tx: Transaction) -> None:
    """Drop the last check if it found damage: a repair has rebuilt what is derived."""
    last = last_check(tx)
    if last is not None and last.is_damaged:
        meta.delete(tx, meta.FILE_CHECK)

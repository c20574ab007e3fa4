"""The numbers of documents in full text: never reused, and on SQLite unique in the file.

Each user has a range of 2^32 numbers and a row with the last number used. So assigning numbers writes only to that
user's row; only a user's first document looks at the ranges of the others. PostgreSQL needs no ranges: there full text
is keyed by the user, and each user's numbers begin at 1.
"""

from __future__ import annotations

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.row_hash import is_whole
from picomem.store.sql_access import sql

_RANGE_BITS = 32
_FIRST_DOCS = ("first_memory_doc", "first_episode_doc", "first_note_doc")
_LAST_DOCS = ("last_memory_doc", "last_episode_doc", "last_note_doc")


def take(tx: Transaction, scope: Scope, count: int, *, with_ranges: bool = True) -> int:
    """Take consecutive numbers for a user; the first of them. Raises Corrupt.

    `with_ranges` is whether two users may not have the same number.
    """
    row = sql(tx).one("doc_range", user=scope.user)
    if row is None:
        if highest_taken(tx, scope) > 0:
            raise _damaged(scope)
        last = _free_range(tx) if with_ranges else 0
    elif is_whole("doc_ranges", row):
        last = int(row[0])
    else:
        raise _damaged(scope)
    put(tx, scope, last + count)
    return last + 1


def put(tx: Transaction, scope: Scope, last: int) -> None:
    """Store the last number that a user got."""
    sql(tx).run("put_doc_range", user=scope.user, last_doc=last)


def last(tx: Transaction, scope: Scope) -> int:
    """The last number that a user got; 0 where there was none."""
    row = sql(tx).one("doc_range", user=scope.user)
    return int(row[0]) if row else 0


def whole_last(tx: Transaction, scope: Scope) -> int | None:
    """As `last`; None where the user's row is not there or does not match its hash."""
    row = sql(tx).one("doc_range", user=scope.user)
    return int(row[0]) if row and is_whole("doc_ranges", row) else None


def is_there(tx: Transaction, scope: Scope) -> bool:
    """Return whether a user has a range, damaged or not."""
    return sql(tx).one("doc_range", user=scope.user) is not None


def highest_taken(tx: Transaction, scope: Scope) -> int:
    """The highest number that a row of a user has."""
    rows = (sql(tx).one(name, user=scope.user) for name in _LAST_DOCS)
    return max((row[0] for row in rows if row and isinstance(row[0], int)), default=0)


def lowest_taken(tx: Transaction, scope: Scope) -> int:
    """The lowest number that a row of a user has; 0 where there is none."""
    rows = (sql(tx).one(name, user=scope.user) for name in _FIRST_DOCS)
    return min((row[0] for row in rows if row and isinstance(row[0], int)), default=0)


def shift(tx: Transaction, lowest: int) -> int:
    """What the numbers of a user who comes from another store are raised by (or lowered), so that they lie in ranges
    that nobody has. `lowest` is the lowest of them."""
    free = _free_range(tx)
    first = lowest >> _RANGE_BITS << _RANGE_BITS
    return 0 if first >= free else free - first


def next_range(highest: int) -> int:
    """Return where the range behind the one of a number begins; numbers begin one above it."""
    return ((highest >> _RANGE_BITS) + 1) << _RANGE_BITS


def _free_range(tx: Transaction) -> int:
    """Return where a range begins that nobody has."""
    (highest,) = sql(tx).one("highest_doc_of_all") or (None,)
    return 0 if highest is None else next_range(highest)


def _damaged(scope: Scope) -> Corrupt:
    return Corrupt(CodedText("failure.damaged_counter", user=scope.user, command=Command("doctor", repair=True)))

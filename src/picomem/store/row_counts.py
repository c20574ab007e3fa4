"""The number of rows of a user, updated with every write, to detect a lost row. Every call takes a scope."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.sql_access import sql


class VersionCounts(NamedTuple):
    """Versions of memories, those of them that are believed, and those that full text and vectors have."""

    versions: int
    believed: int
    searchable: int


class ComparedCounts(NamedTuple):
    """The versions that the table holds, and those that were counted as they were written."""

    there: VersionCounts
    written: VersionCounts


def episodes(tx: Transaction, scope: Scope) -> int:
    """Return how many episodes were counted; quick, whatever their number."""
    row = sql(tx).one("count_episodes", user=scope.user)
    return int(row[0]) if row else 0


def add_episodes(tx: Transaction, scope: Scope, count: int) -> None:
    """Count episodes that came, or, below 0, that went."""
    sql(tx).run("add_to_holdings", user=scope.user, episodes=count)


def episodes_in_table(tx: Transaction, scope: Scope) -> int:
    """Return how many episodes there are; reads the whole index."""
    row = sql(tx).one("counted_episodes", user=scope.user)
    return int(row[0]) if row else 0


def set_episodes(tx: Transaction, scope: Scope, count: int) -> None:
    """Store another number of episodes, for a repair."""
    sql(tx).run("recount_episodes", user=scope.user, episodes=count)


def memories(tx: Transaction, scope: Scope) -> ComparedCounts:
    """Return how many versions there are, for which the whole index is read, and how many were counted."""
    counts = sql(tx).one("memory_counts", user=scope.user) or (0,) * 6
    return ComparedCounts(VersionCounts._make(counts[:3]), VersionCounts._make(counts[3:]))


def memories_written(tx: Transaction, scope: Scope) -> VersionCounts:
    """Return how many versions were counted as they were written; quick, whatever their number."""
    return VersionCounts._make(sql(tx).one("written_memory_counts", user=scope.user) or (0, 0, 0))


def add_memories(tx: Transaction, scope: Scope, counts: VersionCounts) -> None:
    """Count versions that came, or, below 0, that went."""
    sql(tx).run("add_memories_to_holdings", user=scope.user, **counts._asdict())


def set_memories(tx: Transaction, scope: Scope, counts: VersionCounts) -> None:
    """Store other numbers of versions, for a repair."""
    sql(tx).run("recount_memories", user=scope.user, **counts._asdict())


def by_name(rows: Iterable[Row]) -> dict[str, int]:
    """Return counts by their names, given as rows of both. A name that damage has made bytes stays recognisable."""
    return {str(name): count for name, count in rows}


def purge(tx: Transaction, scope: Scope) -> None:
    """Delete the counts of a user of whom no row is left."""
    sql(tx).run("purge_holdings", user=scope.user)

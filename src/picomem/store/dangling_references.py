"""Finds dangling references between rows, and impossible values, for the doctor. Every call takes a scope.

Each function returns the ids of the rows that are wrong.
"""

from __future__ import annotations

from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql


def memories_without_change(tx: Transaction, scope: Scope) -> list[str]:
    """Memories with a version whose change is not there."""
    return [str(memory) for (memory,) in sql(tx).all("memories_without_change", user=scope.user)]


def closed_without_change(tx: Transaction, scope: Scope) -> list[str]:
    """Memories with a version that was closed by a change which is not there."""
    return [str(memory) for (memory,) in sql(tx).all("closed_without_change", user=scope.user)]


def changes_without_memory(tx: Transaction, scope: Scope) -> list[str]:
    """Changes about a memory that is not there."""
    return [str(change) for (change,) in sql(tx).all("changes_without_memory", user=scope.user)]


def lineage_without_child(tx: Transaction, scope: Scope) -> list[str]:
    """Memories whose lineage names a version that is not there."""
    return [str(memory) for (memory,) in sql(tx).all("lineage_without_child", user=scope.user)]


def memories_with_impossible_times(tx: Transaction, scope: Scope) -> list[str]:
    """Memories with a version that ends before it begins."""
    return [str(memory) for (memory,) in sql(tx).all("memories_with_impossible_times", user=scope.user)]


def episodes_with_impossible_place(tx: Transaction, scope: Scope) -> list[str]:
    """Episodes that end before they begin, or begin before their transcript does."""
    return [str(episode) for (episode,) in sql(tx).all("episodes_with_impossible_place", user=scope.user)]

"""All users who have rows."""

from __future__ import annotations

from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql


def ids(tx: Transaction) -> list[str]:
    """The ids as they stand in the rows, in order; one of a damaged row may be no valid id."""
    return [str(user) for (user,) in sql(tx).all("users")]


def scopes(tx: Transaction) -> list[Scope]:
    """A scope for each user. Raises InvalidInput for a damaged id."""
    return [Scope(user) for user in ids(tx)]

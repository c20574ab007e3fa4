"""All users who have rows."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from picomem.errors import InvalidInput
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql


class StoredUser(NamedTuple):
    """A user id as it stands in the rows, and whether it is valid UTF-8; with one that is not, no row is found."""

    id: str
    is_valid_text: bool


def stored(tx: Transaction) -> list[StoredUser]:
    """The ids in order; one of a damaged row may be no valid id."""
    rows = sql(tx).all("users")
    return [StoredUser(str(user), len(str(user).encode()) == size) for user, size in rows]


def ids(tx: Transaction) -> list[str]:
    """The ids as they stand in the rows, in order; one of a damaged row may be no valid id."""
    return [user.id for user in stored(tx)]


def scopes(tx: Transaction) -> list[Scope]:
    """A scope for each user, without those of damaged rows that are no valid ids: the doctor reports them."""
    valid: list[Scope] = []
    for user in ids(tx):
        with suppress(InvalidInput):
            valid.append(Scope(user))
    return valid

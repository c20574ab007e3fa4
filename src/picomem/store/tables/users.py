"""All users who have rows."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from picomem.errors import InvalidInput
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.row_hash import is_whole
from picomem.store.sql_access import sql

_HASHED = {
    "memories": "all_memories",
    "changes": "whole_changes",
    "episodes": "all_episodes",
    "transcripts": "transcripts",
    "messages": "all_messages",
    "sessions": "all_sessions",
}  # by table, the statement that reads the rows of a user with their hashes


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


def perhaps_damaged(tx: Transaction, scope: Scope) -> list[str]:
    """The ids under which damaged rows stand that may be of this user: those that are no valid ids, and those that
    differ from the user's by one bit and have a row that does not match its hash."""
    return [
        user.id
        for user in stored(tx)
        if not _is_valid(user) or (_differ_in_one_bit(user.id, scope.user) and _has_damaged_row(tx, user.id))
    ]


def _is_valid(user: StoredUser) -> bool:
    try:
        Scope(user.id)
    except InvalidInput:
        return False
    return user.is_valid_text


def _differ_in_one_bit(one: str, other: str) -> bool:
    first, second = one.encode(), other.encode()
    return len(first) == len(second) and sum((a ^ b).bit_count() for a, b in zip(first, second, strict=True)) == 1


def _has_damaged_row(tx: Transaction, user: str) -> bool:
    return any(
        not is_whole(table, row) for table, statement in _HASHED.items() for row in sql(tx).all(statement, user=user)
    )

"""What became of a write whose COMMIT the server did not answer.

A connection that breaks at COMMIT leaves the outcome open: the server may have committed. So does a COMMIT that fails
on Citus, where the machine of the user may have committed, and only its answer was lost. So each write of a user puts
a token of its own into the user's row of `user_locks`, in the same transaction. The token is there afterwards if and
only if the write was committed. (The number of a transaction would not do: after a crash or a failover the server may
give it to another.)

The row keeps the tokens of the last writes alone. Where none of them is the token and the row is full of later ones,
the outcome stays unknown, as it does where the server does not answer again in time.
"""

from __future__ import annotations

import secrets
from time import monotonic, sleep

import psycopg

from picomem import errors
from picomem.store.postgres.dialect import SCHEMA
from picomem.store.postgres.transaction import PROPAGATE, Message, seeing, send

REMEMBERED_WRITES = 16
ANSWER_SECONDS = 30.0
_PAUSE_SECONDS = 0.1
_INTO_ROW = (
    f"INSERT INTO {SCHEMA}.user_locks (user_id, writes) VALUES (%(user)s, CAST(%(writes)s AS bigint[])) "
    "ON CONFLICT (user_id) DO UPDATE SET writes = "
)
# A slice that is the whole value of SET would crash the coordinator of Citus 14.
_LOCK = f"{_INTO_ROW} coalesce((excluded.writes || user_locks.writes)[1:{REMEMBERED_WRITES}], '{{}}')"
_LOOK = f"{_INTO_ROW} user_locks.writes RETURNING writes"


def new_token() -> int:
    """A token that no other write has."""
    return secrets.randbits(63)


def locking(user: str, token: int) -> Message:
    """The statement that takes a user's lock by writing a token into their row; it makes the row of a new user."""
    return _LOCK, {"user": user, "writes": [token]}


def settle(connection_string: str, store: str, user: str | None, token: int) -> None:
    """Return if the write was stored. Raises StoreError if it was not, and Unconfirmed if nobody can tell.

    `user` is None for a write of everyone, which leaves no token."""
    stored = None if user is None else _is_stored(connection_string, user, token)
    if stored is None:
        raise errors.Unconfirmed(
            f"{store} did not confirm what was written, so it may have been stored; look before you run it again."
        )
    if not stored:
        raise errors.StoreError(f"{store} could not commit, and nothing was written; run it again.")


def _is_stored(connection_string: str, user: str, token: int) -> bool | None:
    deadline = monotonic() + ANSWER_SECONDS
    while True:
        try:
            writes = _writes(connection_string, user)
        except psycopg.Error:
            if monotonic() > deadline:
                return None
            sleep(_PAUSE_SECONDS)
        else:
            return True if token in writes else None if len(writes) == REMEMBERED_WRITES else False


def _writes(connection_string: str, user: str) -> list[int]:
    """The tokens of a user's last writes. Writing the row as it is waits for a write that is still under way, even for
    one that makes the row."""
    milliseconds = max(1, round(ANSWER_SECONDS * 1000))
    with psycopg.connect(connection_string, autocommit=True, prepare_threshold=None) as connection:
        limit = f"SET LOCAL lock_timeout TO {milliseconds}"
        looked = send(connection, ["BEGIN", PROPAGATE, limit, *seeing(user), (_LOOK, {"user": user, "writes": []})])
        row = looked.fetchone()
        connection.execute("ROLLBACK")
    return row[0] if row else []

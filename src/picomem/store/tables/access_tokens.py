"""The tokens that callers show over a network. Every call takes a scope."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.records.access_token import AccessToken
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import readable
from picomem.store.row_hash import is_whole, whole_rows
from picomem.store.sql_access import sql


def put(tx: Transaction, token: AccessToken, digest: str) -> None:
    """Store a new token."""
    sql(tx).run(
        "put_access_token",
        user=token.user,
        id=token.id,
        digest=digest,
        label=token.label,
        permissions=" ".join(sorted(token.permissions)),
        created_at=token.created_at,
        expires_at=token.expires_at,
        revoked_at=token.revoked_at,
    )


def every(tx: Transaction, scope: Scope, damaged: list[str] | None = None) -> list[AccessToken]:
    """The user's tokens, the oldest first; damaged ones, which open nothing, are left out and put on `damaged`."""
    rows = sql(tx).all("access_tokens", user=scope.user)
    return [_token(row) for row in whole_rows("access_tokens", rows, damaged)]


def unchecked(tx: Transaction, scope: Scope) -> list[AccessToken]:
    """The user's tokens, the damaged ones as far as they can be read: for a purge, which deletes them all."""
    return [_token(readable("access_tokens", row)) for row in sql(tx).all("access_tokens", user=scope.user)]


def of_digest(tx: Transaction, scope: Scope, digest: str) -> AccessToken | None:
    """The user's token with that digest; None where there is none, or its row is damaged."""
    row = sql(tx).one("access_token", user=scope.user, digest=digest)
    return _token(row) if row is not None and is_whole("access_tokens", row) else None


def revoke(tx: Transaction, token: AccessToken, at: Micros) -> None:
    """Let a token open nothing from now on."""
    sql(tx).run("revoke_access_token", user=token.user, id=token.id, revoked_at=at)


def remove(tx: Transaction, token: AccessToken) -> None:
    """Delete a one-time code, which nobody needs to see again."""
    sql(tx).run("delete_access_token", user=token.user, id=token.id)


def purge(tx: Transaction, scope: Scope) -> None:
    """Delete every token of the user."""
    sql(tx).run("delete_access_tokens", user=scope.user)


def _token(row: Row) -> AccessToken:
    token_id, _, label, permissions, created_at, expires_at, revoked_at, user, *_ = row
    return AccessToken(
        user=user,
        id=token_id,
        label=label,
        permissions=frozenset(permissions.split()),
        created_at=created_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
    )

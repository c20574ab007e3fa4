"""Leases: which process does a piece of work, and until when. Every call takes a scope."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql


def take(tx: Transaction, scope: Scope, name: str, owner: str, *, now: Micros, until: Micros, latest: Micros) -> bool:
    """Take or renew a lease; False where another owner has it. An end after `latest` is not honoured.

    One statement decides and writes, so two transactions that run at once cannot both take it.
    """
    return sql(tx).run("take_lease", user=scope.user, name=name, owner=owner, now=now, until=until, latest=latest) > 0


def is_held(tx: Transaction, scope: Scope, name: str, *, now: Micros, latest: Micros) -> bool:
    """Return whether somebody has the lease; an end after `latest` is not honoured."""
    return sql(tx).one("lease_held", user=scope.user, name=name, now=now, latest=latest) is not None


def give_back(tx: Transaction, scope: Scope, name: str, owner: str) -> None:
    """End a lease, if it is still this owner's."""
    sql(tx).run("give_back_lease", user=scope.user, name=name, owner=owner)


def forget(tx: Transaction, scope: Scope) -> None:
    """End every lease on a user's work."""
    sql(tx).run("forget_leases", user=scope.user)

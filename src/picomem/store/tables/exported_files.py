"""The files to which index pages or all memories were exported, for a purge. Every call takes a scope."""

from __future__ import annotations

from typing import NamedTuple

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import readable
from picomem.store.sql_access import sql

WHOLE = 0  # in place of a budget: the file is no index page, it holds all that the user has


class Export(NamedTuple):
    """A page in a file: whose it is, its budget (tokens), the hash of its text, and when it was written. An export of
    everything has the budget `WHOLE`, and the digest of its bytes."""

    path: str
    scope: Scope
    budget: int
    content_hash: str
    exported_at: Micros


def every(tx: Transaction, scope: Scope) -> list[Export]:
    """Every export of the user, by path, the damaged ones as far as they can be read."""
    return [_export(scope, row) for row in sql(tx).all("exports", user=scope.user)]


def at(tx: Transaction, scope: Scope, path: str) -> Export | None:
    """The export to a file, damaged or not; None where there is none."""
    row = sql(tx).one("export", user=scope.user, path=path)
    return None if row is None else _export(scope, row)


def put(tx: Transaction, export: Export) -> None:
    """Store an export in place of the one before to the same file."""
    sql(tx).run(
        "put_export",
        user=export.scope.user,
        path=export.path,
        agent=export.scope.agent,
        project=export.scope.project,
        budget=export.budget,
        exported_at=export.exported_at,
        content_hash=export.content_hash,
    )


def forget(tx: Transaction, scope: Scope, path: str) -> None:
    """Delete the record of an export."""
    sql(tx).run("forget_export", user=scope.user, path=path)


def _export(scope: Scope, row: Row) -> Export:
    path, agent, project, budget, content_hash, exported_at, *_ = readable("exports", row)
    return Export(path, Scope(scope.user, agent, project), budget, content_hash, exported_at)

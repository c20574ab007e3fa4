"""Rows of memories by their ids, and the values that a reader fills in. Only the store sees them."""

from __future__ import annotations

import json
from collections.abc import Collection

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.sql_access import sql

FOREVER = 2**63 - 1  # the end of what has none


def rows_of_ids(tx: Transaction, statement: str, scope: Scope, now: Micros, ids: Collection[str]) -> list[Row]:
    return sql(tx).all(statement, **reader_values(scope, now), ids=json.dumps(sorted(ids))) if ids else []


def rows_of_docs(tx: Transaction, scope: Scope, docs: list[int]) -> list[Row]:
    return sql(tx).all("memories_by_doc", user=scope.user, docs=json.dumps(docs))


def reader_values(scope: Scope, now: Micros) -> dict[str, object]:
    """The values of a statement on what is believed now, within a scope."""
    return {
        "user": scope.user,
        "agent": scope.agent,
        "scope_project": scope.project,
        "former_projects": json.dumps(scope.former_projects),
        "session": scope.session,
        "now": now,
    }

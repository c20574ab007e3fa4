"""Index pages that are kept until memory changes. Every call takes a scope.

A page is derived, so a damaged one is rebuilt.
"""

from __future__ import annotations

from typing import NamedTuple

from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.row_hash import is_whole
from picomem.store.sql_access import sql


class KeptPage(NamedTuple):
    """A page, its tokens, how many memories had no room in it, and a digest of what it was made from."""

    text: str
    tokens: int
    left_out: int
    made_from: str


def kept(tx: Transaction, scope: Scope, budget: int) -> KeptPage | None:
    """The page of that budget (tokens); None where there is none, or it does not match its hash."""
    row = sql(tx).one("index_page", user=scope.user, agent=scope.agent, project=scope.project, budget=budget)
    return KeptPage._make(row[:4]) if row and is_whole("index_pages", row) else None


def keep(tx: Transaction, scope: Scope, budget: int, page: KeptPage) -> None:
    """Keep a page in place of the one before."""
    sql(tx).run(
        "store_index_page",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        budget=budget,
        made_from=page.made_from,
        page=page.text,
        tokens=page.tokens,
        left_out=page.left_out,
    )


def forget(tx: Transaction, scope: Scope) -> None:
    """Delete every page of the user."""
    sql(tx).run("forget_index_pages", user=scope.user)


def count_damaged(tx: Transaction, scope: Scope) -> int:
    """Return how many of the user's pages do not match their hash."""
    return sum(not is_whole("index_pages", row) for row in sql(tx).all("all_index_pages", user=scope.user))

"""The index page, kept in the store so that it has the same bytes until memory changes."""

from __future__ import annotations

from collections.abc import Callable

from picomem.clock import Micros
from picomem.memory.index import IndexPage, build
from picomem.records.ids import content_hash
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import memories
from picomem.store.connector import Transaction
from picomem.store.row_hash import is_whole
from picomem.version import __version__


def page(
    tx: Transaction, scope: Scope, now: Micros, budget: int, shown: Callable[[Memory], Memory]
) -> tuple[IndexPage, str]:
    """The page for a scope, and what it was made from where it is new and may be kept; empty where it was kept.

    Raises InvalidInput for a budget that no page fits.
    """
    damaged: list[str] = []
    current = memories.current(tx, scope, now, damaged)
    count = int((tx.one("count_episodes", user=scope.user) or (0,))[0])
    # The version stands in it as well: a newer program may know more secrets, and lay out the page otherwise.
    names = [f"{each.id}:{each.version}" for each in current]
    made_from = content_hash(__version__, *names, *sorted(damaged), str(count))
    kept = tx.one("index_page", user=scope.user, agent=scope.agent, project=scope.project, budget=budget)
    if kept and kept[3] == made_from and is_whole("index_pages", kept):
        return IndexPage(kept[0], kept[1], budget, len(current) - kept[2], kept[2]), ""
    return build([shown(each) for each in current], count, budget, damaged=len(damaged)), made_from


def keep(tx: Transaction, scope: Scope, made: IndexPage, made_from: str) -> None:
    """Keep a page for the next time."""
    tx.run(
        "store_index_page",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        budget=made.budget,
        made_from=made_from,
        page=made.text,
        tokens=made.tokens,
        left_out=made.left_out,
    )

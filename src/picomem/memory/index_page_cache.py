"""The index page, kept in the store so that it has the same bytes until memory changes."""

from __future__ import annotations

from collections.abc import Callable

from picomem.clock import Micros
from picomem.memory.index_page import IndexAccount, IndexPage, account, build
from picomem.records.ids import content_hash
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import index_page_rows, memories, row_counts
from picomem.store.connector import Transaction
from picomem.version import __version__


def page(
    tx: Transaction, scope: Scope, now: Micros, budget: int, shown: Callable[[Memory], Memory]
) -> tuple[IndexPage, str]:
    """The page for a scope, and what it was made from where it is new and may be kept; empty where it was kept.

    Raises InvalidInput for a budget that no page fits.
    """
    damaged: list[str] = []
    current = memories.current(tx, scope, now, damaged)
    count = row_counts.episodes(tx, scope)
    # The version stands in it as well: a newer program may know more secrets, and lay out the page otherwise.
    names = [f"{memory.id}:{memory.version}" for memory in current]
    made_from = content_hash(__version__, *names, *sorted(damaged), str(count))
    kept = index_page_rows.kept(tx, scope, budget)
    if kept is not None and kept.made_from == made_from:
        return IndexPage(kept.text, kept.tokens, budget, len(current) - kept.left_out, kept.left_out), ""
    return build([shown(memory) for memory in current], count, budget, damaged=len(damaged)), made_from


def explained(
    tx: Transaction, scope: Scope, now: Micros, budget: int, shown: Callable[[Memory], Memory]
) -> IndexAccount:
    """The page for a scope, line by line. Raises InvalidInput for a budget that no page fits."""
    damaged: list[str] = []
    current = [shown(memory) for memory in memories.current(tx, scope, now, damaged)]
    return account(current, row_counts.episodes(tx, scope), budget, damaged=len(damaged))


def keep(tx: Transaction, scope: Scope, made: IndexPage, made_from: str) -> None:
    """Keep a page for the next time."""
    kept = index_page_rows.KeptPage(text=made.text, tokens=made.tokens, left_out=made.left_out, made_from=made_from)
    index_page_rows.keep(tx, scope, made.budget, kept)

"""The index page, kept in the store so that it has the same bytes until memory changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from picomem.clock import Micros
from picomem.light_dataclass import replace
from picomem.memory.index_page import SECTIONS, IndexAccount, IndexPage, account, build, entry_limit, outdated
from picomem.records.ids import content_hash
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import index_page_rows, memories, row_counts
from picomem.store.connector import Transaction
from picomem.version import __version__


class IndexMaterial(NamedTuple):
    """What a page is made from: the first memories of each section, and the numbers of all of them."""

    memories: list[Memory]
    counts: dict[str, int]
    episodes: int
    damaged: list[str]

    def digest(self) -> str:
        """A text that differs where the page may differ."""
        # The version stands in it as well: a newer program may know more secrets, and lay out the page otherwise.
        names = sorted(f"{memory.id}:{memory.version}" for memory in self.memories)
        counts = [f"{kind}:{count}" for kind, count in sorted(self.counts.items())]
        return content_hash(__version__, *names, *counts, *sorted(self.damaged), str(self.episodes))


def page(
    tx: Transaction, scope: Scope, now: Micros, budget: int, shown: Callable[[Memory], Memory]
) -> tuple[IndexPage, str]:
    """The page for a scope, and what it was made from where it is new and may be kept; empty where it was kept.

    Raises InvalidInput for a budget that no page fits.
    """
    material = _material(tx, scope, now, entry_limit(budget))
    made_from = material.digest()
    kept = index_page_rows.kept(tx, scope, budget)
    if kept is not None and kept.made_from == made_from:
        entries = sum(material.counts.values()) - kept.left_out
        return IndexPage(kept.text, kept.tokens, budget, entries, kept.left_out), ""
    memories_of_page, counts, episodes, damaged = material
    made = build(memories_of_page, episodes, budget, damaged=len(damaged), counts=counts, shown=shown)
    return made, made_from


def explained(
    tx: Transaction, scope: Scope, now: Micros, budget: int, omitted: int, shown: Callable[[Memory], Memory]
) -> IndexAccount:
    """The page for a scope, line by line, and at most so many of the entries that did not fit. Raises InvalidInput for
    a budget that no page fits."""
    memories_of_page, counts, episodes, damaged = _material(tx, scope, now, entry_limit(budget) + omitted)
    made = account(memories_of_page, episodes, budget, damaged=len(damaged), counts=counts, shown=shown)
    return replace(made, omitted=[shown(memory) for memory in made.omitted[:omitted]])


def _material(tx: Transaction, scope: Scope, now: Micros, limit: int) -> IndexMaterial:
    """The first `limit` memories of each section, and those that contradict each other. There may be a hundred thousand
    others, so damage to these is not noticed."""
    damaged: list[str] = []
    doubted = memories.contradicting(tx, scope, now)
    limits = [memories.EntryLimit(rule.least, rule.below, rule.other_kinds) for rule in SECTIONS]
    best = memories.best_entries(tx, scope, now, limits, limit, outdated(doubted), damaged)
    known = {memory.id: memory for memory in [*best, *doubted]}
    return IndexMaterial(
        list(known.values()), memories.count_entries(tx, scope, now), row_counts.episodes(tx, scope), damaged
    )


def keep(tx: Transaction, scope: Scope, made: IndexPage, made_from: str) -> None:
    """Keep a page for the next time."""
    kept = index_page_rows.KeptPage(text=made.text, tokens=made.tokens, left_out=made.left_out, made_from=made_from)
    index_page_rows.keep(tx, scope, made.budget, kept)

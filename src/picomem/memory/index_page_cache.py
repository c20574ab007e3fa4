"""The index page, kept in the store so that it has the same bytes until memory changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Sized
from itertools import chain
from typing import NamedTuple

from picomem.clock import Micros
from picomem.light_dataclass import replace
from picomem.memory.index_page import (
    SECTIONS,
    HeardInPassing,
    IndexAccount,
    IndexEntries,
    IndexPage,
    account,
    build,
    entry_limit,
)
from picomem.records.ids import content_hash
from picomem.records.kinds import Kind
from picomem.records.memory import Memory, doubted_pairs
from picomem.records.scope import Scope
from picomem.store import audit, episodes, index_page_rows, memories
from picomem.store.connector import Transaction
from picomem.store.memories import EntryPlace
from picomem.store.project_names import with_former_projects
from picomem.version import __version__

_KINDS = frozenset(kind.value for kind in Kind)
Said = Callable[[str], str]  # what may be shown of a text of past sessions; None where nothing may
_FIRST = 64  # entries of a section that are read at first: a page of the usual budget has no room for as many


class IndexMaterial(NamedTuple):
    """What a page is made from, without the words of its entries: the places of the first memories of each section, in
    order; the ids of those that stand last, because a newer one may contradict them; the numbers of all memories; and
    those that a damaged index leaves out.
    """

    sections: list[list[EntryPlace]]
    outdated: frozenset[str]
    counts: dict[str, int]
    episodes: int
    missing: tuple[str, ...]
    last_change: str  # a suggestion that is settled leaves the page
    reads_sessions: bool

    def digest(self, damaged: Iterable[str]) -> str:
        """A text that differs where the page may differ. `damaged` are those of the entries that are read at first."""
        # The version stands in it as well: a newer program may know more secrets, and lay out the page otherwise.
        places = sorted(f"{place.id}:{place.version}" for section in self.sections for place in section)
        counts = [f"{kind}:{count}" for kind, count in sorted(self.counts.items())]
        last = sorted(self.outdated)
        return content_hash(
            __version__,
            *places,
            *last,
            *counts,
            *sorted(damaged),
            str(self.episodes),
            self.last_change,
            str(self.reads_sessions),
        )

    def first(
        self, tx: Transaction, scope: Scope, now: Micros, limit: int, beyond: int = 0
    ) -> tuple[list[Memory], list[str]]:
        """Read the first `limit` entries of each section, and the first `limit + beyond` of all; and which of them are
        damaged."""
        unknown = {kind: count for kind, count in self.counts.items() if kind not in _KINDS}  # of damaged rows
        damaged = [f"{kind} {number}" for kind, count in unknown.items() for number in range(count)]
        damaged += self.missing
        overall = sorted(chain.from_iterable(self.sections), key=self._order)[: limit + beyond]
        places = [place for section in self.sections for place in section[:limit]]
        return memories.entries(tx, scope, now, [*places, *overall], damaged), damaged

    def given(
        self, read: Iterable[Memory], damaged: Sized, shown: Callable[[Memory], Memory], heard: HeardInPassing
    ) -> IndexEntries:
        """Return what a page is built from, with the memories that were read and what was heard beside them."""
        outdated = self.outdated | heard.outdated
        return IndexEntries(read, self.episodes, len(damaged), self.counts, shown, outdated, heard.lines)

    def _order(self, place: EntryPlace) -> tuple[bool, EntryPlace]:
        return place.id in self.outdated, place


def page(
    tx: Transaction,
    scope: Scope,
    now: Micros,
    budget: int,
    shown: Callable[[Memory], Memory],
    said: Said | None,
) -> tuple[IndexPage, str]:
    """The page for a scope, and what it was made from where it is new and may be kept; empty where it was kept.

    Raises InvalidInput for a budget that no page fits.
    """
    scope = with_former_projects(tx, scope)
    material = _material(tx, scope, now, entry_limit(budget), said is not None)
    read, damaged = material.first(tx, scope, now, _FIRST)
    made_from = material.digest(damaged)
    kept = index_page_rows.kept(tx, scope, budget)
    if kept is not None and kept.made_from == made_from:
        entries = sum(material.counts.values()) - kept.left_out
        return IndexPage(kept.text, kept.tokens, budget, entries, kept.left_out), ""
    limit = _FIRST
    heard = _heard(tx, scope, read, said)
    while True:
        made = build(material.given(read, damaged, shown, heard), budget)
        if _is_enough(made, limit, budget):
            return made, made_from if material.digest(damaged) == made_from else ""
        limit *= 2
        read, damaged = material.first(tx, scope, now, limit)


def explained(
    tx: Transaction,
    scope: Scope,
    now: Micros,
    budget: int,
    omitted: int,
    shown: Callable[[Memory], Memory],
    said: Said | None,
) -> IndexAccount:
    """The page for a scope, line by line, and at most so many of the entries that did not fit. Raises InvalidInput for
    a budget that no page fits."""
    scope = with_former_projects(tx, scope)
    material = _material(tx, scope, now, entry_limit(budget) + omitted, said is not None)
    limit = _FIRST
    while True:
        read, damaged = material.first(tx, scope, now, limit, omitted)
        heard = _heard(tx, scope, read, said)
        made = account(material.given(read, damaged, shown, heard), budget)
        if _is_enough(made.page, limit, budget):
            return replace(made, omitted=[shown(memory) for memory in made.omitted[:omitted]])
        limit *= 2


def _heard(tx: Transaction, scope: Scope, read: Sequence[Memory], said: Said | None) -> HeardInPassing:
    if said is None:
        return HeardInPassing()
    from picomem.memory.heard_in_passing import heard_in_passing  # with all that stores a memory; few pages are new

    heard = heard_in_passing(tx, scope, read)
    lines = [one._replace(text=said(one.text), before=said(one.before)) for one in heard.lines]
    return heard._replace(lines=lines)


def _is_enough(made: IndexPage, limit: int, budget: int) -> bool:
    """Return whether no entry behind the first `limit` of its section can stand in a page."""
    return made.entries < limit or limit >= entry_limit(budget)


def _material(tx: Transaction, scope: Scope, now: Micros, limit: int, reads_sessions: bool) -> IndexMaterial:
    """The places of the first `limit` memories of each section. There may be a hundred thousand others, so damage to
    these is not noticed."""
    doubted = [memory for memory in memories.contradicting(tx, scope, now) if memory.is_entry]
    outdated = frozenset(older.id for _, older in doubted_pairs(doubted))
    limits = [memories.EntryLimit(rule.kinds, rule.least, rule.below) for rule in SECTIONS]
    best = [memories.best_entries(tx, scope, now, section, limit, outdated) for section in limits]
    last = memories.entries_by_id(tx, scope, now, limits, outdated)
    sections = [[*first, *rest][:limit] for first, rest in zip(best, last, strict=True)]
    counts = memories.count_entries(tx, scope, now)
    missing = (*memories.missing_entries(tx, scope, now), *_unplaced(sections, counts, limit))
    shown = episodes.count_shown(tx, scope)
    return IndexMaterial(sections, outdated, counts, shown, missing, audit.last_id(tx, scope), reads_sessions)


def _unplaced(sections: Sequence[Sequence[EntryPlace]], counts: dict[str, int], limit: int) -> list[str]:
    """Placeholders of entries that are counted and in no section: their place in the index is damaged. Where a section
    has more than `limit` entries, nobody knows."""
    if any(len(section) == limit for section in sections):
        return []
    counted = sum(count for kind, count in counts.items() if kind in _KINDS)
    return [f"entry {number} without a place" for number in range(abs(counted - sum(map(len, sections))))]


def keep(tx: Transaction, scope: Scope, made: IndexPage, made_from: str) -> None:
    """Keep a page for the next time."""
    kept = index_page_rows.KeptPage(text=made.text, tokens=made.tokens, left_out=made.left_out, made_from=made_from)
    index_page_rows.keep(tx, scope, made.budget, kept)

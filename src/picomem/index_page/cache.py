"""The index page, kept in the store so that it has the same bytes until memory changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from picomem.clock import Micros
from picomem.index_page.page import (
    SECTIONS,
    IndexAccount,
    IndexEntries,
    IndexPage,
    PastSessions,
    account,
    build,
    entry_limit,
)
from picomem.light_dataclass import replace
from picomem.records.episode import Transcript
from picomem.records.ids import content_hash
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, index_page_rows, memory_doubts, memory_lists, transcript_rows
from picomem.store.tables.memory_lists import EntryPlace
from picomem.store.tables.project_names import with_former_projects
from picomem.version import __version__

_KINDS = frozenset(kind.value for kind in Kind)
Said = Callable[[str], str]  # what may be shown of a text of past sessions; None where nothing may
_MOST_SESSIONS = 5  # that the page describes
_FIRST = 64  # entries of a section that are read at first: a page of the usual budget has no room for as many


class IndexMaterial(NamedTuple):
    """What a page is made from, without the words of its entries: the places of the first memories of each section, in
    order, without those that a newer one may contradict; the places of these, and the id of the newer one for each;
    the numbers of all memories; and the past sessions.
    """

    sections: list[list[EntryPlace]]
    older: list[EntryPlace]
    replaced: dict[str, str]
    counts: dict[str, int]
    episodes: int
    last_change: str  # a suggestion that is settled leaves the page
    session_count: int
    last: Sequence[Transcript]

    def digest(self, damaged: Iterable[str]) -> str:
        """A text that differs where the page may differ. `damaged` are those of the entries that are read at first."""
        # The version stands in it as well: a newer program may know more secrets, and lay out the page otherwise.
        places = [*chain.from_iterable(self.sections), *self.older]
        return content_hash(
            __version__,
            *sorted(f"{place.id}:{place.version}" for place in places),
            *sorted(map(" ".join, self.replaced.items())),
            *(f"{kind}:{count}" for kind, count in sorted(self.counts.items())),
            *sorted(damaged),
            *(f"{one.id} {one.ended_at} {one.turns} {one.title}" for one in self.last),
            f"{self.episodes} {self.session_count} {self.last_change}",
        )

    def first(
        self, tx: Transaction, scope: Scope, now: Micros, limit: int, beyond: int = 0
    ) -> tuple[list[Memory], list[str]]:
        """Read the first `limit` entries of each section, and the first `limit + beyond` of all, with what these may
        replace; and which of them are damaged."""
        unknown = {kind: count for kind, count in self.counts.items() if kind not in _KINDS}  # of damaged rows
        damaged = [f"{kind} {number}" for kind, count in unknown.items() for number in range(count)]
        overall = [*sorted(chain.from_iterable(self.sections)), *self.older][: limit + beyond]
        places = {place.id: place for section in self.sections for place in section[:limit]}
        places |= {place.id: place for place in overall}
        places |= {place.id: place for place in self.older[:limit]}
        places |= {place.id: place for place in self.older if self.replaced[place.id] in places}
        return memory_lists.entries(tx, scope, now, list(places.values()), damaged), damaged

    def given(
        self, scope: Scope, read: Iterable[Memory], damaged: int, shown: Callable[[Memory], Memory], talk: PastSessions
    ) -> IndexEntries:
        """Return what a page is built from, with the memories that were read and what was said beside them."""
        count = sum(self.counts.values())
        return IndexEntries(read, talk, scope.project, damaged, count, shown, self.replaced)


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
    talk = _past_sessions(tx, scope, material, read, said)
    while True:
        made = build(material.given(scope, read, len(damaged), shown, talk), budget)
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
        talk = _past_sessions(tx, scope, material, read, said)
        made = account(material.given(scope, read, len(damaged), shown, talk), budget)
        if _is_enough(made.page, limit, budget):
            return replace(made, omitted=[shown(memory) for memory in made.omitted[:omitted]])
        limit *= 2


def _past_sessions(
    tx: Transaction, scope: Scope, material: IndexMaterial, read: Sequence[Memory], said: Said | None
) -> PastSessions:
    if said is None:
        return PastSessions()
    # With all that stores a memory and reads sessions; few pages are new.
    from picomem.index_page.material import heard_in_passing, last_sessions  # noqa: PLC0415 - a kept page does not need it

    heard = heard_in_passing(tx, scope, read)
    lines = [one._replace(text=said(one.text), before=said(one.before)) for one in heard.lines]
    last = last_sessions(tx, scope, material.last, said)
    return PastSessions(material.session_count, last, lines, heard.outdated)


def _is_enough(made: IndexPage, limit: int, budget: int) -> bool:
    """Return whether no entry behind the first `limit` of its section can stand in a page."""
    return made.entries < limit or limit >= entry_limit(budget)


def _material(tx: Transaction, scope: Scope, now: Micros, limit: int, reads_sessions: bool) -> IndexMaterial:
    """The places of the first `limit` memories of each section. There may be a hundred thousand others, so damage to
    these is not noticed."""
    replaced = memory_doubts.outdated_entries(tx, scope, now)
    kinds = [section.kinds for section in SECTIONS]
    sections = [memory_lists.best_entries(tx, scope, now, some, limit, replaced) for some in kinds]
    older = memory_lists.entries_by_id(tx, scope, now, replaced)
    counts = memory_lists.count_entries(tx, scope, now)
    has_sessions = reads_sessions and bool(scope.project)
    return IndexMaterial(
        sections=sections,
        older=older,
        replaced=replaced,
        counts=counts,
        episodes=transcript_rows.count_shown(tx, scope) if reads_sessions else 0,
        last_change=audit.last_id(tx, scope),
        session_count=transcript_rows.count_past_sessions(tx, scope) if has_sessions else 0,
        last=transcript_rows.latest_sessions(tx, scope, _MOST_SESSIONS) if has_sessions else (),
    )


def keep(tx: Transaction, scope: Scope, made: IndexPage, made_from: str) -> None:
    """Keep a page for the next time."""
    kept = index_page_rows.KeptPage(text=made.text, tokens=made.tokens, left_out=made.left_out, made_from=made_from)
    index_page_rows.keep(tx, scope, made.budget, kept)

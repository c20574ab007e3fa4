"""The history of a memory: which change opened and closed each version, and what was believed after each change. Pure.

A version names the change that opened it and the change that closed it, so the versions alone determine what was
believed after any change. Versions are numbered in the order in which they were opened, whatever the clocks said; a
change that only closes versions comes after everything it closed, and after everything that was opened before it was
made.

A change is in force until it is undone, and again when that undo is undone:

    change      in force after it
    a  add      a
    b  revise   a b
    c  undo b   a
    d  undo c   a b

A change can be undone if the changes in force now are those that were in force right after it: nothing was built on
it since, and nothing that it was built on was undone (in this example, c cannot be undone once a was, because b
depends on a).

A memory that came with an export (transfer/) brought its versions and the changes that made them. One further change
of the decision `IMPORTED` stands for its arrival: to undo it is to believe nothing of the memory. It is no change that
others build on, so what was decided before the export can be undone here as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from operator import attrgetter
from types import MappingProxyType

from picomem.clock import Micros
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, memories

IMPORTED = "import"  # the decision of the change by which a memory arrived with all its versions

_STATEMENT = attrgetter(
    "scope", "key", "kind", "content", "context", "importance", "pinned", "tags", "related", "origin", "source",
    "valid_from", "valid_to", "expires_at", "path",
)  # fmt: skip


class VersionHistory:
    """`versions` are all of one memory, oldest first; `closers` say by which change each was closed, `undoes` which
    change undoes which. `arrivals` are the changes by which versions were imported, with the last of these versions."""

    def __init__(
        self,
        versions: Sequence[Memory],
        closers: Mapping[int, str],
        undoes: Mapping[str, str],
        arrivals: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._versions = versions
        self._arrivals = arrivals
        self._closers = closers
        self._undoes = undoes
        self.changes = self._in_order()
        self._place = {change: place for place, change in enumerate(self.changes)}
        self._in_force = self._forces(len(self.changes))

    def __contains__(self, change: str) -> bool:
        """Return whether the change opened, closed or brought a version."""
        return change in self._place

    def believed_before(self, change: str) -> list[Memory]:
        """The versions believed right before a change."""
        if change in self._arrivals:
            return []
        return self._believed(self._place[change] - 1)

    def believed_now(self) -> list[Memory]:
        """The versions believed now."""
        return [version for version in self._versions if version.known_to is None]

    def believed_without(self, gone: Collection[int]) -> list[Memory]:
        """The last belief that needs none of the versions with these numbers; empty if there was none."""
        for place in reversed(range(len(self.changes))):
            believed = self._believed(place)
            if not any(version.version in gone for version in believed):
                return believed
        return []

    def in_force(self, change: str) -> bool:
        """Return whether what the change did is in force: it was not undone, or that was undone again."""
        base, reapplies = applied(change, self._undoes)
        return (base in self._in_force) == reapplies

    def undone_by(self, change: str) -> str:
        """The latest change that took back what a change did; empty where none did."""
        base, reapplies = applied(change, self._undoes)
        contraries = {(base, not reapplies), *((arrival, False) for arrival in self._arrivals)}
        return next((other for other in reversed(self.changes) if applied(other, self._undoes) in contraries), "")

    def built_on(self, change: str) -> list[str]:
        """The changes that are in force now and were not right after a change, newest first."""
        then = self._forces(self._place[change] + 1)
        return [other for other in reversed(self._in_force) if other not in then and other not in self._arrivals]

    def lacks(self, change: str) -> list[str]:
        """The changes that were in force right after a change and are not now, oldest first."""
        return [other for other in self._forces(self._place[change] + 1) if other not in self._in_force]

    def _believed(self, place: int) -> list[Memory]:
        return [
            version
            for version in self._versions
            if self._place[version.change_id] <= place
            and (version.version not in self._closers or self._place[self._closers[version.version]] > place)
        ]

    def _in_order(self) -> list[str]:
        place = {change: at for at, change in enumerate(dict.fromkeys(version.change_id for version in self._versions))}
        opened_by = {version.version: place[version.change_id] for version in self._versions}
        openers = sorted(place)  # ids rise with time
        latest = [0, *accumulate(map(place.__getitem__, openers), max)]  # place of the first so many of them
        behind: dict[str, int] = {}
        for version, change in self._closers.items():
            if change not in place:
                behind[change] = max(behind.get(change, 0), opened_by[version], latest[bisect_left(openers, change)])
        for arrival, last in self._arrivals.items():
            places = [opened_by[version.version] for version in self._versions if version.version <= last]
            behind[arrival] = max(places, default=0)
        placed = [(at, 0, change) for change, at in place.items()]
        placed += [(at, 1, change) for change, at in behind.items()]
        return [change for _, _, change in sorted(placed)]

    def _forces(self, count: int) -> dict[str, None]:
        """The changes that were in force after the first `count` changes, in order."""
        arrived: dict[str, dict[str, None]] = {}
        now: dict[str, None] = {}
        for change in self.changes[:count]:
            base, applies = applied(change, self._undoes)
            if base in arrived:  # what a memory brought goes, and comes back, as a whole
                now = dict(arrived[base]) if applies else {}
            elif applies:
                now[base] = None
            else:
                now.pop(base, None)
            if change in self._arrivals:
                arrived[change] = dict(now)
        return now


def applied(change: str, undoes: Mapping[str, str]) -> tuple[str, bool]:
    """The change that an undo, or an undo of an undo, is about in the end, and whether it is in force after it."""
    applies = True
    while change in undoes:
        change, applies = undoes[change], not applies
    return change, applies


def versions_at(versions: Sequence[Memory], known_before: Micros | None, true_before: Micros | None) -> list[Memory]:
    """Return the versions that were believed right before one time, and true right before another; None is any time.

    Without `known_before`, what was true is asked of what is believed now, or of all versions of an archived memory.
    """
    only_believed = true_before is not None and known_before is None and any(row.known_to is None for row in versions)
    return [
        row
        for row in versions
        if (known_before is None or row.known_from < known_before <= (row.known_to or known_before))
        and (not only_believed or row.known_to is None)
        and (true_before is None or row.valid_from < true_before <= (row.valid_to or true_before))
    ]


def statement_of(version: Memory) -> tuple[object, ...]:
    """What a version says, about which time and by which name; of all versions that say the same it is equal."""
    return _STATEMENT(version)


def undone_by(undoes: Mapping[str, str]) -> dict[str, str]:
    """Every change that was undone and is so still, with the change that undid it; `undoes` are all undos, oldest
    first, each with the change that it undoes."""
    undone: dict[str, str] = {}
    for change, taken_back in undoes.items():
        undone[taken_back] = change
        # To undo an undo is to have it again.
        undone.pop(undoes.get(taken_back, ""), None)
    return undone


# The numbers of a memory's versions as people count them.
#
# A change may store several rows: the version that it names as opened, and before it the earlier versions again with a
# shorter time. Those keep the number of the version that they shorten.


def version_numbers(
    tx: Transaction, scope: Scope, memory_id: str, versions: Sequence[Memory], opened: Collection[int] = ()
) -> dict[int, int]:
    """The numbers of some versions of a memory, oldest first, and of those `opened` by changes, by the stored numbers.
    Only these are read; the versions before them are counted."""
    first = min([*(version.version for version in versions), *opened], default=0)
    before = audit.count_opened(tx, scope, memory_id, first)
    ranks = {row: rank for rank, row in enumerate(audit.opened_since(tx, scope, memory_id, first), before + 1)}
    numbers = {row: ranks[row] for row in opened if row in ranks}
    by_content: dict[str, int] = {}
    for version in versions:
        number = ranks.get(version.version) or by_content.get(version.content)
        if number is None:  # it shortens an earlier version
            original = memories.last_opened_alike(tx, version)
            behind = original + 1 or version.version  # where that was purged
            number = ranks.get(original) or max(1, audit.count_opened(tx, scope, memory_id, behind))
        numbers[version.version] = by_content[version.content] = number
    return numbers

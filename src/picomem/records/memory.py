"""A memory: one version of one durable entry, as the store holds it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from picomem.clock import Micros
from picomem.light_dataclass import dataclass
from picomem.records.kinds import Kind, Origin, Priority, Source
from picomem.records.scope import Scope

CONTRADICTS = "contradicts:"  # before an id among the related entries: it may contradict that memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One version. Two spans of time belong to it, both [from, to) in UTC microseconds, `None` meaning "still":

    - `valid_from`, `valid_to`: when it was true in the world.
    - `known_from`, `known_to`: when we held it to be so.

    A version is never edited. What is believed now are the versions whose `known_to` is None; a memory without
    such a version is archived. `version` numbers the stored rows of a memory from 1, and a revision may store several;
    `Engine.version_number` counts versions as people do.
    """

    id: str
    version: int
    scope: Scope
    key: str
    kind: Kind
    content: str
    context: str = ""
    importance: float = 0.5
    pinned: bool = False
    tags: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    origin: Origin = Origin.USER
    source: Source = Source.MANUAL
    valid_from: Micros
    valid_to: Micros | None = None
    known_from: Micros
    known_to: Micros | None = None
    expires_at: Micros | None = None
    created_at: Micros
    tokens: int
    change_id: str
    doc: int = 0
    path: str = ""  # its place in a foreign tool: emulation/agent_files.py, emulation/graph_mapping.py

    @property
    def priority(self) -> Priority:
        return Priority.of(self.importance)

    @property
    def archived(self) -> bool:
        return self.known_to is not None

    @property
    def searchable(self) -> bool:
        """Whether full text and vectors have it: it is believed, and had not ended when it was learned. `searchable` in
        SQL says the same."""
        return self.known_to is None and (self.valid_to is None or self.valid_to > self.known_from)

    @property
    def contradicts(self) -> tuple[str, ...]:
        """The ids of the memories that it may contradict; see `doubted_pairs`."""
        return contradicted_ids(self.related)

    @property
    def is_a_persons(self) -> bool:
        """Whether a person stated or pinned it: then no agent changes it by itself."""
        return self.origin is Origin.USER or (self.pinned and self.origin.trusted)

    def expired(self, now: Micros) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def over(self, now: Micros) -> bool:
        """Return whether it is not true any more. What had ended by the moment at which it was learned has done so,
        even if the clock was set back since."""
        ended = self.valid_to is not None and (self.valid_to <= now or self.valid_to <= self.known_from)
        return ended or self.expired(now)

    def current(self, now: Micros) -> bool:
        """Return whether it is believed and true now; `current_memories` says the same in SQL."""
        begun = self.valid_from <= now or self.valid_from <= self.known_from
        return not self.archived and begun and not self.over(now)


def contradicted_ids(related: Iterable[str]) -> tuple[str, ...]:
    """The ids among related entries of the memories that may be contradicted."""
    return tuple(name.removeprefix(CONTRADICTS) for name in related if name.startswith(CONTRADICTS))


def without_contradictions(related: Iterable[str]) -> tuple[str, ...]:
    """Related entries without those that may be contradicted."""
    return tuple(name for name in related if not name.startswith(CONTRADICTS))


class Contradicting(Protocol):
    """What is known of a memory that may contradict others: a `Memory`, or less than that."""

    @property
    def id(self) -> str: ...
    @property
    def valid_from(self) -> Micros: ...
    @property
    def contradicts(self) -> tuple[str, ...]:
        """The ids of the others."""
        ...


_Doubted = TypeVar("_Doubted", bound=Contradicting)


def doubted_pairs(memories: Iterable[_Doubted]) -> list[tuple[_Doubted, _Doubted]]:
    """The pairs among these memories that may contradict each other, each with the newer one first."""
    known = {memory.id: memory for memory in memories}
    pairs: list[tuple[_Doubted, _Doubted]] = []
    for memory in known.values():
        for other in (known[id_] for id_ in memory.contradicts if id_ in known):
            # The link stands on what was learned later, which may be about an earlier time.
            newer_first = (memory, other) if memory.valid_from >= other.valid_from else (other, memory)
            pairs.append(newer_first)
    return pairs


def newer_by_older(memories: Iterable[_Doubted]) -> dict[str, str]:
    """The id of each of these memories that a newer one may contradict, with the id of the newest such memory."""
    pairs = sorted(doubted_pairs(memories), key=lambda pair: (pair[0].valid_from, pair[0].id))
    return {older.id: newer.id for newer, older in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeFilter:
    """A filter for changes; an empty text matches any. `since` and `until` are times, [since, until)."""

    actor: str = ""
    verb: str = ""
    since: Micros = -(2**62)
    until: Micros = 2**62

    def wants(self, change: Change) -> bool:
        """Return whether a change is one of them."""
        is_theirs = self.actor in ("", change.actor) and self.verb in ("", change.verb)
        return is_theirs and self.since <= change.at < self.until


ANY_CHANGE = ChangeFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One recorded step: who decided what about which memory, when, why, and from what."""

    id: str
    run: str
    at: Micros
    actor: str
    verb: str  # remember, revise, forget, expire, undo
    decision: str  # add, merge, supersede, refuse, revise, archive
    reason: str
    memory_id: str = ""
    before: int | None = None  # the version that it closed
    after: int | None = None  # the version that it opened
    candidate: str = ""  # of a refusal: the first of the (redacted) text that was refused
    undoes: str = ""
    idempotency_key: str = ""  # the caller's name for a request that is done once, however often it is sent
    request_hash: str = ""  # of what that request asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """One step of lineage: what a memory version was made from."""

    kind: str  # episode, memory, message
    id: str
    role: str = "source"  # source: it says so; replaced: the version before; repeated: said again, nothing written
    version: int = 0  # of a memory

"""What a recall is limited to, apart from its words. Pure."""

from __future__ import annotations

import json

from picomem.clock import Micros
from picomem.light_dataclass import dataclass, field
from picomem.records.episode import Episode, is_failure
from picomem.records.kinds import Kind, Origin, Priority
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.tables.memories import MemoryHead
from picomem.store.tables.memory_rows import visible


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Limits of a recall, of which all must hold.

    Times are UTC microseconds. `since` and `until` (exclusive) limit the time that a hit shows: since when a memory
    holds, when an episode was said. `known_since` limits when either was stored. `known_at` and `valid_at` choose what
    was believed, and what was true, at a moment.
    """

    kinds: tuple[Kind, ...] = ()
    priority: Priority | None = None
    tag: str = ""
    file: str = ""  # a path, or the end or a part of one, that an agent read or wrote
    failed: bool = False  # only episodes in which a test or a command of an agent's failed
    since: Micros | None = None
    until: Micros | None = None
    known_since: Micros | None = None
    known_at: Micros | None = None
    valid_at: Micros | None = None
    include_memories: bool = True
    include_transcripts: bool = True
    include_captured: bool = True  # memories that were made from past sessions, and not stored by the user's own call
    origins: tuple[Origin, ...] = ()
    include_untrusted: bool = False
    include_retold: bool = False  # what an agent said after it had read what others wrote

    def admits_memory(self, memory: Memory, scope: Scope, now: Micros) -> bool:
        known_at = now if self.known_at is None else self.known_at
        valid_at = known_at if self.valid_at is None else self.valid_at
        return (
            visible(memory.scope, scope)
            and self._believed(memory, known_at)
            and self._has_begun(memory, valid_at)
            and not self._has_ended(memory, valid_at)
            and (memory.expires_at is None or memory.expires_at > valid_at)
            and (not self.kinds or memory.kind in self.kinds)
            and (self.priority is None or memory.importance >= self.priority.least)
            and (not self.tag or self.tag in memory.tags)
            and (self.since is None or memory.valid_from >= self.since)
            and (self.until is None or memory.valid_from < self.until)
            and (self.known_since is None or memory.known_from >= self.known_since)
            and self.admits_origin(memory.origin)
        )

    def may_admit(self, head: MemoryHead, scope: Scope) -> bool:
        """Return whether a memory may be admitted, by what its head tells: most that are not are found out by it."""
        project = scope.project if head.project in scope.former_projects else head.project
        return (
            (not scope.agent or head.agent in ("", scope.agent))
            and (not scope.project or project in ("", scope.project))
            and (not scope.session or head.session in ("", scope.session))
            and (not self.kinds or head.kind in self.kinds)
            and (not self.origins or head.origin in self.origins)
            and (self.priority is None or head.importance >= self.priority.least)
            and (not self.tag or json.dumps(self.tag, ensure_ascii=False) in head.tags)
            and (self.since is None or head.valid_from >= self.since)
            and (self.until is None or head.valid_from < self.until)
            and (self.known_since is None or head.known_from >= self.known_since)
        )

    @property
    def limits_time(self) -> bool:
        """Whether the caller limits the time of episodes, whatever time the question names."""
        return any(at is not None for at in (self.since, self.until, self.known_since, self.known_at))

    @property
    def asks_what_holds(self) -> bool:
        """Whether what holds now is asked for, of memories and past sessions alike."""
        return not self.limits_time and self.valid_at is None and self.include_transcripts

    def is_wanted_origin(self, origin: Origin) -> bool:
        """Return whether what came from there was asked for; without a choice all of it is."""
        return not self.origins or origin in self.origins

    # Asked about now, what began, or had ended, by the moment at which it was learned has done so: the clock may have
    # been set back since.
    def _has_begun(self, memory: Memory, valid_at: Micros) -> bool:
        return memory.valid_from <= valid_at or (self._now() and memory.valid_from <= memory.known_from)

    def _has_ended(self, memory: Memory, valid_at: Micros) -> bool:
        if memory.valid_to is None:
            return False
        return memory.valid_to <= valid_at or (self._now() and memory.valid_to <= memory.known_from)

    def _now(self) -> bool:
        return self.known_at is None and self.valid_at is None

    def _believed(self, memory: Memory, known_at: Micros) -> bool:
        if self.known_at is None:
            return memory.known_to is None  # whatever the clock says: it may have been set back
        return memory.known_from <= known_at and (memory.known_to is None or memory.known_to > known_at)

    def admits_episode(self, episode: Episode) -> bool:
        named = not self.file or any(self.file in action for action in episode.actions.splitlines())
        named = named and (not self.tag or episode.has_tag(self.tag))
        retold = self.include_retold and episode.role == "assistant"
        if self.failed and not any(map(is_failure, episode.outcomes.splitlines())):
            return False
        if not (episode.preview or episode.summary or episode.actions):  # it holds lines of tools alone
            return named and (retold or self.admits_origin(Origin.TOOL))
        admitted = (retold and self.is_wanted_origin(episode.origin)) or self.admits_origin(episode.origin)
        return named and admitted

    def admits_origin(self, origin: Origin) -> bool:
        return self.is_wanted_origin(origin) and (self.include_untrusted or origin.trusted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The filters and limits of a request, besides the question. `token_budget` None means as much as `limit`
    allows; below `min_confidence` (0–1) the answer is that nothing was found."""

    limit: int = 10
    token_budget: int | None = 2_000
    min_confidence: float = 0.0
    include_context: bool = False
    filters: Filters = field(default_factory=Filters)

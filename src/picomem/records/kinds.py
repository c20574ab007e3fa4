"""The small closed vocabularies: the kind of a memory, the origin of a text, the decision of a change."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from functools import cache
from typing import TypeVar

_Word = TypeVar("_Word", bound=StrEnum)


def known(word: object, otherwise: _Word) -> _Word:
    """The member with that value; `otherwise` for a value that no member has, which only a damaged file holds."""
    return _members(type(otherwise)).get(word, otherwise)


@cache
def _members(vocabulary: type[_Word]) -> dict[object, _Word]:
    """The members by value: a recall reads a hundred rows, and the enumeration takes a microsecond for each word."""
    return {member.value: member for member in vocabulary}


class Kind(StrEnum):
    """The kind of a durable memory (the source designs' `knowledge`, split by its use)."""

    FACT = "fact"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    DECISION = "decision"
    PROJECT = "project"
    INSIGHT = "insight"


class Origin(StrEnum):
    """The source of a text. It is permanent: a summary inherits the least trusted origin of its sources."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    WEB = "web"
    OTHER = "other"

    @property
    def trusted(self) -> bool:
        """Whether the text may be an instruction or enter the index page."""
        return self in (Origin.USER, Origin.AGENT)


def worst(origins: Iterable[Origin]) -> Origin:
    """The least trusted. Origins are declared from the most trusted to the least."""
    return max(origins, key=list(Origin).index)


class Source(StrEnum):
    """The way in which a memory was stored."""

    MANUAL = "manual"
    SESSION = "session"
    MIGRATION = "migration"
    CONSOLIDATION = "consolidation"


CRITICAL_FROM = 0.9  # the importance from which a memory is critical
MOST_BELOW_CRITICAL = 0.85  # that an agent or a model gives: what is critical stands in every prompt


class Priority(StrEnum):
    """Importance in words; the same number as `importance`, shown another way."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def importance(self) -> float:
        return {"critical": 0.95, "high": 0.75, "medium": 0.5, "low": 0.25}[self.value]

    @property
    def least(self) -> float:
        """The least importance that still shows as this priority."""
        return {"critical": CRITICAL_FROM, "high": 0.7, "medium": 0.4, "low": 0.0}[self.value]

    @classmethod
    def of(cls, importance: float) -> Priority:
        if importance >= CRITICAL_FROM:
            return cls.CRITICAL
        if importance >= 0.7:
            return cls.HIGH
        return cls.MEDIUM if importance >= 0.4 else cls.LOW


class Decision(StrEnum):
    """The decision about an offer to memory."""

    ADD = "add"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    REFUSE = "refuse"


# What a change may say of itself: the verb that was called, and what was decided about a memory, a conversation or a
# doubt. `Writer.record` writes no other words, and a reader of an export takes no others in.
CHANGE_VERBS = frozenset(
    "remember revise forget expire undo tag consolidate review import migrate doctor restore purge".split()
)
CHANGE_DECISIONS = frozenset(map(str, Decision)) | frozenset(
    "revise correct tag archive expire restore confirm keep discard unsure noop repair purge consolidate reopen "
    "import".split()
)

"""Text generators: from a part of a conversation to a proposal of what to keep of it.

One protocol has three implementations: `extractive_generator.py`, which needs no model;
`language_model_generator.py`, for any model that pydantic-ai supports; and `command_generator.py`, for a program of
the user's. `selection.py` selects one of them by the settings. A generator only proposes:
`consolidation/proposal_checks.py` and the write gate decide about each proposal.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

from picomem.light_dataclass import dataclass
from picomem.records.kinds import Kind, Origin
from picomem.records.session import Role
from picomem.records.spend import Spend

MOST_FACTS = 12
MOST_INVALIDATED = 5
LONGEST_FACT = 500  # characters; also of its quote
LONGEST_TIMELINE = 1_400  # characters; with its time it is within an episode's preview


@dataclass(frozen=True, slots=True)
class PromptLine:
    """A message as a generator sees it: redacted, perhaps cut. `fresh` says that nothing was kept of it yet; the others
    are only to be summarised."""

    number: int
    role: Role
    text: str
    origin: Origin
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class KnownMemory:
    """A memory that the conversation may repeat, extend or contradict; `day` is since when it is true."""

    key: str
    content: str
    day: str = ""


@dataclass(frozen=True, slots=True)
class Hint:
    """Words of a message that may be worth remembering, as a program estimates."""

    message: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """The input for a proposal. `summarise_to` is the number of the last message that the summary shall stand for; 0
    where none is wanted. `summary` is the one before, of all messages before these. `day` is when it was said."""

    lines: tuple[PromptLine, ...]
    known: tuple[KnownMemory, ...] = ()
    hints: tuple[Hint, ...] = ()
    summary: str = ""
    summary_origin: Origin = Origin.AGENT
    summarise_to: int = 0
    day: str = ""
    output_tokens: int = 2_000


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that may become a memory. `quote` are the words of the message of that number that say so. `replaces`
    is the key of a known memory that is no longer true because of it. `is_personal`: it is true in all projects."""

    key: str
    content: str
    importance: float = 0.5
    kind: Kind | None = None
    quote: str = ""
    message: int = 0
    replaces: str = ""
    is_personal: bool = False


@dataclass(frozen=True, slots=True)
class Ending:
    """A known memory that is over, by its key, and the words of the message of that number that say so."""

    key: str
    quote: str = ""
    message: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A generator's suggestion of what to keep: facts, one entry for the timeline, the summary, and the memories that
    are over. `made_of` are the numbers of the messages that timeline and summary are made of; None: any of them."""

    facts: tuple[Fact, ...] = ()
    timeline: str = ""
    summary: str = ""
    invalidate: tuple[Ending, ...] = ()
    made_of: frozenset[int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtedPair:
    """Two memories that may contradict each other, with the days since which they are known."""

    older: KnownMemory
    newer: KnownMemory
    older_day: str
    newer_day: str


class PairRelation(StrEnum):
    """The relation of the newer of two memories to the older one."""

    REPLACES = "replaces"
    BOTH_HOLD = "both"
    SAME = "same"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """A model's judgement of a pair, with the reason."""

    relation: PairRelation
    reason: str


class CallBudget(Protocol):
    """The budget for calls of a model. Reserve the maximum cost before a call; settle the actual cost afterwards."""

    async def reserve(self, most: Spend) -> bool:
        """Reserve this much; False if the budget does not have it."""
        ...

    async def settle(self, spend: Spend) -> None:
        """Replace the last reservation by what the call has cost."""
        ...


class Generator(Protocol):
    """Makes proposals. `name` says which model it is, in records and to people."""

    name: str

    async def propose(self, material: Material, budget: CallBudget) -> Proposal:
        """A proposal. Each call is charged to the budget. Raises GeneratorFailed, also when the budget is exhausted."""
        ...


@runtime_checkable
class Judge(Protocol):
    """A generator that can also be asked how doubted pairs stand to each other."""

    name: str

    async def judge(self, pairs: Sequence[DoubtedPair], budget: CallBudget) -> tuple[PairVerdict, ...]:
        """A verdict for each pair, in order. Raises GeneratorFailed."""
        ...

"""Text generators: from a part of a conversation to a proposal of what to keep of it.

One protocol has three implementations: `ExtractiveGenerator`, which needs no model;
`language_model_generator.py`, for any model that pydantic-ai supports; and `command_generator.py`, for a program of
the user's. `selection.py` selects one of them by the settings. A generator only proposes:
`consolidation/proposal_checks.py` and the write gate decide about each proposal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol, runtime_checkable

from picomem.light_dataclass import dataclass
from picomem.records.kinds import Kind, Origin
from picomem.records.session import Role
from picomem.records.spend import Spend
from picomem.text.terms import terms

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


# A generator without a model: it selects sentences. Pure; the same conversation gives the same text.
#
# A sentence weighs as much as its words weigh in the conversation, more if the user said it, more if it describes a
# decision or a completed action, less if it is only a question. The best sentences that fit are taken, in their order;
# consecutive sentences name their speaker once. Sentences of users and their agents are preferred; only without any
# are those of others taken, and the proposal names the source messages, so that their origin is kept.
#
# It proposes no facts, because a sentence out of its context is not one. Requests to remember something are found
# without a generator (`provenance/requests.py`).

_TIMELINE = 900  # characters
_SUMMARY = 2_400
_LONGEST = 240  # characters of a sentence
_SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Agent"}
_SENTENCE = r"(?<=[.!?])\s+|(?<=[。！？])|\n+"
_TELLING = (
    r"(?i)\b(decid|agree|chose|choos|prefer|because|fixed|found|chang|moved|added|removed|must|never|always|remember|"
    r"deadline|instead|works now|the (cause|problem|reason))|决定|选择|因为|修复|必须|记住|截止"
)
_SHOWN = r"(?ms)^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)"  # code that was shown, not said


@dataclass(frozen=True, slots=True)
class _ScoredSentence:
    place: int
    number: int  # of the message; 0 for the earlier summary
    speaker: str
    text: str
    weight: float


class ExtractiveGenerator:
    """The generator of a system without a model."""

    name = "extractive"

    async def propose(self, material: Material, budget: CallBudget) -> Proposal:  # noqa: ARG002 - the protocol's
        """As `extracted`; it costs nothing and never fails."""
        return extracted(material)


def extracted(material: Material) -> Proposal:
    """A timeline entry of the fresh messages, and a summary of those up to `summarise_to`; either is empty where
    nothing was said in words."""
    trusted = [line for line in material.lines if line.origin.trusted and line.text]
    told = _sentences([line for line in trusted if line.fresh] or [line for line in material.lines if line.fresh])
    timeline = _picked(told, _TIMELINE)
    summary: list[_ScoredSentence] = []
    if material.summarise_to:
        covered = [line for line in material.lines if line.number <= material.summarise_to]
        newer = _picked(_sentences([line for line in covered if line in trusted] or covered), _SUMMARY // 2)
        summary = [*_earlier(material.summary, _SUMMARY - sum(len(sentence.text) for sentence in newer)), *newer]
    return Proposal(
        timeline=_joined(timeline, " "),
        summary=_joined(summary, "\n"),
        made_of=frozenset(sentence.number for sentence in (*timeline, *summary)),
    )


def _sentences(lines: Sequence[PromptLine]) -> list[_ScoredSentence]:
    parts = [(line, part) for line in lines for part in _parts(line.text)]
    spread = Counter(term for _, part in parts for term in set(terms(part)))
    return [
        _ScoredSentence(place, line.number, _SPEAKERS.get(line.role, "Other"), part, _weight(line, part, spread))
        for place, (line, part) in enumerate(parts)
    ]


def _parts(text: str) -> list[str]:
    said = re.sub(_SHOWN, "", text)
    parts = (" ".join(part.split()) for part in re.split(_SENTENCE, said))
    return [_cut(part) for part in parts if any(char.isalnum() for char in part)]


def _weight(line: PromptLine, text: str, spread: Counter[str]) -> float:
    """Return the weight of a sentence per word, so that long sentences do not win by their length alone."""
    words = set(terms(text))
    if len(words) < 2:
        return 0.01 * len(words)  # "Great." is said where nothing else was
    weight = sum(min(spread[term], 4) for term in words) / (4 + len(words))
    weight *= 1.5 if line.role is Role.USER else 1.0
    weight *= 1.5 if re.search(_TELLING, text) else 1.0
    return weight * (0.6 if text.endswith(("?", "？")) else 1.0)


def _picked(sentences: list[_ScoredSentence], room: int) -> list[_ScoredSentence]:
    """The weightiest that fit, each said once, in their order."""
    taken: list[_ScoredSentence] = []
    seen: set[str] = set()
    for sentence in sorted(sentences, key=lambda sentence: (-sentence.weight, sentence.place)):
        cost = len(sentence.text) + len(sentence.speaker) + 3
        if sentence.weight > 0 and cost <= room and sentence.text.casefold() not in seen:
            seen.add(sentence.text.casefold())
            taken.append(sentence)
            room -= cost
    return sorted(taken, key=lambda sentence: sentence.place)


def _earlier(summary: str, room: int) -> list[_ScoredSentence]:
    """Of the summary before, the end that fits: it was made of the weightiest already, and what is older fades."""
    kept: list[_ScoredSentence] = []
    for place, line in enumerate(reversed([line for line in summary.splitlines() if line.strip()])):
        if len(line) > room:
            break
        room -= len(line) + 1
        kept.append(_ScoredSentence(-1 - place, 0, "", line.strip(), 0.0))
    return kept[::-1]


def _joined(sentences: Sequence[_ScoredSentence], between: str) -> str:
    """The sentences as a text; who speaks stands before the first of several."""
    told: list[str] = []
    speaker = ""
    for sentence in sentences:
        if sentence.speaker and (sentence.speaker != speaker or between == "\n"):
            told.append(f"{sentence.speaker}: {sentence.text}")
        else:
            told.append(sentence.text)
        speaker = sentence.speaker
    return between.join(told)


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    head = text[: _LONGEST - 1]
    return (head.rpartition(" ")[0] or head) + "…"

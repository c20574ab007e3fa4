"""A generator without a model: it selects sentences. Pure; the same conversation gives the same text.

A sentence weighs as much as its words weigh in the conversation, more if the user said it, more if it describes a
decision or a completed action, less if it is only a question. The best sentences that fit are taken, in their order;
consecutive sentences name their speaker once. Sentences of users and their agents are preferred; only without any are
those of others taken, and the proposal names the source messages, so that their origin is kept.

It proposes no facts, because a sentence out of its context is not one. Requests to remember something are found without
a generator (`provenance/requests.py`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from picomem.light_dataclass import dataclass
from picomem.models.generator import CallBudget, Material, PromptLine, Proposal
from picomem.records.session import Role
from picomem.text.terms import terms

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

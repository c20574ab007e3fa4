"""Finds the sentences of a user's message that look worth remembering. Pure, except for the weights that it reads.

An explicit request ("remember that …") becomes a memory, and `provenance/requests.py` finds it. Most of what lasts is
said in passing: "we went with Svelte for the portal". For each sentence of the person's own words a small classifier
estimates how likely it is to last (training/README.md). On real sessions it is right about half of the time, so what
it finds is a suggestion (memory/suggestions.py), and never a memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import islice

from picomem.light_dataclass import dataclass
from picomem.models.classifier import load
from picomem.policy.sentence_signals import observe
from picomem.provenance.requests import Candidate
from picomem.provenance.sentences import own_sentences
from picomem.records.episode import SuggestedSpan
from picomem.records.transcript import Turn
from picomem.text.terms import is_cjk, terms

LEAST = 0.05  # estimate of what is kept: nine of ten sentences that last have it, and a third of the others
_LONGEST = 500
_FEWEST_TERMS = 2
_FEWEST_WORDS = 3
_FEWEST_CJK = 5  # characters


@dataclass(frozen=True, slots=True)
class OwnSentence:
    """A sentence of a user's, its place in their turn, and the question of a form that it answers."""

    start: int
    end: int
    text: str
    question: str


def find_sentences(turn: Turn, requests: Iterable[Candidate]) -> list[OwnSentence]:
    """The sentences of a turn that mean something by themselves and that none of its requests contains."""
    taken = [(request.start, request.end) for request in requests]
    return [
        OwnSentence(start, end, said, turn.question_of(start, end))
        for start, end, said in own_sentences(turn.text)
        if not any(start < last and first < end for first, last in taken) and _can_stand(said)
    ]


def find_suggested(turns: Sequence[Sequence[OwnSentence]]) -> list[list[SuggestedSpan]]:
    """Those sentences of each turn that look worth remembering. An answer to a form is judged with its question."""
    observed = observe(f"{sentence.question} {sentence.text}".strip() for turn in turns for sentence in turn)
    estimates = iter(load("durable").probabilities(observed, "durable") if observed else ())
    return [
        [
            SuggestedSpan(sentence.start, sentence.end, estimate, sentence.question)
            for sentence, estimate in zip(turn, islice(estimates, len(turn)), strict=True)
            if estimate >= LEAST
        ]
        for turn in turns
    ]


def _can_stand(said: str) -> bool:
    """Return whether a sentence has words enough to mean something by itself, and lost no secret."""
    if "[redacted:" in said or len(said) > _LONGEST:
        return False
    if is_cjk(said):
        return len(re.findall(r"[\u3400-\u9fff\u3040-\u30ff]", said)) >= _FEWEST_CJK
    return len(said.split()) >= _FEWEST_WORDS and len(terms(said)) >= _FEWEST_TERMS

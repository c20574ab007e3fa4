"""How sure recall is that it has an answer, from the best of what it found.

The confidence is a share, 0–1: of questions with so much of it, about that many have some of their answer among the
first five hits (benchmarks/README.md, “Knowing when nothing is known”). A logistic function weighs four signs. Its
weights stand in confidence.json; `python -m training.confidence` fits them.

No sign depends on how much is stored: a decision that is the only memory answers its question as surely as one among
thousands. So a term counts by what it says in the language, and by its rarity here only as far as that can be told.

A turn seldom repeats what the talk is about: “the annotation epic” was named some turns before “87 tests, 0 failures”.
So a term of the question that the hit lacks counts in part if a turn beside it holds the term, and a little if the same
session does. Another word in a term's place counts as little: “strip” is no sign of “Stripe”.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import exp
from pathlib import Path

from picomem.light_dataclass import dataclass, field
from picomem.recall.answer_kinds import lacks_kind
from picomem.recall.question_form import KEYWORDS, asks, is_search_phrase
from picomem.recall.rank import is_adjacent
from picomem.records.hit import Signs
from picomem.store.search import EpisodePlace
from picomem.text.likeness import holds_words

WEIGHTS = Path(__file__).with_name("confidence.json")
SIGNS = ("fit", "lead", "asks", "lacks")  # the fields of Signs
FIRST = 5  # hits among which the one that fits best is sought: as many as the confidence speaks of
LOOKED = 20  # how far down the words of a named speaker are looked for
IN_OTHER_WORDS = 0.3  # what a near word, or a near spelling, counts beside the term itself
_BESIDE = 0.3  # what a term counts that only a turn beside the hit holds
_IN_SESSION = 0.2  # … that only another turn of the session holds


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedHit:
    """What a hit has of a question.

    `held` are the question's terms in it, each with 1, or less for another word in its place; `surrounding` those in
    the turns beside it and in its session, each with what it counts. `near` is its likeness, 0–1. `own` marks the words
    of a speaker whom the question names. `statement` is the text of a memory.
    """

    held: Mapping[str, float]
    surrounding: Mapping[str, float] = field(default_factory=dict)
    near: float = 0.0
    own: bool = False
    statement: str = ""


def read_signs(
    question: str, best: Sequence[JudgedHit], worth: Mapping[str, float], named: Collection[str] = ()
) -> Signs | None:
    """The signs of an answer in the best hits, in their order, to a question whose terms have this `worth`; None of no
    hits.

    `named` are those terms that name a speaker: what that one said is marked as `own`, and seldom holds the name.
    """
    if not best:
        return None
    about = {term: weight for term, weight in worth.items() if term not in named}
    looked = best[:LOOKED]
    theirs = [candidate for candidate in looked if candidate.own] if named else []
    lead = _most(theirs, about) - _most([one for one in looked if not one.own], about) if theirs else 0.0
    first = max(theirs or best[:FIRST], key=lambda candidate: _fit(candidate, about))
    return signs_of(question, _fit(first, about), first.statement, lead)


def signs_of(question: str, fit: float, statement: str = "", lead: float = 0.0) -> Signs:
    """The signs of an answer that holds so much of a question, 0–1; `statement` is its text, if it stands alone. A text
    that asks nothing is looked for all the same where the answer says it word for word."""
    is_sought = is_search_phrase(question) or (bool(statement) and holds_words(statement, question))
    return Signs(
        fit=fit,
        lead=lead,
        asks=asks(question) or (KEYWORDS if is_sought else 0.0),
        lacks=float(bool(statement) and lacks_kind(question, statement)),
    )


def surrounding_terms(
    docs: Collection[int], places: Collection[EpisodePlace], terms: Mapping[int, Collection[str]]
) -> dict[int, dict[str, float]]:
    """Return for each of these episodes the terms that the turns beside it and the others of its session hold, with
    what each counts. `terms` are those of every episode."""
    session: dict[str, set[str]] = {place.transcript: set() for place in places if place.doc in docs}
    beside: dict[int, set[str]] = {doc: set() for doc in docs}
    rows = sorted(place for place in places if place.transcript in session)
    for place in rows:
        session[place.transcript].update(terms.get(place.doc, ()))
    for one, other in pairwise(rows):
        if one.transcript == other.transcript and is_adjacent(one, other):
            for doc, neighbour in ((one.doc, other.doc), (other.doc, one.doc)):
                if doc in beside:
                    beside[doc].update(terms.get(neighbour, ()))
    return {
        place.doc: dict.fromkeys(session[place.transcript], _IN_SESSION) | dict.fromkeys(beside[place.doc], _BESIDE)
        for place in rows
        if place.doc in docs
    }


def confidence(signs: Signs) -> float:
    """How likely an answer with these signs holds what was asked for."""
    weights = _weights()
    logit = weights["bias"] + sum(weights[name] * value for name, value in zip(SIGNS, inputs(signs), strict=True))
    return round(1 / (1 + exp(-logit)), 4)


def inputs(signs: Signs) -> tuple[float, ...]:
    """What the logistic function weighs, in the order of SIGNS: words that are shared, or a kind of answer that lacks,
    mean nothing of a text that asks nothing."""
    fit = signs.fit * signs.asks
    return fit, signs.lead, signs.asks, fit * signs.lacks


@lru_cache(maxsize=1)
def _weights() -> Mapping[str, float]:
    return json.loads(WEIGHTS.read_bytes())


def _fit(candidate: JudgedHit, about: Mapping[str, float]) -> float:
    held, around = candidate.held, candidate.surrounding
    shares = {term: max(held.get(term, 0.0), around.get(term, 0.0)) for term in about}
    return round(1 - (1 - _covered(shares, about)) * (1 - candidate.near), 4)


def _most(candidates: Sequence[JudgedHit], about: Mapping[str, float]) -> float:
    return max((_covered(candidate.held, about) for candidate in candidates), default=0.0)


def _covered(shares: Mapping[str, float], about: Mapping[str, float]) -> float:
    """The share of the question that is held, 0–1, of these shares of its terms."""
    total = sum(about.values())
    return sum(share * about.get(term, 0.0) for term, share in shares.items()) / total if total else 0.0

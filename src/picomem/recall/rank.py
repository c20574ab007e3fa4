"""Ranking: from what each leg found to one order. Pure; what each part weighs, and why, stands in weights.py.

An episode's score is made of

    words      Σ idf·frequency over the question's terms in it (BM25, weighed by the user's own documents)
  + context    what its neighbours in the transcript have, for a short turn says little without them
  + session    what its whole transcript has, so that evidence spread over a talk counts
  ──────────── divided by the best of the question, so 1 is the best that words found
  + meaning    the likeness of its vector, scaled between the middling and the best; a static model's less for short
               texts
  × own        more for the words of the one whom the question is about (speaker.py)
  + time       a bonus inside the time that the question names
  + recent     a little, falling with age, where the text goes on with something rather than asks

A sum of normalised scores keeps how much better one hit is than the next; ranks would throw that away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from heapq import nlargest

from picomem.clock import DAY, Micros
from picomem.recall.weights import WEIGHTS, Weights
from picomem.store.search import SATURATION, Place
from picomem.values import dataclass, field

SHORT = 30.0  # tokens of a turn that says half of what it means by itself
RECENT_HALF = 30 * DAY
# How many of the words' best are looked at more closely; below that, context cannot lift a hit to the top.
CANDIDATES = 400


@dataclass(slots=True)
class Evidence:
    """What is known of one document before it is scored."""

    words: dict[str, float] = field(default_factory=dict)
    context: float = 0.0
    session: float = 0.0
    meaning: float = 0.0  # its likeness beside that of the others
    near: float = 0.0  # its likeness, 0 for unrelated texts, 1 for the same said twice
    own: bool = False  # said by the one whom the question is about
    recent: float = 0.0  # 1 now, half of it after RECENT_HALF; 0 where it does not matter
    in_window: float = 0.0  # 1 inside a time that is certainly asked for, less inside one that perhaps is
    score: float = 0.0


def best_by_words(totals: Mapping[int, float], count: int = CANDIDATES) -> list[int]:
    """The documents that the words like best; a tie goes to the later one."""
    least = nlargest(count, totals.values())[-1] if len(totals) > count else 0.0
    best = [(-total, -doc) for doc, total in totals.items() if total >= least]
    return [-doc for _, doc in sorted(best)[:count]]


def session_scores(
    places: Iterable[Place], parts: Mapping[int, Mapping[str, float]], idf: Mapping[str, float]
) -> dict[str, float]:
    """How much each transcript has of the question as a whole.

    The frequencies of a term in its episodes are added up and saturated again, as if they were one document. An
    episode's own words are among them: without them a greeting beside the answer would be lifted above it.
    """
    sums: dict[str, dict[str, float]] = {}
    for place in places:
        terms = sums.setdefault(place.transcript, {})
        for term, weight in parts.get(place.doc, {}).items():
            terms[term] = terms.get(term, 0.0) + weight
    k1 = SATURATION - 1
    return {
        transcript: sum(
            weight * SATURATION / (weight / (idf.get(term, 1.0) or 1e-9) + k1) for term, weight in terms.items()
        )
        for transcript, terms in sums.items()
    }


def context_scores(
    places: Iterable[Place], parts: Mapping[int, Mapping[str, float]], weights: Weights = WEIGHTS
) -> dict[int, float]:
    """What each episode's two neighbours have of the question, less for an episode that is long itself."""
    by_transcript: dict[str, list[Place]] = {}
    for place in places:
        by_transcript.setdefault(place.transcript, []).append(place)
    scores: dict[int, float] = {}
    for row in by_transcript.values():
        row.sort(key=lambda place: (place.first_turn, place.part))
        own = [sum(parts.get(place.doc, {}).values()) for place in row]
        for i, place in enumerate(row):
            before = own[i - 1] if i and _adjacent(row[i - 1], place) else 0.0
            after = own[i + 1] if i + 1 < len(row) and _adjacent(place, row[i + 1]) else 0.0
            if before or after:
                scores[place.doc] = weights.context * SHORT / (SHORT + place.tokens) * (before + after)
    return scores


def _adjacent(one: Place, other: Place) -> bool:
    same_turn = other.first_turn == one.last_turn and other.part == one.part + 1
    return same_turn or (other.first_turn == one.last_turn + 1 and other.part == 0)


def meaning_scores(
    likeness: Mapping[int, float], middling: float, tokens: Mapping[int, int], *, reads_sentences: bool = False
) -> dict[int, float]:
    """Cosines, brought to 0–1 between the middling and the best of the question; less for a short text, unless the
    model `reads_sentences`: the mean of a few words' vectors says little, but a sentence may be short and clear."""
    best = max(likeness.values(), default=0.0)
    span = best - middling
    if span <= 0:
        return {}
    return {
        doc: max(0.0, (value - middling) / span) * (1.0 if reads_sentences else tokens[doc] / (tokens[doc] + SHORT))
        for doc, value in likeness.items()
        if doc in tokens
    }


def recency(started_at: Micros | None, now: Micros) -> float:
    """1 for what is said now, a half after RECENT_HALF, a quarter after twice that; 0 without a time."""
    return 0.0 if started_at is None else 0.5 ** (max(0, now - started_at) / RECENT_HALF)


def fuse(
    evidence: dict[int, Evidence],
    idf: Mapping[str, float],
    *,
    reads_sentences: bool = False,
    weights: Weights = WEIGHTS,
) -> list[int]:
    """Score every document; the order, best first. A tie goes to the later one.

    The more of the question its best match by words holds, the less there is left for a mean of words to decide; what
    a model says that `reads_sentences` counts as much as the words.
    """
    doubt = 1 - max((covered(found, idf) for found in evidence.values()), default=0.0)
    raw = {
        doc: sum(found.words.values()) + found.context + weights.session * found.session
        for doc, found in evidence.items()
    }
    best = max(raw.values(), default=0.0) or 1.0
    meaning = weights.sentences if reads_sentences else weights.meaning * doubt
    for doc, found in evidence.items():
        fit = raw[doc] / best + meaning * found.meaning
        found.score = (
            fit * (1 + weights.own * found.own) + weights.time * found.in_window + weights.recent * found.recent
        )
    return sorted(evidence, key=lambda doc: (-evidence[doc].score, -doc))


def fit(found: Evidence, idf: Mapping[str, float]) -> float:
    """How far a hit is about the question, 0–1: its words cover what the question is about (the share of the
    question's weight that it holds), or its meaning is near."""
    return round(1 - (1 - covered(found, idf)) * (1 - found.near), 4)


def nearness(cosine: float, marks: tuple[float, float]) -> float:
    """A cosine, brought to 0–1 between the two marks of its model (see models/embedder.py)."""
    unrelated, same = marks
    return min(1.0, max(0.0, (cosine - unrelated) / (same - unrelated)))


def covered(found: Evidence, idf: Mapping[str, float]) -> float:
    """The share of the question's weight that a hit's own words hold, 0–1.

    A near spelling has less weight than the word that it stands for, and counts for no more than that.
    """
    total = sum(idf.values())
    return sum(min(idf.get(term, 0.0), weight) for term, weight in found.words.items()) / total if total else 0.0


def within_budget(tokens: list[int], budget: int | None) -> int:
    """How many of a list of results fit a budget: they are taken in order until one does not."""
    if budget is None:
        return len(tokens)
    used = 0
    for count, cost in enumerate(tokens):
        used += cost
        if used > budget:
            return count
    return len(tokens)

"""Ranking: from what each leg found to one order. Pure; what each part weighs, and why, stands in weights.py.

An episode's score is made of

    words      Σ idf·frequency over the question's terms in it (BM25, weighed by the user's own documents)
  + context    what its neighbours in the transcript have, for a short turn says little without them
  + session    what its whole transcript has, so that evidence spread over a talk counts
  ──────────── divided by the best of the question, so 1 is the best that words found
  + meaning    the likeness of its vector, scaled between the middling and the best; a static model's less for short
               texts. With a sentence model's, the sum is again divided by the best of the question
  × own        more for the words of the one whom the question is about (speaker.py)
  + time       a bonus inside the time that the question names, in proportion to the best of the question
  or event     the same for telling of what happened in that time, whenever it was told
  + recent     a little, falling with age, where the text goes on with something rather than asks

A sum of normalised scores keeps how much better one hit is than the next; ranks would throw that away.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from itertools import pairwise

from picomem.clock import DAY, Micros
from picomem.light_dataclass import dataclass, field
from picomem.recall.vector_search import Distribution
from picomem.recall.weights import WEIGHTS, Weights
from picomem.store.search import SATURATION, EpisodePlace

SHORT = 30.0  # tokens of a turn that says half of what it means by itself
RECENT_HALF = 30 * DAY
# How many of the best by words, and by meaning, are looked at more closely. A question among 100,000 texts costs a
# sixth less than with 400; of nine sets two find a thousandth or three more, one as much less, one a note of 120 less.
CANDIDATES = 200
# Tokens of a session that halve what its next passage weighs: as many as a default call hands out. Ten short turns take
# little from each other, three long ones a quarter. With 1,500 long talks gain more (benchmarks/README.md), and a
# question whose answer lies in several records of one session loses more.
HELD_BACK_HALF = 2_000
FEW = 20  # documents that say as much of what is unrelated here as the model does by itself
ENOUGH = 400  # documents beside which the model need not be asked
# How many spreads above the middling cosine lie texts as good as unrelated, and texts that say the same: with the
# default model (of short chats, notes and talk) and with a sentence model alike, whose cosines are ten times closer.
_OF_USER = (3.0, 10.0)
_OF_UNRELATED = (5.4, 13.3)
_LEAST_SPREAD = 0.005


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for one document."""

    words: Mapping[str, float] = field(default_factory=dict)
    context: float = 0.0
    session: float = 0.0
    meaning: float = 0.0  # its likeness beside that of the others
    near: float = 0.0  # its likeness, 0 for unrelated texts, 1 for the same said twice
    own: bool = False  # said by the one whom the question is about
    in_window: float = 0.0  # 1 inside a time that is certainly asked for, less inside one that perhaps is
    event: float = 0.0  # how likely what it tells of happened in that time


@dataclass(slots=True, kw_only=True)
class Signals:
    """The scores of a question's documents by each part of ranking. A missing document has no score.

    Each is kept by itself, for a question looks at a thousand documents and hands out ten.
    """

    totals: Mapping[int, float]  # of the words together
    words: Mapping[int, Mapping[str, float]]
    context: Mapping[int, float] = field(default_factory=dict)
    session: Mapping[int, float] = field(default_factory=dict)
    meaning: Mapping[int, float] = field(default_factory=dict)
    near: Mapping[int, float] = field(default_factory=dict)
    similar: Collection[int] = frozenset()  # those whose likeness stands out enough for a match
    own: Collection[int] = frozenset()
    in_window: Mapping[int, float] = field(default_factory=dict)
    event: Mapping[int, float] = field(default_factory=dict)
    recent: Mapping[int, float] = field(default_factory=dict)  # 1 now, half of it after RECENT_HALF

    def evidence(self, doc: int) -> Evidence:
        return Evidence(
            self.words.get(doc, {}),
            self.context.get(doc, 0.0),
            self.session.get(doc, 0.0),
            self.meaning.get(doc, 0.0),
            self.near.get(doc, 0.0),
            doc in self.own,
            self.in_window.get(doc, 0.0),
            self.event.get(doc, 0.0),
        )


def best_by_words(totals: Mapping[int, float], count: int = CANDIDATES) -> list[int]:
    """The documents that the words like best; a tie goes to the later one."""
    least = nlargest(count, totals.values())[-1] if len(totals) > count else 0.0
    best = [(-total, -doc) for doc, total in totals.items() if total >= least]
    return [-doc for _, doc in sorted(best)[:count]]


def session_scores(
    places: Iterable[EpisodePlace],
    parts: Mapping[int, Mapping[str, float]],
    idf: Mapping[str, float],
    nearly: Mapping[str, Collection[int]],
) -> dict[str, float]:
    """Return how much each transcript has of the question as a whole.

    The frequencies of a term in its episodes are added up and saturated again, as if they were one document. An
    episode's own words are among them: without them a greeting beside the answer would be lifted above it. Other words
    in a term's place, which the documents in `nearly` have, say no more for being many: the best of them counts.
    """
    sums: dict[str, dict[str, float]] = {}
    by_others: dict[tuple[str, str], float] = {}
    for place in places:
        if place.doc in parts:
            terms = sums.setdefault(place.transcript, {})
            for term, weight in parts[place.doc].items():
                if place.doc in nearly.get(term, ()):
                    by_others[place.transcript, term] = max(weight, by_others.get((place.transcript, term), 0.0))
                else:
                    terms[term] = terms.get(term, 0.0) + weight
    for (transcript, term), weight in by_others.items():
        sums[transcript][term] = max(weight, sums[transcript].get(term, 0.0))
    k1 = SATURATION - 1
    return {
        transcript: sum(
            weight * SATURATION / (weight / (idf.get(term, 1.0) or 1e-9) + k1) for term, weight in terms.items()
        )
        for transcript, terms in sums.items()
    }


def context_scores(
    places: Iterable[EpisodePlace], totals: Mapping[int, float], weights: Weights = WEIGHTS
) -> dict[int, float]:
    """What each episode's two neighbours have of the question, less for an episode that is long itself. `totals` is
    how much each has of it."""
    beside: dict[int, float] = {}
    row = sorted(places)
    shares = [totals.get(place.doc, 0.0) for place in row]
    for (one, before), (other, after) in pairwise(zip(row, shares, strict=True)):
        if (before or after) and one.transcript == other.transcript and is_adjacent(one, other):
            beside[one.doc] = beside.get(one.doc, 0.0) + after
            beside[other.doc] = beside.get(other.doc, 0.0) + before
    return {
        place.doc: weights.context * SHORT / (SHORT + place.tokens) * beside[place.doc]
        for place in row
        if beside.get(place.doc)
    }


def is_adjacent(one: EpisodePlace, other: EpisodePlace) -> bool:
    """Return whether an episode directly follows another one of the same transcript."""
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


def spread(
    ranked: Sequence[tuple[int, float]], places: Mapping[int, EpisodePlace], groups: Collection[str] = ()
) -> list[tuple[int, float]]:
    """Ranked documents with their shares, each held back by what better ones of its session hand out: by a half after
    HELD_BACK_HALF tokens. The more of a talk is there already, the less a further passage of it adds.

    `groups` are the transcripts of which that is not so: several people, or the sources of a log, seldom say the same.
    """
    tokens: dict[str, int] = {}
    held_back: list[tuple[int, float]] = []
    for doc, share in ranked:
        place = places[doc]
        before = tokens.get(place.transcript, 0)
        if place.transcript not in groups:
            tokens[place.transcript] = before + place.tokens
        held_back.append((doc, round(share * 0.5 ** (before / HELD_BACK_HALF), 4)))
    return sorted(held_back, key=lambda doc_and_share: -doc_and_share[1])


def recency(started_at: Micros | None, now: Micros) -> float:
    """1 for what is said now, a half after RECENT_HALF, a quarter after twice that; 0 without a time."""
    return 0.0 if started_at is None else 0.5 ** (max(0, now - started_at) / RECENT_HALF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fusion:
    """The score of every document, and what its parts were divided by and weighed with."""

    scores: dict[int, float]
    words: float  # the best of the question by words, context and session, which counts as 1
    meaning: float  # what likeness weighs
    sum: float  # what the sum of both was divided by
    best: float  # what a time that is certainly asked for is worth


def parts_of(doc: int, fusion: Fusion, signals: Signals, weights: Weights = WEIGHTS) -> dict[str, float]:
    """What each part of ranking adds to the score of one document; parts that add nothing are left out."""
    scale = fusion.words * fusion.sum
    parts = {
        "words": signals.totals.get(doc, 0.0) / scale,
        "neighbours": (signals.context.get(doc, 0.0) + weights.session * signals.session.get(doc, 0.0)) / scale,
        "meaning": fusion.meaning * signals.meaning.get(doc, 0.0) / fusion.sum,
    }
    parts["speaker"] = weights.own * sum(parts.values()) if doc in signals.own else 0.0
    inside = signals.in_window.get(doc, 0.0)
    asked = weights.time * (fusion.best if inside == 1.0 else inside)
    parts["time"] = max(asked, weights.events * fusion.best * signals.event.get(doc, 0.0))
    parts["time"] += weights.recent * signals.recent.get(doc, 0.0)
    return {name: value for name, value in parts.items() if value > 0}


def fuse(
    docs: Iterable[int],
    signals: Signals,
    idf: Mapping[str, float],
    *,
    reads_sentences: bool = False,
    weights: Weights = WEIGHTS,
) -> Fusion:
    """Score every document.

    The more of the question its best match by words holds, the less there is left for meaning to decide: for a mean of
    words nothing in the end, for what a model says that `reads_sentences` a part.
    """
    totals, context, session = signals.totals, signals.context, signals.session
    raw = {doc: totals.get(doc, 0.0) + context.get(doc, 0.0) + weights.session * session.get(doc, 0.0) for doc in docs}
    words = max(raw.values(), default=0.0) or 1.0
    scores = {doc: value / words for doc, value in raw.items()}
    meaning, whole = 0.0, 1.0
    if likeness := signals.meaning:
        doubt = left_open(signals.words, idf)
        meaning = weights.sentences * (weights.regardless + doubt) if reads_sentences else weights.meaning * doubt
        scores = {doc: fit + meaning * likeness.get(doc, 0.0) for doc, fit in scores.items()}
        if reads_sentences:  # else a time that is asked for would weigh half of what it does beside words alone
            whole = max(scores.values(), default=0.0) or 1.0
            scores = {doc: fit / whole for doc, fit in scores.items()}
    own, in_window, event, recent = signals.own, signals.in_window, signals.event, signals.recent
    if not (own or in_window or event or recent):
        return Fusion(scores=scores, words=words, meaning=meaning, sum=whole, best=1.0)
    scores = {doc: fit * (1 + weights.own * (doc in own)) for doc, fit in scores.items()}
    # What is certainly asked for is worth the best of the question, also where that has the asker's own words.
    best = max(1.0, max(scores.values(), default=0.0))
    within = {doc: best if weight == 1.0 else weight for doc, weight in in_window.items()}
    scores = {
        doc: fit
        + max(weights.time * within.get(doc, 0.0), weights.events * best * event.get(doc, 0.0))
        + weights.recent * recent.get(doc, 0.0)
        for doc, fit in scores.items()
    }
    return Fusion(scores=scores, words=words, meaning=meaning, sum=whole, best=best)


def best_first(scores: Mapping[int, float]) -> list[int]:
    """The documents in the order of their scores. A tie goes to the later one."""
    return sorted(sorted(scores, reverse=True), key=scores.__getitem__, reverse=True)


def left_open(parts: Mapping[int, Mapping[str, float]], idf: Mapping[str, float]) -> float:
    """The share of the question's weight that not even the best match by words holds, 0–1."""
    return 1 - max((covered(words, idf) for words in parts.values()), default=0.0)


def fit(evidence: Evidence, idf: Mapping[str, float]) -> float:
    """Return how far a hit is about the question, 0–1: its words cover what the question is about (the share of the
    question's weight that it holds), or its meaning is near."""
    return round(1 - (1 - covered(evidence.words, idf)) * (1 - evidence.near), 4)


def nearness(cosine: float, marks: Sequence[float]) -> float:
    """A cosine, brought to 0–1 between two marks: of texts as good as unrelated, and of texts that say the same."""
    unrelated, same = marks
    return min(1.0, max(0.0, (cosine - unrelated) / (same - unrelated)))


def marks_between(here: Distribution, unrelated: Distribution) -> tuple[float, float, float]:
    """The marks of a question, by how its cosines with the user's texts lie: above the first a text is a match, above
    the second `nearness` begins, and the third has what says the same.

    What cosine unrelated texts have, and how far it varies, differs from model to model (0.1 ± 0.1 or 0.8 ± 0.02), and
    from one question to the next. Of few texts the middling one may be the answer, so they are weighed with texts that
    are `unrelated` for certain. Those have less in common than the texts of one user, so their marks lie higher.
    """
    share = here.documents / (here.documents + FEW) if unrelated.documents else 1.0
    known, other = _marks(here, _OF_USER), _marks(unrelated, _OF_UNRELATED)
    match, low, high = (share * mine + (1 - share) * others for mine, others in zip(known, other, strict=True))
    return match, low, high


def _marks(here: Distribution, spreads: tuple[float, float]) -> tuple[float, float, float]:
    """The cosines so many spreads above the middling one, and one halfway to the first. Halfway to 1 no text is
    unrelated, and nothing is above 1."""
    low, high = (here.middling + many * max(here.spread, _LEAST_SPREAD) for many in spreads)
    low = min(low, (here.middling + 1) / 2)
    return (here.middling + low) / 2, low, min(high, 1.0)


def covered(words: Mapping[str, float], idf: Mapping[str, float]) -> float:
    """The share of the question's weight that words hold, 0–1.

    A near spelling has less weight than the word that it stands for, and counts for no more than that.
    """
    total = sum(idf.values())
    return sum(min(idf.get(term, 0.0), weight) for term, weight in words.items()) / total if total else 0.0


def within_budget(tokens: list[int], budget: int | None) -> int:
    """Return how many of a list of results fit a budget: they are taken in order until one does not."""
    if budget is None:
        return len(tokens)
    used = 0
    for count, cost in enumerate(tokens):
        used += cost
        if used > budget:
            return count
    return len(tokens)

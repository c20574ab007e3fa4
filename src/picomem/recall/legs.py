"""The state of recall for one question: what the legs (the searches that recall combines) share, and their results.

Recall never fails because one leg failed: an error of a leg is only recorded, in `legs`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt, EmbedderFailed, StoreError
from picomem.light_dataclass import dataclass, field, replace
from picomem.recall import rank
from picomem.recall.confidence import IN_OTHER_WORDS, LOOKED, JudgedHit, confidence, read_signs, surrounding_terms
from picomem.recall.filters import Wanted
from picomem.recall.lexical_search import Corpus, WordMatches, match_substrings, match_words
from picomem.recall.question import Question
from picomem.recall.rank import Evidence, Fusion, Signals
from picomem.recall.vector_search import Cosines, Distribution, VectorSearch
from picomem.recall.weights import Weights
from picomem.records.episode import Transcript
from picomem.records.hit import Signs
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.search import EpisodePlace
from picomem.store.tables import transcript_rows

if TYPE_CHECKING:
    from picomem.models.static_embedder import Lexicon
    from picomem.recall.earlier_words import EarlierWords
    from picomem.recall.time_window import TimeWindow

_SUBSTRING_CONFIDENCE = 0.4  # a string that occurs somewhere inside other words says little
_WINDOW_CONFIDENCE = 0.3  # something was said at that time, whether or not it is what was meant
_LEAST_CONFIDENCE = 0.05  # of what only its neighbours fit: little, but enough to tell ranks apart
_FIRST = 3  # the hit that fits best may stand behind one that the talk around it lifted
NOTHING_NEAR = Cosines({}, Distribution())
_LEG_NAMES = {"memory": "memories", "episode": "episodes"}


@dataclass(slots=True)
class RecallState:
    """What recall knows of one question, in one snapshot of a store."""

    tx: Transaction
    scope: Scope
    question: Question
    wanted: Wanted
    now: Micros
    vectors: VectorSearch | None
    lexicon: Lexicon | None
    weights: Weights
    without_vectors: str
    legs: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    spelled: dict[str, set[str]] = field(default_factory=dict)  # by term of the question, the near spellings of it
    matched: dict[str, dict[str, float]] = field(default_factory=dict)  # by hit, its terms and what each weighs
    taken_from: dict[str, str] = field(default_factory=dict)  # by memory, the episode in which it was said
    replaced_by: dict[str, str] = field(default_factory=dict)  # by episode of an older statement, the newer memory
    stated: dict[str, str] = field(default_factory=dict)  # by hit, the words of a statement in it
    allowed: Collection[str] | None = None  # the transcripts that may answer; None for all of them
    memory_weight: float = 1.0  # what the shares of memories were multiplied with
    listed: list[Memory] = field(default_factory=list)  # the memories among the hits
    empty_window: TimeWindow | None = None  # the time that the question names, where no episode is of it
    episodes: int | None = None  # how many the user has; None where they were not looked at
    confidence: float = 0.0
    signs: Signs | None = None  # of the source that the confidence is of

    def words(self, source: str, total: int, earlier: EarlierWords | None = None) -> WordMatches:
        leg = _LEG_NAMES[source] + " by words"
        where = Corpus(self.tx, self.scope, source, total, self.lexicon, self.weights, earlier)
        failure = ""
        try:
            try:
                matches = self._matched(where)
            except StoreError as error:  # of full text, which the texts themselves stand in for
                matches, failure = match_substrings(where, self.question), f"; full text failed: {error}"
        except StoreError as error:
            self.legs[leg] = f"failed: {error}"
            return WordMatches()
        self.legs[leg] = f"{len(matches.totals)}" + (" by substring" if matches.substring else "") + failure
        for term, spellings in matches.spelled.items():
            self.spelled.setdefault(term, set()).update(spellings)
        return matches

    def _matched(self, where: Corpus) -> WordMatches:
        try:
            return match_words(where, self.question)
        except ModuleNotFoundError:  # of the lexicon's model; the words themselves need none
            return match_words(replace(where, lexicon=None), self.question)

    def near(self, source: str, total: int) -> Cosines:
        leg = _LEG_NAMES[source] + " by vector"
        if self.vectors is None or not self._vector_weight(self.vectors):
            self.legs[leg] = self.without_vectors if self.vectors is None else "off"
            return NOTHING_NEAR
        if not total or not self.question.text.strip():
            self.legs[leg] = "0"
            return NOTHING_NEAR
        try:
            near = self.vectors.nearest(self.tx, self.scope, source, self.question.text, rank.CANDIDATES)
            if near.nearest and near.all.documents < rank.ENOUGH:
                near = replace(near, unrelated=self.vectors.unrelated)
        except (StoreError, EmbedderFailed, ModuleNotFoundError) as error:
            self.legs[leg] = f"failed: {error}"
            return NOTHING_NEAR
        partial = f"; partial: {near.all.documents:,} of {total:,} have a vector" if near.all.documents < total else ""
        self.legs[leg] = f"{len(near.nearest)}{partial}"
        return near

    def count_only(self, allowed: Collection[int], words: WordMatches, near: Cosines) -> None:
        """Count no other episode than these: how many a withheld session has for a word tells what was said there."""
        docs_by_leg = {"words": words.totals, "vector": near.nearest}
        for leg, docs in docs_by_leg.items():
            name = f"{_LEG_NAMES['episode']} by {leg}"
            if self.legs[name][:1].isdigit():
                self.legs[name] = f"{sum(doc in docs for doc in allowed)}"

    def add_meaning(self, signals: Signals, near: Cosines, tokens: Mapping[int, int]) -> None:
        """Add the similarity by vectors of the documents in `tokens`."""
        if self.vectors is None or not near.nearest:
            return
        model = self.vectors.embedder
        trust = model.trust(self.question.text)
        likeness = rank.meaning_scores(near.nearest, near.all.middling, tokens, reads_sentences=model.reads_sentences)
        signals.meaning = {doc: trust * value for doc, value in likeness.items()}
        match, *marks = rank.marks_between(near.all, near.unrelated)
        signals.near = {doc: trust * rank.nearness(cosine, marks) for doc, cosine in near.nearest.items()}
        signals.similar = {doc for doc, cosine in near.nearest.items() if cosine > match}

    def fused(self, docs: Iterable[int], signals: Signals, words: WordMatches) -> Fusion:
        reads = self.vectors is not None and self.vectors.embedder.reads_sentences
        return rank.fuse(docs, signals, words.idf, reads_sentences=reads, weights=self.weights)

    def parts(self, doc: int, score: float, fusion: Fusion, signals: Signals) -> tuple[tuple[str, float], ...]:
        """The parts of ranking that made a hit one, in proportion, so that they make up its score."""
        parts = rank.parts_of(doc, fusion, signals, self.weights)
        whole = sum(parts.values())
        return tuple((name, round(score * value / whole, 4)) for name, value in parts.items()) if whole else ()

    def _vector_weight(self, vectors: VectorSearch) -> float:
        return self.weights.sentences if vectors.embedder.reads_sentences else self.weights.meaning

    def weigh(
        self,
        best: Sequence[int],
        signals: Signals,
        words: WordMatches,
        *,
        named: Collection[str] = (),
        statements: Mapping[int, str] | None = None,
        places: Collection[EpisodePlace] = (),
    ) -> None:
        """Judge how sure one source is of the answer; the confidence is the maximum over the sources.

        `statements` are the texts of documents that each say by themselves what they say, `places` those of documents
        that are turns of a talk.
        """
        surrounding = surrounding_terms(set(best), places, signals.words)
        candidates = [
            self._candidate(
                doc, signals.evidence(doc), words, statements[doc] if statements else "", surrounding.get(doc, {})
            )
            for doc in best
        ]
        signs = read_signs(self.question.text, candidates, words.worth, named)
        if signs is None:
            return
        sure = confidence(signs)
        if words.substring:
            sure = min(sure, _SUBSTRING_CONFIDENCE)
        if signals.in_window.get(best[0]) == 1.0:
            sure = max(sure, _WINDOW_CONFIDENCE)
        if sure > self.confidence:
            self.confidence, self.signs = sure, signs

    def _candidate(
        self, doc: int, evidence: Evidence, words: WordMatches, statement: str, surrounding: Mapping[str, float]
    ) -> JudgedHit:
        """What a document has of the question: each term with 1, or what another word in its place is worth."""
        held = {
            term: IN_OTHER_WORDS if term in words.spelled or doc in words.nearly.get(term, ()) else 1.0
            for term in evidence.words
        }
        return JudgedHit(held=held, surrounding=surrounding, near=evidence.near, own=evidence.own, statement=statement)

    def note_matched(self, hit_id: str, doc: int, evidence: Evidence, words: WordMatches) -> None:
        """Keep the terms of the question that a hit holds, as they are written in it."""
        self.matched[hit_id] = {
            written: weight
            for term, weight in evidence.words.items()
            for written in (*words.nearly.get(term, {}).get(doc, (term,)), *words.spelled.get(term, ()))
        }

    def transcript(self, transcript_id: str) -> Transcript:
        """The record of a transcript. Raises Corrupt where it is damaged or lost: nobody knows then whether its user
        withheld it, so nothing of it is handed out."""
        record = transcript_rows.transcript(self.tx, self.scope, transcript_id)
        if record is None:
            raise Corrupt(CodedText("failure.lost_transcript", command=Command("doctor")), id=transcript_id)
        return record


def shares(scores: Mapping[int, float], signals: Signals, words: WordMatches) -> Iterator[tuple[int, float]]:
    """The documents that have any score, the best first, each with a share in 0–1 that compares between questions: how
    far the best hit fits, shared out in proportion. final_scores.py makes scores of shares."""
    order = rank.best_first(scores)
    if not order:
        return
    top = scores[order[0]] or 1.0
    best = [signals.evidence(doc) for doc in order[:_FIRST]]
    sure = max(rank.fit(evidence, words.idf) for evidence in best)
    if sure == 0.0:  # the talk around them lifted the first
        sure = max(rank.fit(signals.evidence(doc), words.idf) for doc in order[:LOOKED])
    sure = max(sure, _LEAST_CONFIDENCE)
    if words.substring:
        sure = min(sure, _SUBSTRING_CONFIDENCE)
    sure = max(sure, _WINDOW_CONFIDENCE if best[0].in_window == 1.0 else 0.0)
    for doc in order:
        share = round(sure * max(0.0, scores[doc]) / top, 4)
        if share == 0:
            return
        yield doc, share

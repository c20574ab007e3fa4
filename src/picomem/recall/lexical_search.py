"""The leg by words: a question's terms in, and out what each document has of each. Reads; ranks nothing.

A term that occurs nowhere may be a slip or a part of a word. Then the user's own vocabulary is asked for terms
that begin with it, or that differ from it by a letter or two; they count for less. When no term of the question
occurs, the question's own string is looked for in the text.

If no document holds half of the question, synonyms (text/synonyms.py) are looked up as well. Where a lexicon is at hand
(models/static_embedder.py), a term weighs more or less by what its word says in the language, and words that are near
in meaning stand beside the synonyms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from heapq import nlargest
from math import log
from types import MappingProxyType
from typing import TYPE_CHECKING

from picomem.light_dataclass import dataclass, replace
from picomem.recall.question import Question
from picomem.recall.rank import best_by_words
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.scope import Scope
from picomem.store import search
from picomem.store.connector import Transaction
from picomem.store.tables import episodes, memories
from picomem.text.synonyms import Synonym, holds_phrase, synonyms
from picomem.text.terms import is_cjk, is_stop_word, says_little, weight_of

if TYPE_CHECKING:
    from picomem.models.static_embedder import Lexicon
    from picomem.recall.earlier_words import EarlierWords
    from picomem.store.search import Search

_SLIP_LIKENESS = 0.85  # the least likeness (2·M/T of Ratcliff and Obershelp) for two spellings of one word
_MOST_SLIPS = 4
_MOST_MISSPELT = 16  # unknown terms of a question for which near spellings are looked for
_VOCABULARY_PAGE = 2_000  # terms that are compared with a slip
_LATEST = 32  # documents that a statement of common words alone is compared with
_MOST_SUBSTRINGS = 50
_MOST_SUBSTRING_TERMS = 8  # each is looked for in every text
_SHORTEST = 3  # characters of a word that is looked for inside others
_EDGES = re.compile(r"^\W+|\W+$")
_COVERED = 0.5  # a document that holds so much of the question leaves no need for other words
_LIKELY = 50  # documents that are looked at for that: those that hold the heaviest terms
_MOST_WORDS = 20  # of a question whose synonyms are looked up: a longer one holds words enough, and has hundreds
_MOST_NEAR = 24  # synonyms and near words that are looked up, the heaviest
_MOST_PHRASES = 100  # documents that are read to see whether the words of a phrase follow each other
_ROUNDING = 1e-9  # of scores that are equal: the databases differ in the last digits
_FEW = 20  # documents that say as much of how rare a word is as knowing nothing does
_MIDDLING_RARITY = 0.7  # of a word, where nothing is known of it
_NEAR_DOCUMENTS = 2_000  # a near word of more documents says too little for what it costs


class WordMatches:
    """The matches of a question's terms in one source.

    `weights` holds, by term, the weight that it gave each document; `idf` what each term of the question is worth,
    found or not; `worth` how much of the question each term is, whatever the size of the store;
    `spelled` the near spellings that stood in for a term. `nearly` holds, by term and document, the terms of the
    synonym or near word that gave the weight, where one did. `counts` says how many documents hold each term
    of the question.
    """

    def __init__(self) -> None:
        self.weights: dict[str, dict[int, float]] = {}
        self.idf: dict[str, float] = {}
        self.worth: dict[str, float] = {}
        self.spelled: dict[str, tuple[str, ...]] = {}
        self.nearly: dict[str, dict[int, tuple[str, ...]]] = {}
        self.substring = False
        self.counts: dict[str, int] = {}

    @property
    def skipped(self) -> set[str]:
        """The terms that too many documents hold to be looked up."""
        return {term for term, count in self.counts.items() if count and term not in self.weights}

    @cached_property
    def totals(self) -> dict[int, float]:
        """By document, the weight of all terms together, of what has been found by the first time it is asked for."""
        first, *others = self.weights.values() or [{}]
        totals = dict(first)
        for weights in others:
            for doc, weight in weights.items():
                totals[doc] = totals.get(doc, 0.0) + weight
        return totals

    @cached_property
    def best(self) -> list[int]:
        """The documents that have most of it, the candidates for an answer."""
        return best_by_words(self.totals)

    @property
    def coverage(self) -> float:
        """How much of the question's weight the likeliest documents hold at most, 0–1."""
        whole = sum(self.idf.values())
        held = (
            sum(min(self.idf.get(term, 0.0), weights.get(doc, 0.0)) for term, weights in self.weights.items())
            for doc in self.best[:_LIKELY]
        )
        return max(held, default=0.0) / whole if whole else 0.0

    def added(self) -> None:
        """More has been found: the totals are made anew."""
        for name in ("totals", "best"):
            self.__dict__.pop(name, None)

    def drop(self, terms: Iterable[str]) -> None:
        """Forget terms of the question, as if it did not have them."""
        for term in terms:
            self.weights.pop(term, None)
            self.idf.pop(term, None)
            self.worth.pop(term, None)
        self.added()

    def parts(self, docs: Iterable[int]) -> dict[int, dict[str, float]]:
        """The weight that each term gives to the documents that contain it."""
        weights, totals = list(self.weights.items()), self.totals
        return {doc: {term: held[doc] for term, held in weights if doc in held} for doc in docs if doc in totals}


@dataclass(frozen=True, slots=True)
class Corpus:
    """The `documents` memories or episodes of a user, in which words are looked for with these weights."""

    tx: Transaction
    scope: Scope
    source: str
    documents: int
    lexicon: Lexicon | None = None
    weights: Weights = WEIGHTS
    earlier: EarlierWords | None = None  # of the time that is asked about, where that is no longer believed

    @property
    def _index(self) -> Search | EarlierWords:
        return self.earlier or search.of(self.tx)

    def counts(self, terms: Collection[str], question: Question) -> dict[str, int]:
        """Return how many documents hold each term."""
        index = self._index
        counts = index.counts(self.scope, self.source, [term for term in terms if term not in question.single])
        single = [term for term in terms if term in question.single]
        near = index.terms_near(self.scope, self.source, single, _VOCABULARY_PAGE) if single else {}
        return {term: sum(near[term].values()) if term in near else counts[term] for term in terms}

    def vocabulary(self, heads: Collection[str]) -> Mapping[str, Mapping[str, int]]:
        """Return by each head the terms that begin with it, and how many documents hold each."""
        return self._index.terms_near(self.scope, self.source, heads, _VOCABULARY_PAGE) if heads else {}

    def scores(self, weights: Sequence[tuple[str, float]]) -> list[dict[int, float]]:
        """Return of each term how much of it each document has, 0–2.2, times what the term weighs."""
        return self._index.scores(self.scope, self.source, weights)

    def scores_of_prefix(self, term: str, weight: float) -> dict[int, float]:
        """Do what `scores` does, for all terms together that begin so."""
        return self._index.scores_of_prefix(self.scope, self.source, term, weight)

    def latest_with(self, terms: Collection[str], limit: int) -> list[int]:
        """Return the latest documents that hold all of some terms."""
        return search.of(self.tx).latest_with(self.scope, self.source, terms, limit)

    def texts(self, docs: Collection[int]) -> dict[int, str]:
        """The texts of some documents, with the keys of memories. One whose row is damaged is left out."""
        if self.source == "memory":
            read = memories.by_docs(self.tx, self.scope, docs, [])
            return {memory.doc: f"{memory.key}\n{memory.content}" for memory in read}
        return {read.doc: episodes.text_of(read) for read in episodes.by_docs(self.tx, self.scope, docs, [])}

    def rarity(self, count: int) -> float:
        return idf(self.documents, count)

    def rarities(
        self, terms: Collection[str], question: Question, counts: Mapping[str, int] = MappingProxyType({})
    ) -> dict[str, float]:
        """Return how rare each term is; a pair of Chinese characters with a function word says little. `counts` are
        known."""
        uncounted = [term for term in terms if term not in counts]
        counts = {**counts, **(self.counts(uncounted, question) if uncounted else {})}
        return {term: weight_of(term, self.rarity(max(count, 1))) for term, count in counts.items()}

    def says(self, word: str) -> float:
        """How informative a word is in the language, as a factor."""
        return self.lexicon.says(word) ** self.weights.language if self.lexicon and self.weights.language else 1.0

    def worth(self, term: str, word: str, count: int) -> float:
        """Return how much of a question a term is: by its language, and by how rare it is here as far as that can be
        told."""
        says = self.lexicon.says(word) if self.lexicon and not says_little(term) else 1.0
        return weight_of(term, says * relative_rarity(self.documents, count))


def match_words(where: Corpus, question: Question) -> WordMatches:
    """Look up the question's terms, and what may stand for them. A term of more than `search.MOST_DOCUMENTS` is skipped
    if the question has a rarer one."""
    return _match(where, question, search.MOST_DOCUMENTS, exact=False)


def match_statement(where: Corpus, statement: Question, most: int) -> WordMatches:
    """Look up the words of a statement as they stand. A term of more than `most` documents is skipped. If all terms are
    so common, the latest documents match that hold all of them or, where none does, the rarest of them: so however many
    documents there are, the same number is read."""
    matches = _match(where, statement, most, exact=True)
    common = [term for term, count in matches.counts.items() if count > most]
    if common and not matches.weights:
        rarest = min(common, key=lambda term: matches.counts[term])
        holds_all = len(common) == len(matches.counts)
        latest = where.latest_with(common, _LATEST) if holds_all else []
        latest = latest or where.latest_with([rarest], _LATEST)
        _add(matches, rarest, dict.fromkeys(latest, matches.idf[rarest]))
    return matches


def _match(where: Corpus, question: Question, most: int, *, exact: bool) -> WordMatches:
    matches = WordMatches()
    if not where.documents:
        return matches
    counts = matches.counts = where.counts(question.terms, question)
    weights = {term: where.rarity(count) * where.says(question.words[term]) for term, count in counts.items()}
    heard = {term for term, count in counts.items() if count}
    matches.idf = weigh_compounds(weights, question.words, heard)
    worth = {term: where.worth(term, question.words[term], count) for term, count in counts.items()}
    matches.worth = weigh_compounds(worth, question.words, heard)
    rare = {term for term, count in counts.items() if 0 < count <= most}
    unknown = [term for term, count in counts.items() if count == 0 and term not in question.single]
    misspelt = set() if exact else set(unknown[:_MOST_MISSPELT])
    slips = _slips(where, misspelt, question) if where.weights.spelling else {}
    wanted = [term for term in counts if term in (rare if rare or exact else heard)]
    whole = [(term, matches.idf[term]) for term in wanted if term not in question.single]
    spelled = [spelling for spellings in slips.values() for spelling in spellings]
    scores = where.scores([*whole, *spelled])
    of_whole = dict(zip((term for term, _ in whole), scores, strict=False))
    of_spelling = iter(scores[len(whole) :])
    for term in counts:
        for _ in slips.get(term, ()):
            _add(matches, term, next(of_spelling))
        if term in slips:
            matches.spelled[term] = tuple(spelling for spelling, _ in slips[term])
        elif term in of_whole:
            _add(matches, term, of_whole[term])
        elif term in wanted:
            _add(matches, term, where.scores_of_prefix(term, matches.idf[term]))
    if exact:
        return matches
    if not any(matches.weights.values()):
        _add_substrings(where, question, matches)
    if not matches.substring and matches.coverage < _COVERED:
        _add_other_words(where, question, matches)
    return matches


def idf(documents: int, count: int) -> float:
    """Return how much a term says: ln(1 + (N − n + ½) / (n + ½)), which is never negative (Robertson and Zaragoza
    2009)."""
    return log(1 + (max(documents, count) - count + 0.5) / (count + 0.5))


def relative_rarity(documents: int, count: int) -> float:
    """How rare a word is beside one that nobody wrote, 0–1; the fewer the documents, the nearer to the middling.

    In a store of one statement each word of it is in every document, and says no less for that.
    """
    return (_FEW * _MIDDLING_RARITY + documents * idf(documents, count) / idf(documents, 0)) / (_FEW + documents)


def weigh_compounds(
    weights: Mapping[str, float], words: Mapping[str, str], heard: AbstractSet[str]
) -> dict[str, float]:
    """The weight of each term of a question; the terms of a compound together weigh as much as its heaviest term.

    “take-home” is looked for as “take”, “home” and “takehome”, but it is one word of the question. Where nobody wrote
    it as one, it counts as its parts.
    """
    made_of: dict[str, list[str]] = {}
    for term, word in words.items():
        if not is_cjk(word):  # of which the pairs of characters overlap
            made_of.setdefault(word, []).append(term)
    weighed = dict(weights)
    for parts in made_of.values():
        if len(parts) == 1:
            continue
        *rest, whole = parts
        if whole not in heard and not heard.isdisjoint(rest):
            weighed[whole] = 0.0
            continue
        total = sum(weights[term] for term in parts)
        for term in parts:
            weighed[term] = weights[term] * max(weights[part] for part in parts) / total if total else 0.0
    return weighed


def _add(matches: WordMatches, term: str, weights: dict[int, float]) -> None:
    """What a term gives each document; where several spellings stand for it, the most that one of them gives."""
    known = matches.weights.setdefault(term, weights)
    if known is not weights:
        for doc, weight in weights.items():
            if weight >= known.get(doc, 0.0):
                known[doc] = weight


def _slips(where: Corpus, terms: Collection[str], question: Question) -> dict[str, list[tuple[str, float]]]:
    """Return the spellings that stand in for each term that may be a slip, with weights, in the question's order."""
    vocabulary = where.vocabulary(dict.fromkeys(term[:2] for term in terms))
    slips: dict[str, list[tuple[str, float]]] = {}
    for term in question.terms:
        near = near_spellings(term, vocabulary[term[:2]]) if term in terms else []
        if near:
            worth = where.says(question.words[term])
            slips[term] = [(spelling, where.weights.spelling * where.rarity(count) * worth) for spelling, count in near]
    return slips


def _add_other_words(where: Corpus, question: Question, matches: WordMatches) -> None:
    """Look up synonyms of the question's words, and words near in meaning. Each stands for terms of the question, and
    gives a document no more of one than it has already."""
    others = _other_words(where, question)
    counts = where.counts(dict.fromkeys(term for other in others for term in other.terms), question)
    likely: list[tuple[float, Synonym, dict[str, float]]] = []
    for other in others:
        count = min(counts[term] for term in other.terms)
        if 0 < count <= _NEAR_DOCUMENTS:
            rarity = where.rarity(count)
            worth = {term: other.likeness * min(matches.idf.get(term, 0.0), rarity) for term in other.stands_for}
            likely.append((max(worth.values()), other, worth))
    heaviest = nlargest(_MOST_NEAR, likely, key=lambda weighed: weighed[0])
    if not heaviest:
        return
    scores = iter(where.scores([(term, 1.0) for _, other, _ in heaviest for term in other.terms]))
    for _, other, worth in heaviest:
        score_by_doc = _scores_of_all(where, other.terms, [next(scores) for _ in other.terms])
        for term in other.stands_for:
            weights, nearly = matches.weights.setdefault(term, {}), matches.nearly.setdefault(term, {})
            for doc, score in score_by_doc.items():
                if worth[term] * score > weights.get(doc, 0.0) + _ROUNDING:
                    weights[doc] = worth[term] * score
                    nearly[doc] = other.terms
    matches.added()


def _scores_of_all(where: Corpus, terms: Sequence[str], scores: Sequence[Mapping[int, float]]) -> Mapping[int, float]:
    """The scores of the documents that hold all of these terms. Those of an English phrase must follow each other, for
    “sign the lease, hang up the picture” is no “sign up”; the pairs of a Chinese word overlap anyway."""
    if len(terms) == 1:
        return scores[0]
    in_all = {doc: min(score[doc] for score in scores) for doc in set(scores[0]).intersection(*scores[1:])}
    if not in_all or is_cjk(terms[0]):
        return in_all
    texts = where.texts(nlargest(_MOST_PHRASES, in_all, key=lambda doc: (in_all[doc], doc)))
    return {doc: in_all[doc] for doc, text in texts.items() if holds_phrase(text, terms)}


def _other_words(where: Corpus, question: Question) -> list[Synonym]:
    """Synonyms of a question's words, and words near in meaning, each as like as ranking takes it to be."""
    weights, lexicon = where.weights, where.lexicon
    others: list[Synonym] = []
    if weights.synonyms and _size(question.terms) <= _MOST_WORDS:
        known = synonyms(question.about, question.terms)
        others += [replace(other, likeness=weights.synonyms * other.likeness) for other in known]
    if weights.near_words and lexicon:
        near = [(term, *word) for term in question.terms for word in lexicon.near(question.words[term])]
        others += [Synonym((term,), (word,), weights.near_words * cosine) for term, word, cosine in near]
    return others


def _size(terms: Iterable[str]) -> float:
    """How many words these terms are, of which a Chinese one has about two pairs of characters."""
    return sum(0.5 if is_cjk(term) else 1.0 for term in terms)


def near_spellings(term: str, vocabulary: Mapping[str, int]) -> list[tuple[str, int]]:
    """The terms of a vocabulary that `term` may be a slip for or the beginning of, the likeliest first."""
    if len(term) < 4 or not term.isalnum() or not vocabulary:
        return []
    from difflib import SequenceMatcher  # most questions are spelled well

    likely: list[tuple[float, str, int]] = []
    letters = Counter(term)
    comparable = len(term) >= 5 and not any(c.isdigit() for c in term)
    for candidate, count in vocabulary.items():
        if candidate.startswith(term):
            likely.append((1.0, candidate, count))
        elif comparable and abs(len(candidate) - len(term)) <= 2:
            # No likeness exceeds that of the letters in whatever order, which is found in a tenth of the time.
            common = sum(min(times, candidate.count(letter)) for letter, times in letters.items())
            if 2 * common < _SLIP_LIKENESS * (len(term) + len(candidate)):
                continue
            likeness = SequenceMatcher(None, term, candidate, autojunk=False).ratio()
            if likeness >= _SLIP_LIKENESS:
                likely.append((likeness, candidate, count))
    likely.sort(key=lambda entry: (-entry[0], -entry[2], entry[1]))
    return [(candidate, count) for _, candidate, count in likely[:_MOST_SLIPS]]


def match_substrings(where: Corpus, question: Question) -> WordMatches:
    """Look for the question's terms in the texts themselves, where there is no full text."""
    matches = WordMatches()
    for term in [term for term in question.terms if len(term) >= _SHORTEST or is_cjk(term)][:_MOST_SUBSTRING_TERMS]:
        word = question.words[term]
        docs = _containing(where, term) or _containing(where, word)  # a stem need not begin the word
        matches.idf[term] = where.rarity(len(docs))
        matches.worth[term] = where.worth(term, word, len(docs))
        if docs:
            matches.substring = True
            _add(matches, term, dict.fromkeys(docs, matches.idf[term]))
    return matches


def _add_substrings(where: Corpus, question: Question, matches: WordMatches) -> None:
    wanted = question.about.strip()
    strings = [wanted] if 0 < len(wanted) <= 200 else []
    words = (_EDGES.sub("", word) for word in wanted.split()[:8])
    strings += [word for word in words if len(word) >= _SHORTEST and word != wanted and not is_stop_word(word)]
    for string in strings:
        docs = _containing(where, string)
        if docs:
            matches.substring = True
            matches.idf.setdefault(string, 1.0)
            matches.worth.setdefault(string, 1.0)
            _add(matches, string, dict.fromkeys(docs, 1.0))
            return


def _containing(where: Corpus, string: str) -> list[int]:
    if where.earlier is not None:
        return where.earlier.containing(string, _MOST_SUBSTRINGS)
    return search.containing(where.tx, where.scope, where.source, string, _MOST_SUBSTRINGS)

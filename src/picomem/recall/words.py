"""The leg by words: a question's terms in, and out what each document has of each. Reads; ranks nothing.

A term that occurs nowhere may be a slip or a part of a word. Then the user's own vocabulary is asked for terms
that begin with it, or that differ from it by a letter or two; they count for less. When no term of the question
occurs, the question's own string is looked for in the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from math import log

from picomem.recall.question import Question
from picomem.records.scope import Scope
from picomem.store import search
from picomem.store.connector import Transaction
from picomem.text.terms import is_stop_word

_MOST_DOCUMENTS = 20_000  # a term of more documents is only looked up if the question has no rarer one
_SLIP_WEIGHT = 0.6  # what a match by a near spelling is worth beside the word itself
_SLIP_LIKENESS = 0.85  # the least likeness (2·M/T of Ratcliff and Obershelp) for two spellings of one word
_MOST_SLIPS = 4
_MOST_MISSPELT = 16  # unknown terms of a question for which near spellings are looked for
_VOCABULARY_PAGE = 2_000  # terms that are compared with a slip
_MOST_SUBSTRINGS = 50


class WordMatches:
    """What the terms of a question found in one source.

    `weights` holds, by term, the weight that it gave each document; `idf` what each term of the question is worth,
    found or not; `spelled` the near spellings that stood in for a term; `unheard` the terms that the user's texts hold
    in no spelling.
    """

    def __init__(self) -> None:
        self.weights: dict[str, dict[int, float]] = {}
        self.idf: dict[str, float] = {}
        self.spelled: dict[str, tuple[str, ...]] = {}
        self.unheard: frozenset[str] = frozenset()
        self.substring = False

    @cached_property
    def totals(self) -> dict[int, float]:
        """By document, the weight of all terms together. Asked for once everything has been found."""
        totals: dict[int, float] = {}
        for weights in self.weights.values():
            for doc, weight in weights.items():
                totals[doc] = totals.get(doc, 0.0) + weight
        return totals

    def parts(self, docs: Iterable[int]) -> dict[int, dict[str, float]]:
        """What each term gave those of the documents that hold one."""
        found: dict[int, dict[str, float]] = {}
        for doc in docs:
            if doc in self.totals:
                found[doc] = {term: weights[doc] for term, weights in self.weights.items() if doc in weights}
        return found


def match_words(
    tx: Transaction, scope: Scope, source: str, question: Question, documents: int, *, exact: bool = False
) -> WordMatches:
    """Look up the question's terms among the `documents` memories or episodes of the user; `exact`: nothing else."""
    found = WordMatches()
    if not documents:
        return found
    counts = {term: _count(tx, scope, source, term, question) for term in question.terms}
    found.idf = {term: idf(documents, count) for term, count in counts.items()}
    rare = {term for term, count in counts.items() if 0 < count <= _MOST_DOCUMENTS}
    unknown = [term for term, count in counts.items() if count == 0 and term not in question.single]
    misspelt = set() if exact else set(unknown[:_MOST_MISSPELT])
    for term, count in counts.items():
        if term in misspelt:
            _add_slips(tx, scope, source, term, documents, found)
        elif count and (term in rare or not rare):
            posting = search.postings(tx, scope, source, term, prefix=term in question.single)
            _add(found, term, found.idf[term], posting.scores)
    found.unheard = frozenset(term for term, count in counts.items() if not count and term not in found.spelled)
    if not any(found.weights.values()) and not exact:
        _add_substrings(tx, scope, source, question, found)
    return found


def idf(documents: int, count: int) -> float:
    """How much a term says: ln(1 + (N − n + ½) / (n + ½)), which is never negative (Robertson and Zaragoza 2009)."""
    return log(1 + (max(documents, count) - count + 0.5) / (count + 0.5))


def _count(tx: Transaction, scope: Scope, source: str, term: str, question: Question) -> int:
    if term in question.single:
        return sum(count for _, count in search.terms_near(tx, scope, source, term, _VOCABULARY_PAGE))
    return search.count(tx, scope, source, term)


def _add(found: WordMatches, term: str, weight: float, scores: dict[int, float]) -> None:
    weights = found.weights.setdefault(term, {})
    for doc, score in scores.items():
        if (weighed := weight * score) >= weights.get(doc, 0.0):
            weights[doc] = weighed


def _add_slips(tx: Transaction, scope: Scope, source: str, term: str, documents: int, found: WordMatches) -> None:
    near = near_spellings(term, search.terms_near(tx, scope, source, term[:2], _VOCABULARY_PAGE))
    for spelling, count in near:
        posting = search.postings(tx, scope, source, spelling)
        _add(found, term, _SLIP_WEIGHT * idf(documents, count), posting.scores)
    if near:
        found.spelled[term] = tuple(spelling for spelling, _ in near)


def near_spellings(term: str, vocabulary: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The terms of a vocabulary that `term` may be a slip for or the beginning of, the likeliest first."""
    if len(term) < 4 or not term.isalnum() or not vocabulary:
        return []
    from difflib import SequenceMatcher  # most questions are spelled well

    likely: list[tuple[float, str, int]] = []
    letters = Counter(term)
    comparable = len(term) >= 5 and not any(c.isdigit() for c in term)
    for candidate, count in vocabulary:
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
    likely.sort(key=lambda found: (-found[0], -found[2], found[1]))
    return [(candidate, count) for _, candidate, count in likely[:_MOST_SLIPS]]


def _add_substrings(tx: Transaction, scope: Scope, source: str, question: Question, found: WordMatches) -> None:
    wanted = question.about.strip()
    strings = [wanted] if 0 < len(wanted) <= 200 else []
    strings += [word for word in wanted.split()[:8] if len(word) >= 3 and word != wanted and not is_stop_word(word)]
    for string in strings:
        docs = search.containing(tx, scope, source, string, _MOST_SUBSTRINGS)
        if docs:
            found.substring = True
            found.idf.setdefault(string, 1.0)
            _add(found, string, 1.0, dict.fromkeys(docs, 1.0))
            return

"""Ranks sections of notes for a question, by words. Pure.

A section's score is the share of the question that it covers, with words weighted by their rarity among the notes
(BM25's idf, as in recall): 1 for a section that contains all of it. If no word is found, the text of the question is
searched as a substring.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from picomem.clock import Micros, parse_iso
from picomem.errors import InvalidTime
from picomem.light_dataclass import dataclass
from picomem.recall.hits import asked_word
from picomem.recall.lexical_search import idf
from picomem.recall.question import Question
from picomem.records.note import PlacedSection
from picomem.store.note_rows import named
from picomem.store.search import K1, SATURATION, B
from picomem.text.terms import terms

NAME_WEIGHT = 2.0  # of a word in a heading or a file's name, beside one in the text
SUBSTRING_SCORE = 0.4  # a string that occurs somewhere inside other words says little


@dataclass(frozen=True, slots=True)
class Ranked:
    """One section by its number, with what made it a hit."""

    doc: int
    score: float
    why: str


def rank(question: Question, postings: Mapping[str, Mapping[int, float]], total: int) -> list[Ranked]:
    """The sections that hold terms of the question, the best first. `postings` has, by term, how much of it each
    section has (0–2.2)."""
    weights = {term: idf(total, len(postings.get(term, {}))) for term in (*question.terms, *postings)}
    whole = sum(weights.values())
    asked = question.written_words
    held: dict[int, dict[str, float]] = {}
    for term, scores in postings.items():
        for doc, score in scores.items():
            held.setdefault(doc, {})[term] = score
    order = []
    for doc, parts in held.items():
        covered = sum(weights[term] * min(1.0, score) for term, score in parts.items())
        much = sum(weights[term] * score for term, score in parts.items())
        heaviest = sorted(parts, key=lambda term: -weights[term])[:5]
        named = ", ".join(dict.fromkeys(asked_word(term, asked) for term in heaviest))
        order.append((covered, much, Ranked(doc, round(covered / whole, 4), f"words: {named}")))
    order.sort(key=lambda row: (-row[2].score, -row[1], row[2].doc))
    return [ranked for _, _, ranked in order]


def of_the_time(question: Question, paths: Iterable[tuple[int, str]]) -> dict[str, dict[int, float]]:
    """Sections (number and path) of files that are named after a day in the time that the question asks for, as if
    that time were a word in them: agents keep a file a day, and do not repeat the date in it."""
    time = question.time
    if time.window is None or not time.certain:
        return {}
    since, until = time.window.since, time.window.until
    scores = {doc: 1.0 for doc, path in paths if any(since <= noon < until for noon in _noons(path))}
    return {time.phrase: scores} if scores else {}


def _noons(path: str) -> Iterator[Micros]:
    """The days in a file's name, each by its noon in UTC, which lies in that day almost everywhere."""
    for day in re.findall(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", path):
        try:
            yield parse_iso(f"{day}T12:00")
        except InvalidTime:
            continue


def by_substring(docs: Sequence[int]) -> list[Ranked]:
    return [Ranked(doc, SUBSTRING_SCORE, "contains the question") for doc in docs]


class UnindexedSections:
    """Sections that are in no index: what full text would say of them, from their text."""

    def __init__(self, sections: Sequence[PlacedSection]) -> None:
        self._sections = sections

    def postings(self, term: str, *, prefix: bool) -> dict[int, float]:
        scores: dict[int, float] = {}
        for number, (name, body, length) in enumerate(self._counted):
            frequency = NAME_WEIGHT * _frequency(name, term, prefix) + _frequency(body, term, prefix)
            if frequency:
                long = 1 - B + B * length / self._average
                scores[number] = frequency * SATURATION / (frequency + K1 * long)
        return scores

    def containing(self, text: str) -> list[int]:
        folded = text.lower()
        return [number for number, placed in enumerate(self._sections) if folded in placed.section.text.lower()]

    @cached_property
    def _counted(self) -> list[tuple[Counter[str], Counter[str], int]]:
        counted = []
        for placed in self._sections:
            name, body = terms(named(placed.path, placed.section)), terms(placed.section.text)
            counted.append((Counter(name), Counter(body), len(name) + len(body)))
        return counted

    @cached_property
    def _average(self) -> float:
        return sum(length for _, _, length in self._counted) / len(self._counted) or 1.0


def _frequency(counts: Counter[str], term: str, prefix: bool) -> int:
    if not prefix:
        return counts[term]
    return sum(count for word, count in counts.items() if word.startswith(term))

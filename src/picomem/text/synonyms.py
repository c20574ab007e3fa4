"""Synonyms: other words, English and Chinese, in which something may have been written down. Pure.

People search with other words than they wrote: “why did we ditch the broker” for “We dropped RabbitMQ”, or in another
language. synonyms.txt lists groups of words that stand for each other, and general words with their kinds, which
stand for the general word and not the other way round. `python -m training.synonyms` makes it from the lists that
people keep (training/data/synonyms).

A line of the file is a group: entries between tabs, each an English word or phrase as its index terms, joined by
spaces, or a Chinese word. In a line with “>”, the entries before it are general words, those behind it their kinds.

The hook of a host looks words up before each prompt, so nothing is parsed beforehand: the file stays one string, and a
word is found in it by searching for it between its tabs (0.1 ms).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from picomem.light_dataclass import dataclass
from picomem.loaded_once import loaded_once
from picomem.text.terms import cjk_runs, is_cjk, query_terms

FILE = Path(__file__).with_name("synonyms.txt")
SAME = 1.0  # the likeness of words that stand for each other
KIND = 0.7  # of a kind of what is asked for
_LONGEST_PHRASE = 3  # terms
_LONGEST_WORD = 6  # Chinese characters
_SHORTEST_WORD = 2


@dataclass(frozen=True, slots=True)
class Synonym:
    """Another way to say a part of a question: a text that holds all of `terms` has what `stands_for`, some terms of
    the question, would say. `likeness` is 0–1."""

    stands_for: tuple[str, ...]
    terms: tuple[str, ...]
    likeness: float


@lru_cache(maxsize=8)  # recall asks for memories and for episodes, a hook for each of its two functions
def synonyms(text: str, asked: tuple[str, ...]) -> tuple[Synonym, ...]:
    """The synonyms of the words in a question, whose terms are `asked`, in its order."""
    of_question = set(asked)
    listed: dict[tuple[tuple[str, ...], tuple[str, ...]], Synonym] = {}
    for entry, stands_for in [*_phrases(asked), *_chinese_words(text)]:
        stands_for = tuple(term for term in stands_for if term in of_question)
        for other, likeness in _others(entry) if stands_for else ():
            terms = terms_of_entry(other)
            if not of_question.issuperset(terms):
                listed.setdefault((stands_for, terms), Synonym(stands_for, terms, likeness))
    return tuple(listed.values())


def held_terms(asked: Collection[str], others: Iterable[Synonym], held: Collection[str]) -> set[str]:
    """The terms of a question that a text with the terms `held` says, itself or by one of these synonyms."""
    said = {term for term in asked if term in held}
    for other in others:
        if all(term in held for term in other.terms):
            said.update(other.stands_for)
    return said


def terms_of_entry(entry: str) -> tuple[str, ...]:
    """The index terms of an entry of the file."""
    return tuple(query_terms(entry) if is_cjk(entry) else entry.split(" "))


def _phrases(asked: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The entries that may begin at each term of a question, with the terms that make them up."""
    latin = [term for term in asked if not is_cjk(term)]
    for start in range(len(latin)):
        for length in range(1, min(_LONGEST_PHRASE, len(latin) - start) + 1):
            phrase = tuple(latin[start : start + length])
            yield " ".join(phrase), phrase


def _chinese_words(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The listed words in the Chinese of a text, the longest at each place, with their terms."""
    known = _file()
    for run in cjk_runs(text):
        start = 0
        while start < len(run) - 1:
            for end in range(min(len(run), start + _LONGEST_WORD), start + _SHORTEST_WORD - 1, -1):
                word = run[start:end]
                if f"\t{word}\t" in known:
                    yield word, tuple(query_terms(word))
                    start = end - 1
                    break
            start += 1


def _others(entry: str) -> Iterator[tuple[str, float]]:
    """The entries that stand for this one, each with its likeness."""
    known, wanted = _file(), f"\t{entry}\t"
    place = known.find(wanted)
    while place >= 0:
        begin, end = known.rfind("\n", 0, place) + 1, known.find("\n", place)
        names, is_general, kinds = known[begin:end].partition("\t>\t")
        likeness = KIND if is_general else SAME
        if place < begin + len(names):  # a kind does not stand for what is general
            yield from ((other, likeness) for other in re.findall(r"[^\t]+", kinds or names) if other != entry)
        place = known.find(wanted, end)


@loaded_once
def _file() -> str:
    return FILE.read_text("utf-8")

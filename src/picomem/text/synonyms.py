"""Synonyms: other words, English and Chinese, in which something may have been written down. Pure.

People search with other words than they wrote: “why did we ditch the broker” for “We dropped RabbitMQ”, or in another
language. synonyms.txt lists groups of words that stand for each other, and general words with their kinds, which
stand for the general word and not the other way round. `python -m training.synonyms` makes it from the lists that
people keep (training/data/synonyms).

The file has two parts with an empty line between them. A line of the second is a group: entries between tabs, each an
English word or phrase as its index terms, joined by spaces, or a Chinese word. In a line with “>”, the entries before
it are general words, those behind it their kinds. A line of the first part is an entry, a tab, and the places of the
groups in which others stand for it, in bytes from where the second part begins. These lines are sorted.

The hook of a host looks words up before each prompt, so nothing of the file is parsed beforehand: an entry is found by
bisection (10 µs).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from picomem.light_dataclass import dataclass
from picomem.loaded_once import loaded_once
from picomem.text.terms import cjk_runs, is_cjk, query_terms, terms

FILE = Path(__file__).with_name("synonyms.txt")
SAME = 1.0  # the likeness of words that stand for each other
KIND = 0.6  # of a kind of what is asked for
_LONGEST_TEXT = 8_000  # characters, as of a question
_LONGEST_PHRASE = 3  # terms
_LONGEST_WORD = 6  # Chinese characters


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
    of_question = frozenset(asked)
    listed: dict[tuple[tuple[str, ...], tuple[str, ...]], Synonym] = {}
    for entry, stands_for in dict.fromkeys([*_phrases(asked), *_chinese_words(text[:_LONGEST_TEXT], of_question)]):
        for other, likeness in _others(entry):
            of_other = tuple(query_terms(other) if is_cjk(other) else other.split(" "))
            if not of_question.issuperset(of_other):
                listed.setdefault((stands_for, of_other), Synonym(stands_for, of_other, likeness))
    return tuple(listed.values())


def held_terms(asked: Collection[str], others: Iterable[Synonym], text: str) -> set[str]:
    """The terms of a question that a text says, itself or by one of these synonyms. The terms of a phrase must follow
    each other."""
    held = terms(text)
    known, row = frozenset(held), f" {' '.join(held)} "
    said = {term for term in asked if term in known}
    for other in others:
        if other.terms[0] in known and f" {' '.join(other.terms)} " in row:
            said.update(other.stands_for)
    return said


def holds_phrase(text: str, phrase: Sequence[str]) -> bool:
    """Return whether these terms follow each other in a text."""
    return f" {' '.join(phrase)} " in f" {' '.join(terms(text))} "


def _phrases(asked: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The entries that may begin at each term of a question, with the terms that make them up."""
    latin = [term for term in asked if not is_cjk(term)]
    for start in range(len(latin)):
        for length in range(1, min(_LONGEST_PHRASE, len(latin) - start) + 1):
            phrase = tuple(latin[start : start + length])
            yield " ".join(phrase), phrase


def _chinese_words(text: str, asked: Collection[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The listed words in the Chinese of a text, the longest at each place, with those of their terms that are asked
    for."""
    for run in cjk_runs(text):
        start = 0
        while start < len(run) - 1:
            ends = range(min(len(run), start + _LONGEST_WORD), start + 1, -1) if run[start : start + 2] in asked else ()
            end = next((end for end in ends if _places(run[start:end])), start + 1)
            if end > start + 1:
                word = run[start:end]
                yield word, tuple(term for term in query_terms(word) if term in asked)
            start = end


def _others(entry: str) -> Iterator[tuple[str, float]]:
    """The entries that stand for this one, each with its likeness."""
    for place in _places(entry):
        data = _file()
        names, is_general, kinds = data[place : data.find(b"\n", place)].decode().partition("\t>\t")
        likeness = KIND if is_general else SAME
        yield from ((other, likeness) for other in (kinds or names).split("\t") if other != entry)


@lru_cache(maxsize=1 << 12)
def _places(entry: str) -> tuple[int, ...]:
    """Where the groups begin in which others stand for an entry."""
    data, wanted = _file(), f"{entry}\t".encode()
    groups = _begin_of_groups()
    low, high = 0, groups - 1  # begins of lines
    while low < high:
        middle = max(low, data.rfind(b"\n", low, (low + high) // 2) + 1)
        end = data.find(b"\n", middle)
        if data.startswith(wanted, middle):
            return tuple(groups + int(place) for place in data[middle + len(wanted) : end].split(b","))
        low, high = (end + 1, high) if data[middle:end] < wanted else (low, middle)
    return ()


@loaded_once
def _file() -> bytes:
    return FILE.read_bytes()


@loaded_once
def _begin_of_groups() -> int:
    return _file().index(b"\n\n") + 2

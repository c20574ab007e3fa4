"""Detects text that repeats the answers of picomem's operations, in whatever layout. Pure.

An answer is split into pieces: its sentences and lines in words, and each named value of its data. A text repeats an
answer if pieces cover nearly all of its words, in any order and however it is wrapped, indented or punctuated. So a
surface with another layout needs no rule of its own.

A piece is *framed* if it contains words of picomem's own (a heading, a field's name), and *bare* if it is only the
text of a memory. Bare pieces alone are not a repetition: the comparison with known memories handles them
(memory/decide.py). An answer as a whole is framed even if it has no word of picomem's own, as that of a note.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from picomem.policy.pattern_tables import visible
from picomem.text.visible_text import normalized

_SHARE = 0.8  # of a text's words that pieces cover
_FRAMED_WORDS = 3  # of a longer text that framed pieces must cover
_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"\\(?:[nrt\"\\/]|u([0-9a-f]{4}))", re.IGNORECASE)  # of JSON


class AnswerPiece(NamedTuple):
    """Returned words: the first, their number, and a hash of them, so that the words are not kept."""

    first: str
    length: int
    digest: int
    is_framed: bool


def pieces_of(reply: str, presented: Iterable[str], data: object) -> Iterator[AnswerPiece]:
    """The pieces of an answer: its words for a model, the texts that people see, and its data as JSON has them."""
    wholes = (reply, "\n".join(presented := tuple(presented)))
    bare = {_words(part) for text in _leaves(data) for part in _parts(text)}
    framed = {_words(part) for text in (reply, *presented) for part in _parts(text)} - bare
    framed |= {*map(_words, wholes), *_named_values("", data)}
    for pieces, is_framed in ((bare - framed, False), (framed, True)):
        yield from (AnswerPiece(words[0], len(words), hash(words), is_framed) for words in pieces if words)


def is_repeated(text: str, returned_pieces: Iterable[AnswerPiece]) -> bool:
    """Return whether pieces cover a text, some of them framed."""
    words = _words(text)
    framed: dict[int, bool] = {}
    lengths: defaultdict[str, set[int]] = defaultdict(set)
    for piece in returned_pieces:
        framed[piece.digest] = framed.get(piece.digest, False) or piece.is_framed
        lengths[piece.first].add(piece.length)
    place = covered = covered_by_framed = 0
    while place < len(words):
        candidates = sorted(lengths.get(words[place], ()), reverse=True)
        fitting = (length for length in candidates if hash(words[place : place + length]) in framed)
        length = next(fitting, 0)
        if length:
            covered += length
            covered_by_framed += length * framed[hash(words[place : place + length])]
        place += length or 1
    return covered >= _SHARE * len(words) and covered_by_framed >= min(_FRAMED_WORDS, len(words)) > 0


def _parts(text: str) -> Iterator[str]:
    """A text as a whole, and its lines."""
    yield text
    if "\n" in text:
        yield from text.splitlines()


def _leaves(data: object) -> Iterator[str]:
    """Every text in the data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _leaves(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from _leaves(value)


def _named_values(name: str, data: object) -> Iterator[tuple[str, ...]]:
    """The words of each name with its value; of a name alone where its value holds others."""
    if isinstance(data, Mapping):
        yield _words(name)
        for inner, value in data.items():
            yield from _named_values(str(inner), value)
    elif isinstance(data, list | tuple):
        yield _words(name)
        for value in data:
            yield from _named_values(name, value)
            yield from _named_values("", value)
    else:
        yield _words(f"{name} {data if isinstance(data, str) else json.dumps(data)}")


def _words(text: str) -> tuple[str, ...]:
    if "\\" in text:
        text = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)) if escape[1] else " ", text)
    if not text.isascii():
        text = normalized("NFKC", visible(text))
    return tuple(_WORD.findall(text.casefold()))

"""A text cut at its marks, each piece made inert by itself, so that the marks stand where they should. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from picomem.text.inert_text import for_prompt


def marked_pieces(text: str, marks: Sequence[Sequence[int]]) -> Iterator[tuple[str, bool]]:
    """The pieces of a text, with whether each is marked. `marks` are offsets, [start, end)."""
    place = 0
    for start, end in sorted((mark[0], mark[1]) for mark in marks):
        if start < place or end <= start or end > len(text):
            continue
        if start > place:
            yield for_prompt(text[place:start]), False
        yield for_prompt(text[start:end]), True
        place = end
    if place < len(text):
        yield for_prompt(text[place:]), False


def passage_mark(text: str, statement: str) -> list[list[int]]:
    """The place in a text where a statement stands with all of its words in their order, whatever is between them that
    is no word; an empty list where it does not stand there as a whole."""
    words = _WORD.findall(statement[:_LONGEST_STATEMENT])
    if not words:
        return []
    stands = re.search(r"\W+".join(map(re.escape, words)), text, re.IGNORECASE)
    return [[stands.start(), stands.end()]] if stands else []


_WORD = re.compile(r"\w+")
_LONGEST_STATEMENT = 2_000  # characters

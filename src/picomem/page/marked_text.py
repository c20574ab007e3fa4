"""A text cut at its marks, each piece made inert by itself, so that the marks stand where they should. Pure."""

from __future__ import annotations

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

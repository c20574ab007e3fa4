"""Tokens that a layout has broken over lines: the width of a terminal, the indentation of Markdown, a quoted mail.

A pattern sees a token only in one piece. So where a line ends in characters of a token, and the next one begins with
characters that are no word, no name and no number, the lines are read once more without the break. The rules decide
about the rest, as everywhere. (The end of a token may read like a word. It counts as one after a whole secret.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from picomem.light_dataclass import dataclass

Span = tuple[int, int]

_TOKEN = r"[\w+/.~-]"
# What assigns or calls something is no token.
_REST = rf"{_TOKEN}{{2,}}+={{0,2}}+(?![\w=:(\[<])"
_LINE_START = " \t>│┃|"  # indentation, the marks of quoted mail, the border of a box
_LINE_END = " \t\r│┃"
_MARGIN = 80  # characters at the beginning of a line that are no text
_DRAWN = r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]"
_SHORTEST = 16  # characters of a token that is looked for across a break
_LONGEST = 4096  # characters that are read without their breaks at once


@dataclass(frozen=True, slots=True)
class JoinedLines:
    """A piece of a text without some of its breaks, and where they stand in the text as written."""

    text: str
    start: int
    breaks: tuple[Span, ...]
    may_end_in_word: bool

    def span(self, start: int, end: int) -> Span | None:
        """The span, as written, of one of the reading that goes across a break; None for any other."""
        first, last = self._place(start), self._place(end - 1) + 1
        return (first, last) if any(first < low and high < last for low, high in self.breaks) else None

    def _place(self, place: int) -> int:
        at = self.start + place
        for low, high in self.breaks:
            if at < low:
                break
            at += high - low
        return at


class _Break(NamedTuple):
    """A place where a line ends inside of what may be a token: the gap, and the end of what goes on behind it."""

    start: int
    end: int
    rest: int
    is_drawn: bool


def joined_lines(text: str) -> Iterator[JoinedLines]:
    """Every run that may be a broken token, with what stands before it in its line."""
    for chain in _chains(text):
        first = chain[0].start
        line = max(text.rfind("\n", 0, first) + 1, first - _LONGEST)
        edges = [line, *(edge for part in chain for edge in part[:2]), chain[-1].rest]
        run = "".join(text[low:high] for low, high in zip(edges[::2], edges[1::2], strict=True))
        if re.search(rf"{_TOKEN}{{{_SHORTEST},}}=*\Z", run):
            yield JoinedLines(run, line, tuple(part[:2] for part in chain), not chain[-1].is_drawn)


def _chains(text: str) -> Iterator[list[_Break]]:
    """The breaks inside of tokens; those of one token together, as long as that is not too long."""
    chain: list[_Break] = []
    for part in _breaks(text):
        if chain and (chain[-1].rest != part.start or part.start - chain[0].start > _LONGEST):
            yield chain
            chain = []
        if part.is_drawn or chain or _is_drawn(text[max(0, part.start - _SHORTEST) : part.start]):
            chain.append(part)
        if chain and not part.is_drawn:
            yield chain
            chain = []
    if chain:
        yield chain


def _breaks(text: str) -> Iterator[_Break]:
    rest = re.compile(_REST)
    before, at = "", 0  # the line before, and where the line begins
    for line in text.split("\n"):
        end = before.rstrip(_LINE_END)
        begun = line.lstrip(_LINE_START)
        word = begun.find(" ")
        if len(end) - end.rfind(" ") + (len(begun) if word < 0 else word) > _SHORTEST and re.match(_TOKEN, end[-1:]):
            low = at + len(line) - len(begun)
            if len(line) - len(begun) <= _MARGIN and (part := rest.match(text, low)):
                yield _Break(at - 1 - len(before) + len(end), low, part.end(), _is_drawn(part[0]))
        before, at = line, at + len(line) + 1


def _is_drawn(text: str) -> bool:
    return re.search(_DRAWN, text) is not None

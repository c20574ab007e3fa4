"""Tokens that a layout has broken over lines: the width of a terminal, the indentation of Markdown, a quoted mail.

A pattern sees a token only in one piece. So where a line ends in characters of a token, and the next one begins with
characters that are no word, no name and no number, the lines are read once more without the break. The rules decide
about the rest, as everywhere. (The end of a token may read like a word. It counts as one after a whole secret.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

Span = tuple[int, int]
Hit = tuple[int, int, int]  # start, end, and a rule

_SIGNS = "_+/.~-"  # of a token, beside letters and digits
_TOKEN = r"[\w+/.~-]"
# What assigns or calls something is no token.
_REST = rf"{_TOKEN}{{2,}}+={{0,2}}+(?![\w=:(\[<])"
_LINE_START = " \t>│┃|"  # indentation, the marks of quoted mail, the border of a box
_LINE_END = " \t\r│┃"
_MARGIN = 80  # characters at the beginning of a line that are no text
_BEGUN = rf"\n(?<=[\w+/.~{_LINE_END}-]\n)[{_LINE_START}]{{0,{_MARGIN}}}+(?P<rest>{_REST})"
_DRAWN = r"[0-9][A-Za-z]|[A-Za-z][0-9]|[a-z][A-Z]"
_SHORTEST = 16  # characters of a token that is looked for across a break
_LONGEST = 4096  # characters that are read without their breaks at once


class JoinedLines(NamedTuple):
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


def hits_across_breaks(text: str, hits: Sequence[Hit], scan: Callable[[str], list[Hit]]) -> Iterator[Hit]:
    """The hits that go across a break of lines, beside those that `scan` finds in the text as written."""
    starts, ends = {start for start, _, _ in hits}, {end for _, end, _ in hits}
    for run in joined_lines(text):
        # A secret of its own may begin in the next line, or end in this one.
        if starts.isdisjoint(end for _, end in run.breaks) and not (run.may_end_in_word and run.breaks[-1][0] in ends):
            for start, end, rule in scan(run.text):
                if span := run.span(start, end):
                    yield (*span, rule)


def joined_lines(text: str) -> Iterator[JoinedLines]:
    """Every run that may be a broken token, with what stands before it in its line."""
    tail = re.compile(rf"{_TOKEN}{{{_SHORTEST}}}")
    for chain in _chains(text):
        first = chain[0].start
        line = max(text.rfind("\n", 0, first) + 1, first - _LONGEST)
        edges = [line, *(edge for part in chain for edge in part[:2]), chain[-1].rest]
        run = "".join(text[low:high] for low, high in zip(edges[::2], edges[1::2], strict=True))
        if tail.fullmatch(run.rstrip("=")[-_SHORTEST:]):
            yield JoinedLines(run, line, tuple(part[:2] for part in chain), not chain[-1].is_drawn)


def _chains(text: str) -> Iterator[list[_Break]]:
    """The breaks inside of tokens; those of one token together, as long as that is not too long."""
    drawn = re.compile(_DRAWN).search
    chain: list[_Break] = []
    for part in _breaks(text):
        if chain and (chain[-1].rest != part.start or part.start - chain[0].start > _LONGEST):
            yield chain
            chain = []
        if part.is_drawn or chain or drawn(text, max(0, part.start - _SHORTEST), part.start):
            chain.append(part)
        if chain and not part.is_drawn:
            yield chain
            chain = []
    if chain:
        yield chain


def _breaks(text: str) -> Iterator[_Break]:
    drawn = re.compile(_DRAWN).search
    for begun in re.finditer(_BEGUN, text):
        end = begun.start()
        if text[end - 1 : end] in _LINE_END:
            line = text.rfind("\n", 0, end) + 1
            end = line + len(text[line:end].rstrip(_LINE_END))
        ahead = text[max(0, end - _SHORTEST) : end]
        if not ahead or not (ahead[-1].isalnum() or ahead[-1] in _SIGNS):
            continue
        low, high = begun.span("rest")
        begins = len(ahead) - 1 - max(ahead.rfind(" "), ahead.rfind("\n"))
        if begins + max(high - low, _length_of_word(text[low : low + _SHORTEST])) >= _SHORTEST:
            yield _Break(end, low, high, drawn(text, low, high) is not None)


def _length_of_word(text: str) -> int:
    return len(text.partition("\n")[0].partition(" ")[0])

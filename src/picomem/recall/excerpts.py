"""A long text opened at a passage: the lines around it, with the words of a question marked. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from picomem.light_dataclass import dataclass
from picomem.recall.passages import Marks, marks
from picomem.text.terms import query_terms, terms

ROOM = 3_000  # characters of an excerpt; a shorter text is shown whole
_NEAR = 200_000  # characters on either side of a place that are looked through
_TOGETHER = 400  # characters within which words of a question count as standing together
_LINE = 300  # characters that may be added or left out so that an excerpt begins and ends with a line
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class TextExcerpt:
    """A part of a text. `marks` are offsets in it; the counts are of lines left out, a line cut in two included."""

    text: str
    marks: Marks
    earlier_lines: int
    later_lines: int


def excerpt(text: str, query: str, place: int = 0, *, is_whole: bool = False) -> TextExcerpt:
    """The part of a text where most of the query's words stand together, of several the nearest to `place`; where
    there is no query, the part at `place`."""
    weights = dict.fromkeys(query_terms(query), 1.0)
    first, last = max(0, place - _NEAR), place + _NEAR
    marked = tuple((first + start, first + end) for start, end in marks(text[first:last], weights)) if weights else ()
    if is_whole or len(text) <= ROOM:
        return TextExcerpt(text, marked, 0, 0)
    start = _passage(text, marked, place) if marked else place
    begin = _line_begin(text, max(0, min(start - ROOM // 4 * bool(marked), len(text) - ROOM)))
    end = _line_end(text, min(len(text), begin + ROOM))
    return _cut(text, begin, end, marked)


def best_match(texts: Iterable[str], query: str) -> int | None:
    """The place of the text that holds most of the query's words, of several the first; None where none holds one."""
    asked = frozenset(query_terms(query))
    held = [len(asked.intersection(terms(text[:_NEAR]))) for text in texts] if asked else []
    return held.index(max(held)) if any(held) else None


def _passage(text: str, marked: Marks, place: int) -> int:
    """Return where the passage begins that holds most of the words."""
    words = [frozenset(terms(text[start:end])) for start, end in marked]
    held: dict[str, int] = {}
    best, passage, last = (0, 0), place, 0
    for first, (start, _) in enumerate(marked):
        while last < len(marked) and marked[last][0] < start + _TOGETHER:
            for term in words[last]:
                held[term] = held.get(term, 0) + 1
            last += 1
        if (worth := (len(held), -abs(start - place))) > best:
            best, passage = worth, start
        _take_out(held, words[first])
    return passage


def _take_out(held: dict[str, int], left: frozenset[str]) -> None:
    for term in left:
        held[term] -= 1
        if not held[term]:
            del held[term]


def _line_begin(text: str, at: int) -> int:
    before = text.rfind("\n", max(0, at - _LINE), at) + 1
    return before if before else 0 if at <= _LINE else at


def _line_end(text: str, at: int) -> int:
    after = text.find("\n", at, at + _LINE)
    return after if after >= 0 else len(text) if at + _LINE >= len(text) else at


def _cut(text: str, begin: int, end: int, marked: Marks) -> TextExcerpt:
    is_cut_before = begin > 0 and text[begin - 1] != "\n"
    is_cut_behind = end < len(text) and text[end] != "\n"
    ahead = _ELLIPSIS * is_cut_before
    shift = len(ahead) - begin
    return TextExcerpt(
        text=ahead + text[begin:end] + _ELLIPSIS * is_cut_behind,
        marks=tuple((start + shift, stop + shift) for start, stop in marked if begin <= start and stop <= end),
        earlier_lines=text.count("\n", 0, begin) + is_cut_before,
        later_lines=text.count("\n", end) + is_cut_behind,
    )

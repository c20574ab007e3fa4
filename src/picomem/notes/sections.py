"""Splits Markdown into sections: the text under one heading, with the headings above it and its lines. Pure.

A section begins at a heading (`# …` to `###### …`, outside fenced code) and ends before the next one. A section that
is too long for a hit is split between paragraphs if possible, else between lines, else anywhere. A heading directly
followed by a deeper heading is not a section: it is part of the names of those below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from picomem.errors import InvalidInput
from picomem.paths import decoded
from picomem.records.note import Section
from picomem.text.storable import plain

LONGEST = 1_500  # characters of a section; as long as an episode may be
HEADING_MOST = 200  # characters of the line of headings

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


def text_of(data: bytes) -> str | None:
    """The text of a file, its lines kept; None where it is none."""
    try:
        text = decoded(data, Path())
    except InvalidInput:
        return None
    return None if "\0" in text else plain(text.replace("\r\n", "\n").replace("\r", "\n"))


def sections(text: str) -> list[Section]:
    """The sections of a Markdown text, in order."""
    return [piece for heading, first, lines in _under_headings(text) for piece in _pieces(heading, first, lines)]


def _under_headings(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """(heading path, number of the first line, lines)."""
    path: dict[int, str] = {}
    first, held = 1, list[str]()
    fence = ""
    headed = 0  # the level of the heading that `held` begins with; 0 for none
    for number, line in enumerate(text.split("\n"), 1):
        fence = _fence_after(line, fence)
        heading = None if fence else _HEADING.fullmatch(line)
        if heading is not None:
            level = len(heading.group(1))
            if _says_something(held, headed, level):
                yield _joined(path), first, held
            path = {depth: title for depth, title in path.items() if depth < level}
            path[level] = " ".join(heading.group(2).split())
            first, held, headed = number, [], level
        held.append(line)
    if _says_something(held, headed, 0):
        yield _joined(path), first, held


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after this line; empty for none."""
    match = _FENCE.fullmatch(line)
    if match is None:
        return fence
    marks, rest = match.groups()
    if not fence:
        return "" if "`" in rest and marks[0] == "`" else marks
    return "" if marks[0] == fence[0] and len(marks) >= len(fence) and not rest.strip() else fence


def _says_something(lines: list[str], headed: int, next_level: int) -> bool:
    body = lines[1:] if headed else lines
    return any(line.strip() for line in body) or bool(headed and next_level <= headed)


def _joined(path: dict[int, str]) -> str:
    joined = " › ".join(title for title in path.values() if title)
    return joined if len(joined) <= HEADING_MOST else joined[:HEADING_MOST] + "…"


def _pieces(heading: str, first: int, lines: list[str]) -> Iterator[Section]:
    """One section, or several where it is too long: (start, end) indices into its lines, end exclusive."""
    begin = 0
    while begin < len(lines):
        if not lines[begin].strip():
            begin += 1
            continue
        if len(lines[begin]) > LONGEST:
            for at in range(0, len(lines[begin]), LONGEST):
                yield Section(heading, first + begin, first + begin, lines[begin][at : at + LONGEST].strip())
            begin += 1
            continue
        end = _end_of_piece(lines, begin)
        text = "\n".join(lines[begin:end]).rstrip()
        yield Section(heading, first + begin, first + begin + text.count("\n"), text)
        begin = end


def _end_of_piece(lines: list[str], begin: int) -> int:
    """The end of the piece that begins there: before the line that does not fit, or before its paragraph."""
    size, end = 0, begin
    while end < len(lines) and (size := size + len(lines[end]) + 1) <= LONGEST + 1:
        end += 1
    if end == len(lines):
        return end
    return next((at for at in range(end, begin + 1, -1) if not lines[at - 1].strip()), end)

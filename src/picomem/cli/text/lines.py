"""Lays out text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import east_asian_width

from picomem.cli.width import width

BEGIN, END = "\ue000", "\ue001"  # private characters around what is set off, until the terminal's own replace them
_LEAST_COLUMNS = 20  # of a line that is folded; a narrower terminal breaks it by itself
_MARKS = str.maketrans("", "", BEGIN + END)


def marked(text: str, marks: Sequence[tuple[int, int]]) -> str:
    """A text with BEGIN and END around its marks, which are in order and do not overlap."""
    parts, last = [], 0
    for start, end in marks:
        parts += [text[last:start].translate(_MARKS), BEGIN, text[start:end].translate(_MARKS), END]
        last = end
    return "".join([*parts, text[last:].translate(_MARKS)])


def set_off(text: str, begin: str, end: str) -> str:
    """A text of several lines with the codes of the terminal around what is set off; none reaches over a line."""
    lines: list[str] = []
    is_open = False
    for line in text.split("\n"):
        whole = BEGIN * is_open + line
        is_open = whole.rfind(BEGIN) > whole.rfind(END)
        lines.append(whole + END * is_open)
    return "\n".join(lines).replace(BEGIN, begin).replace(END, end)


def wrapped(text: str, indent: str = "   ", most: int = 6) -> str:
    """A text in lines of the terminal, at most so many of them: those in which most is set off, or the first."""
    room = width() - len(indent)
    lines: list[str] = []
    for line in text.strip().splitlines():
        lines += _broken(" ".join(line.split()), room, room) or [""]
    if len(lines) > most:
        held = [line.count(BEGIN) for line in lines]
        first = max(range(len(lines) - most + 1), key=lambda at: (sum(held[at : at + most]), -at))
        lines = ["… " + lines[first].lstrip(), *lines[first + 1 :]] if first else lines
    if len(lines) > most:
        last = next(iter(_broken(lines[most - 1], room - 2, room - 2)), "")
        lines = [*lines[: most - 1], last + " …"]
    return "\n".join(indent + line for line in lines)


def folded(line: str, columns: int | None, hanging: str = "") -> str:
    """A line that is broken where it is wider than so many columns, with `hanging` before what follows; None breaks
    nothing. Unlike `wrapped` it keeps the blanks within the line and leaves nothing out."""
    if columns is None or _columns(line) <= max(columns, _LEAST_COLUMNS):
        return line
    later_columns = max(_LEAST_COLUMNS, columns - _columns(hanging))
    return f"\n{hanging}".join(_broken(line, max(columns, _LEAST_COLUMNS), later_columns))


def _broken(text: str, columns: int, later_columns: int) -> list[str]:
    """Lines of at most so many columns (those after the first of `later_columns`), broken at blanks, and within words
    of a script without blanks (Chinese). A long path stays whole, so that it can be copied."""
    lines: list[str] = []
    line = ""
    room = columns
    for word in re.findall(r"\s*\S+", text):
        if line.strip() and _columns(line) + _columns(word) > room:
            lines.append(line)
            line, room = word.lstrip(), later_columns
        else:
            line += word
        while not line.translate(_MARKS).isascii() and _columns(line) > room:
            cut = _fitting(line, room)
            lines.append(line[:cut])
            line, room = line[cut:], later_columns
    return [*lines, line] if line else lines


def _fitting(text: str, columns: int) -> int:
    """Return how many characters fit in so many columns."""
    used = 0
    for index, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return index
    return len(text)


def _columns(text: str) -> int:
    text = text if text.isascii() else text.translate(_MARKS)
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)

"""Where a text is broken into lines: at blanks, and between the characters of a script without blanks. Pure.

Libraries break at blanks alone, so a Chinese sentence that follows an English word would begin a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from unicodedata import east_asian_width

_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
    "\U00020000-\U0003fffd"
)
_CLOSING = "、。〉》」』】〕〗！），．：；？］｝～…”’"  # stand at the end of a line, never at the beginning of the next
_PIECES = re.compile(rf"\s*(?:[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*)|\s+")


def columns_of(text: str) -> int:
    """The columns that a text takes: a Chinese character takes two."""
    return len(text) if text.isascii() else sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def line_spans(text: str, columns: int, width: Callable[[str], int] = columns_of) -> Iterator[tuple[int, int]]:
    """The beginning and the end of each line of a paragraph. `width` measures a text in columns."""
    columns = max(2, columns)
    start, used = 0, 0
    for piece in _PIECES.finditer(text):
        cells = width(piece[0])
        if used and used + cells > columns:
            yield start, piece.start()
            start = piece.end() - len(piece[0].lstrip())
            cells = width(piece[0].lstrip())
            used = 0
        while used + cells > columns:  # only where the piece begins the line, so `used` is 0
            cut = _fitting(text, start, columns, width)
            yield start, cut
            cells -= width(text[start:cut])
            start = cut
        used += cells
    if start < len(text) or not text:
        yield start, len(text)


def _fitting(text: str, start: int, columns: int, width: Callable[[str], int]) -> int:
    """The end of as many characters as fit in so many columns, at least one."""
    end = start + columns
    if text[start:end].isascii():
        return min(end, len(text))
    used = 0
    for number, char in enumerate(text[start:end], start):
        used += width(char)
        if used > columns:
            return max(number, start + 1)
    return min(end, len(text))

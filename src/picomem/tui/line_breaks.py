"""Where a text is broken into lines: at blanks, and between the characters of a script without blanks. Pure.

The terminal library breaks at blanks alone, so a Chinese sentence that follows an English word would begin a line of
its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len
from textual.content import Content

_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6"
    "\U00020000-\U0003fffd"
)
_CLOSING = "、。〉》」』】〕〗！），．：；？］｝～…”’"  # stand at the end of a line, never at the beginning of the next
_PIECES = re.compile(rf"\s*(?:[{_WIDE}][{_CLOSING}]*|[^\s{_WIDE}]+[{_CLOSING}]*)|\s+")


def wrapped(content: Content, columns: int) -> list[Content]:
    """Lines of at most so many columns. Blanks at which a line is broken are left out."""
    lines: list[Content] = []
    for paragraph in content.split("\n", allow_blank=True):
        if paragraph.cell_length <= columns:
            lines.append(paragraph)
        else:
            lines += [paragraph[start:end] for start, end in line_spans(paragraph.plain, columns)]
    return lines


def line_spans(text: str, columns: int) -> Iterator[tuple[int, int]]:
    """The beginning and the end of each line of a paragraph."""
    columns = max(2, columns)
    start, used = 0, 0
    for piece in _PIECES.finditer(text):
        cells = cell_len(piece[0])
        if used and used + cells > columns:
            yield start, piece.start()
            start = piece.end() - len(piece[0].lstrip())
            cells = cell_len(piece[0].lstrip())
            used = 0
        while used + cells > columns:  # only where the piece begins the line, so `used` is 0
            cut = _fitting(text, start, columns)
            yield start, cut
            cells -= cell_len(text[start:cut])
            start = cut
        used += cells
    if start < len(text) or not text:
        yield start, len(text)


def _fitting(text: str, start: int, columns: int) -> int:
    """The end of as many characters as fit in so many columns, at least one."""
    end = start + columns
    if text[start:end].isascii():
        return min(end, len(text))
    used = 0
    for number, char in enumerate(text[start:end], start):
        used += cell_len(char)
        if used > columns:
            return max(number, start + 1)
    return min(end, len(text))

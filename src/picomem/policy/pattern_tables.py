"""Tables of shapes: the format in which the checks of the write gate describe the text that they look for.

A table holds one pattern a line, searched without regard to case, `^` and `$` at line ends. `re` compiles each at its
first use, so an import costs next to nothing. No pattern nests repeats, every gap in one is bounded, and the amount
of text that is searched is bounded too, so time grows linearly.
"""

from __future__ import annotations

import re
from functools import cache

from picomem.text.visible_text import without_unseen

_TAG_LETTERS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}  # Unicode's invisible ASCII


def table(text: str) -> tuple[str, ...]:
    """The patterns of a table, one a line; a line that is indented deeper goes on with the one above."""
    return tuple(re.sub(r"\n {8,}", "", text).split("\n    ")[1:-1])


def any_of(text: str) -> str:
    """Words parted by blanks, as a pattern of alternatives."""
    return "(" + "|".join(text.split()) + ")"


def matches(shapes: tuple[str, ...], text: str, flags: int = re.IGNORECASE | re.MULTILINE) -> bool:
    """Return whether one of the shapes occurs in the text."""
    return any(_compiled(shape, flags).search(text) for shape in shapes)


@cache
def _compiled(shape: str, flags: int) -> re.Pattern[str]:
    """Compiled once: `re` forgets patterns, and takes longer to find one than to use it."""
    return re.compile(shape, flags)


def visible(text: str) -> str:
    """The text as it reads: invisible characters gone or, where they spell words, shown."""
    return without_unseen(text.translate(_TAG_LETTERS)).replace("’", "'")

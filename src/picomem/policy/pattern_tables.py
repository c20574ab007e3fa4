"""Tables of shapes: the format in which the checks of the write gate describe the text that they look for.

A table holds one pattern a line, searched without regard to case, `^` and `$` at line ends. `re` compiles each at its
first use, so an import costs next to nothing. No pattern nests repeats, every gap in one is bounded, and the amount
of text that is searched is bounded too, so time grows linearly.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

from picomem.text.visible_text import without_unseen

_LONGEST_LINE = 1000  # characters that RE2 is given: the states that it needs for them have room
_AUTOMATON_BYTES = 32_000_000  # the most that RE2 keeps of a table's states
_TAG_LETTERS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}  # Unicode's invisible ASCII


def table(text: str) -> tuple[str, ...]:
    """The patterns of a table, one a line; a line that is indented deeper goes on with the one above."""
    return tuple(re.sub(r"\n {8,}", "", text).split("\n    ")[1:-1])


def any_of(text: str) -> str:
    """Words parted by blanks, as a pattern of alternatives."""
    return "(" + "|".join(text.split()) + ")"


def matches(shapes: tuple[str, ...], text: str, flags: int = re.IGNORECASE | re.MULTILINE) -> bool:
    """Return whether one of the shapes occurs in the text.

    Where RE2 is loaded it searches for all shapes of a table at once, in a tenth of the time. It means the same by them
    in a line of printable ASCII.
    """
    if len(text) <= _LONGEST_LINE and text.isascii() and text.isprintable() and "re2" in sys.modules:
        table, others = _linear(shapes, flags)
        return bool(table.Match(text)) or any(_compiled(shape, flags).search(text) for shape in others)
    return any(_compiled(shape, flags).search(text) for shape in shapes)


@cache
def _linear(shapes: tuple[str, ...], flags: int) -> tuple[Any, tuple[str, ...]]:
    """A table as RE2 reads it, and the shapes that it cannot read, because they look around."""
    import re2

    options = re2.Options()
    options.case_sensitive = not flags & re.IGNORECASE
    options.log_errors = False
    options.max_mem = _AUTOMATON_BYTES
    linear = re2.Set.SearchSet(options)
    others: list[str] = []
    for shape in shapes:
        try:
            linear.Add(shape)
        except re2.error:
            others.append(shape)
    linear.Compile()
    return linear, tuple(others)


@cache
def _compiled(shape: str, flags: int) -> re.Pattern[str]:
    """Compiled once: `re` forgets patterns, and takes longer to find one than to use it."""
    return re.compile(shape, flags)


def visible(text: str) -> str:
    """The text as it reads: invisible characters gone or, where they spell words, shown."""
    if text.isascii():
        return text
    return without_unseen(text.translate(_TAG_LETTERS)).replace("’", "'")

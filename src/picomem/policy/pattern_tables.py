"""Tables of shapes by which the checks of the write gate know text; `gate_shapes.txt`, whose head explains the format,
holds them.

The file is read, and `re` compiles a pattern, at the first use, so an import costs next to nothing. The amount of text
that is searched is bounded, so time grows linearly.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from picomem.text.visible_text import without_unseen

_FILE = Path(__file__).with_name("gate_shapes.txt")
_HEADING = re.compile(r"\[([a-z_]+)\]")
_NAME = re.compile("<([A-Z_]+)>")
_LONGEST_LINE = 1000  # characters that RE2 is given: the states that it needs for them have room
_AUTOMATON_BYTES = 32_000_000  # the most that RE2 keeps of a table's states
_TAG_LETTERS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}  # Unicode's invisible ASCII


@cache
def shapes_of(table: str) -> tuple[str, ...]:
    """The patterns of a table."""
    named = _named_shapes()
    return tuple(_NAME.sub(lambda name: named[name[1]], line) for line in _sections()[table])


@cache
def shape(name: str) -> str:
    """The pattern that a name stands for."""
    return _named_shapes()[name]


@cache
def words_of(name: str) -> frozenset[str]:
    """The words that a name stands for."""
    (words,) = (line for line in _sections()["words"] if line.startswith(f"{name} "))
    return frozenset(words.split()[1:])


@cache
def _named_shapes() -> dict[str, str]:
    """Every named pattern; one may be made of those before it."""
    named: dict[str, str] = {}
    for line in _sections()["words"]:
        name, *words = line.split()
        named[name] = f"({'|'.join(words)})"
    for line in _sections()["shapes"]:
        name, _, pattern = line.partition(" ")
        named[name] = _NAME.sub(lambda part: named[part[1]], pattern)
    return named


@cache
def _sections() -> dict[str, list[str]]:
    """The lines of each section."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in _FILE.read_text("utf-8").split("\n"):
        if heading := _HEADING.fullmatch(line):
            lines = sections.setdefault(heading[1], [])
        elif line.startswith("    "):
            lines[-1] += (" " if lines is sections.get("words") else "") + line[4:]
        elif line and sections:
            lines.append(line)
    return sections


def matches(table: str, text: str, flags: int = re.IGNORECASE | re.MULTILINE) -> bool:
    """Return whether one of the shapes of a table occurs in the text.

    Where RE2 is loaded it searches for all shapes of a table at once, in a tenth of the time. It means the same by them
    in a line of printable ASCII.
    """
    if len(text) <= _LONGEST_LINE and text.isascii() and text.isprintable() and "re2" in sys.modules:
        linear, others = _linear(table, flags)
        return bool(linear.Match(text)) or any(_compiled(other, flags).search(text) for other in others)
    return any(_compiled(one, flags).search(text) for one in shapes_of(table))


@cache
def _linear(table: str, flags: int) -> tuple[Any, tuple[str, ...]]:
    """A table as RE2 reads it, and the shapes that it cannot read, because they look around."""
    re2: Any = sys.modules["re2"]  # `matches` asks for this only where it is loaded
    options = re2.Options()
    options.case_sensitive = not flags & re.IGNORECASE
    options.log_errors = False
    options.max_mem = _AUTOMATON_BYTES
    linear = re2.Set.SearchSet(options)
    others: list[str] = []
    for one in shapes_of(table):
        try:
            linear.Add(one)
        except re2.error:
            others.append(one)
    linear.Compile()
    return linear, tuple(others)


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    """Compiled once: `re` forgets patterns, and takes longer to find one than to use it."""
    return re.compile(pattern, flags)


def visible(text: str) -> str:
    """The text as it reads: invisible characters gone or, where they spell words, shown."""
    if text.isascii():
        return text
    return without_unseen(text.translate(_TAG_LETTERS)).replace("’", "'")

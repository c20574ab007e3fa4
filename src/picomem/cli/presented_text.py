"""Renders the presentation of a result (operations/presentation.py) as lines of text for a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from shlex import quote
from typing import Any

from picomem.cli.terminal import terminal_columns, width
from picomem.light_dataclass import dataclass, replace
from picomem.operations.operation import Operation
from picomem.operations.presentation import (
    Block,
    Fields,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Table,
    Text,
    Verbatim,
)
from picomem.paths import is_server, without_password
from picomem.text.inert_text import for_terminal
from picomem.text.line_breaks import columns_of

# Repeats in the hints of the command line the store and the user that the person named, so that a hint can be copied.
# Pure.

_HINT = r"`picomem (?!help\b|install\b|uninstall\b|completion\b|demo\b)([a-z][^`]{0,300})`"
_OPTIONS = ("--db", "--user")


@dataclass(frozen=True, slots=True)
class CommandHints:
    """The options that a person gave, as they stand in a command; empty where they gave none."""

    db: str = ""
    user: str = ""

    def shown(self, text: str) -> str:
        """A text whose commands act on the same store and user as this one."""
        return re.sub(_HINT, self._command, text) if self.db or self.user else text

    def presented(self, presentation: Presentation) -> Presentation:
        """A presentation with such hints. What was stored or said stays as it is."""
        return replace(
            presentation,
            blocks=tuple(map(self._block, presentation.blocks)),
            warnings=tuple(map(self.shown, presentation.warnings)),
            next_steps=tuple(map(self.shown, presentation.next_steps)),
        )

    def _command(self, hint: re.Match[str]) -> str:
        command = hint[1]
        if command.endswith(" --help"):
            return hint[0]
        names_user = " --user" in command or command.partition(" ")[0] == "serve"  # it serves every user
        given = ["" if names_user else self.user, "" if " --db" in command else self.db]
        return f"`{' '.join(filter(None, ['picomem', command, *given]))}`"

    def _block(self, block: Block) -> Block:
        match block:
            case Sentence(text):
                return Sentence(self.shown(text))
            case Fields(pairs):
                return Fields(tuple((name, self.shown(value)) for name, value in pairs))
            case _:
                return block


NO_HINTS = CommandHints()


def hints_for(arguments: Sequence[str]) -> CommandHints:
    """The hints of a command that was called with these arguments."""
    given = dict.fromkeys(_OPTIONS, "")
    for number, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in given:
            following = arguments[number + 1] if number + 1 < len(arguments) else ""
            given[name] = value if equals else following
    db = without_password(given["--db"]) if is_server(given["--db"]) else given["--db"]
    return CommandHints(db and f"--db {quote(db)}", given["--user"] and f"--user {quote(given['--user'])}")


# Lays out text for a terminal.

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
    return columns_of(text if text.isascii() else text.translate(_MARKS))


_INDENT = "   "
_BOLD = ("\x1b[1m", "\x1b[22m")


def text_of(operation: Operation, result: Any, hints: CommandHints = NO_HINTS) -> str:
    """The result of an operation, as a terminal may show it."""
    begin, end = _BOLD if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    return set_off(
        for_terminal(render(hints.presented(operation.presentation(result)), terminal_columns())), begin, end
    )


def render(presentation: Presentation, columns: int | None = None) -> str:
    """A presentation in lines. Lines wider than `columns` are folded; None (a file or a pipe) keeps them whole."""
    lines = [folded(presentation.title, columns, _INDENT)] if presentation.title else []
    before: Block | None = None
    for block in presentation.blocks:
        shown = _lines(block, columns)
        lines += ["", *shown] if before is not None and _is_apart(before, block) else shown
        before = block
    lines += [f"! {warning}" for warning in presentation.warnings]  # not folded: a path in it can be copied
    return "\n".join([*lines, *presentation.next_steps])


def _is_apart(before: Block, block: Block) -> bool:
    """Return whether an empty line stands between two blocks: numbered entries have room around them."""
    if isinstance(before, Heading):
        return False
    return isinstance(block, Heading) or _is_numbered(block) or _is_numbered(before)


def _is_numbered(block: Block) -> bool:
    return isinstance(block, PresentedEntry) and block.number > 0


def _lines(block: Block, columns: int | None) -> list[str]:
    match block:
        case Sentence(text):
            return [folded(text, columns)]
        case Verbatim(text):
            return _verbatim(text, "", columns)
        case Heading(text, details):
            heading = folded(text, columns, _INDENT)
            return [heading, folded(_INDENT + details, columns, _INDENT)] if details else [heading]
        case Text(text, most_lines):
            return [wrapped(text, "", most_lines)]
        case PresentedEntry(heading, body, number):
            heading = folded(f"{number}. {heading}" if number else heading, columns, _INDENT)
            return [heading, *(line for part in body for line in _body(part, columns))]
        case Fields(pairs):
            return _rows(pairs, columns)
        case Table(_, rows):
            return _rows(rows, columns)


def _body(part: Text | Verbatim, columns: int | None) -> list[str]:
    text = marked(part.text, part.marks) if part.marks else part.text
    return (
        _verbatim(text, _INDENT, columns) if isinstance(part, Verbatim) else [wrapped(text, _INDENT, part.most_lines)]
    )


def _verbatim(text: str, indent: str, columns: int | None) -> list[str]:
    """The text's own lines; a line that is folded goes on below its own beginning."""
    lines = []
    for line in text.split("\n"):
        own_indent = line[: len(line) - len(line.lstrip())]
        lines.append(folded(indent + line, columns, indent + own_indent) if line.strip() else line)
    return lines


def _rows(rows: Sequence[tuple[str, ...]], columns: int | None) -> list[str]:
    """Rows in columns; a last cell that is too long goes on below its own beginning."""
    widths = [max(map(len, cells)) for cells in zip(*rows)]
    hanging = " " * sum(width + 2 for width in widths[:-1])
    lines = ("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows)
    return [folded(line, columns, hanging) for line in lines]

"""Renders the presentation of a result (operations/presentation.py) as lines of text for a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from picomem.cli.command_hints import NO_HINTS, CommandHints
from picomem.cli.text.lines import folded, marked, set_off, wrapped
from picomem.cli.width import terminal_columns
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
from picomem.text.inert_text import for_terminal

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

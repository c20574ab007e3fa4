"""Results as text for a person at a terminal: their presentation (operations/presentation.py), laid out in lines."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import Any

from picomem.cli.text.lines import marked, set_off, wrapped
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


def text_of(operation: Operation, result: Any) -> str:
    """The result of an operation, as a terminal may show it."""
    begin, end = _BOLD if sys.stdout.isatty() and not os.environ.get("NO_COLOR") else ("", "")
    return set_off(for_terminal(render(operation.presentation(result))), begin, end)


def render(presentation: Presentation) -> str:
    """A presentation in lines. Pure."""
    lines = [presentation.title] if presentation.title else []
    before: Block | None = None
    for block in presentation.blocks:
        lines += ["", *_lines(block)] if before is not None and _is_apart(before, block) else _lines(block)
        before = block
    lines += [f"! {warning}" for warning in presentation.warnings]  # not wrapped: a path in it can be copied
    return "\n".join([*lines, *presentation.next_steps])


def _is_apart(before: Block, block: Block) -> bool:
    """Whether an empty line stands between two blocks: numbered entries have room around them."""
    if isinstance(before, Heading):
        return False
    return isinstance(block, Heading) or _is_numbered(block) or _is_numbered(before)


def _is_numbered(block: Block) -> bool:
    return isinstance(block, PresentedEntry) and block.number > 0


def _lines(block: Block) -> list[str]:
    match block:
        case Sentence(text) | Verbatim(text):
            return [text]
        case Heading(text, details):
            return [text, _INDENT + details] if details else [text]
        case Text(text, most_lines):
            return [wrapped(text, "", most_lines)]
        case PresentedEntry(heading, body, number):
            return [f"{number}. {heading}" if number else heading, *map(_body, body)]
        case Fields(pairs):
            width = max((len(name) for name, _ in pairs), default=0)
            return [f"{name:<{width}}  {value}" for name, value in pairs]
        case Table(_, rows):
            return _rows(rows)


def _body(part: Text | Verbatim) -> str:
    text = marked(part.text, part.marks) if part.marks else part.text
    if isinstance(part, Verbatim):
        return textwrap.indent(text, _INDENT)
    return wrapped(text, _INDENT, part.most_lines)


def _rows(rows: tuple[tuple[str, ...], ...]) -> list[str]:
    widths = [max(map(len, cells)) for cells in zip(*rows)]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]

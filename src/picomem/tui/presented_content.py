"""A presentation (operations/presentation.py) as styled text of the terminal library. Pure.

Texts come as plain strings into `Content`, which obeys no markup. `Operation.presentation` has made them inert.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content

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
from picomem.text.inert_text import streamed_for_terminal
from picomem.text.line_breaks import line_spans

PLAIN = "$foreground"
TITLE = "bold $foreground"
HEADING = "bold $accent"
QUIET = "$foreground 65%"
MARK = "bold underline"
WARNING = "$text-warning"
_GAP = "  "  # between the columns of a table
_LEAST_COLUMNS = 20  # of a last cell


def presented_content(presentation: Presentation, columns: int) -> Content:
    """A presentation as one text, for a reader of so many columns."""
    paragraphs: list[Content] = [styled(presentation.title, TITLE)] if presentation.title else []
    paragraphs += (_block(block, columns) for block in presentation.blocks)
    paragraphs += [styled(f"! {warning}", WARNING) for warning in presentation.warnings]
    paragraphs += [styled(step, QUIET) for step in presentation.next_steps]
    lines = wrapped(Content("\n\n").join(paragraphs), columns) if columns > 0 else []
    return Content("\n").join(lines)


def styled(text: str, style: str = "", marks: Sequence[Sequence[int]] = ()) -> Content:
    """A text in a style, with what of it is set off.

    No change of direction is kept, because it may end in another line than the one in which it began.
    """
    safe = streamed_for_terminal(text)
    content = Content.styled(safe, style) if style else Content(safe)
    if len(safe) == len(text):  # otherwise an escape has moved what follows it
        for start, end in marks:
            content = content.stylize(MARK, start, end)
    return content


def wrapped(content: Content, columns: int) -> list[Content]:
    """Lines of at most so many columns. Blanks at which a line is broken are left out."""
    lines: list[Content] = []
    for paragraph in content.split("\n", allow_blank=True):
        if paragraph.cell_length <= columns:
            lines.append(paragraph)
        else:
            lines += [paragraph[start:end] for start, end in line_spans(paragraph.plain, columns, cell_len)]
    return lines


def _block(block: Block, columns: int) -> Content:
    match block:
        case Sentence(text):
            return styled(text)
        case Verbatim(text, marks) | Text(text, _, marks):
            return styled(text, marks=marks)
        case Heading(text, details):
            heading = styled(text, HEADING)
            return Content("\n").join([heading, styled(details, QUIET)]) if details else heading
        case PresentedEntry(heading, body, number):
            title = styled(f"{number}. {heading}" if number else heading, TITLE)
            return Content("\n").join([title, *(styled(part.text, marks=part.marks) for part in body)])
        case Fields(pairs):
            return _columns(pairs, columns)
        case Table(names, rows):
            return _columns((names, *rows), columns)


def _columns(rows: Sequence[tuple[str, ...]], columns: int) -> Content:
    """Rows in columns that are as wide as their widest cell, where a Chinese character counts as two; a last cell that
    is too long goes on below its own beginning."""
    widths = [max(map(cell_len, cells)) for cells in zip(*rows)]
    hanging = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
    room = max(_LEAST_COLUMNS, columns - hanging)
    lines: list[Content] = []
    for row in rows:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row[:-1], widths))
        ahead = Content("").join(styled(cell + _GAP, QUIET) for cell in padded)
        first, *later = wrapped(styled(row[-1]), room)
        lines += [ahead + first, *(Content(" " * hanging) + line for line in later)]
    return Content("\n").join(lines)

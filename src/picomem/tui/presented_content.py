"""A presentation (operations/presentation.py) as styled text of the terminal library. Pure.

Texts come as plain strings into `Content`, which obeys no markup. `Operation.presentation` has made them inert.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

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


# The pane, or on a narrow terminal the screen, that shows the result of one operation.

MOST_COLUMNS = 88  # of a text to read, as in terminal_app.tcss


class DetailPane(VerticalScroll, can_focus=True, inherit_bindings=False):
    """A text to read, which scrolls."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("pagedown,space", "page_down", "Page down", show=False),
        Binding("pageup", "page_up", "Page up", show=False),
        Binding("home", "scroll_home", "Top", show=False),
        Binding("end,G", "scroll_end", "Bottom", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._text = Static(Content(""), markup=False)
        self._presentation = Presentation()

    def compose(self) -> ComposeResult:
        yield self._text

    def show(self, presentation: Presentation) -> None:
        """Show a result from its beginning."""
        is_same = presentation == self._presentation
        self._presentation = presentation
        self._lay_out()
        if not is_same:
            self.scroll_home(animate=False)

    def on_resize(self) -> None:
        """Lay columns out again for the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        columns = min(MOST_COLUMNS, self.scrollable_content_region.width)
        self._text.update(presented_content(self._presentation, columns))

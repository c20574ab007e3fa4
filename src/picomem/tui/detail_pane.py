"""The pane, or on a narrow terminal the screen, that shows the result of one operation."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from picomem.operations.presentation import Presentation
from picomem.tui.presented_content import presented_content

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

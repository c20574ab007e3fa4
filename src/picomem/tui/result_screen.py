"""A screen for one result: what a command came to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from picomem.operations.presentation import Presentation
from picomem.tui.base_screen import BaseScreen
from picomem.tui.detail_pane import DetailPane
from picomem.tui.workspace import Workspace


class ResultScreen(BaseScreen):
    """A result to read."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,left,backspace,enter", "back", "Back")]

    def __init__(self, workspace: Workspace, mode: str, presentation: Presentation) -> None:
        super().__init__(workspace)
        self.mode = mode
        self._presentation = presentation

    def compose_body(self) -> Iterable[Widget]:
        yield DetailPane(id="whole")

    def on_mount(self) -> None:
        """Show it."""
        pane = self.query_one(DetailPane)
        pane.show(self._presentation)
        pane.focus()

    def action_back(self) -> None:
        """Back to where the person came from."""
        self.dismiss(None)

"""The question before an operation that cannot be undone, below what the operation would do."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from picomem.operations.presentation import Presentation
from picomem.tui.detail_pane import DetailPane
from picomem.tui.presented_content import WARNING, styled


class ConfirmDialog(ModalScreen[bool]):
    """Ask; only y means yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape,enter,q", "answer(False)", "No"),
    ]

    def __init__(self, preview: Presentation, question: str) -> None:
        super().__init__()
        self._preview = preview
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield DetailPane(id="preview")
            yield Static(styled(self._question, f"bold {WARNING}"), markup=False, id="asked")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show what would happen; the keys scroll it."""
        pane = self.query_one(DetailPane)
        pane.show(self._preview)
        pane.focus()

    def action_answer(self, is_yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(is_yes)

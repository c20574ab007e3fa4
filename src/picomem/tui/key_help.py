"""The list of all keys that work on a screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.screen import ModalScreen
from textual.widgets import Footer

from picomem.operations.presentation import Fields, Presentation
from picomem.tui.detail_pane import DetailPane


class KeyHelp(ModalScreen[None]):
    """Every key that has a description."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "close", "Close")]

    def __init__(self, active: Mapping[str, ActiveBinding]) -> None:
        super().__init__()
        self._active = active

    def compose(self) -> ComposeResult:
        pane = DetailPane(id="keys")
        pane.add_class("dialog")
        yield pane
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show the keys."""
        pane = self.query_one(DetailPane)
        pane.show(self._presentation())
        pane.focus()

    def _presentation(self) -> Presentation:
        keys: dict[str, list[str]] = {}
        for binding in (active.binding for active in self._active.values() if active.enabled):
            if binding.description and not binding.system:
                keys.setdefault(binding.description, []).append(self.app.get_key_display(binding))
        rows = [(" ".join(dict.fromkeys(shown)), description) for description, shown in keys.items()]
        return Presentation("Keys", (Fields(tuple(rows)),))

    def action_close(self) -> None:
        """Back to the screen."""
        self.dismiss(None)

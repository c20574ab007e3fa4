"""Status: what is stored, how it does, and what an agent sees of it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from picomem.errors import PicomemError
from picomem.tui.base_screen import BaseScreen
from picomem.tui.presented_content import DetailPane
from picomem.tui.workspace import Workspace


class StatusScreen(BaseScreen):
    """The results of the operations that say how the store does, one at a time."""

    mode = "status"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "view('status')", "Status"),
        Binding("i", "view('index')", "Index"),
        Binding("c", "view('changes')", "Changes"),
        Binding("d", "view('doctor')", "Doctor"),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._shown = "status"

    def compose_body(self) -> Iterable[Widget]:
        yield DetailPane(id="whole")

    def on_screen_resume(self) -> None:
        """Read it, whenever the screen is shown: background work changes it too."""
        self.query_one(DetailPane).focus()
        self.reload()

    def action_view(self, name: str) -> None:
        """Show the result of an operation."""
        self._shown = name
        self.reload()

    def reload(self) -> None:
        """Run the operation again."""
        self.run_worker(partial(self._read, self._shown), exclusive=True, group="read")

    async def _read(self, name: str) -> None:
        try:
            result = await self.runner.call(name)
        except PicomemError as error:
            self.fail(error)
            return
        self.query_one(DetailPane).show(self.runner.operations[name].presentation(result))

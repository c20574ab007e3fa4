"""A screen with a list, and what is chosen in it: beside the list where there is room, else on a screen of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from picomem.errors import PicomemError
from picomem.operations.presentation import Presentation, Verbatim
from picomem.tui.detail_pane import DetailPane
from picomem.tui.entry_list import EntryList
from picomem.tui.list_entry import ListEntry
from picomem.tui.memory_actions import MemoryActions
from picomem.tui.operation_runner import LatestCall
from picomem.tui.presented_content import styled
from picomem.tui.workspace import Workspace

WIDE = 110  # columns from which the pane stands beside the list
Values = dict[str, Any]


class DetailScreen(MemoryActions):
    """The result of one operation. The keys are about the memory that it shows, if it shows one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,left,backspace", "back", "Back")]

    def __init__(self, workspace: Workspace, mode: str, name: str, values: Values, memory: str = "") -> None:
        super().__init__(workspace)
        self.mode = mode
        self._operation = workspace.runner.operations[name]
        self._values = values
        self._memory = memory

    def compose_body(self) -> Iterable[Widget]:
        yield DetailPane(id="whole")

    def on_mount(self) -> None:
        """Read it."""
        self.query_one(DetailPane).focus()
        self.reload()

    def chosen_memory(self) -> str:
        """The memory that it shows."""
        return self._memory

    def show_operation(self, name: str, /, **values: Any) -> None:
        """Show the result on a further screen."""
        memory = self._memory if name == "history" else ""
        self.app.push_screen(DetailScreen(self.workspace, self.mode, name, values, memory))

    def reload(self) -> None:
        """Run the operation again."""
        self.run_worker(self._read, exclusive=True, group="read")

    async def _read(self) -> None:
        try:
            result = await self.runner.run(self._operation, self._operation.request(**self._values))
        except PicomemError as error:
            self.fail(error)
            return
        self.query_one(DetailPane).show(self._operation.presentation(result))

    def action_back(self) -> None:
        """Back to where the person came from."""
        self.dismiss(None)


class BrowseScreen(MemoryActions):
    """A list on the left, and on a wide terminal the chosen entry on the right."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012 - as the library declares it
    text_lines = 1

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.entries = EntryList(text_lines=self.text_lines, id="entries")
        self.detail = DetailPane(id="detail")
        self.summary = Static(Content(""), markup=False, id="summary")
        self._details = LatestCall(self._start_detail, self._show_detail, self.fail)

    def compose_body(self) -> Iterable[Widget]:
        yield self.summary
        with Horizontal(id="body"):
            yield self.entries
            yield self.detail

    @property
    def is_wide(self) -> bool:
        """Whether the chosen entry stands beside the list."""
        return self.size.width >= WIDE

    def chosen_memory(self) -> str:
        """The memory at the cursor."""
        return self.entries.chosen.memory if self.entries.chosen else ""

    def summarise(self, text: str) -> None:
        """Say above the list what it holds."""
        self.summary.update(styled(text))

    def on_entry_list_chosen(self, event: EntryList.Chosen) -> None:
        """Show the chosen entry beside the list."""
        self.refresh_bindings()
        if self.is_wide:
            self._show_entry(event.entry)

    def on_resize(self) -> None:
        """Fill the pane that has appeared."""
        if self.is_wide:
            self._show_entry(self.entries.chosen)

    def _show_entry(self, entry: ListEntry | None) -> None:
        if entry is None or entry.opens is None:
            self.detail.show(Presentation(blocks=(Verbatim(entry.text),) if entry else ()))
            return
        name, values = entry.opens
        self._ask(name, dict(values))

    def on_entry_list_opened(self, event: EntryList.Opened) -> None:
        """Go to the entry: to the pane, or to a screen of its own."""
        if self.is_wide:
            self.detail.focus()
        elif event.entry and event.entry.opens:
            name, values = event.entry.opens
            self.app.push_screen(DetailScreen(self.workspace, self.mode, name, dict(values), event.entry.memory))

    def show_operation(self, name: str, /, **values: Any) -> None:
        """Show the result in the pane, or on a screen of its own."""
        if self.is_wide:
            self._ask(name, values)
            self.detail.focus()
            return
        memory = self.chosen_memory() if name == "history" else ""
        self.app.push_screen(DetailScreen(self.workspace, self.mode, name, values, memory))

    def _ask(self, name: str, values: Values) -> None:
        operation = self.runner.operations[name]

        async def read() -> Presentation:
            return operation.presentation(await self.runner.run(operation, operation.request(**values)))

        self._details.ask(read)

    def _start_detail(self, work: Any) -> None:
        self.run_worker(work, group="detail")

    def _show_detail(self, presentation: Presentation) -> None:
        self.detail.show(presentation)

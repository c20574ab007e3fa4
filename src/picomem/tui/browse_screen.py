"""A screen with a list, and what is chosen in it: beside the list where there is room, else on a screen of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from picomem.errors import PicomemError
from picomem.operations.presentation import Presentation, Verbatim
from picomem.tui.base_screen import BaseScreen
from picomem.tui.dialogs import EditDialog
from picomem.tui.entry_list import EntryList
from picomem.tui.list_entry import ListEntry
from picomem.tui.presented_content import DetailPane, styled
from picomem.tui.workspace import LatestCall, Workspace

_OF_A_MEMORY = ("edit", "pin", "forget", "history", "source")


class MemoryActions(BaseScreen):
    """A screen on which a memory can be chosen: edit it, pin it, forget it, see its history and its source."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "edit", "Edit"),
        Binding("p", "pin", "Pin"),
        Binding("x", "forget", "Forget"),
        Binding("h", "history", "History"),
        Binding("o", "source", "Source"),
    ]

    def chosen_memory(self) -> str:
        """The id of the memory that the keys are about; empty for none."""
        return ""

    def show_operation(self, name: str, /, **values: Any) -> None:
        """Show the result of an operation, in the pane or on a screen of its own."""
        raise NotImplementedError

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the keys of a memory only where one is chosen."""
        if action in _OF_A_MEMORY:
            return bool(self.chosen_memory())
        return super().check_action(action, parameters)

    def action_edit(self) -> None:
        """Edit the memory."""
        self._begin(self._edit)

    def action_pin(self) -> None:
        """Pin the memory, or unpin it."""
        self._begin(self._pin)

    def action_forget(self) -> None:
        """Archive the memory."""
        self._begin(self._forget)

    def action_history(self) -> None:
        """Show the versions of the memory."""
        self.show_operation("history", name=self.chosen_memory())

    def action_source(self) -> None:
        """Open the conversation that the memory comes from."""
        self._begin(self._open_source)

    def _begin(self, act: Callable[[str], Awaitable[None]]) -> None:
        """Begin an action on the chosen memory; its error is a remark."""
        memory = self.chosen_memory()

        async def run() -> None:
            try:
                async with self.workspace.in_turn:
                    await act(memory)
            except PicomemError as error:
                self.fail(error)
            self.reload_if_changed()

        self.run_worker(run(), group="change")

    async def _edit(self, memory_id: str) -> None:
        result, edited, problem = None, None, ""
        while result is None:
            memory = (await self.runner.call("why", id=memory_id)).memory
            edited = await self.app.push_screen_wait(EditDialog(memory.key, memory.content, edited, problem))
            if edited is None:
                return
            try:
                result = await self.runner.call(
                    "revise",
                    name=memory_id,
                    content=edited.content,
                    reason=edited.reason,
                    correct=edited.was_wrong,
                    version=memory.version,
                )
            except PicomemError as error:  # what was typed stays
                problem = str(error)
        await self.workspace.changed(memory_id)
        self.note(f"{result.memory.key} is revised (version {result.version_number}); u undoes it.")

    async def _pin(self, memory_id: str) -> None:
        pinned = (await self.runner.call("why", id=memory_id)).memory.pinned
        result = await self.runner.call("revise", name=memory_id, pin=not pinned, unpin=pinned)
        await self.workspace.changed(memory_id)
        self.note(f"{result.memory.key} is {'unpinned' if pinned else 'pinned'}; u undoes it.")

    async def _forget(self, memory_id: str) -> None:
        result = await self.runner.call("forget", name=memory_id)
        await self.workspace.changed(memory_id)
        self.note(f"{result.key} is archived; u undoes it.")

    async def _open_source(self, memory_id: str) -> None:
        sources = (await self.runner.call("why", id=memory_id)).sources
        episodes = [source.id for source in sources if source.kind == "episode"]
        if episodes:
            self.show_operation("show", episode=episodes[-1])
        else:
            self.note("It comes from no past session; enter shows why it is remembered.")


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

"""What a person does with the memory that is chosen: edit, pin, forget, see its history and its source."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from picomem.errors import PicomemError
from picomem.tui.base_screen import BaseScreen
from picomem.tui.edit_dialog import EditDialog

_OF_A_MEMORY = ("edit", "pin", "forget", "history", "source")


class MemoryActions(BaseScreen):
    """A screen on which a memory can be chosen."""

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

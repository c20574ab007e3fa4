"""Memories: what is remembered, the most important first."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from picomem.operations.wording import plural
from picomem.records.kinds import Kind
from picomem.tui.first_steps import first_memories
from picomem.tui.list_entry import memory_entry
from picomem.tui.paged_screen import EntryPage, PagedScreen
from picomem.tui.presented_content import styled
from picomem.tui.workspace import Workspace

_KINDS = (None, *(kind.value for kind in Kind))


class MemoriesScreen(PagedScreen):
    """The list of all memories, of one kind, or of those that are archived."""

    mode = "memories"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "next_kind", "Next kind", show=False),
        Binding("a", "toggle_archived", "Archived", show=False),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._kind: str | None = None
        self._archived = False

    def action_next_kind(self) -> None:
        """Show the next kind of memories only; after the last, all."""
        self._kind = _KINDS[(_KINDS.index(self._kind) + 1) % len(_KINDS)]
        self.begin_again()

    def action_toggle_archived(self) -> None:
        """Show archived memories, or those that are believed."""
        self._archived = not self._archived
        self.begin_again()

    def read_page(self, cursor: str, limit: int) -> EntryPage:
        result = self.runner.call_here("memories", kind=self._kind, archived=self._archived, limit=limit, cursor=cursor)
        return EntryPage(
            [memory_entry(memory) for memory in result.memories], result.cursor, result.warnings, result.left_out
        )

    def heading(self, count: int, more: str) -> str:
        return f"{plural(count, 'memory', 'memories')}{more} · {self._selection()}"

    async def nothing(self) -> Content:
        status = await self.status()
        if self._kind or self._archived or status.archived:
            return styled(f"There is nothing here · {self._selection()}")
        return first_memories(status)

    def _selection(self) -> str:
        """Which memories are listed, and the keys that change it."""
        state = "archived" if self._archived else "believed now"
        return f"kind: {self._kind or 'all'} (t) · {state} (a)"

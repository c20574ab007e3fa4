"""The screens that list: memories, the most important first; conversations, the latest first; episodes, by day."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from picomem.operations.wording import plural
from picomem.records.kinds import Kind
from picomem.tui.first_steps import first_episodes, first_memories
from picomem.tui.list_entry import episode_entries, memory_entry, session_entry
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


class SessionsScreen(PagedScreen):
    """The list of conversations with PicoBot, the one that was active last first; one opens to its messages."""

    mode = "sessions"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "talk_on", "Go on"),
        Binding("D", "purge", "Purge"),
        Binding("a", "toggle_archived", "Archived", show=False),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._archived = False

    def read_page(self, cursor: str, limit: int) -> EntryPage:
        result = self.runner.call_here("sessions", archived=self._archived, limit=limit, cursor=cursor)
        warnings = [f"{plural(len(result.damaged), 'damaged row')} skipped"] if result.damaged else []
        return EntryPage([session_entry(listed) for listed in result.sessions], result.cursor, warnings)

    def heading(self, count: int, more: str) -> str:
        return f"{plural(count, 'conversation')}{more} · {'archived' if self._archived else 'not archived'} (a)"

    async def nothing(self) -> Content:
        which = "archived conversations" if self._archived else "conversations with PicoBot yet; 5 begins one"
        return styled(f"There are no {which}.")

    def action_toggle_archived(self) -> None:
        """Show archived conversations, or the others."""
        self._archived = not self._archived
        self.begin_again()

    def conversation(self) -> str:
        return self.entries.chosen.id if self.entries.chosen else ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the keys of a conversation only where one is chosen."""
        if action in ("talk_on", "purge"):
            return bool(self.conversation())
        return super().check_action(action, parameters)

    def action_purge(self) -> None:
        """Erase the conversation at the cursor, after a question."""
        self.obey("/purge_session")

    async def action_talk_on(self) -> None:
        """Go on with the conversation at the cursor."""
        if self.entries.chosen:
            await self.app.run_action(f"talk_on({self.entries.chosen.id!r})")


class TimelineScreen(PagedScreen):
    """What was said, latest first, by day and session; an episode opens to its messages in the transcript."""

    mode = "timeline"
    text_lines = 2

    def read_page(self, cursor: str, limit: int) -> EntryPage:
        result = self.runner.call_here("timeline", limit=limit, cursor=cursor)
        return EntryPage(episode_entries(result.episodes), result.cursor, result.warnings)

    def heading(self, count: int, more: str) -> str:
        return f"{plural(count, 'episode')}{more}, the latest first"

    async def nothing(self) -> Content:
        return first_episodes(await self.status())

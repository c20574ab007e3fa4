"""Sessions: the conversations with PicoBot, the one that was active last first."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from picomem.operations.wording import plural
from picomem.tui.list_entry import session_entry
from picomem.tui.paged_screen import EntryPage, PagedScreen
from picomem.tui.presented_content import styled
from picomem.tui.workspace import Workspace


class SessionsScreen(PagedScreen):
    """The list of conversations; one opens to its messages."""

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

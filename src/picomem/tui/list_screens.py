"""The screens that list: memories, the most important first; conversations, the latest first; episodes, by day."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from picomem.errors import PicomemError
from picomem.light_dataclass import dataclass
from picomem.operations.presentation import plural
from picomem.records.kinds import Kind
from picomem.tui.browse_screen import BrowseScreen
from picomem.tui.home_screen import first_episodes, first_memories
from picomem.tui.list_entry import ListEntry, episode_entries, memory_entry, session_entry
from picomem.tui.presented_content import styled
from picomem.tui.workspace import Workspace

# A screen whose list is read page by page as the cursor goes down.

PAGE = 500  # entries of the first page, which a person waits for
_FURTHER_PAGE = 5_000  # more, because each page of a list costs a look at the whole list


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries, and the cursor of the next page, which is empty on the last one. `left_out` is how many more there are,
    where that is known."""

    entries: Sequence[ListEntry]
    cursor: str
    warnings: Sequence[str] = ()
    left_out: int | None = None


class PagedScreen(BrowseScreen):
    """A list of what one operation lists."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._cursor = ""
        self._is_reading = False

    def read_page(self, cursor: str, limit: int) -> EntryPage:
        """The page behind a cursor; it is called in a thread. Raises what the operation raises."""
        raise NotImplementedError

    def heading(self, count: int, more: str) -> str:
        """What stands above a list with so many entries; `more` says in words that there may be more of them."""
        raise NotImplementedError

    def came_back(self, entries: Sequence[ListEntry]) -> str:  # noqa: ARG002 - of lists to which something returns
        """Return the id of the entry that came back by an undo; empty for none."""
        return ""

    async def nothing(self) -> Content:
        """What stands above a list without entries: what to do first."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Read the first page."""
        self.entries.focus()
        self.reload()

    def reload(self) -> None:
        """Read as many entries as are shown."""
        self.run_worker(partial(self._read, keep=True), exclusive=True, group="read")

    def begin_again(self) -> None:
        """Read the first page of another list."""
        self.run_worker(partial(self._read, keep=False), exclusive=True, group="read")

    def on_entry_list_more_wanted(self) -> None:
        """Read the next page."""
        if self._cursor and not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read_more(), group="read")

    async def _read(self, *, keep: bool) -> None:
        self._is_reading = True
        try:
            page = await self._page("", max(PAGE, len(self.entries.entries)) if keep else PAGE)
            empty = None if page.entries else await self.nothing()
        except PicomemError as error:
            self.fail(error)
            return
        finally:
            self._is_reading = False
        self.entries.show(page.entries, keep_place=keep, choose=self.came_back(page.entries))
        self._account(page, empty)

    async def _read_more(self) -> None:
        try:
            page = await self._page(self._cursor, _FURTHER_PAGE)
        except PicomemError as error:
            self.fail(error)
            return
        finally:
            self._is_reading = False
        self.entries.add(page.entries)
        self._account(page)

    async def _page(self, cursor: str, limit: int) -> EntryPage:
        return await self.runner.in_thread(lambda: self.read_page(cursor, limit))

    def _account(self, page: EntryPage, empty: Content | None = None) -> None:
        self._cursor = page.cursor
        if empty is not None:
            self.summary.update(empty)
            return
        count = len(self.entries.entries) + (page.left_out or 0)
        has_more = page.left_out is None and bool(page.cursor)
        self.summarise(" · ".join([self.heading(count, " and more" if has_more else ""), *page.warnings]))

    async def status(self) -> Any:
        """What the store holds."""
        return await self.runner.call("status")


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


class ConversationsScreen(PagedScreen):
    """The list of conversations with PicoBot, the one that was active last first; one opens to its messages."""

    mode = "conversations"
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
        which = "archived conversations" if self._archived else "conversations with PicoBot yet; 6 begins one"
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

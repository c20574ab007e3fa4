"""A screen whose list is read page by page as the cursor goes down."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from textual.content import Content

from picomem.errors import PicomemError
from picomem.light_dataclass import dataclass
from picomem.tui.browse_screen import BrowseScreen
from picomem.tui.list_entry import ListEntry
from picomem.tui.workspace import Workspace

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

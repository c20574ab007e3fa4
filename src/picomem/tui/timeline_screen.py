"""Timeline: what was said, latest first, by day and session."""

from __future__ import annotations

from textual.content import Content

from picomem.operations.wording import plural
from picomem.tui.first_steps import first_episodes
from picomem.tui.list_entry import episode_entries
from picomem.tui.paged_screen import EntryPage, PagedScreen


class TimelineScreen(PagedScreen):
    """The list of episodes; an episode opens to its messages in the transcript."""

    mode = "timeline"
    text_lines = 2

    def read_page(self, cursor: str, limit: int) -> EntryPage:
        result = self.runner.call_here("timeline", limit=limit, cursor=cursor)
        return EntryPage(episode_entries(result.episodes), result.cursor, result.warnings)

    def heading(self, count: int, more: str) -> str:
        return f"{plural(count, 'episode')}{more}, the latest first"

    async def nothing(self) -> Content:
        return first_episodes(await self.status())

"""Review: what may be outdated, what was heard in passing, and what is from elsewhere; each decision can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content

from picomem.errors import PicomemError
from picomem.operations.presentation import plural
from picomem.tui.list_entry import ListEntry, review_entry, suggestion_entry
from picomem.tui.list_screens import EntryPage, PagedScreen
from picomem.tui.presented_content import styled
from picomem.tui.workspace import Workspace

_OF_A_PAIR = ("merge", "supersede")


class ReviewScreen(PagedScreen):
    """The list of what waits: one key decides on an entry, or with Shift on all of its group.

    Each decision is one change, which `u` takes back.
    """

    mode = "review"
    text_lines = 3
    BINDINGS: ClassVar[list[BindingType]] = [
        # The list would go up at a k.
        Binding("k", "decide('keep')", "Keep", priority=True),
        Binding("r", "decide('supersede')", "Replace"),
        Binding("m", "decide('merge')", "Same"),
        Binding("x", "decide('discard')", "Discard"),
        Binding("K", "decide_all('keep')", "Keep the group", show=False),
        Binding("X", "decide_all('discard')", "Discard the group", show=False),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._decided: list[str] = []  # the first ids of what was decided on here, the last one last

    def read_page(self, cursor: str, limit: int) -> EntryPage:
        result = self.runner.call_here("review", untrusted=True, limit=limit, cursor=cursor)
        pairs = [review_entry(waiting) for waiting in result.waiting if waiting.older]
        others = [review_entry(waiting) for waiting in result.waiting if not waiting.older]
        heard = [suggestion_entry(suggestion) for suggestion in result.suggestions]
        return EntryPage([*pairs, *heard, *others], result.cursor, result.warnings, result.left_out)

    def heading(self, count: int, more: str) -> str:
        return f"{plural(count, 'decision')} to make{more}"

    def came_back(self, entries: Sequence[ListEntry]) -> str:
        """Return the entry whose decision was undone: the next key is about it."""
        if not self._decided or self._decided[-1] not in {entry.id for entry in entries}:
            return ""
        return self._decided.pop()

    async def nothing(self) -> Content:
        return styled("Nothing waits for you.")

    def chosen_memory(self) -> str:
        """None: the keys here decide, and `x` discards. What is opened from here has the keys of a memory."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the decisions that suit what is chosen."""
        if action in ("decide", "decide_all"):
            chosen = self.entries.chosen
            return chosen is not None and (parameters[0] not in _OF_A_PAIR or " " in chosen.id)
        return super().check_action(action, parameters)

    def action_decide(self, verdict: str) -> None:
        """Decide on the chosen entry."""
        if self.entries.chosen:
            self.run_worker(self._decide([self.entries.chosen.id], verdict), group="change")

    def action_decide_all(self, verdict: str) -> None:
        """Decide on all entries of the group of the chosen one that were read."""
        if chosen := self.entries.chosen:
            group = [entry.id for entry in self.entries.entries if entry.section == chosen.section]
            self.run_worker(self._decide(group, verdict), group="change")

    async def _decide(self, entries: Sequence[str], verdict: str) -> None:
        first, *also = entries
        name, _, older = first.partition(" ")
        try:
            async with self.workspace.in_turn:
                done = await self.runner.call("review", name=name, verdict=verdict, other=older, also=also)
                self.workspace.note_change(done)
                self._decided.append(first)
        except PicomemError as error:
            self.fail(error)
        else:
            about = f"{done.key}: {done.change.reason}" if done.total == 1 else plural(done.total, "decision")
            self.note(f"{about}; u undoes it.")
        self.reload_if_changed()

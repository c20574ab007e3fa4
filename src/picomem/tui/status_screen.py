"""Status: what is stored, how it does, and what an agent sees of it; and what waits for a person's decision."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from picomem.errors import PicomemError
from picomem.operations.presentation import plural
from picomem.tui.base_screen import BaseScreen
from picomem.tui.list_entry import ListEntry, review_entry, suggestion_entry
from picomem.tui.list_screens import EntryPage, PagedScreen
from picomem.tui.presented_content import DetailPane, styled
from picomem.tui.workspace import Workspace


class StatusScreen(BaseScreen):
    """The results of the operations that say how the store does, one at a time."""

    mode = "status"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("s", "view('status')", "Status"),
        Binding("i", "view('index')", "Index"),
        Binding("r", "review", "Review"),
        Binding("c", "view('changes')", "Changes"),
        Binding("d", "view('doctor')", "Doctor"),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._shown = "status"

    def compose_body(self) -> Iterable[Widget]:
        yield DetailPane(id="whole")

    def on_screen_resume(self) -> None:
        """Read it, whenever the screen is shown: background work changes it too."""
        self.query_one(DetailPane).focus()
        self.reload()

    def action_view(self, name: str) -> None:
        """Show the result of an operation."""
        self._shown = name
        self.reload()

    def action_review(self) -> None:
        """Show what waits for a decision."""
        self.app.push_screen(ReviewScreen(self.workspace))

    def reload(self) -> None:
        """Run the operation again."""
        self.run_worker(partial(self._read, self._shown), exclusive=True, group="read")

    async def _read(self, name: str) -> None:
        try:
            result = await self.runner.call(name)
        except PicomemError as error:
            self.fail(error)
            return
        self.query_one(DetailPane).show(self.runner.operations[name].presentation(result))


_OF_A_PAIR = ("merge", "supersede")


class ReviewScreen(PagedScreen):
    """The list of what waits: statements that may contradict each other, suggestions, and what came from others.

    Each decision is one change, which `u` takes back.
    """

    mode = "status"
    text_lines = 3
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "decide('keep')", "Keep"),
        Binding("m", "decide('merge')", "Merge"),
        Binding("s", "decide('supersede')", "Supersede"),
        Binding("x", "decide('discard')", "Discard"),
        Binding("escape,left,backspace", "back", "Back"),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._others: dict[str, str] = {}  # of the entries that are pairs, the id of the older statement
        self._decided: list[str] = []  # the ids of entries that were decided on here, the last one last

    def read_page(self, cursor: str, limit: int) -> EntryPage:
        result = self.runner.call_here("review", untrusted=True, limit=limit, cursor=cursor)
        entries = [review_entry(waiting) for waiting in result.waiting]
        suggested = [suggestion_entry(suggestion) for suggestion in result.suggestions]
        self._others |= {
            entry.id: waiting.older.id for entry, waiting in zip(entries, result.waiting, strict=True) if waiting.older
        }
        return EntryPage([*entries, *suggested], result.cursor, result.warnings, result.left_out)

    def heading(self, count: int, more: str) -> str:
        return f"{plural(count, 'decision')} to make{more}"

    def came_back(self, entries: Sequence[ListEntry]) -> str:
        """Return the entry whose decision was undone: the next key is about it."""
        if not self._decided or self._decided[-1] not in {entry.id for entry in entries}:
            return ""
        return self._decided.pop()

    async def nothing(self) -> Content:
        return styled("Nothing waits for a decision.")

    def chosen_memory(self) -> str:
        """None: the keys here decide, and `x` discards. What is opened from here has the keys of a memory."""
        return ""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the decisions that suit what is chosen."""
        if action == "decide":
            chosen = self.entries.chosen
            return chosen is not None and (parameters[0] not in _OF_A_PAIR or chosen.id in self._others)
        return super().check_action(action, parameters)

    def action_decide(self, verdict: str) -> None:
        """Decide on the chosen entry."""
        chosen = self.entries.chosen
        if chosen is not None:
            self.run_worker(self._decide(chosen.id, chosen.memory, verdict), group="change")

    async def _decide(self, entry: str, memory: str, verdict: str) -> None:
        try:
            async with self.workspace.in_turn:
                done = await self.runner.call("review", name=memory, verdict=verdict, other=self._others.get(entry, ""))
                self.workspace.note_change(done)
                self._decided.append(entry)
        except PicomemError as error:
            self.fail(error)
        else:
            self.note(f"{done.key}: {done.change.reason}; u undoes it.")
        self.reload_if_changed()

    def action_back(self) -> None:
        """Back to the status."""
        self.dismiss(None)

"""Home: what holds, the last sessions, what changed; and the answer to a question while it is typed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from picomem.health.store_status import Status
from picomem.operations.inert_results import inert
from picomem.operations.overview import OverviewResult
from picomem.operations.presentation import day, plural
from picomem.operations.recall_views import AnswerView
from picomem.tui.browse_screen import BrowseScreen
from picomem.tui.dialogs import LineField
from picomem.tui.entry_list import EntryList
from picomem.tui.list_entry import ListEntry, hit_entries, overview_entries
from picomem.tui.presented_content import PLAIN, QUIET, TITLE, styled
from picomem.tui.slash_commands import usages
from picomem.tui.workspace import LatestCall, Workspace

# What the screens say before there is anything to show. Pure.

_INGEST = ("picomem ingest", "read your agents' past sessions")
_REMEMBER = ("picomem remember TEXT", "store a statement")
_COMMANDS = (
    _INGEST,
    _REMEMBER,
    ("picomem install", "let your agents use this memory"),
    ("picomem demo", "see it work on sample sessions"),
)


def first_steps() -> Content:
    """What to do where nothing is stored."""
    return _lines("Nothing is stored yet. In a terminal:", *_COMMANDS)


def first_episodes(status: Status) -> Content:
    """What to do where there are no episodes."""
    if not status.memories:
        return first_steps()
    return _lines("No past session has been read yet. In a terminal:", _INGEST)


def first_memories(status: Status) -> Content:
    """What to do where there are no memories."""
    if not status.episodes:
        return first_steps()
    return _lines("No memory is stored yet. In a terminal:", _REMEMBER)


def _lines(title: str, *commands: tuple[str, str]) -> Content:
    width = max(len(command) for command, _ in commands)
    lines = [styled(f"  {command:<{width}}  ", PLAIN) + styled(purpose, QUIET) for command, purpose in commands]
    return Content("\n").join([styled(title, TITLE), *lines])


_PATIENCE = 0.15  # seconds after which it is said that a search runs
_MOST_QUESTION = 2_000  # characters


class HomeScreen(BrowseScreen):
    """A field at the top; below it, while it is empty, what a person sees first, and otherwise the hits."""

    mode = "home"
    text_lines = 2
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "to_list", "To the list"),
        Binding("t", "next_project", "Next project", show=False),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.question = LineField(
            placeholder="Search memories and past sessions", max_length=_MOST_QUESTION, compact=True, id="question"
        )
        self._searches = LatestCall(self._start_search, self._show_answer, self.fail)
        self._slow: Timer | None = None
        self._project = ""  # that of the latest session
        self._projects: list[str] = []

    def compose_body(self) -> Iterable[Widget]:
        yield self.question
        yield from super().compose_body()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the way to the hits in the question only."""
        if action == "to_list":
            return self.question.has_focus
        return super().check_action(action, parameters)

    def on_mount(self) -> None:
        """Begin with the question."""
        self.question.focus()
        self._ask_again()

    def reload(self) -> None:
        """Search again."""
        self._ask_again()

    def on_input_changed(self) -> None:
        """Search for what is typed so far."""
        self._ask_again()

    def on_input_submitted(self) -> None:
        """Go to the list; or do what a command says."""
        if self.question.value.startswith("/"):
            self.obey(self.question.value)
            self.question.value = ""
        else:
            self.action_to_list()

    def on_key(self, event: Any) -> None:
        """Go from the question down to the list."""
        if event.key == "down" and self.question.has_focus:
            event.stop()
            self.action_to_list()

    def action_search(self) -> None:
        """Go to the question."""
        self.question.focus()

    def action_to_list(self) -> None:
        """Go to the list."""
        self.entries.focus()

    def action_next_project(self) -> None:
        """Show what holds in the next project."""
        if self._projects and not self.question.value:
            place = self._projects.index(self._project) if self._project in self._projects else -1
            self._project = self._projects[(place + 1) % len(self._projects)]
            self._ask_again()

    def _ask_again(self) -> None:
        question = self.question.value.strip()
        if not question:
            self._searches.ask(lambda: self.runner.call("overview", project=self._project))
            return
        if question.startswith("/"):
            self._show_commands(question)
            return
        self._searches.ask(lambda: self.runner.call("recall", query=question))
        if self._slow is None:
            self._slow = self.set_timer(_PATIENCE, self._say_searching)

    def _show_commands(self, typed: str) -> None:
        """The commands that begin like what is typed."""
        name = typed.split()[0]
        matching = {usage: text for usage, text in usages().items() if usage.startswith(name)}
        self.summarise("enter does what the command says" if matching else "There is no such command")
        self.entries.show([ListEntry(id=usage, title=usage, text=text) for usage, text in matching.items()])

    def on_entry_list_opened(self, event: EntryList.Opened) -> None:
        """Go to the hit; or take a command that is chosen into the line."""
        if event.entry and event.entry.id.startswith("/"):
            self.question.focus()
            self.question.value = f"{event.entry.id.split()[0]} "
            self.question.cursor_position = len(self.question.value)
        else:
            super().on_entry_list_opened(event)

    def _start_search(self, work: Any) -> None:
        self.run_worker(work, group="search")

    def _say_searching(self) -> None:
        self._slow = None
        if self._searches.is_running:
            self.summarise("Searching …")

    def _show_answer(self, answer: AnswerView | OverviewResult) -> None:
        is_at_list = self.screen.focused is self.entries
        if isinstance(answer, AnswerView):
            self.summarise(_account(inert(answer)))
            self.entries.show(hit_entries(answer), keep_place=is_at_list)
            return
        self._project, self._projects = answer.project, answer.projects
        self.entries.show(overview_entries(answer), keep_place=is_at_list)
        if answer.counts["memories"] or answer.counts["episodes"]:
            self.summarise(_counted(answer))
        else:
            self.summary.update(first_steps())


def _counted(seen: OverviewResult) -> str:
    """How much there is, and when the transcripts of each host were read last."""
    memories, sessions = seen.counts["memories"], seen.counts["sessions"]
    counted = [plural(memories, "memory", "memories"), plural(sessions, "session")]
    counted += [f"{len(seen.projects)} projects (t)"] if len(seen.projects) > 1 else []
    return " · ".join([*counted, *(f"{host} read {day(at)[:10]}" for host, at in seen.read_at.items())])


def _account(answer: AnswerView) -> str:
    """What was found, how sure it is, and what was left out and why."""
    if not answer.hits:
        return " · ".join(["Nothing was found", *answer.warnings])
    account = [plural(len(answer.hits), "hit"), f"confidence {answer.confidence:.2f}"]
    account += [f"{answer.left_out:,} more did not fit the budget"] if answer.left_out > 0 else []
    account += [f"“{answer.time_phrase}”"] if answer.time_phrase else []
    account += [f"{leg} {state}" for leg, state in answer.legs.items()]
    return " · ".join([*account, *answer.warnings])

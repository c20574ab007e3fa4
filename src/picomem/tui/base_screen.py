"""What every screen has, the bar of screens at the top, a line for remarks and the keys at the bottom; and a result."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Footer, Static

from picomem.errors import PicomemError
from picomem.operations.presentation import Presentation
from picomem.text.inert_text import one_line
from picomem.tui.dialogs import KeyHelp
from picomem.tui.presented_content import DetailPane, styled
from picomem.tui.slash_commands import CommandResult, run_command
from picomem.tui.workspace import Workspace

MODES = ("home", "memories", "review", "timeline", "conversations", "chat", "status")  # the digit of each is its place
_NOTE_SECONDS = 10.0
_MOST_NOTE = 300  # characters


class NavigationItem(Static):
    """The name of a screen, which a click opens."""

    def __init__(self, mode: str, number: int, *, is_current: bool) -> None:
        self._mode = mode
        self._title = f" {number} {mode.capitalize()}"
        super().__init__(Content(self._title), markup=False, id=f"to-{mode}")
        self.set_class(is_current, "-current")

    def count(self, waiting: int) -> None:
        """Say behind the name how much waits there."""
        self.update(Content(f"{self._title} {waiting:,}" if waiting else self._title))

    async def on_click(self) -> None:
        """Go there."""
        await self.app.run_action(f"go('{self._mode}')")


class NavigationBar(Horizontal):
    """The screens, and whose memory it is."""

    def __init__(self, mode: str, user: str) -> None:
        super().__init__()
        self._mode = mode
        self._user = user

    def compose(self) -> ComposeResult:
        for number, mode in enumerate(MODES, 1):
            yield NavigationItem(mode, number, is_current=mode == self._mode)
        yield Static(styled(one_line(self._user, 40)), markup=False, id="user")


class NoteLine(Static):
    """A sentence about what was done, for some seconds; the line is always there, so nothing moves."""

    def __init__(self) -> None:
        super().__init__(Content(""), markup=False)
        self._timer: Timer | None = None

    def say(self, text: str, *, is_error: bool = False) -> None:
        """Show a sentence."""
        self.set_class(is_error, "-error")
        shown = one_line(text, _MOST_NOTE)
        self.update(styled(f"! {shown}" if is_error else shown))
        if self._timer:
            self._timer.stop()
        self._timer = None if is_error else self.set_timer(_NOTE_SECONDS, self.clear)

    def clear(self) -> None:
        """Show nothing."""
        self.update(Content(""))


class BaseScreen(Screen[None]):
    """A screen of the program."""

    mode = ""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self.runner = workspace.runner
        self._seen_edition = workspace.edition

    def compose(self) -> ComposeResult:
        yield NavigationBar(self.mode, self.workspace.user)
        yield from self.compose_body()
        yield NoteLine()
        yield Footer(compact=True, show_command_palette=False)

    def compose_body(self) -> Iterable[Widget]:
        """What stands between the bar and the remarks."""
        return ()

    def note(self, text: str) -> None:
        """Say what was done."""
        self.query_one(NoteLine).say(text)

    def fail(self, error: PicomemError) -> None:
        """Say what could not be done."""
        self.query_one(NoteLine).say(str(error), is_error=True)

    def reload(self) -> None:
        """Read again what is shown, because the store has changed."""

    def reload_if_changed(self) -> None:
        """Read again what is shown if the store has changed since."""
        self.refresh_bindings()
        self.run_worker(self._count_waiting, exclusive=True, group="count")
        if self._seen_edition != self.workspace.edition:
            self._seen_edition = self.workspace.edition
            self.reload()

    async def _count_waiting(self) -> None:
        try:
            waiting = (await self.runner.call("review", count=True)).total
        except PicomemError:
            return  # what the screen itself asks for says why
        self.query_one("#to-review", NavigationItem).count(waiting)

    def on_screen_resume(self) -> None:
        """Show what has changed while another screen was shown."""
        self.reload_if_changed()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to undo once there is something to undo."""
        if action == "undo":
            return bool(self.workspace.changes)
        return super().check_action(action, parameters)

    def conversation(self) -> str:
        """The id of the conversation that commands are about; empty for none."""
        return ""

    def obey(self, line: str) -> None:
        """Do what a line that begins with a slash says."""
        if line.strip() in ("/quit", "/exit"):
            self.app.exit(0)
            return
        self.run_worker(partial(self._obey, line.strip()), group="change")

    async def _obey(self, line: str) -> None:
        try:
            result = await run_command(self, line, self.conversation())
        except PicomemError as error:
            self.fail(error)
            return
        if result is not None:
            self.show_command(result)
        self.reload_if_changed()

    def show_command(self, result: CommandResult) -> None:
        """Show what a command came to."""
        if result.presentation != Presentation():
            self.app.push_screen(ResultScreen(self.workspace, self.mode, result.presentation))

    def action_undo(self) -> None:
        """Take the latest change back."""
        self.run_worker(self._undo(), group="change")

    async def _undo(self) -> None:
        try:
            async with self.workspace.in_turn:
                said = await self.workspace.undo()
        except PicomemError as error:
            self.fail(error)
            return
        self.note(said)
        self.reload_if_changed()

    def action_show_keys(self) -> None:
        """Show all keys."""
        self.app.push_screen(KeyHelp(self.active_bindings))


class ResultScreen(BaseScreen):
    """A result to read: what a command came to."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,left,backspace,enter", "back", "Back")]

    def __init__(self, workspace: Workspace, mode: str, presentation: Presentation) -> None:
        super().__init__(workspace)
        self.mode = mode
        self._presentation = presentation

    def compose_body(self) -> Iterable[Widget]:
        yield DetailPane(id="whole")

    def on_mount(self) -> None:
        """Show it."""
        pane = self.query_one(DetailPane)
        pane.show(self._presentation)
        pane.focus()

    def action_back(self) -> None:
        """Back to where the person came from."""
        self.dismiss(None)

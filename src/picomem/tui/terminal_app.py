"""`picomem tui`: the program that holds the screens together."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.theme import Theme
from textual.widgets import Input, TextArea

from picomem.tui.base_screen import MODES, BaseScreen
from picomem.tui.chat_screen import ChatScreen
from picomem.tui.dialogs import PasteRefused
from picomem.tui.home_screen import HomeScreen
from picomem.tui.list_screens import ConversationsScreen, MemoriesScreen, TimelineScreen
from picomem.tui.review_screen import ReviewScreen
from picomem.tui.status_screen import StatusScreen
from picomem.tui.workspace import OperationRunner, Workspace

DARK = Theme(
    "picomem-dark",
    primary="#7aa2f7",
    accent="#8fb8ff",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#d5d8df",
    background="#16181d",
    surface="#1b1e24",
    panel="#23272f",
)
LIGHT = Theme(
    "picomem-light",
    primary="#2a5db0",
    accent="#1f4e9c",
    warning="#8a5a00",
    error="#b3261e",
    success="#2e6b2e",
    foreground="#1f2328",
    background="#fbfbfa",
    surface="#f3f3f1",
    panel="#e8e8e5",
    dark=False,
)
_OF_A_SCREEN = ("go", "search")
_SIGNALS = ("SIGTERM", "SIGINT")
_FAREWELL_SECONDS = 3.0
_SCREENS: dict[str, Callable[[Workspace], BaseScreen]] = {
    "home": HomeScreen,
    "memories": MemoriesScreen,
    "review": ReviewScreen,
    "timeline": TimelineScreen,
    "conversations": ConversationsScreen,
    "chat": ChatScreen,
    "status": StatusScreen,
}


class TerminalApp(App[int]):
    """The terminal user interface of one user's memory."""

    CSS_PATH = "terminal_app.tcss"
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE = False
    TITLE = "picomem"
    # A dialog has no border to spare in a low window.
    VERTICAL_BREAKPOINTS = [(0, "-low"), (18, "-high")]  # noqa: RUF012 - Textual declares it of an instance
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(str(number), f"go('{mode}')", mode.capitalize(), show=False) for number, mode in enumerate(MODES, 1)),
        Binding("u", "screen.undo", "Undo"),
        Binding("slash", "search", "Search", key_display="/"),
        Binding("question_mark", "screen.show_keys", "Keys", key_display="?"),
        Binding("q", "quit", "Quit"),
        Binding("ctrl+q", "quit", "Quit", priority=True),
    ]

    def __init__(self, runner: OperationRunner, *, theme: str = "dark", no_model: str = "") -> None:
        # With NO_COLOR, colours are left out, and not turned into shades of grey.
        super().__init__(ansi_color=True if os.environ.get("NO_COLOR") else None)
        self.workspace = Workspace(runner, runner.engine.scope.user, no_model)
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = f"picomem-{theme}"
        for mode, screen in _SCREENS.items():
            self.add_mode(mode, partial(screen, self.workspace))

    async def on_mount(self) -> None:
        """Begin at home, and end with the terminal as it was when the system asks for it."""
        loop = asyncio.get_running_loop()
        for name in _SIGNALS:
            with suppress(NotImplementedError, ValueError, AttributeError, RuntimeError):
                number = getattr(signal, name)
                loop.add_signal_handler(number, self.exit, 128 + number)
        if hasattr(signal, "SIGHUP"):
            signal.signal(signal.SIGHUP, partial(self._hang_up, loop))
        await self.switch_mode("home")

    def _hang_up(self, loop: asyncio.AbstractEventLoop, number: int, _frame: object) -> None:
        # Textual writes to a terminal that is gone for ever, and the loop waits for it: the alarm ends the process.
        signal.setitimer(signal.ITIMER_REAL, _FAREWELL_SECONDS)
        loop.call_soon_threadsafe(self.exit, 128 + number)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer the keys of the program on its screens, and not in a dialog."""
        if action in _OF_A_SCREEN:
            return isinstance(self.screen, BaseScreen) and not isinstance(self.focused, Input | TextArea)
        return super().check_action(action, parameters)

    def on_paste_refused(self, event: PasteRefused) -> None:
        """Say why a text was not pasted: at the bottom of a screen; over a dialog, which has no line for it."""
        if isinstance(self.screen, BaseScreen):
            self.screen.note(event.reason)
        else:
            self.notify(event.reason, severity="warning", markup=False)

    async def action_go(self, mode: str) -> None:
        """Show a screen."""
        await self.switch_mode(mode)

    async def action_search(self) -> None:
        """Go to the question, from any screen."""
        await self.switch_mode("home")
        if isinstance(self.screen, HomeScreen):
            self.screen.action_search()

    async def action_talk_on(self, session: str) -> None:
        """Go on with a conversation."""
        await self.switch_mode("chat")
        if isinstance(self.screen, ChatScreen):
            await self.screen.go_on(session)


def preferred_theme(environment: Mapping[str, str]) -> str:
    """The theme that goes with the terminal's background, as far as the terminal says which it is."""
    background = environment.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in ("7", "15") else "dark"

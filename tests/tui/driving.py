"""Drive the terminal interface without a terminal: keys in, the text of the screen out."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from picomem.app import operations
from picomem.engine.engine import Engine
from picomem.tui.base_screen import BaseScreen, NoteLine
from picomem.tui.terminal_app import TerminalApp
from picomem.tui.workspace import OperationRunner

SMALL, LARGE = (80, 24), (200, 60)
_MOST_PAUSES = 2_000
_A_FEW_PAUSES = 200
_A_LOOK = 0.05  # seconds after which a dialog, for which a worker waits, is looked for
_FOLDER = re.compile(r"/tmp/pm-\w{8}")
_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


@dataclass
class Person:
    """A person at the interface."""

    app: TerminalApp
    pilot: Pilot[int]

    @property
    def lines(self) -> list[str]:
        """The lines of the screen."""
        return [strip.text.rstrip() for strip in self.app.screen._compositor.render_strips()]

    @property
    def text(self) -> str:
        """The screen, with the same id in place of every id, and the same folder in place of that of the samples."""
        shown = _FOLDER.sub("/tmp/pm-00000000", "\n".join(self.lines))
        return _ID.sub(lambda match: re.sub("[0-9a-f]", "0", match[0]), shown)

    @property
    def lines_without_ids(self) -> list[str]:
        """The lines of `text`."""
        return self.text.split("\n")

    @property
    def conversation(self) -> str:
        """The id of the conversation that commands are about."""
        assert isinstance(self.app.screen, BaseScreen)
        return self.app.screen.conversation()

    @property
    def note(self) -> str:
        """The remark at the bottom."""
        return str(self.app.screen.query_one(NoteLine).render())

    async def press(self, *keys: str) -> None:
        """Press keys one after another; what they begin is over afterwards, unless it waits for the person."""
        for key in keys:
            await self.pilot.press(key)
        await self.settle()

    async def type(self, text: str) -> None:
        """Type a text."""
        await self.press(*("space" if char == " " else char for char in text))

    async def search(self, question: str) -> None:
        """Ask a question, as if it had been pasted."""
        self.app.screen.query_one("#question", Input).value = question
        await self.settle()

    async def settle(self) -> None:
        """Wait until the interface waits for the person."""
        for _ in range(_MOST_PAUSES):
            await self.pilot.pause()
            working = [
                worker for worker in self.app.workers if not worker.is_finished and worker.node is self.app.screen
            ]
            if not working:
                return
            # Threads that work would get less of the processor while this loop spins.
            tasks = [worker._task for worker in working if worker._task]
            await asyncio.wait(tasks, timeout=_A_LOOK, return_when=asyncio.FIRST_COMPLETED)
        raise AssertionError(f"it never came to rest: {working}")

    async def calm_down(self, condition: Callable[[], bool] | None = None) -> None:
        """Wait until something is so; without a condition, as long as the interface takes to draw itself some times.

        On a busy machine a few pauses end before a large screen is drawn, so a condition gets more of them.
        """
        for _ in range(_MOST_PAUSES if condition else _A_FEW_PAUSES):
            await self.pilot.pause()
            if condition and condition():
                return

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until something is so."""
        for _ in range(_MOST_PAUSES):
            await self.pilot.pause()
            if condition():
                return
        raise AssertionError(f"it never came so far:\n{self.text}")


def at_the_terminal(
    engine: Engine, story: Callable[[Person], Awaitable[Any]], size: tuple[int, int] = SMALL, **settings: str
) -> None:
    """Let a person do something at the interface."""

    async def run() -> None:
        runner = OperationRunner(engine, operations())
        app = TerminalApp(runner, **settings)
        try:
            async with app.run_test(size=size) as pilot:
                person = Person(app, pilot)
                await person.settle()
                await story(person)
        finally:
            runner.close()

    asyncio.run(run())

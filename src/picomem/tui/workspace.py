"""What the screens share: the runner of operations, and the changes that this person has made."""

from __future__ import annotations

import asyncio
from asyncio import Lock
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.light_dataclass import dataclass, field
from picomem.operations.operation import Operation, Telling

# Operations for a terminal user interface: one engine, and threads in which the operations run.
#
# The engine is synchronous and the interface has one event loop, so no operation runs in the loop.

_THREADS = 4  # a thread that reads holds a database connection of its own


class OperationRunner:
    """Runs operations for one caller."""

    def __init__(self, engine: Engine, operations: Iterable[Operation]) -> None:
        self.engine = engine
        self.operations = {operation.name: operation for operation in operations}
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="picomem-tui")

    async def call(self, name: str, /, **values: Any) -> Any:
        """The result of an operation for a request with these values. Raises what the operation raises."""
        return await self.in_thread(lambda: self.call_here(name, **values))

    def call_here(self, name: str, /, **values: Any) -> Any:
        """Do the same as `call` in a thread that may wait."""
        operation = self.operations[name]
        return operation.call(self.engine, operation.request(**values))

    async def run(self, operation: Operation, request: Any) -> Any:
        """The result of an operation. Raises what the operation raises."""
        return await self.in_thread(lambda: operation.call(self.engine, request))

    async def stream(self, operation: Operation, request: Any, tell: Telling) -> Any:
        """The result of an operation that waits on a network; `tell` gets its events. Raises what it raises."""
        return await operation.stream(self.engine, request, tell)

    async def in_thread(self, work: Callable[[], Any]) -> Any:
        """The result of a function that may wait for the store."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def close(self) -> None:
        """Wait until the operations that run have ended, so that none is cut off in the middle."""
        self._threads.shutdown(wait=True, cancel_futures=True)


class LatestCall:
    """Runs one call at a time; of the calls that are asked for meanwhile, only the latest follows.

    A person types faster than a large store answers. Without this, every key would start a search of its own.
    """

    def __init__(
        self,
        start: Callable[[Awaitable[None]], object],
        show: Callable[[Any], None],
        fail: Callable[[PicomemError], None],
    ) -> None:
        """`start` runs a coroutine in the interface's event loop. `show` gets the result of the latest call, and
        `fail` its error."""
        self._start = start
        self._show = show
        self._fail = fail
        self._waiting: Callable[[], Awaitable[Any]] | None = None
        self.is_running = False

    def ask(self, call: Callable[[], Awaitable[Any]]) -> None:
        """Run a call now, or as soon as the one that runs has ended."""
        self._waiting = call
        if not self.is_running:
            self.is_running = True
            self._start(self._run())

    async def _run(self) -> None:
        try:
            while self._waiting is not None:
                call, self._waiting = self._waiting, None
                try:
                    result = await call()
                except PicomemError as error:
                    if self._waiting is None:
                        self._fail(error)
                    continue
                if self._waiting is None:
                    self._show(result)
        finally:
            self.is_running = False


@dataclass(slots=True)
class Workspace:
    """`changes` are the ids of changes that `u` takes back, the latest last. `edition` grows with each change of the
    store, so that a screen knows that what it shows is old. `no_model` says why nobody can talk here, in a sentence
    with the remedy; empty where a model is set. `in_turn` lets one change follow another in the order of the keys."""

    runner: OperationRunner
    user: str
    no_model: str = ""
    in_turn: Lock = field(default_factory=Lock)
    changes: list[str] = field(default_factory=list)
    edition: int = 0

    async def changed(self, memory: str) -> None:
        """Note the change that was just made to a memory."""
        recorded = await self.runner.call("changes", name=memory, limit=1)
        self.changes += [listed.change.id for listed in recorded.changes]
        self.edition += 1

    def note_change(self, result: Any) -> None:
        """Note that an operation has changed the store; its result says which change that was, if one can be undone."""
        change = getattr(result, "change", None)
        self.changes += [change.run] if change else []
        self.edition += 1

    async def undo(self) -> str:
        """Take the latest change back; a sentence about it. Raises what `undo` raises."""
        if not self.changes:
            return "There is nothing to undo here; `picomem changes` lists all changes."
        result = await self.runner.call("undo", change=self.changes[-1])
        self.changes.pop()
        self.edition += 1
        keys = ", ".join(dict.fromkeys(step.key for step in result.undone if step.key))
        return f"Undone: {keys or 'the consolidation'} is as it was before."

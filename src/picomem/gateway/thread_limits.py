"""Limits the worker threads of each user, so that nobody's calls delay those of others.

The engine is synchronous, so each call runs in a thread. A writer may wait for the lock of another process for half a
minute, and a long operation takes minutes. So there are separate threads for calls that read, calls that write, long
calls, the look-up of tokens, with which every request begins, and the rendering of pages. One user gets at most a part
of the threads of a kind. Each reading thread has its own database connection.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum

from anyio import CapacityLimiter

from picomem.operations.operation import Operation

THREADS_OF_A_USER = 4  # of each kind
_LOOKUP_THREADS = 4
_RENDERING_THREADS = 2  # it waits for nothing, so more of them would make no page come sooner


class ThreadUse(Enum):
    """The purpose of a thread."""

    READ = "read"
    WRITE = "write"
    LONG = "long"

    @classmethod
    def of(cls, operation: Operation) -> ThreadUse:
        """Return the kind of thread use of an operation."""
        if operation.long or operation.asynchronous:
            return cls.LONG
        return cls.READ if operation.read_only else cls.WRITE


_THREADS = {ThreadUse.READ: 16, ThreadUse.WRITE: 8, ThreadUse.LONG: 4}


class ThreadLimits:
    """The threads of a server."""

    def __init__(self) -> None:
        self.lookups = CapacityLimiter(_LOOKUP_THREADS)
        self.rendering = CapacityLimiter(_RENDERING_THREADS)
        self._of_all = {use: CapacityLimiter(threads) for use, threads in _THREADS.items()}
        self._of_users: dict[tuple[str, ThreadUse], tuple[CapacityLimiter, int]] = {}  # and how many hold or await it

    @asynccontextmanager
    async def place(self, user: str, use: ThreadUse) -> AsyncIterator[CapacityLimiter]:
        """A place of a user until the end of the block; its limiter is for `to_thread.run_sync`.

        The user's own bound comes first, so who waits for that takes no place of others.
        """
        kind = (user, use)
        own, count = self._of_users.get(kind, (CapacityLimiter(THREADS_OF_A_USER), 0))
        self._of_users[kind] = (own, count + 1)
        try:
            async with own:
                yield self._of_all[use]
        finally:
            own, count = self._of_users.pop(kind)
            if count > 1:
                self._of_users[kind] = (own, count - 1)

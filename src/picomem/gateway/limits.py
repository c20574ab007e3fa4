"""Limits of the server: the worker threads of each user, and the rate of requests."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from enum import Enum
from typing import Any

from anyio import CapacityLimiter

from picomem.errors import TooManyRequests
from picomem.operations.operation import Operation
from picomem.records.caller import Caller

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


# Limits how often a token may ask, and how often an address may try without one, over all protocols of a server.

_MOST_CALLERS = 10_000  # whose rate is known; a token that asks again after that begins anew


class RequestRates:
    """The requests of one server. Not for threads: it lives in the event loop."""

    def __init__(self, rate: float, burst: int, strangers_burst: int) -> None:
        self._callers = _Buckets(rate, burst)
        self._strangers = _Buckets(rate, strangers_burst)

    def count(self, caller: Caller) -> None:
        """Count a request of a token. Raises TooManyRequests."""
        _check(self._callers.wait_seconds(caller.signature))

    def count_stranger(self, scope: Mapping[str, Any]) -> None:
        """Count a request that shows no valid token, for its address. Raises TooManyRequests."""
        _check(self._strangers.wait_seconds(address_of(scope)))


def address_of(scope: Mapping[str, Any]) -> str:
    """The address from which a request comes."""
    return str((scope.get("client") or ("",))[0])


class _Buckets:
    """A token bucket for each name."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}  # what is left, and when that was so

    def wait_seconds(self, name: str) -> float:
        """Take one; how many seconds to wait where none is left, else 0."""
        now = self._clock()
        left, at = self._buckets.pop(name, (float(self._burst), now))
        left = min(float(self._burst), left + (now - at) * self._rate)
        allowed = left >= 1
        self._buckets[name] = (left - 1 if allowed else left, now)
        if len(self._buckets) > _MOST_CALLERS:
            del self._buckets[next(iter(self._buckets))]
        return 0.0 if allowed else (1 - left) / self._rate


def _check(wait: float) -> None:
    if wait:
        seconds = max(1, round(wait))
        raise TooManyRequests(f"Too many requests; wait {seconds} s and send it again.", retry_after=seconds)

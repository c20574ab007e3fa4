"""Decides how long, and how often, SQLite asks for a lock that another process holds."""

from __future__ import annotations

import time
from collections.abc import Callable


def ask_again_for(seconds: float) -> Callable[[int], bool]:
    """A busy handler that asks for the lock every two milliseconds, for so many seconds.

    SQLite's own handler soon asks ten times a second only. A process that writes without a pause leaves the lock free
    for about a millisecond between two transactions, so that handler can miss every gap for half a minute.
    """
    deadline = 0.0

    def ask_again(refusals: int) -> bool:
        nonlocal deadline
        if refusals == 0:
            deadline = time.monotonic() + seconds
        time.sleep(0.002)
        return time.monotonic() < deadline

    return ask_again

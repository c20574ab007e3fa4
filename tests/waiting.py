"""Wait for what says nothing when it changes: another process, a file, a table of a server.

Where there is an event, a condition, a pipe or an exit code, wait on that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_NEVER = threading.Event()


def wait_until(
    holds: Callable[[], object],
    *,
    seconds: float = 60,
    every: float = 0.02,
    otherwise: str = "it did not come to be so",
) -> None:
    """Ask `holds` every so many seconds, and fail with the words of `otherwise` when it does not hold in time."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, otherwise
        _NEVER.wait(every)

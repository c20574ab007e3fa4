"""What a call costs, whatever the machine: processor time beside that of a fixed piece of work done in the same breath.

Limits are in seconds of the machine on which they were set, where the work took YARD. A slower or a busier one gets as
much more as it needs for the work.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from collections.abc import Callable

YARD = 0.003
_TEXT = "the quick brown fox 123 " * 4_000
_WORDS = re.compile(r"[a-z]+|\d+")


def cost(action: Callable[[], object], enough: float = 0.0) -> float:
    """The minimum of a few runs, in seconds of the machine above. A run within `enough` is the last one.

    A run that is within `enough` on this machine needs no comparison, because a comparison only lowers its cost.
    """
    best = float("inf")
    for _ in range(5):
        spent = _spent(action)
        if spent <= enough:
            return spent
        best = min(best, spent / max(1.0, _spent(lambda: _WORDS.findall(_TEXT)) / YARD))
        if best <= enough:
            break
    return best


def _spent(action: Callable[[], object]) -> float:
    """Processor time without the garbage collector, whose cost is that of all that the process holds."""
    collects = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        action()
        return time.process_time() - start
    finally:
        if collects:
            gc.enable()


def python_calls(action: Callable[[], object]) -> int:
    """How many functions of Python an action calls in this thread, the same on every machine."""
    count = 0

    def note(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count

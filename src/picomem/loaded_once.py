"""`functools.cache` for a large value without arguments: threads that ask at the same time share one load.

Without the lock, each thread of a server that answers its first requests loads its own copy of the tokenizer, 25 MB.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from threading import Lock
from typing import TypeVar

T = TypeVar("T")


def loaded_once(load: Callable[[], T]) -> Callable[[], T]:
    """Call `load` when the result is first asked for, and never again; an error is not kept."""
    lock, cached = Lock(), cache(load)

    @wraps(load)
    def loaded() -> T:
        with lock:
            return cached()

    return loaded

"""Two kinds of `functools.cache`: for a large value without arguments, and for functions of one text.

Without the lock of the first, each thread of a server that answers its first requests loads its own copy of the
tokenizer, 25 MB. Without the bound of the second, a server keeps the longest texts that it was ever sent.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache, wraps
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


def cached_if_short(longest: int, maxsize: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keep the results of the last `maxsize` texts that have at most `longest` characters."""

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize)(function)

        @wraps(function)
        def call(text: str) -> T:
            return cached(text) if len(text) <= longest else function(text)

        return call

    return decorate

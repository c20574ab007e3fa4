"""Counts what each user, or each address without a token, has open at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

Owner = tuple[str, str]  # "user" or "address", and which


class Shares:
    """At most `most` of one kind for each owner. Not for threads: it lives in the event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[Owner] = Counter()

    @contextmanager
    def taken(self, owner: Owner) -> Iterator[bool]:
        """Take one until the end of the block; False where the owner has all of theirs."""
        if self._open[owner] >= self.most:
            yield False
            return
        self._open[owner] += 1
        try:
            yield True
        finally:
            self._open[owner] -= 1
            if not self._open[owner]:
                del self._open[owner]

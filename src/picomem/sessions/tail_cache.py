"""A cache of the ends of sessions.

An entry is valid only while its rows have the same numbers and hashes, which every lookup checks
(`store.sessions.end_mark`). So a message of another process is seen at once, and so is a purge. The cache is limited by
its number of characters; the least recently used entries go first.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from picomem.records.session import Loaded

MOST_CHARACTERS = 8_000_000


class TailCache:
    """The last messages of some sessions. Safe to share between threads."""

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: OrderedDict[str, tuple[object, Loaded]] = OrderedDict()
        self.characters = 0

    def get(self, session: str, mark: object) -> Loaded | None:
        """The cached end of a session at this mark, or None."""
        with self._lock:
            held = self._held.get(session)
            if held is None or held[0] != mark:
                return None
            self._held.move_to_end(session)
            return held[1]

    def put(self, session: str, mark: object, loaded: Loaded) -> None:
        """Keep it, in place of what was known before."""
        with self._lock:
            old = self._held.pop(session, None)
            self.characters += _characters(loaded) - (_characters(old[1]) if old else 0)
            self._held[session] = (mark, loaded)
            while self.characters > self._most:
                _, (_, dropped) = self._held.popitem(last=False)
                self.characters -= _characters(dropped)


def _characters(loaded: Loaded) -> int:
    return sum(
        len(message.content) + sum(len(call.arguments) for call in message.tool_calls) + 1
        for message in loaded.messages
    )

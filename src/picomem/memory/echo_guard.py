"""Text that recall returned recently in this process, to recognise it when it is offered to memory (X6, X7).

It keeps the texts of episodes and of untrusted memories: if an agent stored them again, they would exist twice, or
pass for the agent's own words. Of trusted memories it keeps the ids: the comparison with the store (see `decide`)
recognises one that comes back. It also keeps the pieces of the latest answers to agents (policy/own_output.py), of any
operation.
Text that another process returned is not known here; the gate recognises some of it by its shape.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING

from picomem.records.hit import Hit
from picomem.records.kinds import Origin

if TYPE_CHECKING:
    from picomem.policy.own_output import AnswerPiece

_MOST_PIECES = 4_096  # of answers; one of ten hits has a few hundred
_MOST = 64  # texts; an answer has ten or so, and what was recalled long ago may be said again


class ReturnedTexts:
    """The latest returned texts, each once. Safe to share between threads."""

    def __init__(self) -> None:
        self._texts: deque[str] = deque(maxlen=_MOST)
        self._pieces: dict[AnswerPiece, None] = {}
        self._users_own: deque[str] = deque(maxlen=_MOST)
        self._memories: deque[str] = deque(maxlen=_MOST)
        self._lock = Lock()

    def note(self, hits: Iterable[Hit]) -> None:
        """Record the hits of an answer."""
        hits = list(hits)
        with self._lock:
            self._memories.extend(hit.id for hit in hits if hit.source == "memory" and hit.origin.trusted)
        hits = [hit for hit in hits if hit.source == "episode" or not hit.origin.trusted]
        self.keep(text for hit in hits for text in (hit.text, *hit.outcomes))
        with self._lock:
            self._users_own.extend(hit.text for hit in hits if hit.role == "user" and hit.origin is Origin.USER)

    def keep(self, texts: Iterable[str]) -> None:
        """Record texts that an agent reads and did not write."""
        with self._lock:
            self._texts.extend(text for text in dict.fromkeys(texts) if text not in self._texts)

    def users_own(self) -> tuple[str, ...]:
        """Return the texts that are turns of the user. An agent may store statements of the user from them."""
        with self._lock:
            return tuple(self._users_own)

    def memories(self) -> frozenset[str]:
        """Return the ids of trusted memories that were returned: an agent may offer them again in fewer words."""
        with self._lock:
            return frozenset(self._memories)

    def texts(self) -> tuple[str, ...]:
        """Return all recently returned texts."""
        with self._lock:
            return tuple(self._texts)

    def keep_answer(self, pieces: Iterable[AnswerPiece]) -> None:
        """Record the pieces of an answer to an agent."""
        with self._lock:
            for piece in pieces:
                self._pieces.pop(piece, None)
                self._pieces[piece] = None
            for oldest in list(self._pieces)[:-_MOST_PIECES]:
                del self._pieces[oldest]

    def pieces(self) -> tuple[AnswerPiece, ...]:
        """Return the pieces of the latest answers."""
        with self._lock:
            return tuple(self._pieces)

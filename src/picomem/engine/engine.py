"""The engine: what `picomem.open()` returns, and what every surface calls.

It is synchronous. It holds one store, one embedder and one clock, and decides nothing: each method reads its
arguments, opens a transaction where one is needed, and calls the part that knows. The methods stand by what they are
for, each file on top of the one before: parts.py, reading.py, writing.py, conversing.py, keeping.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.engine.keeping import Keeping
from picomem.records.memory import Parent
from picomem.values import replace

if TYPE_CHECKING:
    from types import TracebackType


class Engine(Keeping):
    """The memory of one user. Every method that takes times takes UTC microseconds or ISO 8601 text."""

    def acting_as(self, actor: str = "", *, message: str = "", said: str = "", agent: bool = False) -> Engine:
        """The same open memory for another actor, whose name stands on what it changes, or for ours. It needs no
        closing.

        `said` is what a person says to an agent, and `message` the id under which it is stored, if it is: what is
        changed now was made from that. With `agent` the actor is no person: it forgets nothing that a person stated or
        pinned, unless the person asks for that in `said`, or without it in their turns of the last day that were
        ingested.
        """
        from copy import copy

        acting = copy(self)
        acting.caller = replace(self.caller, actor=actor or self.caller.actor, is_agent=agent)
        acting._sources = (Parent(kind="message", id=message),) if message else ()
        acting._said = said
        return acting

    def close(self) -> None:
        """Close the store, where it was opened for this engine alone; the engine of a `Runtime` leaves it open."""
        if self._close is not None:
            self._close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

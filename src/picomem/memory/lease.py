"""The right to do a piece of work alone, among all processes on a store, for some time at a time.

It stands in the store, and is taken, renewed and given back within transactions of whoever works. The lease of a
process that was killed runs out; where it can be seen that the process is gone, it is free at once.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from picomem.clock import SECOND, Clock
from picomem.errors import Corrupt
from picomem.records.ids import new_id
from picomem.store import meta
from picomem.store.connector import Transaction
from picomem.values import dataclass, field


def _new_owner() -> str:
    return f"{os.getpid()}:{new_id()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The lease of that name, for so many seconds. Names of people in it are erased with them (`erasure/purge.py`)."""

    name: str
    seconds: int
    clock: Clock
    owner: str = field(default_factory=_new_owner)

    def taken(self, tx: Transaction) -> bool:
        """Take or renew it; False where another has it."""
        now = self.clock()
        owner, _, until = self._held(tx).partition(" ")
        # An end that is further away than any lease reaches was written before the clock was set back.
        held = owner not in ("", self.owner) and now < int(until) <= now + self.seconds * SECOND
        if held and not _is_gone(owner):
            return False
        meta.put(tx, self.name, f"{self.owner} {now + self.seconds * SECOND}")
        return True

    def give_back(self, tx: Transaction) -> None:
        """Let the next one have it at once."""
        if self._held(tx).startswith(f"{self.owner} "):
            meta.put(tx, self.name, "")

    def _held(self, tx: Transaction) -> str:
        """Who holds it and until when; empty where nobody does, or that cannot be read any more."""
        try:
            return meta.value(tx, self.name) or ""
        except Corrupt:
            return ""


def _is_gone(owner: str) -> bool:
    """Whether the process that took a lease does not run any more, as far as can be seen from here."""
    pid = owner.partition(":")[0]
    if sys.platform == "win32" or not pid.isdigit():
        return False
    with suppress(PermissionError, OverflowError):  # it runs, and is somebody else's
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
    return False

"""A user's store as the emulated memory tools of other programs reach it: a connection, an author, and shared checks.

`agent_files.py` and `agent_graph.py` keep texts in an order of the agent's own. The limits of an agent hold there as
well: it changes nothing that the user stated or pinned, and what it writes while untrusted text is in its context has
the origin of that text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from picomem.clock import Clock
from picomem.errors import Refused
from picomem.light_dataclass import dataclass
from picomem.memory.decide import not_forgotten, persons_own
from picomem.memory.remember import Writer
from picomem.memory.text_cleaning import Cleaner
from picomem.provenance.statements import Grounds
from picomem.records.kinds import Origin
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Connector

OriginOf = Callable[[str, Iterable[str], str], Origin]  # of a text, with its names, that takes the place of another


def of_the_agent(_text: str, _names: Iterable[str], _known: str) -> Origin:
    """The origin of what an agent writes that has read nothing untrusted."""
    return Origin.AGENT


@dataclass(frozen=True, slots=True)
class AgentStore:
    """A user's store as a foreign memory tool reaches it.

    `persons` loads what the person states for whom the agent acts; `is_agent` says that an agent acts at all.
    `settle` is called after each transaction; `deleting` runs a deletion, on a full disk too.
    """

    connector: Connector
    scope: Scope
    writer: Callable[[str], Writer]
    cleaner: Callable[[], Cleaner]
    clock: Clock
    persons: Callable[[], Grounds]
    is_agent: bool
    origin_of: OriginOf
    settle: Callable[[], None]
    deleting: Callable[[Callable[[], Any]], Any]

    def check_may_forget(self, memory: Memory) -> None:
        """Raise Refused where the agent may not archive a memory."""
        if self._is_protected(memory) and not self.persons().ask_to_forget(memory.key, memory.content):
            raise Refused(not_forgotten(memory))

    def check_may_replace(self, memory: Memory, text: str, origin: Origin) -> None:
        """Raise Refused where the agent may not give a memory another text."""
        if self._is_protected(memory) and not self.persons().hold(text):
            raise Refused(persons_own(memory))
        if memory.origin.trusted and not origin.trusted:
            raise Refused(f"“{memory.key}” came from the {memory.origin}; text of origin {origin} cannot replace it.")

    def _is_protected(self, memory: Memory) -> bool:
        return self.is_agent and memory.is_a_persons

"""Stores many memories of one user quickly: through the store's own writers, but past the gate. Vectors are random.

Each memory has the change that stored it. The shares are those of a store after years of use, so that every list of a
user interface has thousands of rows: some memories were revised, some are archived, some wait for a person's decision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from benchmarks.fill import Model, directions_of
from benchmarks.prose import Prose
from picomem.clock import HOUR, MINUTE, Micros, parse_iso
from picomem.light_dataclass import replace
from picomem.models.embedder import quantised
from picomem.records.ids import new_id
from picomem.records.kinds import Kind, Origin, Priority
from picomem.records.memory import CONTRADICTS, Change, Memory
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import audit, memories, vector_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

PROJECTS = ("harbor", "yard", "ferry", "crane", "depot", "signal", "pilot", "tide")
TAGS = ("database", "staging", "release", "billing", "search", "tests", "people", "travel")
RARE_TAG = "anchor"  # on one memory of a thousand
_OUTSIDE = (Origin.WEB, Origin.TOOL, Origin.OTHER)
_START = parse_iso("2023-01-01")
_BETWEEN = 15 * MINUTE
_TOPICS = 200
_ROWS = 5_000  # of a transaction
_WORDS = (6, 20)  # of a memory
SEED = 19
# One memory in so many …
_FROM_OTHERS = 25
_CONTRADICTING = 200
_REVISED = 20
_ARCHIVED = 20
_PINNED = 500
_RARELY_TAGGED = 1_000


def fill_memories(
    connector: Connector,
    user: str,
    count: int,
    model: Model | None = None,
    progress: Callable[[str], None] | None = None,
    prose: Prose | None = None,
) -> None:
    """Store `count` memories that are believed, and the archived ones beside them: one for every 20. With a `model`
    each has a vector. `prose` makes their texts, if they are not to be those of everyday."""
    filling = _Filling(user, model, prose or Prose(SEED))
    for first in range(0, count, _ROWS):
        with connector.write(Scope(user)) as tx:
            for number in range(first, min(first + _ROWS, count)):
                filling.store(tx, number)
        if progress:
            progress(f"filling: {min(first + _ROWS, count):,} of {count:,} memories")


class _Filling:
    """The made-up memories of one user, in order."""

    def __init__(self, user: str, model: Model | None, prose: Prose) -> None:
        self._user = user
        self._model = model
        self._directions: Iterator[np.ndarray] = directions_of(model.dimensions) if model else iter(())
        self._prose = prose
        self._topics = [self._prose.topic() for _ in range(_TOPICS)]
        self._last_id = ""

    def store(self, tx: Transaction, number: int) -> None:
        """Store the memory of that number: some are revised, and beside some another one is archived."""
        memory = self._memory(number)
        stored = self._add(tx, memory)
        if number % _ARCHIVED == 17:
            archived = self._add(tx, replace(memory, id=new_id(), key=f"old_{memory.key}", change_id=new_id()))
            at = archived.known_from + HOUR
            memories.close(tx, archived, at, _record(tx, archived, at, "forget", "archive", before=1))
        if number % _REVISED == 9:
            at = memory.known_from + HOUR
            change = _record(tx, memory, at, "revise", "revise", before=1, after=2)
            memories.close(tx, stored, at, change)
            words = f"{memory.content} since then"
            self._insert(tx, replace(memory, version=2, content=words, known_from=at, valid_from=at, change_id=change))
        self._last_id = memory.id

    def _memory(self, number: int) -> Memory:
        random = self._prose.random
        text = self._prose.text(self._topics[number % _TOPICS], random.randint(*_WORDS))
        at = _START + number * _BETWEEN
        tags = tuple(random.sample(TAGS, number % 3))
        contradicts = bool(self._last_id) and number % _CONTRADICTING == 13
        return Memory(
            id=new_id(),
            version=1,
            scope=Scope(self._user, project=PROJECTS[number // 100 % len(PROJECTS)] if number % 3 else ""),
            key=f"{text.split()[0].strip('.')}_{number:06d}",
            kind=tuple(Kind)[number % len(Kind)],
            content=f"{text[:1].upper()}{text[1:].rstrip('.')}",
            importance=random.choice(tuple(Priority)).importance,
            pinned=number % _PINNED == 3,
            tags=(*tags, RARE_TAG) if number % _RARELY_TAGGED == 5 else tags,
            related=(f"{CONTRADICTS}{self._last_id}",) if contradicts else (),
            origin=_OUTSIDE[number // _FROM_OTHERS % len(_OUTSIDE)] if number % _FROM_OTHERS == 7 else Origin.USER,
            valid_from=at,
            known_from=at,
            created_at=at,
            tokens=len(text) // 4 + 1,
            change_id=new_id(),
        )

    def _add(self, tx: Transaction, memory: Memory) -> Memory:
        _record(tx, memory, memory.known_from, "remember", "add", after=1, change_id=memory.change_id)
        return self._insert(tx, memory)

    def _insert(self, tx: Transaction, memory: Memory) -> Memory:
        stored = memories.insert(tx, memory)
        if self._model:
            scale, vector = quantised(next(self._directions))
            vector_rows.put(tx, memory.scope, "memory", self._model.name, stored.doc, scale, vector)
        return stored


def _record(
    tx: Transaction,
    memory: Memory,
    at: Micros,
    verb: str,
    decision: str,
    *,
    before: int | None = None,
    after: int | None = None,
    change_id: str = "",
) -> str:
    """Record a change; its id."""
    change = Change(
        id=change_id or new_id(),
        run=new_id(),
        at=at,
        actor="benchmark",
        verb=verb,
        decision=decision,
        reason="made up",
        memory_id=memory.id,
        before=before,
        after=after,
    )
    audit.record(tx, memory.scope, change)
    return change.id

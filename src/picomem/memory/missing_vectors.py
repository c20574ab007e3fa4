"""Creates missing vectors: after a change of the embedder, and for rows that were stored while it failed.

    which rows have no vector of this model → their vectors, outside of any transaction → a small transaction → …

Recall keeps working with the existing vectors of this model, and says how many there are; vectors of another model
are never used. The old vectors are kept while any of this model's are missing, so switching back costs nothing. They
cost space, and erased text must not live on in them, so `picomem embed` removes them once nothing is missing. The
background work never removes them: two programs with different settings would otherwise create and remove them
forever.

Only one process at a time does this. It holds a lease (`lease.py`), renewed while the embedder works, and again in
the transaction of each batch. So a run can be stopped at any moment, and the next one continues after at most
`LEASE_SECONDS`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from threading import Event

from picomem.clock import Clock
from picomem.errors import Conflict, StoreError
from picomem.light_dataclass import dataclass
from picomem.memory.lease import LEASE_SECONDS, Heartbeat, Lease
from picomem.memory.vectors import Vectors
from picomem.records.scope import Scope
from picomem.store import vector_rows
from picomem.store.connector import Connector, Transaction

_FIRST, _MOST = 8, 512  # rows a transaction; as many as the model can make in _SECONDS
_SECONDS = 1.0  # that a kill loses, and that an end waits for
_LOOK_SECONDS = 0.2  # between two looks at another process's lease
_REMOVED = 2_000  # vectors that a transaction removes

Embedding = Callable[[int, int, str], None]  # done, total, what is being done


@dataclass(slots=True)
class Embedded:
    """The result of a run. `waiting` rows still lack a vector of the model; `removed` counts vectors of others."""

    model: str
    made: int = 0
    waiting: int = 0
    removed: int = 0


def missing(tx: Transaction, scope: Scope, model: str) -> int:
    """Return how many rows have no vector of a model."""
    return sum(vector_rows.count_missing(tx, scope, source, model) for source in vector_rows.SOURCES)


def reach(tx: Transaction, scope: Scope, model: str) -> object:
    """A value that stays the same as long as nothing can be missing that was not before; cheaper than to count."""
    spaces = (vector_rows.space(tx, scope, source, model) for source in vector_rows.SOURCES)
    return vector_rows.last_doc(tx, scope), *spaces


class EmbedMissing:
    """Makes one user's missing vectors."""

    def __init__(
        self, connector: Connector, scope: Scope, made_by: Vectors, clock: Clock, stop: Event | None = None
    ) -> None:
        self._connector = connector
        self._scope = scope
        self._vectors = made_by
        self._lease = Lease(scope=scope, name="embedding", clock=clock)
        self._stop = stop or Event()

    def run(
        self, progress: Embedding | None = None, *, afresh: bool = False, remove: bool = True, wait: bool = True
    ) -> Embedded:
        """Make what is missing (with `afresh`, all of it), and remove other models' vectors where asked.

        Raises Conflict where another process is at it (with `wait`, after waiting for as long as a lease lasts), and
        EmbedderFailed where the embedder fails; what was made until then is kept.
        """
        done = Embedded(self._vectors.model)
        self._begin(wait, progress)
        heartbeat = Heartbeat(self._connector, self._lease)
        try:
            if afresh:
                self._remove(lambda tx: vector_rows.clear(tx, self._scope, self._vectors.model, _REMOVED))
            total = self._missing()
            for source in vector_rows.SOURCES:
                self._source(source, done, total, progress)
            done.waiting = self._missing()
            if remove and not done.waiting and not self._stop.is_set():
                done.removed = self._remove(
                    lambda tx: vector_rows.clear_others(tx, self._scope, self._vectors.model, _REMOVED)
                )
        finally:
            heartbeat.stop()
            with (
                suppress(StoreError),
                self._connector.write(self._scope) as tx,
            ):  # a store that was closed: the lease expires
                self._lease.give_back(tx)
        return done

    def _begin(self, wait: bool, progress: Embedding | None) -> None:
        deadline = time.monotonic() + (LEASE_SECONDS + 1 if wait else 0)
        while True:
            with self._connector.write(self._scope) as tx:
                if self._lease.acquire(tx):
                    return
            if time.monotonic() >= deadline:
                raise Conflict("Another process is creating the vectors; `picomem status` shows how many there are.")
            if progress:
                progress(0, 0, "waiting for another process")
            self._stop.wait(_LOOK_SECONDS)

    def _source(self, source: str, done: Embedded, total: int, progress: Embedding | None) -> None:
        after, count = -1, _FIRST
        while not self._stop.is_set():
            began = time.monotonic()
            with self._connector.read() as tx:
                rows = vector_rows.missing(tx, self._scope, source, self._vectors.model, after, count)
            if not rows:
                return
            prepared = self._vectors.made([row.text for row in rows])
            if self._stop.is_set():
                return
            with self._connector.write(self._scope) as tx:
                self._renew(tx)
                for (doc, text), vector in zip(rows, prepared, strict=True):
                    # Another text by now, or none, is for the next run, or for none.
                    if vector_rows.text(tx, self._scope, source, doc) == text:
                        self._vectors.put(tx, self._scope, source, doc, vector)
                        done.made += 1
            after = rows[-1].doc
            count = min(_MOST, count * 2) if time.monotonic() - began < _SECONDS / 2 else max(1, count // 2)
            if progress:
                progress(done.made, max(total, done.made), f"{source} vectors")

    def _missing(self) -> int:
        with self._connector.read() as tx:
            return missing(tx, self._scope, self._vectors.model)

    def _remove(self, some: Callable[[Transaction], int]) -> int:
        """Remove vectors in small transactions until there are none."""
        count = 0
        while True:
            with self._connector.write(self._scope) as tx:
                self._renew(tx)
                removed = some(tx)
            count += removed
            if not removed:
                return count

    def _renew(self, tx: Transaction) -> None:
        if not self._lease.acquire(tx):
            raise Conflict("Another process has taken over creating the vectors; those created so far are kept.")

"""Creates vectors for stored rows.

If possible, a row, its full text and its vector are committed together. This is impossible if the embedder fails, or
if it is remote, because a lock must not wait for a network. Such a row is stored without a vector, counted, and gets
its vector later: immediately after the transaction (`store_waiting`), or when what is missing is created.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event
from typing import NamedTuple

from picomem.clock import Clock
from picomem.coded_text import CodedText, Command
from picomem.errors import Conflict, EmbedderFailed, StoreError
from picomem.light_dataclass import dataclass
from picomem.memory.lease import LEASE_SECONDS, Heartbeat, Lease
from picomem.models.embedder import Embedder, quantised
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import vector_rows

Prepared = tuple[float, bytes]  # the scale and the int8 values


class PendingVector(NamedTuple):
    """A row that was stored without a vector, to get one after the transaction."""

    scope: Scope
    source: str
    doc: int
    text: str


class Vectors:
    """One embedder's vectors in one user's store. `failure` says why the last row went without one."""

    def __init__(self, embedder: Embedder, scope: Scope) -> None:
        self.embedder = embedder
        self.failure = ""
        self._scope = scope
        self._waiting: list[PendingVector] = []
        self._without = 0
        self._length = 0  # of this model's vectors in the store; 0: not known yet

    @property
    def model(self) -> str:
        """The embedder's name."""
        return self.embedder.name

    def made(self, texts: Sequence[str]) -> list[Prepared]:
        """A vector for each text. Raises EmbedderFailed."""
        return [quantised(row) for row in self.embedder.embed(texts)]

    def prepare(self, texts: Sequence[str]) -> Sequence[Prepared | None]:
        """A vector for each text, outside of a transaction; None for all where the embedder fails."""
        try:
            return self.made(texts)
        except EmbedderFailed as error:
            self.failure = str(error)
            return [None] * len(texts)

    def store(self, tx: Transaction, source: str, doc: int, prepared: Prepared | None) -> None:
        """Store a row's vector, in the transaction of the row; one that could not be made is counted."""
        self._store(tx, self._scope, source, doc, prepared)

    def _store(self, tx: Transaction, scope: Scope, source: str, doc: int, prepared: Prepared | None) -> None:
        try:
            if prepared is not None:
                self.put(tx, scope, source, doc, prepared)
        except EmbedderFailed as error:
            self.failure = str(error)
            prepared = None
        self._without += prepared is None

    def put(self, tx: Transaction, scope: Scope, source: str, doc: int, prepared: Prepared) -> None:
        """Store a vector. Raises EmbedderFailed for one of another length than the model's others."""
        given = len(prepared[1])
        if given != self._length:
            self._length = vector_rows.length(tx, scope, self.model) or given
        if given != self._length:
            raise EmbedderFailed(
                CodedText(
                    "failure.other_dimensions",
                    model=self.model,
                    given=given,
                    stored=self._length,
                    command=Command("embed", afresh=True),
                )
            )
        vector_rows.put(tx, scope, source, self.model, doc, *prepared)

    def store_text(self, tx: Transaction, scope: Scope, source: str, doc: int, text: str) -> None:
        """Store the vector of a text that is known only within the transaction."""
        vector_rows.remove(tx, scope, source, doc)  # every model's of what the row said before
        if self.embedder.local:
            self._store(tx, scope, source, doc, self.prepare([text])[0])
        else:
            self._waiting.append(PendingVector(scope, source, doc, text))

    def store_memory(self, tx: Transaction, memory: Memory) -> None:
        """Store the vector of a memory's version."""
        self.store_text(tx, memory.scope, "memory", memory.doc, memory.content)

    def store_waiting(self, connector: Connector) -> None:
        """After a transaction: give vectors to the rows that it stored without."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        prepared = self.prepare([pending.text for pending in waiting])
        with connector.write(self._scope) as tx:
            for pending, vector in zip(waiting, prepared, strict=True):
                if vector_rows.text(tx, pending.scope, pending.source, pending.doc) == pending.text:
                    self._store(tx, pending.scope, pending.source, pending.doc, vector)

    def without(self) -> int:
        """Return how many rows were stored without a vector since this was asked last."""
        count, self._without = self._without, 0
        return count

    def without_sentence(self, count: int) -> str:
        """A sentence about this many rows, with the remedy."""
        return CodedText("failure.no_vectors", count=count, failure=self.failure, command=Command("embed"))


# Creates missing vectors: after a change of the embedder, and for rows that were stored while it failed.
#
# which rows have no vector of this model → their vectors, outside of any transaction → a small transaction → …
#
# Recall keeps working with the existing vectors of this model, and says how many there are; vectors of another model
# are never used. The old vectors are kept while any of this model's are missing, so switching back costs nothing. They
# cost space, and erased text must not live on in them, so `picomem embed` removes them once nothing is missing. The
# background work never removes them: two programs with different settings would otherwise create and remove them
# forever.
#
# Only one process at a time does this. It holds a lease (`lease.py`), renewed while the embedder works, and again in
# the transaction of each batch. So a run can be stopped at any moment, and the next one continues after at most
# `LEASE_SECONDS`.

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
                raise Conflict(CodedText("failure.vectors_being_made", command=Command("status")))
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

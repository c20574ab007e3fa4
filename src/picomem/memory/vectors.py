"""Creates vectors for stored rows.

If possible, a row, its full text and its vector are committed together. This is impossible if the embedder fails, or
if it is remote, because a lock must not wait for a network. Such a row is stored without a vector, counted, and gets
its vector later: immediately after the transaction (`store_waiting`), or from `missing_vectors.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from picomem.errors import EmbedderFailed
from picomem.models.embedder import Embedder, quantised
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import vector_rows
from picomem.store.connector import Connector, Transaction

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
                f"{self.model} now returns vectors of {given} dimensions instead of {self._length}; "
                "`picomem embed --afresh` recreates all of them."
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
        return (
            f"{count} rows have no vector yet and are found by words alone: {self.failure} "
            "`picomem embed` makes what is missing."
        )

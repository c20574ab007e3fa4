"""The leg by meaning: a question's vector against all of a user's vectors, exactly.

The matrix of a user is kept for as long as the database does not change, so that a server answers from memory; a
process that asks once reads it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from picomem.records.scope import Scope
from picomem.store import vectors
from picomem.store.connector import Transaction

if TYPE_CHECKING:
    import numpy as np

    from picomem.models.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cosines of the nearest documents, and the middling one of all (which says what "unrelated" is here)."""

    nearest: dict[int, float]
    middling: float
    documents: int


class MeaningLeg:
    """Exact nearest neighbours by one embedder."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._kept: dict[tuple[str, str], tuple[object, np.ndarray, np.ndarray]] = {}

    def nearest(self, tx: Transaction, scope: Scope, source: str, text: str, version: object, count: int) -> Likeness:
        """The `count` documents nearest to a text. `version` is any value that differs once the store changed."""
        import numpy as np

        docs, matrix = self._matrix(tx, scope, source, version)
        if not len(docs):
            return Likeness({}, 0.0, 0)
        cosines = matrix @ self.embedder.embed([text])[0]
        middling = float(np.median(cosines))
        top = np.argpartition(-cosines, count)[:count] if count < len(docs) else np.arange(len(docs))
        return Likeness({int(docs[i]): float(cosines[i]) for i in top}, middling, len(docs))

    def _matrix(self, tx: Transaction, scope: Scope, source: str, version: object) -> tuple[np.ndarray, np.ndarray]:
        kept = self._kept.get((scope.user, source))
        if kept is None or kept[0] != version:
            kept = (version, *vectors.load(tx, scope, source, self.embedder.name))
            self._kept[(scope.user, source)] = kept
        return kept[1], kept[2]

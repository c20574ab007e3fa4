"""Vectors: one narrow row each, scanned exactly. Every call takes a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.records.scope import Scope
from picomem.store.connector import Transaction

if TYPE_CHECKING:
    import numpy as np


def put(tx: Transaction, scope: Scope, source: str, model: str, doc: int, scale: float, vector: bytes) -> None:
    tx.run("put_vector", user=scope.user, source=source, model=model, doc=doc, scale=scale, vector=vector)


def load(tx: Transaction, scope: Scope, source: str, model: str) -> tuple[np.ndarray, np.ndarray]:
    """All of a user's vectors of one model: documents (int64) and unit rows (float32)."""
    import numpy as np

    rows = tx.all("vectors", user=scope.user, source=source, model=model)
    docs = np.fromiter((row[0] for row in rows), np.int64, len(rows))
    if not rows:
        return docs, np.zeros((0, 0), np.float32)
    scales = np.fromiter((row[1] for row in rows), np.float32, len(rows))
    matrix = np.frombuffer(b"".join(row[2] for row in rows), np.int8).reshape(len(rows), -1)
    return docs, matrix * scales[:, None]

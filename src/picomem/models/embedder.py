"""Embedders: from texts to unit vectors.

One protocol has four implementations: `static_embedder.py` (the default), `onnx_embedder.py` (a sentence model in a
folder), `endpoint_embedder.py` (a server that speaks OpenAI's protocol) and `fastembed_embedder.py` (a library that
downloads models). `selection.py` selects one of them by the settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np


# Sentences that have nothing in common, by which recall learns what cosine unrelated texts have with a model.
UNRELATED = (
    "The train to the coast leaves at half past seven.",
    "She painted the kitchen wall yellow last summer.",
    "Add two eggs and a spoon of flour to the bowl.",
    "The committee voted against the new parking rules.",
    "My brother plays the cello in a small orchestra.",
    "The function returns an empty list when the file is missing.",
    "Snow fell on the mountains for three days.",
    "He bought a second-hand bicycle for forty euros.",
    "The museum is closed on Mondays in winter.",
    "Please send the invoice to the accounting office.",
    "The cat sleeps under the table all afternoon.",
    "Our team won the match in the last minute.",
)


class Embedder(Protocol):
    """A model that turns texts into vectors whose dot product is their likeness.

    `name` identifies the model and its version: vectors of two names are never compared. `local` says that texts do
    not leave this process; of one that is not local nothing is asked inside a transaction, and nothing unredacted.
    `reads_sentences` says that likeness stands beside the words of a question as their equal; else it decides only
    what they leave open. `marks` are two cosines: of texts as good as unrelated, and of texts that say the same.
    """

    name: str
    local: bool
    reads_sentences: bool

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One float32 row of length 1 a text; a text of which the model knows nothing gets a row of zeros.

        Raises EmbedderFailed.
        """
        ...

    def embed_question(self, text: str) -> np.ndarray:
        """One such row for a question: many models want it marked as one. Raises EmbedderFailed."""
        ...

    def trust(self, text: str) -> float:
        """Return how far likeness to this text says something, 0–1: a model may not know the language."""
        ...


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """The rows as float32, each of length 1; a row of zeros stays one."""
    import numpy as np

    rows = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths == 0, 1, lengths)


def quantised(vector: np.ndarray) -> tuple[float, bytes]:
    """A unit vector as one byte a dimension and the scale that undoes it; the error is below 0.4 % of the largest."""
    import numpy as np

    peak = float(np.abs(vector).max()) if vector.size else 0.0
    if peak == 0.0:
        return 0.0, bytes(vector.size)
    return peak / 127, np.rint(vector * (127 / peak)).astype(np.int8).tobytes()

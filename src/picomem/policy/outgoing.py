"""Redacts everything that leaves the process, whatever the store contains and whatever is requested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from picomem.models.embedder import Embedder
    from picomem.policy.redact import Redactor


class RedactedEmbedder:
    """An embedder that is shown redacted text only: for one that is not local."""

    def __init__(self, embedder: Embedder, redactor: Callable[[], Redactor]) -> None:
        self.name = embedder.name
        self.local = embedder.local
        self.reads_sentences = embedder.reads_sentences
        self._embedder = embedder
        self._redactor = redactor

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Like the embedder's method, for the redacted texts."""
        redact = self._redactor().redact
        return self._embedder.embed([redact(text).text for text in texts])

    def embed_question(self, text: str) -> np.ndarray:
        """Like the embedder's method, for the redacted question."""
        return self._embedder.embed_question(self._redactor().redact(text).text)

    def trust(self, text: str) -> float:
        """Like the embedder's method; the text stays here."""
        return self._embedder.trust(text)

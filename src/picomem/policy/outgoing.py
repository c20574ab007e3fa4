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
        self.marks = embedder.marks
        self._embedder = embedder
        self._redactor = redactor

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """As the embedder's own, of the redacted texts."""
        redact = self._redactor().redact
        return self._embedder.embed([redact(text).text for text in texts])

    def embed_question(self, text: str) -> np.ndarray:
        """As the embedder's own, of the redacted question."""
        return self._embedder.embed_question(self._redactor().redact(text).text)

    def trust(self, text: str) -> float:
        """As the embedder's own; the text stays here."""
        return self._embedder.trust(text)

"""Resources shared by the engines of a process: store, embedder, clock, settings, and objects made from them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from picomem.clock import Clock
from picomem.errors import EmbedderFailed
from picomem.memory.echo_guard import ReturnedTexts
from picomem.memory.text_cleaning import Cleaner
from picomem.policy.redact import RedactedEmbedder, Redactor
from picomem.recall.recall import Recall
from picomem.recall.vector_search import VectorSearch
from picomem.recall.weights import Weights
from picomem.settings import Settings
from picomem.store.connector import Connector
from picomem.store.meta import redaction_key

if TYPE_CHECKING:
    from picomem.models.embedder import Embedder
    from picomem.models.static_embedder import Lexicon

_USERS_KEPT = 256  # whose recalled texts are kept: 64 texts of each at most


class Resources:
    """Holds nothing that belongs to one user, except under that user's id. Safe to share between threads."""

    def __init__(
        self,
        connector: Connector,
        embedder: Embedder | EmbedderFailed | None,
        clock: Clock,
        zone: tzinfo,
        settings: Settings,
        lexicon: Lexicon | None,
        weights: Weights,
        open_store: Callable[[Path], Connector] | None = None,
    ) -> None:
        """`embedder` may be the reason why there is none. `open_store` opens another store of this kind, as a backup;
        None where stores are no files."""
        self.connector = connector
        self.clock = clock
        self.zone = zone
        self.settings = settings
        self.open_store = open_store
        self.embedder_trouble = embedder.message if isinstance(embedder, EmbedderFailed) else ""
        embedder = None if isinstance(embedder, EmbedderFailed) else embedder
        if embedder is not None and not embedder.local:
            embedder = RedactedEmbedder(embedder, self.redactor)
        self.embedder = embedder
        self._redactor: Redactor | None = None
        self._cleaner: Cleaner | None = None
        self._returned_texts: dict[str, ReturnedTexts] = {}  # by user, the one who recalled longest ago first
        self._lock = Lock()
        vectors = VectorSearch(embedder) if embedder is not None else None
        without = f"failed: {self.embedder_trouble.rstrip('.')}" if self.embedder_trouble else "off"
        self.recall = Recall(connector, self.redactor, vectors, zone, lexicon, weights, without)
        self.recall_by_words = Recall(connector, self.redactor, None, zone, None, weights)

    def redactor(self) -> Redactor:
        """Takes secrets out of texts, with the store's key for the marks. Raises StoreError."""
        if self._redactor is None:
            with self.connector.read() as tx:
                self._redactor = Redactor(redaction_key(tx))
        return self._redactor

    def cleaner(self) -> Cleaner:
        """Cleans texts on their way into the store and out of it. Raises StoreError."""
        if self._cleaner is None:
            self._cleaner = Cleaner(self.redactor())
        return self._cleaner

    def returned_texts(self, user: str) -> ReturnedTexts:
        """Text that recall recently returned to this user, through any engine."""
        with self._lock:
            texts = self._returned_texts.pop(user, None) or ReturnedTexts()
            self._returned_texts[user] = texts
            if len(self._returned_texts) > _USERS_KEPT:
                del self._returned_texts[next(iter(self._returned_texts))]
            return texts

    def drop_returned_texts(self, user: str) -> None:
        """Forget the texts that were returned to this user, because they were purged."""
        with self._lock:
            self._returned_texts.pop(user, None)

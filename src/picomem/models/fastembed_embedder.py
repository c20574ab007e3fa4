"""An embedder with models that the library `fastembed` downloads from Hugging Face, once, into its cache.

Nothing is downloaded unless the settings select this embedder and it is asked for a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from threading import Lock
from typing import Any

import numpy as np

from picomem.errors import EmbedderFailed, InvalidInput
from picomem.models.embedder import unit_rows
from picomem.settings_tables import EmbedderSettings

_BATCH = 16


class DownloadedEmbedder:
    """A sentence model by the name that fastembed knows it by; it runs on this machine."""

    local = True
    reads_sentences = True

    def __init__(self, model: str, settings: EmbedderSettings) -> None:
        if find_spec("fastembed") is None:
            raise InvalidInput("A model to download needs fastembed; install it with: pip install 'picomem[fastembed]'")
        self.name = f"fastembed-{model}"
        self._wanted = model
        self._settings = settings
        self._loading = Lock()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One float32 row of length 1 a text. Raises EmbedderFailed where the model cannot be had or run."""
        return self._run("passage_embed", [self._settings.text_prefix + text for text in texts])

    def embed_question(self, text: str) -> np.ndarray:
        """The row of a question, with what the library knows to put before one."""
        return self._run("query_embed", [self._settings.query_prefix + text])[0]

    def trust(self, text: str) -> float:  # noqa: ARG002 - the protocol's
        """Return 1 for every text: the library does not say which languages a model knows."""
        return 1.0

    def _run(self, method: str, texts: list[str]) -> np.ndarray:
        if not texts:
            return np.zeros((0, 0), np.float32)
        try:
            with self._loading:
                model = self._model
            return unit_rows(np.stack(list(getattr(model, method)(texts, batch_size=_BATCH))))
        except Exception as error:
            said = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise EmbedderFailed(f"fastembed cannot give vectors of {self._wanted}: {said[:200]}") from error

    @cached_property
    def _model(self) -> Any:
        from fastembed import TextEmbedding  # pyright: ignore[reportMissingImports]  # noqa: PLC0415 - an extra

        return TextEmbedding(self._wanted, threads=self._settings.threads)

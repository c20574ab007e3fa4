"""The default embedder: WordLlama's static vectors, one a token, averaged (Geary & Miller 2024, 256 dimensions).

The weights (16 MB, float16) and the tokenizer come inside the `wordllama` package, so nothing is downloaded. The
file is read here, not through that package, whose import costs 300 ms and loads a web client; a safetensors file is
eight bytes of length, a JSON header and the raw matrix.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from picomem.errors import EmbedderFailed
from picomem.loaded_once import loaded_once
from picomem.models.embedder import unit_rows
from picomem.text.terms import is_cjk
from picomem.text.tokens import VOCABULARY_SIZE, token_ids, unexpected_file, wordllama_folder

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

_CJK_TRUST = 0.2
_SHAPE = (VOCABULARY_SIZE, 256)
_FORM = {"dtype": "F16", "shape": list(_SHAPE), "data_offsets": [0, 2 * VOCABULARY_SIZE * 256]}
_LONGEST = 8_000  # characters; an average over more says less, and a preview is far below it


class StaticEmbedder:
    """Thousands of texts a second on one core, from 256 numbers a token."""

    name = "wordllama-l2-256"
    local = True
    reads_sentences = False
    dimensions = 256

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """One float32 row of length 1 a text; a text without a known token gets a row of zeros."""
        import numpy as np

        ids = [token_ids(text[:_LONGEST]) for text in texts]
        # A token that comes again is read and converted once.
        used, places = np.unique(np.array([token for of_text in ids for token in of_text], int), return_inverse=True)
        vectors = weights()[used].astype(np.float32)
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        end = 0
        for row, of_text in zip(rows, ids, strict=True):
            start, end = end, end + len(of_text)
            if of_text:
                row[:] = vectors[places[start:end]].sum(axis=0) / len(of_text)
        return unit_rows(rows)

    def embed_question(self, text: str) -> np.ndarray:
        """The row of a question: a mean of words is the same for it."""
        return self.embed([text])[0]

    def trust(self, text: str) -> float:
        """Of Chinese, Japanese and Korean the vocabulary has some characters and no words: their mean says little."""
        return _CJK_TRUST if is_cjk(text) else 1.0


@loaded_once
def weights() -> np.ndarray:
    """The vectors of the vocabulary. Raises EmbedderFailed where the installed wordllama holds others."""
    return read_weights(wordllama_folder() / "weights" / "l2_supercat_256.safetensors")


def read_weights(path: Path) -> np.ndarray:
    """Map the matrix in a safetensors file (32,000 × 256, float16): only the rows that are used are read.

    Raises EmbedderFailed for a file of another form.
    """
    import numpy as np

    try:
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            start = 8 + length
            if start > path.stat().st_size:
                raise ValueError("the header is longer than the file")
            tensor = json.loads(file.read(length))["embedding.weight"]
        if tensor != _FORM:
            raise ValueError(f"it holds {tensor}")
        # Mapped all the same, but without the work that numpy does for each part of a `memmap`.
        return np.asarray(np.memmap(path, np.float16, "r", offset=start, shape=_SHAPE))
    except (OSError, ValueError, TypeError, LookupError, struct.error) as error:
        raise EmbedderFailed(unexpected_file(path)) from error

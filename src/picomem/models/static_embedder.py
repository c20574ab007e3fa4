"""The default embedder: WordLlama's static vectors, one a token, averaged (Geary & Miller 2024, 256 dimensions).

The weights (16 MB, float16) and the tokenizer come inside the `wordllama` package, so nothing is downloaded. The
file is read here, not through that package, whose import costs 300 ms and loads a web client; a safetensors file is
eight bytes of length, a JSON header and the raw matrix.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from picomem.errors import EmbedderFailed
from picomem.loaded_once import loaded_once
from picomem.models.embedder import unit_rows
from picomem.text.terms import STOP_WORDS, is_cjk, query_terms
from picomem.text.tokens import VOCABULARY_SIZE, token_ids, tokenizer, unexpected_file, wordllama_folder

if TYPE_CHECKING:
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


# Properties of single words, from the static model: how much information a word carries, and which words are similar.
#
# The model was trained so that the mean of its tokens' vectors represents a text. So training made the vectors of words
# with little information short (“the” 1.6, “thing” 5, “actually” 6) and those of informative words long (“shoes” 8,
# “backup” 18, “Gordon” 22). This replaces a list of word frequencies. A word of several tokens has the sum of their
# vectors. Words are similar if their vectors have the same direction. Similar words are sought only among the 8,900
# English words that are single tokens, so that a question costs the same for every store.

_MIDDLING = 12.0  # the length of a word that says as much as most; it weighs 1
_LEAST, _MOST = 0.1, 3.0  # of a word, beside the middling one: a name may be a dozen tokens
_NEAR = 0.4  # the cosine from which two words are near: “failure” and “fault”, “fix” and “repair”
_MOST_NEAR = 10
_LOOKED = 24  # nearest words of which different terms are taken
_SHORTEST = 3  # letters of a word that has near ones


class Lexicon:
    """Looks words up. The vectors are mapped from their file, and the table of words is made when first needed."""

    def says(self, word: str) -> float:
        """Return how much a word says beside a middling one, 0.1–3; 1 where the model does not know."""
        return _says(word)

    def near(self, word: str) -> tuple[tuple[str, float], ...]:
        """The index terms of at most ten words near in meaning, each with its cosine (0.4–1), the nearest first."""
        return _near(word.lower())


@lru_cache(maxsize=1 << 14)
def _says(word: str) -> float:
    ids = [] if is_cjk(word) else token_ids(word)
    if not ids:
        return 1.0
    import numpy as np

    length = float(np.linalg.norm(weights()[ids].sum(axis=0, dtype=np.float32)))
    return min(_MOST, max(_LEAST, length / _MIDDLING))


@lru_cache(maxsize=1 << 12)
def _near(word: str) -> tuple[tuple[str, float], ...]:
    if len(word) < _SHORTEST or not (word.isascii() and word.isalpha()):
        return ()
    import numpy as np

    asked = weights()[token_ids(word)].sum(axis=0, dtype=np.float32)
    names, rows = _table()
    cosines = np.einsum("ij,j->i", rows, asked / (np.linalg.norm(asked) or 1.0))
    nearest = np.argpartition(-cosines, _LOOKED)[:_LOOKED]
    own = query_terms(word)
    near: dict[str, float] = {}
    for i in nearest[np.argsort(-cosines[nearest])]:
        if cosines[i] < _NEAR or len(near) == _MOST_NEAR:
            break
        for term in query_terms(names[i]):
            if term not in own:
                near.setdefault(term, round(float(cosines[i]), 4))
    return tuple(near.items())


@loaded_once
def _table() -> tuple[list[str], np.ndarray]:
    """The words that are one token each, and their unit vectors (float32)."""
    import numpy as np

    named = map(tokenizer().id_to_token, range(len(weights())))  # faster than the vocabulary as a whole
    numbered = [(number, token[1:]) for number, token in enumerate(named) if token and _is_word(token)]
    rows = np.asarray(weights()[[number for number, _ in numbered]], np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return [word for _, word in numbered], rows


def _is_word(token: str) -> bool:
    """Return whether a token is a whole English word, which a mark goes before, and one that says something."""
    word = token[1:]
    return (
        token[0] == "▁"
        and word.isalpha()
        and word.islower()
        and word.isascii()
        and len(word) >= _SHORTEST
        and word not in STOP_WORDS
    )

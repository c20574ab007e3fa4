"""Properties of single words, from the static model: how much information a word carries, and which words are similar.

The model was trained so that the mean of its tokens' vectors represents a text. So training made the vectors of words
with little information short (“the” 1.6, “thing” 5, “actually” 6) and those of informative words long (“shoes” 8,
“backup” 18, “Gordon” 22). This replaces a list of word frequencies. A word of several tokens has the sum of their
vectors. Words are similar if their vectors have the same direction. Similar words are sought only among the 8,900
English words that are single tokens, so that a question costs the same for every store.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from picomem.loaded_once import loaded_once
from picomem.models.static_embedder import weights
from picomem.text.terms import STOP_WORDS, is_cjk, query_terms
from picomem.text.tokens import token_ids, tokenizer

if TYPE_CHECKING:
    import numpy as np

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

"""Small trained classifiers: named signals and hashed words in, a probability for each class out.

A classifier is a linear function of all of them. `python -m training` writes the weights: one line of JSON, then whole
numbers of two bytes, each a multiple of the step that the line names. Reading them takes a millisecond, and only a
write needs them.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from picomem.light_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np

WEIGHTS = Path(__file__).parent / "weights"
STEP = 1 / 512  # weights are rounded to it
MEANING = 256  # numbers of a static vector


@dataclass(frozen=True, slots=True)
class Observed:
    """The observed signals of a text, or of a pair of texts.

    `signals` are numbers by name, absent ones are 0; `words` are the features to be hashed; `meaning` is a vector, or
    None where the classifier has no use for one.
    """

    signals: Mapping[str, float]
    words: Sequence[str]
    meaning: np.ndarray | None = None


def bucket(word: str, count: int) -> int:
    """Which of so many buckets a hashed word falls into; the same on every machine."""
    return zlib.crc32(word.encode()) % count


def word_weight(count: int) -> float:
    """Return how much each of so many hashed words of a text weighs: a long text's weigh less."""
    return 2.0 / max(4, count) ** 0.5


class Classifier:
    """Weights, and what they say of what was observed."""

    def __init__(self, classes: Sequence[str], names: Sequence[str], arrays: Mapping[str, np.ndarray]) -> None:
        """`names` are those of the signals, in the order of the weights. The arrays:

        - `centre`, `scale`: what is taken from a signal, and what it is multiplied with
        - `linear` (classes × signals), `bias` (classes), `buckets` (classes × buckets of hashed words)
        - `meaning` (classes × MEANING, or × 0)
        """
        self.classes = tuple(classes)
        self.names = tuple(names)
        self._place = {name: place for place, name in enumerate(names)}
        self._arrays = arrays

    def probabilities(self, observed: Sequence[Observed], name: str) -> list[float]:
        """The probability of the class `name` for each of the texts. All are computed at once, because numpy takes
        longer to begin a sum than to compute a thousand."""
        import numpy as np

        weights = self._arrays
        signals = np.zeros((len(observed), len(self.names)))
        meaning = np.zeros((len(observed), weights["meaning"].shape[1]))
        rows: list[int] = []
        numbers: list[int] = []
        shares: list[float] = []
        count = weights["buckets"].shape[1]
        for row, text in enumerate(observed):
            for signal, value in text.signals.items():
                if (place := self._place.get(signal)) is not None:
                    signals[row, place] = value
            if meaning.size and text.meaning is not None:
                meaning[row] = text.meaning
            words = dict.fromkeys(text.words)
            rows += [row] * len(words)
            numbers += [bucket(word, count) for word in words]
            shares += [word_weight(len(words))] * len(words)
        scaled = (signals - weights["centre"]) * weights["scale"]
        logits = scaled @ weights["linear"].T + weights["bias"] + meaning @ weights["meaning"].T
        for column, buckets in enumerate(weights["buckets"]):
            logits[:, column] += np.bincount(rows, buckets[numbers] * shares, len(observed))
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        return (odds[:, self.classes.index(name)] / odds.sum(axis=1)).tolist()


@lru_cache(maxsize=8)
def load(name: str) -> Classifier:
    """One of the classifiers in the package."""
    return decode((WEIGHTS / f"{name}.bin").read_bytes())


@lru_cache(maxsize=8)
def _rows(name: str) -> tuple[dict[str, Any], dict[str, array[int]]]:
    """The head of a classifier's file, and its arrays as whole numbers."""
    line, _, body = (WEIGHTS / f"{name}.bin").read_bytes().partition(b"\n")
    head = json.loads(line)
    numbers = array("h", body)
    if sys.byteorder == "big":
        numbers.byteswap()
    rows: dict[str, array[int]] = {}
    start = 0
    for part, shape in head["arrays"].items():
        rows[part] = numbers[start : start + _product(shape)]
        start += _product(shape)
    return head, rows


def linear_logit(name: str, observed: Observed) -> float:
    """Return how much speaks for the second of two classes, and against the first, in a classifier without vectors:
    a logit. Read without numpy, whose import takes longer than a hook may."""
    head, rows = _rows(name)
    step, size = head["step"], len(head["names"])
    linear, buckets, bias = rows["linear"], rows["buckets"], rows["bias"]
    logit = (bias[1] - bias[0]) * step
    for place, signal in enumerate(head["names"]):
        scaled = (observed.signals.get(signal, 0.0) - rows["centre"][place] * step) * rows["scale"][place] * step
        logit += scaled * (linear[size + place] - linear[place]) * step
    words = list(dict.fromkeys(observed.words))
    count = len(buckets) // 2
    said = sum(buckets[count + place] - buckets[place] for place in (bucket(word, count) for word in words))
    return logit + word_weight(len(words)) * said * step


def decode(data: bytes) -> Classifier:
    """The classifier in the bytes of a file."""
    import numpy as np

    line, _, body = data.partition(b"\n")
    head = json.loads(line)
    arrays: dict[str, np.ndarray] = {}
    start = 0
    for name, shape in head["arrays"].items():
        size = _product(shape)
        arrays[name] = np.frombuffer(body, "<i2", size, start).reshape(shape).astype(np.float64) * head["step"]
        start += 2 * size
    return Classifier(head["classes"], head["names"], arrays)


def _product(numbers: Iterable[int]) -> int:
    product = 1
    for number in numbers:
        product *= number
    return product

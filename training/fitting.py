"""Fits a classifier: softmax regression over signals, hashed words and vectors.

Everything is done on all examples at once, in double precision and in a fixed order, so that the same lines give the
same weights; the weights are rounded to a grid at the end, far coarser than what machines differ by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from picomem.light_dataclass import dataclass
from picomem.models.classifier import MEANING, Observed, bucket, word_weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How a classifier is fitted. Penalties are those of squared weights, for each example."""

    classes: tuple[str, ...]
    buckets: int = 4096  # for hashed words
    words: float = 2e-4
    signals: float = 1e-3
    meaning: float = 1e-3
    use_meaning: bool = True
    steps: int = 250


@dataclass(frozen=True, slots=True)
class Words:
    """Which hashed words each example has: for each occurrence its example, its bucket and its weight. There are
    `count` examples and `size` buckets."""

    rows: np.ndarray
    buckets: np.ndarray
    weights: np.ndarray
    count: int
    size: int

    def times(self, linear: np.ndarray) -> np.ndarray:
        """What weights (buckets × classes) say of each example."""
        said = [
            np.bincount(self.rows, self.weights * linear[self.buckets, column], self.count)
            for column in range(linear.shape[1])
        ]
        return np.stack(said, axis=1)

    def slope(self, wrong: np.ndarray) -> np.ndarray:
        """How each bucket changes the error (examples × classes)."""
        slopes = [
            np.bincount(self.buckets, self.weights * wrong[self.rows, column], self.size)
            for column in range(wrong.shape[1])
        ]
        return np.stack(slopes, axis=1)

    def of(self, chosen: np.ndarray) -> Words:
        """Those of some examples, in their order."""
        place = np.full(self.count, -1)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.rows] >= 0
        return Words(place[self.rows[kept]], self.buckets[kept], self.weights[kept], len(chosen), self.size)


@dataclass(frozen=True, slots=True)
class Table:
    """Examples as numbers."""

    names: tuple[str, ...]
    signals: np.ndarray
    words: Words
    meaning: np.ndarray

    def of(self, chosen: np.ndarray) -> Table:
        """Some of the examples, in their order."""
        return Table(self.names, self.signals[chosen], self.words.of(chosen), self.meaning[chosen])


def table(observed: Sequence[Observed], size: int, names: Sequence[str] | None = None) -> Table:
    """What was observed, with hashed words in so many buckets; `names` are the signals of an earlier table."""
    known = (
        tuple(names) if names is not None else tuple(sorted({name for example in observed for name in example.signals}))
    )
    place = {name: number for number, name in enumerate(known)}
    signals = np.zeros((len(observed), len(known)))
    rows: list[int] = []
    buckets: list[int] = []
    weights: list[float] = []
    numbers = MEANING if observed and observed[0].meaning is not None else 0
    meaning = np.zeros((len(observed), numbers))
    for row, example in enumerate(observed):
        for name, value in example.signals.items():
            if name in place:
                signals[row, place[name]] = value
        distinct = list(dict.fromkeys(example.words))
        weight = word_weight(len(distinct))
        rows += [row] * len(distinct)
        buckets += [bucket(word, size) for word in distinct]
        weights += [weight] * len(distinct)
        if numbers and example.meaning is not None:
            meaning[row] = example.meaning
    words = Words(np.array(rows, np.int64), np.array(buckets, np.int64), np.array(weights), len(observed), size)
    return Table(known, signals, words, meaning)


def joined(one: Table, other: Table) -> Table:
    """Two tables as one, with the signals of both."""
    names = tuple(sorted({*one.names, *other.names}))
    words = Words(
        np.concatenate([one.words.rows, other.words.rows + one.words.count]),
        np.concatenate([one.words.buckets, other.words.buckets]),
        np.concatenate([one.words.weights, other.words.weights]),
        one.words.count + other.words.count,
        one.words.size,
    )
    signals = np.vstack([_under(names, one), _under(names, other)])
    return Table(names, signals, words, np.vstack([one.meaning, other.meaning]))


def _under(names: Sequence[str], known: Table) -> np.ndarray:
    """The signals of a table in the columns of these names."""
    columns = np.zeros((len(known.signals), len(names)))
    for place, name in enumerate(known.names):
        columns[:, names.index(name)] = known.signals[:, place]
    return columns


def fit(plan: Plan, examples: Table, labels: np.ndarray, weights: np.ndarray) -> dict[str, np.ndarray]:
    """The arrays of a classifier (see `picomem.models.classifier`). `labels` are numbers of classes, `weights` say how
    much each example counts."""
    counted = weights / weights.sum()
    classes = len(plan.classes)
    centre = counted @ examples.signals
    spread = np.sqrt(np.maximum(counted @ (examples.signals - centre) ** 2, 0.0))
    scale = 1 / np.maximum(spread, 0.1)
    scaled = (examples.signals - centre) * scale
    meaning = examples.meaning * 4.0 if plan.use_meaning else examples.meaning[:, :0]
    inputs = np.hstack([scaled, meaning])
    penalty = np.concatenate(
        [
            np.full(scaled.shape[1], plan.signals),
            np.full(meaning.shape[1], plan.meaning),
            np.full(examples.words.size, plan.words),
        ]
    )
    target = np.eye(classes)[labels]
    linear, bias = _regress(inputs, examples.words, target, counted, penalty, plan.steps)
    dense = inputs.shape[1]
    signals = scaled.shape[1]
    return {
        "centre": centre,
        "scale": scale,
        "linear": linear[:signals].T,
        "bias": bias,
        "buckets": linear[dense:].T,
        "meaning": linear[signals:dense].T * 4.0,
    }


def _softmax(logits: np.ndarray) -> np.ndarray:
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def _regress(
    inputs: np.ndarray, words: Words, target: np.ndarray, counted: np.ndarray, penalty: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Softmax regression over the inputs and the words behind them: weights (inputs and buckets × classes), biases."""
    dense = inputs.shape[1]
    linear = np.zeros((dense + words.size, target.shape[1]))
    moment, square = np.zeros_like(linear), np.zeros_like(linear)
    bias = np.log(np.maximum(counted @ target, 1e-6))
    bias_moment, bias_square = np.zeros_like(bias), np.zeros_like(bias)
    for step in range(1, steps + 1):
        wrong = (_softmax(inputs @ linear[:dense] + words.times(linear[dense:]) + bias) - target) * counted[:, None]
        slope = np.vstack([inputs.T @ wrong, words.slope(wrong)]) + 2 * penalty[:, None] * linear
        pace = 0.05 * (1 - step / (steps + 1)) + 0.001
        linear, moment, square = _adam(linear, slope, moment, square, step, pace)
        bias, bias_moment, bias_square = _adam(bias, wrong.sum(axis=0), bias_moment, bias_square, step, pace)
    return linear, bias


def _adam(
    value: np.ndarray, slope: np.ndarray, moment: np.ndarray, square: np.ndarray, step: int, pace: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    moment = 0.9 * moment + 0.1 * slope
    square = 0.99 * square + 0.01 * slope**2
    change = (moment / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return value - pace * change, moment, square


def predict(arrays: dict[str, np.ndarray], examples: Table) -> np.ndarray:
    """The shares of the classes, one row an example."""
    scaled = (examples.signals - arrays["centre"]) * arrays["scale"]
    logits = scaled @ arrays["linear"].T + arrays["bias"] + examples.words.times(arrays["buckets"].T)
    if arrays["meaning"].shape[1]:
        logits = logits + examples.meaning @ arrays["meaning"].T
    return _softmax(logits)

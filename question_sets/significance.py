"""Tests whether one system is significantly better than another on the same questions. Pure and reproducible.

Both were asked the same questions, so what counts is each question's difference, ours less theirs.

- The 95 % interval of the mean difference is a bootstrap's (percentiles). Questions of one case share a haystack and
  are not independent, so whole cases are drawn, with replacement, and then questions within each. The second step makes
  up for cases being few: drawing cases alone is too sure of itself with four of them, and has nothing to say of one.
  With a single case the interval is about further questions on that haystack only.
- `p` is a randomisation test's: were the two alike, each difference could as well have had the other sign; in what
  share of such worlds is the mean as far from zero? It takes the questions for independent. `p_cases` gives all
  differences of a case the same sign, and so does not: of n cases it cannot fall below 2 / 2ⁿ.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from picomem.light_dataclass import dataclass

_SEED = 7
_DRAWS = 2_000  # of the bootstrap
_FLIPS = 10_000
_EXACT = 12  # so many differences and fewer are given all their signs
_AT_ONCE = 1 << 22  # signs in memory
_TAIL = 2.5  # per cent on each side of the interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Paired:
    """A mean difference over `questions` of `cases`, with its interval; `won` and `lost` count the questions."""

    questions: int
    cases: int
    difference: float
    low: float
    high: float
    p: float
    p_cases: float
    won: int
    lost: int


def paired(ours: Sequence[float], theirs: Sequence[float], cases: Sequence[Hashable]) -> Paired | None:
    """Compare two systems' values question by question; `cases` says which case each is of. None of no question.

    Raises ValueError where the three are not of one length.
    """
    by_case: dict[Hashable, list[float]] = {}
    for mine, other, case in zip(ours, theirs, cases, strict=True):
        by_case.setdefault(case, []).append(mine - other)
    differences = [difference for members in by_case.values() for difference in members]
    if not differences:
        return None
    low, high = interval(list(by_case.values()))
    return Paired(
        questions=len(differences),
        cases=len(by_case),
        difference=sum(differences) / len(differences),
        low=low,
        high=high,
        p=sign_flip(differences),
        p_cases=sign_flip([sum(members) for members in by_case.values()]),
        won=sum(difference > 0 for difference in differences),
        lost=sum(difference < 0 for difference in differences),
    )


def interval(by_case: Sequence[Sequence[float]]) -> tuple[float, float]:
    """The 95 % interval of the mean over all differences; every case has some."""
    values = np.array([difference for members in by_case for difference in members])
    sizes = np.array([len(members) for members in by_case])
    begins = np.cumsum(sizes) - sizes
    random = np.random.default_rng(_SEED)
    means = np.empty(_DRAWS)
    for draw in range(_DRAWS):
        chosen = random.integers(len(sizes), size=len(sizes))
        size = np.repeat(sizes[chosen], sizes[chosen])
        begin = np.repeat(begins[chosen], sizes[chosen])
        means[draw] = values[begin + (random.random(len(size)) * size).astype(np.int64)].mean()
    low, high = np.percentile(means, [_TAIL, 100 - _TAIL])
    return float(low), float(high)


def sign_flip(differences: Sequence[float]) -> float:
    """The share of ways to give differences their signs that brings their sum as far from zero (two-sided): of all
    ways where they are few, else of 10,000 at random, the one at hand among them."""
    told = np.array([difference for difference in differences if difference])
    if not len(told):
        return 1.0
    far = abs(told.sum()) - 1e-9 * np.abs(told).sum()  # sums in another order round otherwise
    if len(told) <= _EXACT:
        ways = np.arange(1 << len(told))[:, None] >> np.arange(len(told)) & 1
        return float(np.mean(np.abs((2.0 * ways - 1) @ told) >= far))
    random = np.random.default_rng(_SEED)
    reached, step = 0, max(1, _AT_ONCE // len(told))
    for begin in range(0, _FLIPS, step):
        ways = random.integers(0, 2, size=(min(step, _FLIPS - begin), len(told)), dtype=np.int8)
        reached += int((np.abs((2.0 * ways - 1) @ told) >= far).sum())
    return (1 + reached) / (1 + _FLIPS)

"""Metrics of a ranking. Pure.

A question has gold: the sessions or the turns that answer it. A system returns a list of ranked groups, best first. A
group is the content of one result (one session, or the turns of one hit). The rank of a gold unit is the place, from 1,
of the first group that holds it; None if no group does. The metrics use only these ranks:

    any@k    1 if some of the gold is among the first k groups
    all@k    1 if all of it is
    frac@k   how much of it is (recall@k of the literature, for one question)
    ndcg@10  Σ 1/log2(1 + rank) over the gold found by rank 10, divided by the most that so much gold can have when
             each unit has a rank of its own (Järvelin and Kekäläinen 2002, binary gains); 1 at most
    mrr@10   1 / rank of the first gold, 0 beyond rank 10

All turns of a group get its rank, so a system that returns wide spans scores higher. Therefore the turns per hit are
reported, too.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Hashable, Iterable, Sequence
from math import log2
from typing import TypeVar

DEPTH = 10  # of ndcg and mrr
Rank = int | None
Ranks = tuple[Rank, ...]
_Unit = TypeVar("_Unit", bound=Hashable)


def ranks(gold: Iterable[_Unit], groups: Iterable[Collection[_Unit]]) -> Ranks:
    """The rank of each gold unit, in the order of `gold`; a unit that is named twice counts once."""
    first: dict[_Unit, int] = {}
    for rank, group in enumerate(groups, 1):
        for unit in group:
            first.setdefault(unit, rank)
    return tuple(first.get(unit) for unit in dict.fromkeys(gold))


def distinct(units: Iterable[_Unit]) -> list[tuple[_Unit]]:
    """Groups of one, each unit where it came first: the ranking of sessions that a ranking of hits makes."""
    return [(unit,) for unit in dict.fromkeys(units)]


def any_at(gold_ranks: Ranks, k: int) -> float:
    return float(any(_within(rank, k) for rank in gold_ranks))


def all_at(gold_ranks: Ranks, k: int) -> float:
    return float(all(_within(rank, k) for rank in gold_ranks))


def frac_at(gold_ranks: Ranks, k: int) -> float:
    return sum(_within(rank, k) for rank in gold_ranks) / len(gold_ranks)


def ndcg(gold_ranks: Ranks, depth: int = DEPTH) -> float:
    gain = sum(1 / log2(1 + rank) for rank in gold_ranks if rank is not None and rank <= depth)
    most = sum(1 / log2(1 + rank) for rank in range(1, min(len(gold_ranks), depth) + 1))
    return min(1.0, gain / most)


def reciprocal_rank(gold_ranks: Ranks, depth: int = DEPTH) -> float:
    return max((1 / rank for rank in gold_ranks if rank is not None and rank <= depth), default=0.0)


def values(gold_ranks: Ranks, ks: Sequence[int]) -> dict[str, float]:
    """Every metric of one question (with some gold), by name."""
    named = {
        f"{name}@{k}": metric(gold_ranks, k)
        for name, metric in (("any", any_at), ("all", all_at), ("frac", frac_at))
        for k in ks
    }
    return named | {f"ndcg@{DEPTH}": ndcg(gold_ranks), f"mrr@{DEPTH}": reciprocal_rank(gold_ranks)}


def scores(questions: Sequence[Ranks], ks: Sequence[int]) -> dict[str, float]:
    """The mean of every metric over questions (each with some gold), by name; `n` is how many there are.

    Of no question at all, only `n`.
    """
    if not questions:
        return {"n": 0}
    measured = [values(gold_ranks, ks) for gold_ranks in questions]
    return {"n": len(questions)} | {name: mean([named[name] for named in measured]) for name in measured[0]}


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Return how often a value that should be higher is (the area under the ROC curve): of all pairs of one of each,
    the share in which it is; a tie is half. 0.5 says nothing. 0 where there are no pairs."""
    ordered = sorted(lower)
    wins = sum(bisect_left(ordered, value) + bisect_right(ordered, value) for value in higher) / 2
    return wins / (len(higher) * len(lower)) if higher and lower else 0.0


def mean(values: Sequence[float]) -> float:
    """The mean; 0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle; 0 of nothing."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return mean(ordered[middle : middle + 1] if len(ordered) % 2 else ordered[middle - 1 : middle + 1])


def _within(rank: Rank, k: int) -> bool:
    return rank is not None and rank <= k

"""The final scores of hits, 0–1, of memories and episodes together. Pure.

A hit that holds the whole question has a share of 1, whatever its source, and many do. Up to the shoulder the score is
the share. Above it shares are brought closer together, so that there is room for the weight of a memory: of a memory
and an episode that both hold everything, the memory has 1 and the episode less.
"""

from __future__ import annotations

from collections.abc import Sequence

from picomem.light_dataclass import replace
from picomem.records.hit import Hit

DURABLE = 1.1  # the weight of a memory beside an episode that fits as well: it was meant to last
_SHOULDER = 0.9


def weight_of_memories(shares: Sequence[float]) -> float:
    """Return what the shares of memories are multiplied with to rank them among episodes: as much as leaves the best
    within 1, so that different shares stay different."""
    return min(DURABLE, 1 / max(shares, default=1.0)) if any(shares) else 1.0


def with_final_scores(hits: Sequence[Hit], weight: float) -> list[Hit]:
    """The hits with their final scores, in an order that does not change; `weight` is that of the memories so far.

    A memory before the best episode gets the whole weight of a memory, of which nothing is cut. One behind it does not,
    because it might overtake the episode.
    """
    best_episode = max((hit.score for hit in hits if hit.source != "memory"), default=0.0)
    final: list[Hit] = []
    for hit in hits:
        is_before = hit.source == "memory" and hit.score >= best_episode
        final.append(rescored(hit, score_within_one(hit.score * DURABLE / weight if is_before else hit.score)))
    return final


def score_within_one(weighed: float) -> float:
    """Return the score of a share that was multiplied with the weight of its source, DURABLE at most."""
    over = max(0.0, weighed - _SHOULDER)
    return round(weighed - over + over * (1 - _SHOULDER) / (DURABLE - _SHOULDER), 4)


def rescored(hit: Hit, score: float) -> Hit:
    """A hit with another score, of which each part of ranking made as much as before."""
    if score == hit.score:
        return hit
    share = score / hit.score if hit.score else 0.0
    return replace(hit, score=score, parts=tuple((name, round(value * share, 4)) for name, value in hit.parts))


# A call returns ten hits if so many hold any word of the question; often one answers and the rest is noise. A hit is
# worth a person's look if it scores at least half of what the best one does. Of the development sets, `sessions` then
# shows 4.0 hits of 10 and keeps the answer of all 24 questions, and a chat of `locomo` 7.7 and 123 of 128; where hits
# are alike (`notes`, a day's talk) nearly all stay. A steeper cut, a cut at the largest gap, and one that depends on
# the confidence each lost more answers for the same length.
_SHARE_OF_BEST = 0.5


def count_above_cutoff(scores: Sequence[float]) -> int:
    """Return how many of these scores, sorted from the best to the worst, reach the cutoff."""
    return sum(score >= _SHARE_OF_BEST * scores[0] for score in scores)

"""The score below which an answer's hits are not shown to a person at first. Pure.

A call returns ten hits if so many hold any word of the question; often one answers and the rest is noise. A hit is
worth a person's look if it scores at least half of what the best one does. Of the development sets, `sessions` then
shows 4.0 hits of 10 and keeps the answer of all 24 questions, and a chat of `locomo` 7.7 and 123 of 128; where hits are
alike (`notes`, a day's talk) nearly all stay. A steeper cut, a cut at the largest gap, and one that depends on the
confidence each lost more answers for the same length.
"""

from __future__ import annotations

from collections.abc import Sequence

_SHARE_OF_BEST = 0.5


def count_above_cutoff(scores: Sequence[float]) -> int:
    """Return how many of these scores, sorted from the best to the worst, reach the cutoff."""
    return sum(score >= _SHARE_OF_BEST * scores[0] for score in scores)

"""How a newer statement stands to an older one: changed, said again, said in detail, or about something else.

A small classifier says how likely each is (docs/classifiers.md). A wrong supersede is worse than a doubt, so a
statement is replaced only where that is very likely; where it is merely likely, both stay, linked.
"""

from __future__ import annotations

from functools import lru_cache

from picomem.memory.pair_signals import observe_pair
from picomem.models.classifier import load
from picomem.values import dataclass

# Chosen from the validation (`python -m training --validate`), not from the sets that measure.
SUPERSEDES = 0.85
DUPLICATES = 0.6
CONTRADICTS = 0.3  # from here on both stay, linked


@dataclass(frozen=True, slots=True)
class Relation:
    """How likely a newer statement supersedes an older one, duplicates it, or refines it; and why the first."""

    supersedes: float
    duplicates: float
    refines: float
    reasons: tuple[str, ...]

    def because(self) -> str:
        """The signals that spoke for a change, for a person."""
        return f" ({', '.join(self.reasons)})" if self.reasons else ""


@lru_cache(maxsize=256)
def judge_pair(old: str, new: str) -> Relation:
    """How `new` stands to `old`."""
    judged = load("relation").judge(observe_pair(old, new), "supersede")
    shares = judged.shares
    return Relation(shares["supersede"], shares["duplicate"], shares["refine"], judged.reasons)

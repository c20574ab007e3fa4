"""The relation of a newer statement to an older one: changed, repeated, more detailed, or about something else.

A small classifier estimates the probability of each (docs/classifiers.md). A wrong replacement is worse than a doubt,
so a statement is replaced only if that is very likely right; if it is merely likely, both stay, linked. Two
statements that differ in one value (“Marta signs off …” and “Martin signs off …”) are never the same one, however
close the values are in meaning. Nor are two that name things by other letters (“server S”, “server T”), or in which
words exchange their places (“Ann reports to Bob”).
"""

from __future__ import annotations

from functools import lru_cache

from picomem.light_dataclass import dataclass
from picomem.memory.likeness import differ_in_letters, exchange_words
from picomem.memory.pair_signals import differ_in_a_value, leaves_behind, observe_pair
from picomem.models.classifier import load

# Chosen from the validation (`python -m training --validate`), not from the sets that measure.
SUPERSEDES = 0.76
SUPERSEDES_IN_PASSING = 0.95  # for what was captured and is not confirmed
DUPLICATES = 0.4
CONTRADICTS = 0.3  # from here on both stay, linked


@dataclass(frozen=True, slots=True)
class JudgedRelation:
    """The probabilities that a newer statement supersedes, duplicates or refines an older one, with reasons for the
    first."""

    supersedes: float
    duplicates: float
    refines: float
    reasons: tuple[str, ...]

    def because(self) -> str:
        """The signals that spoke for a change, for a person."""
        return f" ({', '.join(self.reasons)})" if self.reasons else ""


@lru_cache(maxsize=256)
def judge_pair(old: str, new: str) -> JudgedRelation:
    """Judge the relation of `new` to `old`."""
    observed = observe_pair(old, new)
    judged = load("relation").judge(observed, "supersede")
    shares = judged.shares
    are_apart = differ_in_a_value(observed) or differ_in_letters(old, new) or exchange_words(old, new)
    duplicates = 0.0 if are_apart else shares["duplicate"]
    # A long reason behind a change hides it from the classifier; a doubt costs little.
    supersedes = max(shares["supersede"], CONTRADICTS if leaves_behind(observed) else 0.0)
    return JudgedRelation(supersedes, duplicates, shares["refine"], judged.reasons)

"""The relation of a newer statement to an older one: changed, repeated, more detailed, or about something else.

A small classifier estimates the probability of each (docs/classifiers.md). A wrong replacement is worse than a doubt,
so a statement is replaced only if that is very likely right; if it is merely likely, both stay, linked. Two
statements that differ in one value (“Marta signs off …” and “Martin signs off …”) are never the same one, however
close the values are in meaning. Nor are two that name things by other letters (“server S”, “server T”), in which words
exchange their places (“Ann reports to Bob”), or that have no word in common, not even a synonym: two rules (“Never
deploy on Fridays”, “Always use tabs”) are worded alike.
"""

from __future__ import annotations

from functools import lru_cache

from picomem.light_dataclass import dataclass
from picomem.memory.likeness import differ_in_letters, exchange_words
from picomem.memory.pair_signals import differ_in_a_value, leaves_behind, observe_pair, share_no_evidence
from picomem.models.classifier import load

# Chosen from the validation (`python -m training --by-writer`), not from the sets that measure.
SUPERSEDES = 0.7
SUPERSEDES_IN_PASSING = 0.9  # for what was captured and is not confirmed
DUPLICATES = 0.25
CONTRADICTS = 0.2  # from here on both stay, linked


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


def among(share: float, count: float) -> float:
    """The probability of a relation to one memory, corrected for the `count` memories that a statement is compared
    with: the prior odds of each are divided by their number."""
    return share / (share + count * (1 - share)) if share else 0.0


@lru_cache(maxsize=256)
def judge_pair(old: str, new: str) -> JudgedRelation:
    """Judge the relation of `new` to `old`."""
    observed = observe_pair(old, new)
    judged = load("relation").judge(observed, "supersede")
    shares = judged.shares
    are_other_things = differ_in_letters(old, new)
    are_apart = (
        are_other_things or differ_in_a_value(observed) or exchange_words(old, new) or share_no_evidence(old, new)
    )
    duplicates = 0.0 if are_apart else shares["duplicate"]
    # A long reason behind a change hides it from the classifier; a doubt costs little.
    supersedes = max(shares["supersede"], CONTRADICTS if leaves_behind(observed) else 0.0)
    if are_other_things:
        supersedes = min(supersedes, CONTRADICTS)
    return JudgedRelation(supersedes, duplicates, shares["refine"], judged.reasons)

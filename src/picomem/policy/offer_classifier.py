"""Judges whether an agent's offer is worth keeping, beyond the rules of `low_value`. Pure, except for weights.

A wrong refusal is costly, so only text that is very likely junk is refused (docs/classifiers.md).
"""

from __future__ import annotations

from picomem.models.classifier import load
from picomem.policy.offer_signals import observe_offer

LEAST = 0.2  # chosen from the validation: two of a hundred worthwhile lines are below it


def junk_signals(text: str) -> tuple[str, ...]:
    """The signals by which an offer is very likely junk; empty where it is not."""
    judged = load("worth").judge(observe_offer(text), "junk")
    if judged.shares["worth"] >= LEAST:
        return ()
    return judged.reasons or ("its words",)

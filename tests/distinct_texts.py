"""Texts that share no word with one another, so that nothing is merged with anything."""

from __future__ import annotations

import random

SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]


def distinct_text(*of: object) -> str:
    """Seven made-up words; the same for the same arguments."""
    rng = random.Random(repr(of))
    return " ".join("".join(rng.choices(SYLLABLES, k=4)) for _ in range(7))

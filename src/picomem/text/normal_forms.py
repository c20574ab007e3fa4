"""Unicode's normal forms, in a time that grows with the text.

Sorting a letter's marks takes quadratic time, and a text can bring a million; no language needs over 30 (Unicode's
stream-safe format, UAX #15).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

_MOST_MARKS = 30
_HIDDEN_MARKS = "\u0f73\u0f75\u0f81\uff9e\uff9f"  # of class 0, but they decompose into marks alone
_NO_LETTERS = re.compile(rf"(?:[^\w\x00-\x7f]|[{_HIDDEN_MARKS}]){{{_MOST_MARKS + 1},}}")  # no other mark is a letter
_STREAK = re.compile(rb"[^\0]{%d,}" % (_MOST_MARKS + 1))


def normalized(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """A text in a normal form, with at most 30 marks on a letter."""
    return text if text.isascii() else unicodedata.normalize(form, _NO_LETTERS.sub(_few_marks, text))


def _few_marks(run: re.Match[str]) -> str:
    """A run of characters beyond ASCII that are no letters, its streaks of combining marks cut."""
    text = run[0]
    classes = bytes(unicodedata.combining(character) or character in _HIDDEN_MARKS for character in text)
    kept: list[str] = []
    position = 0
    for streak in _STREAK.finditer(classes):
        kept.append(text[position : streak.start() + _MOST_MARKS])
        position = streak.end()
    kept.append(text[position:])
    return "".join(kept)

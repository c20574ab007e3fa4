"""The words in which two texts differ, as marks for `marked_text`. Pure."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

Marks = list[list[int]]  # offsets in a text, [start, end)

# A Chinese character is a word here, as is each sign.
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|[^\w\s]")
_COMPARED = 200  # words of the part that differs; comparing takes the square of them


def word_differences(before: str, after: str) -> tuple[Marks, Marks]:
    """The marks in either text. Where the parts that differ are long, each is marked as a whole."""
    old, new = list(_WORD.finditer(before)), list(_WORD.finditer(after))
    old_words, new_words = [word[0] for word in old], [word[0] for word in new]
    start, end = _common_ends(old_words, new_words)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > _COMPARED:
        return _marks(old, 0, len(old)), _marks(new, 0, len(new))
    matcher = SequenceMatcher(None, [word[0] for word in old], [word[0] for word in new], autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    return (
        [mark for _, first, last, _, _ in steps for mark in _marks(old, first, last)],
        [mark for _, _, _, first, last in steps for mark in _marks(new, first, last)],
    )


def _common_ends(old: list[str], new: list[str]) -> tuple[int, int]:
    """How many words both begin with, and how many both end with."""
    shorter = min(len(old), len(new))
    start = next((place for place in range(shorter) if old[place] != new[place]), shorter)
    rest = shorter - start
    return start, next((place for place in range(rest) if old[-1 - place] != new[-1 - place]), rest)


def _marks(words: list[re.Match[str]], first: int, last: int) -> Marks:
    return [[words[first].start(), words[last - 1].end()]] if first < last else []

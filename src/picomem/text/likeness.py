"""Compares statements by their words: do they say the same, and do they speak of the same subject? Pure.

Two statements say the same only if nothing that could matter differs: the same words in the same order, with all their
signs and capitals, because C, C# and C++ differ, and so do US and us, 5m and 5M, !quiet and quiet, “The Who” and “who”.
What may differ is blanks, typographic quotes, the width of characters, the capital of the first word, and a comma or a
full stop behind a word. A missed repetition costs a second entry; a wrong one would cost a statement.

Two statements speak of the same subject if they share much of what is rare in the user's memory. That estimate only
decides about order and marks, never about a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from math import fsum, log, sqrt

from picomem.loaded_once import cached_if_short
from picomem.text.terms import weight_of
from picomem.text.visible_text import normalized

# Half of the changes of mind in natural talk are at least so alike, and one in fifty of the other statements.
SAME_SUBJECT = 0.3

_MOST_HOLDERS = 32  # statements; a term that more of them have says too little for what it costs
_KEPT = 512  # statements: each new one is compared with several
_LONGEST_KEPT = 8_000  # characters: the longest memory
_NARROW = {wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)}  # ！ to ～
_IDLE = _NARROW | str.maketrans({"’": "'", "“": "", "”": "", "„": "", "。": " ", "，": " ", "、": " "})
_PUNCTUATION = ".,;:!?…。，、；：！？\"'“”‘’„«»‹›「」『』《》()[]{}（）【】*_`~—–"
_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_PARTS = re.compile(rf"{_CJK}|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_STOPS = re.compile(r"(?<=\w)[.,]+(?!\S)")


@cached_if_short(_LONGEST_KEPT, _KEPT)
def statement_words(text: str) -> tuple[str, ...]:
    """The words of a statement, with their signs; a CJK character is a word."""
    first, *rest = _PARTS.findall(_STOPS.sub("", normalized("NFC", text).translate(_IDLE))) or [""]
    if first == "I" or first[1:].islower():
        first = first.lower()
    return (first, *rest) if first else ()


def say_the_same(one: str, other: str) -> bool:
    """Return whether two statements consist of the same words in the same order."""
    return statement_words(one) == statement_words(other)


def holds_words(text: str, statement: str) -> bool:
    """Return whether a text contains the words of a statement, one behind the other."""
    whole, part = _joined(text), _joined(statement)
    return bool(part) and part in whole


def plain_words(text: str) -> list[str]:
    """The words of a text, whatever their case, width and punctuation."""
    folded = normalized("NFKC", text).casefold().replace("’", "'")
    return [word for part in _PARTS.findall(folded) if (word := part.strip(_PUNCTUATION)) not in ("", "-")]


def _joined(text: str) -> str:
    return "".join(f"\0{word}\0" for word in plain_words(text))


def subject_likeness(one: Collection[str], other: Collection[str], rarity: Callable[[str], float]) -> float:
    """The cosine (0–1) of two sets of terms, each weighing what `rarity` says."""
    shared = fsum(map(rarity, set(one) & set(other)))  # the same sum in whatever order
    return shared / sqrt(fsum(map(rarity, set(one))) * fsum(map(rarity, set(other)))) if shared else 0.0


class Subjects:
    """The subjects of some statements, which are given by an id and their terms: a term weighs by how rare it is among
    them."""

    def __init__(self, terms: Mapping[str, Collection[str]]) -> None:
        self._terms = {id_: frozenset(held) for id_, held in terms.items()}
        self._holders: dict[str, list[str]] = {}
        for id_, held in self._terms.items():
            for term in held:
                self._holders.setdefault(term, []).append(id_)

    def near(self, id_: str) -> dict[str, float]:
        """The likeness (0–1) to a statement of the others that share with it a term which few have."""
        mine = self._terms[id_]
        holders = (self._holders[term] for term in mine)
        others = {other for held in holders if len(held) <= _MOST_HOLDERS for other in held} - {id_}
        return {other: subject_likeness(mine, self._terms[other], self._rarity) for other in sorted(others)}

    def _rarity(self, term: str) -> float:
        return weight_of(term, log(1 + len(self._terms) / (len(self._holders[term]) + 0.5)))

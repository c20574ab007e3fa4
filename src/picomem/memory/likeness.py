"""How alike two short texts are, by their words. Pure.

Memories are a sentence or two, so their words can be laid side by side. What matters is not a number but in what
two sentences differ: a value at the end ("the port is 5433" / "5434") replaces, another subject ("the staging
database" / "the production database") does not.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from enum import Enum

from picomem.text.terms import terms
from picomem.values import dataclass

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+(?:[._\-/:'’@+][^\W_]+)*")
_NEGATIONS = frozenset(
    """not no never don't dont doesn't isn't aren't won't can't cannot shouldn't mustn't without stop avoid
    不 别 沒 没 勿""".split()
)
# What a negation brings with it: "do not", 不要.
_HELPERS = _NEGATIONS | frozenset("do does did will should must is are the a to any 要".split())
_FILLERS = frozenset("now currently actually anymore still please really just also 现在 已经".split())
_ORDER_WORDS = frozenset("over than instead rather before after 而 比".split())


class Relation(Enum):
    """How a new text stands to a known one."""

    SAME = "same words"
    CONTAINED = "says less"
    EXTENDS = "says more"
    CONTRADICTS = "says otherwise"
    NEAR = "near"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Likeness:
    relation: Relation
    share: float  # of the terms of both, those they have in common (Jaccard)


NEAR = 0.6  # the least share of terms for two memories to be called near each other
SAME = 0.92  # above it two texts differ in a word's form or a filler


def compare(new: str, known: str) -> Likeness:
    """How `new` stands to `known`."""
    new_words, known_words = words(new), words(known)
    if new_words == known_words:
        return Likeness(Relation.SAME, 1.0)
    new_terms, known_terms = set(terms(new)), set(terms(known))
    union = new_terms | known_terms
    share = len(new_terms & known_terms) / len(union) if union else 0.0
    if _contradicts(new_words, known_words):
        return Likeness(Relation.CONTRADICTS, share)
    if share >= SAME:
        return Likeness(Relation.SAME, share)
    if _negated(new_words) == _negated(known_words):
        if known_terms and known_terms < new_terms and len(known_terms) >= 3:
            return Likeness(Relation.EXTENDS, share)
        if new_terms and new_terms < known_terms and len(new_terms) >= 3:
            return Likeness(Relation.CONTAINED, share)
    return Likeness(Relation.NEAR if share >= NEAR else Relation.OTHER, share)


def words(text: str) -> list[str]:
    """The words of a text, folded; fillers that do not change what is said are left out."""
    return [word for word in (found.casefold() for found in _WORD.findall(text)) if word not in _FILLERS]


def _contradicts(new: list[str], known: list[str]) -> bool:
    return _toggles_negation(new, known) or _turns_around(new, known) or _replaces_value(new, known)


def _negated(text: list[str]) -> bool:
    return sum(word in _NEGATIONS for word in text) % 2 == 1


def _toggles_negation(new: list[str], known: list[str]) -> bool:
    """ "Use tabs" / "do not use tabs": the same words but for a negation."""
    if _negated(new) == _negated(known):
        return False
    one = [word for word in new if word not in _HELPERS]
    other = [word for word in known if word not in _HELPERS]
    return len(one) >= 2 and one == other


def _turns_around(new: list[str], known: list[str]) -> bool:
    """ "Tabs over spaces" / "spaces over tabs": the same words in another order around a word that orders."""
    return len(new) >= 3 and new != known and sorted(new) == sorted(known) and bool(_ORDER_WORDS & set(new))


def _replaces_value(new: list[str], known: list[str]) -> bool:
    """ "… runs on port 5433" / "… runs on port 5434": one value in the place of another, the rest before it the same.

    A value is something with a digit in it. The subject stands before it, so at least three words before the value
    and everything after it must agree.
    """
    steps = [step for step in SequenceMatcher(None, known, new, autojunk=False).get_opcodes() if step[0] != "equal"]
    if len(steps) != 1 or steps[0][0] != "replace":
        return False
    _, start, end, new_start, new_end = steps[0]
    values = known[start:end], new[new_start:new_end]
    return start >= 3 and all(len(value) <= 2 and any(_is_value(word) for word in value) for value in values)


def _is_value(word: str) -> bool:
    return any(char.isdigit() for char in word)

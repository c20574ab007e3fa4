"""Compares two short texts by their words. Pure.

Memories are one or two sentences, so their words can be aligned. The difference matters more than a score: a changed
value at the end ("the port is 5433" / "5434") replaces the old one, another subject ("the staging database" / "the
production database") does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from itertools import pairwise

from picomem.light_dataclass import dataclass
from picomem.text.terms import is_stop_word, terms

_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_LETTERS = rf"(?:(?!{_CJK})[^\W_])+"
_WORD = re.compile(rf"{_CJK}|{_LETTERS}(?:[._\-/:'’@+]{_LETTERS})*")
_NEGATIONS = frozenset(
    """not no never don't dont doesn't isn't aren't won't can't cannot shouldn't mustn't without stop avoid
    不 别 沒 没 勿""".split()
)
# What a negation brings with it: "do not", 不要.
_HELPERS = _NEGATIONS | frozenset("do does did will should must is are the a to any 要".split())
# A text that says of a thing that it ended, or was so once, does not contain the text that says that it is so.
_ENDED = re.compile(
    r"\b(?:stop(?:s|ped|ping)?|quit|used to|formerly|previously|until|g[ai]ven? up|ended|cancel\w*|dropped|"
    r"abolished)\b|"
    r"戒|停|取消|放弃|以前|之前|曾",
    re.IGNORECASE,
)
_FILLERS = frozenset("now currently actually anymore still please really just also 现在 已经".split())
_DIRECTIONS = frozenset("from to into before after by for 从 到 给 被 向".split())
_ORDER_WORDS = frozenset("over than instead rather before after 而 比".split())
# "3. …", "(3) …", "Rule 3: …", "Step 12 – …", "第3条：…"
_ITEM = re.compile(
    r"\W*((?:[^\W\d_]{1,20}[ \t]*){0,2}#?\d+[^\W\d_]{0,2})[ \t]*(?:[:：](?!\d)|[–—-][ \t])|\W*(\d+)[.)、](?!\d)"
)


_LETTER = re.compile(r"[b-hj-z]|i{2,3}|iv|vi{1,3}|ix")
_CAPITAL_A = re.compile(r"[^\W_],?[ \t]+A\b(?!['’])")  # not at the beginning of a sentence, where it may be the article

_MOST_LETTERS = 50
_KEPT = 512  # texts, of which each is compared with many others


class Relation(Enum):
    """The relation of a new text to a known one."""

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
    """Compare `new` with `known`."""
    new_words, known_words = words(new), words(known)
    if new_words == known_words:
        return Likeness(Relation.SAME, 1.0)
    # Then “a” and “i” may be names as well.
    lettered = bool(_letter_names(new) or _letter_names(known))
    new_terms, known_terms = _terms(new), _terms(known)
    if lettered:
        new_terms, known_terms = new_terms | _letters(new_words), known_terms | _letters(known_words)
    union = new_terms | known_terms
    share = len(new_terms & known_terms) / len(union) if union else 0.0
    if are_separate_items(new, known):
        return Likeness(Relation.OTHER, share)
    if _contradicts(new_words, known_words):
        return Likeness(Relation.CONTRADICTS, share)
    if share >= SAME and _says_in_order(new_words, known_words, lettered=lettered):
        return Likeness(Relation.SAME, share)
    if _negated(new_words) == _negated(known_words) and _is_over(new) == _is_over(known):
        if known_terms and known_terms < new_terms and len(known_terms) >= 3:
            return Likeness(Relation.EXTENDS, share)
        if new_terms and new_terms < known_terms and len(new_terms) >= 3:
            return Likeness(Relation.CONTAINED, share)
    return Likeness(Relation.NEAR if share >= NEAR else Relation.OTHER, share)


def is_verbatim(one: str, other: str) -> bool:
    """Return whether two texts have the same words in the same order, whatever their case and punctuation."""
    return _folded(one) == _folded(other)


def _folded(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


@lru_cache(maxsize=_KEPT)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, folded; fillers that do not change what is said are left out."""
    return tuple(word for word in _folded(text) if word not in _FILLERS)


@lru_cache(maxsize=_KEPT)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def are_separate_items(new: str, known: str) -> bool:
    """Return whether two texts are different items of a numbered list ("Rule 3: …" and "Rule 4: …")."""
    one, other = _ITEM.match(new.casefold()), _ITEM.match(known.casefold())
    return one is not None and other is not None and one.group(1, 2) != other.group(1, 2)


def exchange_words(one: str, other: str) -> bool:
    """Return whether two texts are the same but that words stand in each other's place: "Ann reports to Bob" and "Bob
    reports to Ann"."""
    first, second = _without_clitics(one), _without_clitics(other)
    if len(first) != len(second) or first == second:
        return False
    put = {(before, after) for before, after in zip(first, second, strict=True) if before != after}
    return len(dict(put)) == len(put) and all((after, before) in put for before, after in put)


def differ_in_letters(one: str, other: str) -> bool:
    """Return whether two texts name things by other letters or Roman numerals: "server S …" and "server T …"."""
    return _letter_names(one) != _letter_names(other)


def _letter_names(text: str) -> list[str]:
    named = [word for word in words(text) if _LETTER.fullmatch(word)]
    return sorted([*named, *("a" for _ in _CAPITAL_A.finditer(text))])


def _without_clitics(text: str) -> list[str]:
    return [word.removesuffix("'s").removesuffix("’s") for word in words(text)]


def _contradicts(new: Sequence[str], known: Sequence[str]) -> bool:
    return _toggles_negation(new, known) or _turns_around(new, known) or _replaces_value(new, known)


def _letters(text: Sequence[str]) -> frozenset[str]:
    """The single letters among words, each as often as it occurs: one "a" may be a name and another the article."""
    letters = [word for word in text if len(word) == 1 and is_stop_word(word)]
    return frozenset(
        f"{letter} {letters[:place].count(letter)}" for place, letter in enumerate(letters[:_MOST_LETTERS])
    )


def _says_in_order(new: Sequence[str], known: Sequence[str], *, lettered: bool) -> bool:
    """Return whether two texts of the same words say the same: in one order, with one part moved ("on Tuesdays we
    deploy"), or turned round by the passive ("is owned by Elena"). Words that changed places ("Omar owns staging and
    Dana production", "from Paris to Berlin", "Elena is owned by") are news."""
    one, other = _stems(new, lettered=lettered), _stems(known, lettered=lettered)
    both = set(one) & set(other)
    one, other = [stem for stem in one if stem in both], [stem for stem in other if stem in both]
    if ("by" in new) != ("by" in known):
        return one != other
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    moved = len(one) == len(other) and _line(other) in _line(one + one)
    led, led_before = _led(new), _led(known)
    return moved and all(led[word] == led_before[word] for word in led.keys() & led_before.keys())


def _line(stems: list[str]) -> str:
    """Stems as a string, because looking for one list in another takes the square of their lengths."""
    return "".join(f"\0{stem}\0" for stem in stems)


def _stems(text: Sequence[str], *, lettered: bool) -> list[str]:
    """The stems of the words that say something; with `lettered` a single letter does."""
    return [" ".join(terms(word)) or word for word in text if not is_stop_word(word) or (lettered and len(word) == 1)]


def _led(text: Sequence[str]) -> dict[str, str]:
    """The target of each direction: the word after "from", after "to" and the like."""
    return {word: following for word, following in pairwise(text) if word in _DIRECTIONS}


def _negated(text: Sequence[str]) -> bool:
    return sum(word in _NEGATIONS for word in text) % 2 == 1


def _is_over(text: str) -> bool:
    return _ENDED.search(text) is not None


def _toggles_negation(new: Sequence[str], known: Sequence[str]) -> bool:
    """ "Use tabs" / "do not use tabs": the same words but for a negation."""
    if _negated(new) == _negated(known):
        return False
    one = [word for word in new if word not in _HELPERS]
    other = [word for word in known if word not in _HELPERS]
    return len(one) >= 2 and one == other


def _turns_around(new: Sequence[str], known: Sequence[str]) -> bool:
    """ "Tabs over spaces" / "spaces over tabs": the same words in another order around a word that orders."""
    return len(new) >= 3 and new != known and sorted(new) == sorted(known) and bool(_ORDER_WORDS & set(new))


def _replaces_value(new: Sequence[str], known: Sequence[str]) -> bool:
    """ "… runs on port 5433" / "… runs on port 5434": one value in the place of another, the rest before it the same.

    A value is something with a digit in it. The subject stands before it, so at least three words before the value
    and everything after it must agree.
    """
    start = _common_prefix(new, known)
    shorter = min(len(new), len(known)) - start
    end = min(shorter, _common_prefix(new[::-1], known[::-1]))
    values = new[start : len(new) - end], known[start : len(known) - end]
    return (
        start >= 3
        and all(1 <= len(value) <= 2 and any(_is_value(word) for word in value) for value in values)
        and not set(values[0]) & set(values[1])
    )


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words two texts begin with in common."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), min(len(one), len(other))
    )


def _is_value(word: str) -> bool:
    return any(char.isdigit() for char in word)

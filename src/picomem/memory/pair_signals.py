"""Signals that describe how an older and a newer statement differ; a classifier decides their relation from them. Pure.

Similarity alone decides nothing. What counts is whether the differing words are alternatives (Redis and PostgreSQL,
Tuesday and Friday, one port and another), whether the subject is the same, and whether the newer statement mentions a
change, adds something, or gives a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from picomem.memory.likeness import Relation, compare
from picomem.memory.statement_signals import CATEGORIES, Statement, read_statement
from picomem.models.classifier import Observed
from picomem.text.synonyms import held_terms, synonyms
from picomem.text.terms import is_cjk, query_terms

if TYPE_CHECKING:
    import numpy as np

_OPPOSITES = tuple(
    tuple(both.split("/"))
    for both in """on/off open/closed opens/closes single/married likes/dislikes likes/hates loves/hates allowed/forbidden
    required/optional enabled/disabled public/private manual/automatic monthly/weekly daily/weekly alone/with rent/own
    rents/owns rents/bought employed/unemployed works/retired lives/moved true/false yes/no up/down free/paid free/costs
    before/after more/less always/never all/none active/inactive broken/works broken/repaired full/empty in/out
    short/long formal/informal formal/casual remote/office hired/fired accepted/rejected vegetarian/meat smokes/quit
    tabs/spaces dark/light metric/imperial hot/cold early/late single-threaded/parallel should/shouldn't can/can't
    喜欢/不喜欢 喜欢/讨厌 可以/不可以 允许/禁止 单身/结婚 租/买 开/关 有/没有 需要/不需要 吃/不吃 能/不能 每天/每周 每周/每月
    公开/私有 手动/自动 收费/免费""".split()
)
_CJK_OPPOSITES = tuple(pair for one, other in _OPPOSITES if is_cjk(one) for pair in ((one, other), (other, one)))


def _opposites_by_word() -> dict[str, set[str]]:
    opposites: dict[str, set[str]] = {}
    for one, other in _OPPOSITES:
        opposites.setdefault(one, set()).add(other)
        opposites.setdefault(other, set()).add(one)
    return opposites


_OPPOSITES_BY_WORD = _opposites_by_word()


def observe_pair(old: str, new: str) -> Observed:
    """The signals of an older statement and a newer one."""
    one, other = read_statement(old), read_statement(new)
    cosines = one.vectors @ other.vectors.T
    gone, came, shared = _differing(one, other)
    signals: dict[str, float] = {}
    _of_change(signals, one, other)
    _of_values(signals, one, other)
    _of_words(signals, one, other, gone, came, shared)
    _of_meaning(signals, one, other, gone, came, cosines)
    _of_subject(signals, one, other, cosines)
    _of_order(signals, one.words, other.words)
    if one.is_cjk or other.is_cjk:
        signals["~cjk"] = 1.0
    hashed = [f"-{word}" for word in gone] + [f"+{word}" for word in came] + [f"={word}" for word in shared]
    return Observed(signals, hashed)


def differ_in_a_value(observed: Observed) -> bool:
    """Return whether two statements name different addresses, or have the same words but for a negation, or for one or
    two that are another number, name or opposite."""
    signals = observed.signals
    if signals.get(f"by their words: {Relation.CONTRADICTS.value}") or signals.get(_ADDRESSES):
        return True
    same_mould = signals.get(_ONE_PART, 0.0) and signals["~part sizes"] <= 1.0
    return bool(same_mould) and any(signals.get(name) for name in _OTHER_VALUES)


def share_no_evidence(old: str, new: str) -> bool:
    """Return whether nothing shows that two statements mean the same: no word of the one stands in the other, itself or
    as a synonym; or one is Chinese or Japanese and the other is not, or both are, and share few characters that say
    something. Of a pair without a common word the classifier sees only how it is worded, and two rules are worded
    alike; the word vectors know few words of these languages."""
    one, other = read_statement(old), read_statement(new)
    common = set(one.content).intersection(other.content)
    if not (one.is_cjk or other.is_cjk):
        return not common and not _says_in_synonyms(new, old) and not _says_in_synonyms(old, new)
    return one.is_cjk != other.is_cjk or len(common) < _COMMON_CHARACTERS * min(len(one.content), len(other.content))


def _says_in_synonyms(one: str, other: str) -> bool:
    """Return whether a synonym of a word in one text stands in the other."""
    asked = tuple(query_terms(one))
    return bool(held_terms(asked, synonyms(one, asked), other))


def leaves_behind(observed: Observed) -> bool:
    """Return whether the newer statement says that it leaves behind what the older names, in a few words that both
    have."""
    return bool(observed.signals.get(_LEAVES_BEHIND)) and observed.signals["~shared"] >= 1.0  # three words


_COMMON_CHARACTERS = 0.4  # of the shorter statement
_LEAVES_BEHIND = "the newer leaves behind what the older names"
_ADDRESSES = "the addresses differ"
_ONE_PART = "one part stands in another's place"
_OTHER_VALUES = (
    "the numbers differ",
    "the names differ",
    "they say opposite things",
    *(f"another {category}" for category, _ in CATEGORIES),
)


def _differing(old: Statement, new: Statement) -> tuple[list[str], list[str], list[str]]:
    """The index terms that only the older has, that only the newer has, and that both have."""
    ours, theirs = set(old.content), set(new.content)
    gone = [term for term in old.content if term not in theirs]
    came = [term for term in new.content if term not in ours]
    return gone, came, [term for term in old.content if term in theirs]


def _of_change(signals: dict[str, float], old: Statement, new: Statement) -> None:
    """Words that speak of a change, an addition, a reason, a detail."""
    for name, in_new in new.mentions.items():
        in_old = old.mentions[name]
        if in_new:
            signals[f"the newer {name}"] = min(in_new, 3) / 2
        if in_old:
            signals[f"the older {name}"] = min(in_old, 3) / 2
        if in_new and not in_old:
            signals[f"only the newer {name}"] = 1.0
    if new.begins_with_pronoun:
        signals["the newer begins with a pronoun"] = 1.0
    if _are_opposite(old, new):
        signals["they say opposite things"] = 1.0
    if new.left_behind & old.terms:
        signals[_LEAVES_BEHIND] = 1.0
    if old.denials:
        signals["the older denies"] = 1.0
    if new.denials:
        signals["the newer denies"] = 1.0
    if bool(old.denials) != bool(new.denials):
        signals["only one denies"] = 1.0
        if new.denials:
            signals["only the newer denies"] = 1.0


def _are_opposite(old: Statement, new: Statement) -> bool:
    came = new.plain_words - old.plain_words
    if any(_OPPOSITES_BY_WORD.get(word, set()) & came for word in old.plain_words - new.plain_words):
        return True
    return (old.is_cjk or new.is_cjk) and any(
        first in old.text and second in new.text and second not in old.text for first, second in _CJK_OPPOSITES
    )


def _of_values(signals: dict[str, float], old: Statement, new: Statement) -> None:
    """Numbers, names and words of one category that stand opposite each other."""
    numbers, others = old.numbers, new.numbers
    if numbers and others:
        signals["both have numbers"] = 1.0
        signals["the numbers are the same"] = float(numbers == others)
        signals["the numbers differ"] = float(not numbers & others)
        signals["~numbers overlap"] = float(bool(numbers & others) and numbers != others)
        if old.units & new.units:
            signals["the numbers have one unit"] = 1.0
            if not numbers & others:
                signals["another number of the same unit"] = 1.0
    elif others:
        signals["only the newer has a number"] = 1.0
    elif numbers:
        signals["only the older has a number"] = 1.0
    if old.addresses and new.addresses and not old.addresses & new.addresses:
        signals[_ADDRESSES] = 1.0
    names, other_names = old.names, new.names
    if names and other_names:
        signals["both have names"] = 1.0
        signals["the names are the same"] = float(names == other_names)
        signals["the names differ"] = float(not names & other_names)
        signals["~names overlap"] = float(bool(names & other_names) and names != other_names)
    elif other_names:
        signals["~only the newer has a name"] = 1.0
    elif names:
        signals["~only the older has a name"] = 1.0
    first, other_first = old.first_word, new.first_word
    if first and other_first:
        begins_with_name = first in names, other_first in other_names
        if all(begins_with_name) and first != other_first:
            signals["they begin with different names"] = 1.0
        if first == other_first:
            signals["they begin alike"] = 1.0
            if all(begins_with_name):
                signals["they begin with the same name"] = 1.0
    for category, ours in old.category_words.items():
        theirs = new.category_words[category]
        if ours and theirs:
            same = ours == theirs
            signals[f"the same {category}" if same else f"another {category}"] = 1.0
        elif ours or theirs:
            signals[f"only one names a {category}"] = 1.0


def _of_words(
    signals: dict[str, float], old: Statement, new: Statement, gone: list[str], came: list[str], shared: list[str]
) -> None:
    """Return how many words they share, and how many are only in one."""
    ours, theirs = len(gone) + len(shared), len(came) + len(shared)
    union = len(gone) + len(came) + len(shared)
    signals["share many words"] = len(shared) / max(1, union)
    signals["the newer holds the older's words"] = len(shared) / max(1, ours)
    signals["the older holds the newer's words"] = len(shared) / max(1, theirs)
    signals["~only older"] = min(len(gone), 6) / 3
    signals["~only newer"] = min(len(came), 8) / 4
    signals["~shared"] = min(len(shared), 6) / 3
    signals["~nothing shared"] = float(not shared)
    signals["~nothing gone"] = float(not gone)
    signals["~nothing came"] = float(not came)
    signals["~one for one"] = float(len(gone) == 1 and len(came) == 1)
    signals["~few for few"] = float(1 <= len(gone) <= 2 and 1 <= len(came) <= 2)
    signals["the newer is longer"] = max(-1.0, min(1.5, (len(new.text) - len(old.text)) / max(12, len(old.text))))
    trigrams_shared = len(old.trigrams & new.trigrams)
    signals["~the newer holds the older's letters"] = trigrams_shared / max(1, len(old.trigrams))
    signals["~the older holds the newer's letters"] = trigrams_shared / max(1, len(new.trigrams))
    relation = compare(new.text, old.text).relation
    signals[f"by their words: {relation.value}"] = 1.0
    if old.is_of_user and new.is_of_user:
        signals["~both of the user"] = 1.0


def _of_meaning(
    signals: dict[str, float], old: Statement, new: Statement, gone: list[str], came: list[str], cosines: np.ndarray
) -> None:
    """Return signals of meaning: the similarity of both, and whether words that differ are opposites."""
    signals["near in meaning"] = float(old.meaning @ new.meaning)
    if not gone or not came:
        return
    met = cosines[[old.row_by_word[word] for word in gone[:12]]][:, [new.row_by_word[word] for word in came[:12]]]
    gone_met, came_met = met.max(axis=1), met.max(axis=0)
    signals["what differs stands opposite"] = float(gone_met.max())
    signals["~gone met"] = float(gone_met.mean())
    signals["~came met"] = float(came_met.mean())
    signals["~gone unmet"] = float((gone_met < 0.25).sum()) / 3
    signals["~came unmet"] = float((came_met < 0.25).sum()) / 3
    signals["~last meets"] = float(met[-1, -1])
    signals["~first meets"] = float(met[0, 0])


def _of_subject(signals: dict[str, float], old: Statement, new: Statement, cosines: np.ndarray) -> None:
    """Return whether what the older is about stands in the newer, and the other way round, by the word or by one near
    it."""
    everything_new, everything_old = new.subject + new.rest, old.subject + old.rest
    for name, wanted, held, is_of_old in (
        ("the older's subject is in the newer", old.subject, everything_new, True),
        ("the newer's subject is in the older", new.subject, everything_old, False),
        ("the subjects agree", old.subject, new.subject, True),
        ("what they say of it agrees", old.rest, new.rest, True),
        ("~new rest in old", new.rest, everything_old, False),
        ("~old rest in new", old.rest, everything_new, True),
    ):
        if not wanted:
            signals[f"{name}: has none"] = 1.0
            continue
        ours, theirs, table = (old, new, cosines) if is_of_old else (new, old, cosines.T)
        met = _met(wanted, held, ours.row_by_word, theirs.row_by_word, table)
        signals[name] = sum(met) / len(met)
        signals[f"~least, {name}"] = min(met)
        signals[f"~unmet, {name}"] = min(3, sum(share < 0.4 for share in met)) / 2
    both = set(old.subject) & set(new.subject)
    foreign = set(new.subject).difference(everything_old)
    missing = set(old.subject).difference(everything_new)
    if both and not foreign and not missing:
        signals["they have the same subject"] = 1.0
    if foreign and missing:
        signals["each has a subject of its own"] = 1.0
        if both:
            signals["of one kind, another one"] = 1.0
    if set(old.subject) & set(new.rest) and set(new.subject) & set(old.rest):
        signals["subject and value changed places"] = 1.0


def _met(
    wanted: Sequence[str], held: Sequence[str], rows: dict[str, int], columns: dict[str, int], cosines: np.ndarray
) -> list[float]:
    """Return how well each wanted word is met by one that is held: 1 for the same, else the cosine of the nearest."""
    if not held:
        return [0.0] * len(wanted)
    have = set(held)
    nearest = cosines[[rows[word] for word in wanted[:16]]][:, [columns[word] for word in held[:16]]].max(axis=1)
    return [
        1.0 if word in have else max(0.0, cosine) for word, cosine in zip(wanted[:16], nearest.tolist(), strict=True)
    ]


def _of_order(signals: dict[str, float], ours: Sequence[str], theirs: Sequence[str]) -> None:
    """The differences of the two texts, aligned word by word."""
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    steps = [step for step in matcher.get_opcodes() if step[0] != "equal"]
    replaced = [step for step in steps if step[0] == "replace"]
    signals["~steps"] = min(len(steps), 5) / 3
    length = max(1, len(ours))
    common = steps[0][1] / length if steps else 1.0
    signals["they begin with the same words"] = common
    tail = (len(ours) - steps[-1][2]) / length if steps else 1.0
    signals["they end with the same words"] = tail
    signals["~align"] = matcher.ratio()
    if len(steps) == 1 and replaced:
        _, start, end, new_start, new_end = replaced[0]
        signals[_ONE_PART] = 1.0
        if start == 0:
            signals["another subject"] = 1.0
        if end == len(ours) and start:
            signals["another value at the end"] = 1.0
        signals["~part sizes"] = min(4, max(end - start, new_end - new_start)) / 2
    if len(steps) == 1 and steps[0][0] == "insert":
        signals["something is put in"] = 1.0
        if steps[0][1] == len(ours):
            signals["something is added at the end"] = 1.0
    if len(replaced) >= 2:
        signals["several parts differ"] = 1.0
        if replaced[0][1] == 0:
            signals["subject and value differ"] = 1.0

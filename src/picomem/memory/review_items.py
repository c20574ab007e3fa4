"""Pending decisions of a person about pairs of statements that may contradict each other, and about what others said.

Each decision is one change to one memory, so that it can be undone separately.

    keep        what came from others is no longer listed; of a pair both stay, and are no longer linked
    discard     the memory, or the newer of a pair, is archived
    supersede   the older of a pair ends where the newer begins
    merge       the older of a pair is archived: the newer says the same

A person can say of any two memories that one replaces the other, or says the same, whether they are linked or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import InvalidInput, Refused
from picomem.light_dataclass import dataclass
from picomem.memory.decide import Offer, reason_against_change
from picomem.memory.name_lookup import resolve
from picomem.memory.remember import Remembered, Writer
from picomem.memory.version_history import undone_by
from picomem.records.memory import CONTRADICTS, Change, Memory, doubted_pairs
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, memories, memory_doubts

REVIEW = "review"  # the verb of a person's decision
DISCARDED = CodedText("reason.reviewed", outcome=CodedText("reason.discarded"))


class ReviewVerdict(StrEnum):
    """The decision of a person about a pending item."""

    KEEP = "keep"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    DISCARD = "discard"


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """Something to decide: a memory from a tool, the web or others, or a newer statement with the older one that it may
    contradict."""

    memory: Memory
    older: Memory | None
    reason: str  # why it was stored, or linked


class ReviewPlace(NamedTuple):
    """Where an item stands among those that wait: pairs first, then what came from others, of each the latest first.
    `older` is the id of the older statement of a pair."""

    group: int
    age: int  # the negative time at which it was learned
    id: str
    older: str


_PAIR, _FROM_OTHERS = range(2)


def waiting(tx: Transaction, scope: Scope, now: Micros, *, untrusted: bool = False) -> list[ReviewPlace]:
    """Return the places of the pending items, in order; with `untrusted` also of what came from tools, the web or
    others and nobody has reviewed. It reads no words, because thousands may wait."""
    from_others = memory_doubts.undecided(tx, scope, now) if untrusted else []
    reviewed = _standing_reviews(tx, scope, (memory.change_id for memory in from_others))
    places = [
        *(
            ReviewPlace(_PAIR, -newer.known_from, newer.id, older.id)
            for newer, older in doubted_pairs(memory_doubts.contradicting(tx, scope, now))
        ),
        *(
            ReviewPlace(_FROM_OTHERS, -memory.known_from, memory.id, "")
            for memory in from_others
            if memory.change_id not in reviewed
        ),
    ]
    return sorted(places)


def count_from_others(tx: Transaction, scope: Scope, now: Micros) -> int:
    """Return how many of the places that `waiting` gives are of what came from others, without reading each."""
    reviews = memory_doubts.undecided_of_verb(tx, scope, now, REVIEW)
    return memory_doubts.count_undecided(tx, scope, now) - len(_standing(tx, scope, reviews))


def items_at(
    tx: Transaction, scope: Scope, now: Micros, places: Sequence[ReviewPlace], damaged: list[str] | None = None
) -> list[ReviewItem]:
    """Return what waits at these places, which were read in the same transaction. What is damaged, or lost, is left out
    and put on `damaged`."""
    ids = {place.id for place in places} | {place.older for place in places if place.older}
    lost: list[str] = []
    known = memories.believed(tx, scope, now, ids, lost)
    if damaged is not None:
        # A place comes from an index of the table: where that is damaged, it names a memory that does not exist, or
        # says what its row does not.
        damaged += [*lost, *ids.difference(known, lost)]
        damaged += [place.id for place in places if place.id in known and not _is_at(known[place.id], place)]
    return [
        ReviewItem(known[place.id], known.get(place.older), _reason(tx, scope, known[place.id]))
        for place in places
        if place.id in known and (not place.older or place.older in known)
    ]


def _is_at(memory: Memory, place: ReviewPlace) -> bool:
    return memory.known_from == -place.age


def _standing_reviews(tx: Transaction, scope: Scope, changes: Iterable[str]) -> set[str]:
    """Return those of the changes that are a person's decision and are not undone. A decision that changed no words
    leaves the version in place when it is undone, so the changes tell."""
    return _standing(tx, scope, audit.of_verb(tx, scope, REVIEW, changes))


def _standing(tx: Transaction, scope: Scope, reviews: set[str]) -> set[str]:
    return reviews.difference(undone_by(audit.undoing(tx, scope, []))) if reviews else reviews


def _is_from_others(tx: Transaction, scope: Scope, memory: Memory) -> bool:
    """Return whether a memory came from a tool, the web or others, and no person has decided on it as it is now."""
    return not memory.origin.trusted and not _standing_reviews(tx, scope, [memory.change_id])


def settle(tx: Transaction, writer: Writer, scope: Scope, name: str, verdict: ReviewVerdict, other: str = "") -> Change:
    """Decide about what came from others, or the pair of which a memory is one; `other` names the other one, where it
    is in several pairs, or which the memory replaces. Raises NotFound, Conflict, or InvalidInput where nothing of it
    waits."""
    memory = resolve(tx, scope, name)
    replaced = resolve(tx, scope, other) if other else None
    if replaced is not None and verdict in (ReviewVerdict.MERGE, ReviewVerdict.SUPERSEDE):
        if replaced.id == memory.id:
            raise InvalidInput(CodedText("failure.other_name_twice", key=memory.key))
        pair: tuple[Memory, Memory] | None = (memory, replaced)
    else:
        pair = _pair(tx, scope, memory, replaced, writer.now)
    is_from_others = _is_from_others(tx, scope, memory)
    if pair is None and not is_from_others:
        raise InvalidInput(
            CodedText(
                "failure.nothing_pending",
                key=memory.key,
                review=Command("review"),
                supersede=Command("review", memory.key, "supersede", other="KEY"),
            )
        )
    if pair is None and verdict in (ReviewVerdict.MERGE, ReviewVerdict.SUPERSEDE):
        raise InvalidInput(CodedText("failure.nothing_contradicted", key=memory.key))
    if pair is None:
        if verdict is ReviewVerdict.DISCARD:
            return writer.forget(tx, memory.scope, memory.id, DISCARDED, "discard")
        return _next(tx, writer, memory, {}, "confirm", CodedText("reason.reviewed", outcome=CodedText("reason.kept")))
    return settle_pair(tx, writer, *pair, verdict)


def replace_memory(tx: Transaction, writer: Writer, offer: Offer, name: str) -> Remembered:
    """Remember an offer that takes the place of a memory. Raises NotFound for a memory that there is not, and Refused
    where the offer may not replace it."""
    older = resolve(tx, offer.scope, name)
    if reason := reason_against_change(offer, older, writer.persons):
        raise Refused(reason)
    done = writer.remember(tx, offer)
    if done.memory is not None and done.memory.id != older.id:
        settle_pair(tx, writer, done.memory, older, ReviewVerdict.SUPERSEDE, "reason.replaced")
    return done


def settle_pair(
    tx: Transaction,
    writer: Writer,
    newer: Memory,
    older: Memory,
    verdict: ReviewVerdict,
    code: str = "reason.reviewed",
    **values: str,
) -> Change:
    """Write a decision about a pair; the reason on record has that code and these values, and names the outcome."""

    def reason(outcome: str, other: Memory) -> CodedText:
        return CodedText(code, outcome=CodedText(outcome, key=other.key), **values)

    if verdict is ReviewVerdict.DISCARD:
        return writer.forget(tx, newer.scope, newer.id, reason("reason.discarded_beside", older), "discard")
    if verdict is ReviewVerdict.SUPERSEDE:
        end = newer.valid_from if newer.valid_from > older.valid_from else writer.now
        return writer.end(tx, older, end, reason("reason.superseded", newer), "supersede")
    if verdict is ReviewVerdict.MERGE:
        return writer.forget(tx, older.scope, older.id, reason("reason.says_the_same", newer), "merge")
    linked, target = _by_link(newer, older)
    related = tuple(entry for entry in linked.related if entry != f"{CONTRADICTS}{target.id}")
    return _next(tx, writer, linked, {"related": related}, "keep", reason("reason.true_beside", target))


def _by_link(newer: Memory, older: Memory) -> tuple[Memory, Memory]:
    """The memory of a pair on which the link stands, and the other."""
    return (newer, older) if older.id in newer.contradicts else (older, newer)


def pairs_waiting(
    tx: Transaction, scope: Scope, now: Micros, among: Collection[str] = ()
) -> list[tuple[Memory, Memory]]:
    """Return the pairs that may contradict each other, the newer one first; all, or those that hold the ids `among`.
    Damaged rows are left out."""
    doubted = doubted_pairs(memory_doubts.contradicting(tx, scope, now))
    pairs = [(newer.id, older.id) for newer, older in doubted if {newer.id, older.id}.issuperset(among)]
    known = memories.believed(tx, scope, now, {id_ for pair in pairs for id_ in pair})
    return [(known[newer], known[older]) for newer, older in pairs if newer in known and older in known]


def _next(
    tx: Transaction, writer: Writer, memory: Memory, fields: dict[str, object], decision: str, reason: str
) -> Change:
    version = writer.replace_version(tx, memory, fields, memory.valid_from, decision, reason)
    change = audit.change(tx, memory.scope, version.change_id)
    assert change is not None
    return change


def _pair(
    tx: Transaction, scope: Scope, memory: Memory, other: Memory | None, now: Micros
) -> tuple[Memory, Memory] | None:
    """The pair that a memory is one of, the newer one first; None where it is in none."""
    wanted = {memory.id, other.id} if other else {memory.id}
    pairs = pairs_waiting(tx, scope, now, wanted)
    if len(pairs) > 1:
        named = ", ".join(newer.key if older.id == memory.id else older.key for newer, older in pairs)
        raise InvalidInput(f"“{memory.key}” is in several pairs; name the other one as well: {named}.")
    if other is not None and not pairs:
        raise InvalidInput(
            CodedText("failure.no_pending_pair", key=memory.key, other=other.key, command=Command("review"))
        )
    return pairs[0] if pairs else None


def _reason(tx: Transaction, scope: Scope, memory: Memory) -> str:
    change = audit.change(tx, scope, memory.change_id)
    return change.reason if change is not None else ""

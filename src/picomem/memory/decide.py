"""Decides about an offer to memory: add, merge, supersede or refuse. Pure.

    offer → gate (policy/gate.py) → the known memories that share words with it → decision, with its reason

The rules, in order; the first that fits decides:

1. The gate refuses.                                                → refuse
2. Someone chose its key, and its owner has a memory under it:
     the same words, and nothing else new                           → merge (nothing is written)
     anything else                                                  → supersede: the key's next version
3. A known memory consists of the same words (`likeness.py`)        → merge into it (only new details, such as an
                                                                      earlier beginning)
4. Anything else                                                    → add, linked to a memory that seems to speak of
                                                                      the same subject

So nothing is overwritten or dropped by a guess. A link costs an order: of two linked statements the newer comes first,
and the older is marked. A person or a model settles it (`review_items.py`).

Rule 3 considers memories of the owner in the same scope or a wider one.

Only the person can change what they stated or pinned: by an offer of origin `user`, or by an agent's offer whose new
part the person stated (`provenance/statements.py`). If another caller offers the same words, they are merged, and
nothing is written; an offer under the key of the person's memory is refused. Untrusted text changes nothing that a
person or their agent said. An agent's version of such text has the origin of the text, because the agent may have read
it there: only the person can vouch for it, or their agent with what they stated.
"""

from __future__ import annotations

from collections.abc import Sequence

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command, all_of, word_of
from picomem.light_dataclass import dataclass, replace
from picomem.policy.gate import Verdict
from picomem.provenance.statements import Grounds
from picomem.records.kinds import Decision, Kind, Origin, Source, worst
from picomem.records.memory import CONTRADICTS, Memory, without_contradictions
from picomem.records.scope import Scope
from picomem.text.likeness import say_the_same


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Something that may become a memory; its text is redacted already.

    `around` is all that was said when it was asked for: it is judged with the content, and not stored.
    `key_given`, `kind_given`, `importance_given`: someone chose them; other values yield to those of the known memory.
    `path` is the place of the memory in a foreign tool's own order; see `decide_at_path`.
    """

    scope: Scope
    content: str
    kind: Kind
    key: str
    key_given: bool
    around: str = ""
    kind_given: bool = False
    importance_given: bool = False
    context: str = ""
    importance: float = 0.5
    pinned: bool = False
    tags: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    origin: Origin = Origin.USER
    source: Source = Source.MANUAL
    expires_at: Micros | None = None
    valid_from: Micros | None = None
    explicit: bool = True
    path: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`memory` is the known memory that the decision is about; `offer` what is to be written (None: nothing)."""

    decision: Decision
    reason: str
    memory: Memory | None = None
    offer: Offer | None = None


NOBODY = Grounds()  # no person has said anything


def decide(
    offer: Offer,
    verdict: Verdict,
    same_key: Memory | None,
    known: Sequence[Memory],
    alike: Sequence[Memory],
    now: Micros,
    said: Grounds = NOBODY,
) -> Outcome:
    """The first rule that fits. `known` are memories that concern the offer, hold now or are to hold later, and share
    words with it, best first, and `alike` those of them that seem to speak of its subject; `same_key` is the version
    under the offer's key that holds when the offer does; `said` is what the person states for whom an agent makes the
    offer."""
    if not verdict.keep:
        return Outcome(Decision.REFUSE, verdict.recorded_reason)
    if same_key is not None:
        return _same_key(offer, same_key, now, said)
    for memory in known:
        if say_the_same(offer.content, memory.content):
            return _says_the_same(offer, memory, now, said)
    if not alike:
        return Outcome(Decision.ADD, CodedText("reason.nothing_similar"), None, offer)
    links = tuple(f"{CONTRADICTS}{memory.id}" for memory in alike)
    linked = replace(offer, related=tuple(dict.fromkeys([*offer.related, *links])))
    older = offer.valid_from is not None and offer.valid_from < alike[0].valid_from
    doubt = CodedText("reason.may_be_outdated_by" if older else "reason.may_outdate", key=alike[0].key)
    return Outcome(Decision.ADD, all_of(CodedText("reason.is_new"), doubt), None, linked)


def decide_at_path(offer: Offer, verdict: Verdict, standing: Memory | None) -> Outcome:
    """The decision about an offer with a path. Its words are kept as they are, because a foreign tool finds them by its
    own order. So it is compared only with the memory under the same path, which a person may have reworded."""
    if not verdict.keep:
        return Outcome(Decision.REFUSE, verdict.recorded_reason)
    if standing is not None and standing.content == offer.content:
        return Outcome(Decision.MERGE, CodedText("reason.already_kept", key=standing.key), standing)
    return Outcome(Decision.ADD, CodedText("reason.foreign_tool"), None, offer)


def persons_own(memory: Memory) -> str:
    """Explain why an agent may not change a memory."""
    return CodedText("reason.users_own" if memory.origin is Origin.USER else "reason.users_pinned", key=memory.key)


def not_forgotten(memory: Memory) -> str:
    """Explain why an agent may not archive a memory."""
    return (
        f"Not forgotten: the user {'stated' if memory.origin is Origin.USER else 'pinned'} "
        f"“{memory.key}” and has not asked for this in their own words; ask them to say “Forget "
        f"{memory.key}.” in a sentence of its own, or to forget it in a terminal, as in "
        f"“picomem forget {memory.key}”."
    )


def not_undone(memory: Memory, change_id: str) -> str:
    """Explain why an agent may not undo a change."""
    code = "failure.not_undone_stated" if memory.origin is Origin.USER else "failure.not_undone_pinned"
    return CodedText(code, key=memory.key, command=Command("undo", change_id))


def _same_key(offer: Offer, memory: Memory, now: Micros, said: Grounds) -> Outcome:
    if say_the_same(offer.content, memory.content):
        return _says_the_same(offer, memory, now, said)
    if reason := reason_against_change(offer, memory, said):
        return Outcome(Decision.REFUSE, reason, memory)
    reason = CodedText("reason.same_key", key=memory.key)
    return Outcome(Decision.SUPERSEDE, reason, memory, _merged(offer, memory, said))


def _says_the_same(offer: Offer, memory: Memory, now: Micros, said: Grounds) -> Outcome:
    reason = CodedText("reason.word_for_word", key=memory.key)
    vouches = _vouches(offer, memory, said)
    merged = _merged(offer, memory, said, content=offer.content if vouches else memory.content)
    merged = replace(merged, valid_from=_earlier(offer, memory, now))
    news = [] if not vouches and _adds_nothing(merged, memory) else [CodedText("reason.details_added")]
    news += [CodedText("reason.true_earlier")] if merged.valid_from is not None else []
    if not news or not may_change(offer, memory, said):
        return Outcome(Decision.MERGE, reason, memory)
    return Outcome(Decision.MERGE, all_of(reason, *news), memory, merged)


def _earlier(offer: Offer, memory: Memory, now: Micros) -> Micros | None:
    """Since when it is true, if that is before the time that is known: the offer says so, or it is said to be so
    now and was only to become so. None where nothing moves."""
    planned = memory.valid_from > memory.known_from
    since = now if offer.valid_from is None and planned else offer.valid_from
    return since if since is not None and since < memory.valid_from else None


def _merged(offer: Offer, memory: Memory, said: Grounds, content: str | None = None) -> Offer:
    """The offer under the known memory's key and owner, with what both say besides the content.

    Of what nobody trusted said nothing is taken over by someone who vouches: it would pass for their own words.
    """
    content = offer.content if content is None else content
    vouches = _vouches(offer, memory, said)
    origin = offer.origin if vouches else version_origin(offer.origin, memory, changed=content != memory.content)
    if vouches:
        memory = replace(memory, context="", tags=(), related=(), pinned=False, expires_at=None)
    known = memory.related if content == memory.content else without_contradictions(memory.related)
    return replace(
        offer,
        scope=memory.scope,
        key=memory.key,
        kind=offer.kind if offer.kind_given else memory.kind,
        content=content,
        context=offer.context or memory.context,
        importance=offer.importance if offer.importance_given else memory.importance,
        pinned=offer.pinned or memory.pinned,
        tags=tuple(dict.fromkeys([*memory.tags, *offer.tags])),
        related=tuple(dict.fromkeys([*known, *offer.related])),
        origin=origin,
        expires_at=memory.expires_at if offer.expires_at is None else offer.expires_at,
    )


def _adds_nothing(merged: Offer, memory: Memory) -> bool:
    return (
        merged.kind == memory.kind
        and merged.context == memory.context
        and set(merged.tags) == set(memory.tags)
        and set(merged.related) == set(memory.related)
        and merged.pinned == memory.pinned
        and merged.expires_at == memory.expires_at
        and merged.importance == memory.importance
    )


def concerns(offer: Offer, memory: Memory) -> bool:
    """Return whether a known memory may stand for the offer: held by the same owner, or by one around it."""
    mine, theirs = offer.scope, memory.scope
    return all(
        has in ("", wants)
        for wants, has in (
            (mine.agent, theirs.agent),
            (mine.project, theirs.project),
            (mine.session, theirs.session),
        )
    )


def _vouches(offer: Offer, memory: Memory, said: Grounds) -> bool:
    """The person says now what nobody trusted had said, themselves or by their agent."""
    return not memory.origin.trusted and vouched_by_person(offer.content, offer.origin, said)


def vouched_by_person(content: str, origin: Origin, said: Grounds) -> bool:
    """Return whether the person stands behind a text: it is theirs, or their agent's and they stated it."""
    return origin is Origin.USER or (origin is Origin.AGENT and said.hold(content))


def version_origin(origin: Origin, memory: Memory, *, changed: bool) -> Origin:
    """The origin of a memory's next version for which no person vouches."""
    if not memory.origin.trusted:
        return worst((origin, memory.origin))
    return origin if changed else memory.origin


def reason_against_change(offer: Offer, memory: Memory, said: Grounds) -> str:
    """Explain why an offer may not take the place of a memory; empty if it may."""
    if may_change(offer, memory, said):
        return ""
    if offer.origin.trusted:
        return persons_own(memory)
    return CodedText(
        "reason.cannot_replace", key=memory.key, origin=word_of(memory.origin), other_origin=word_of(offer.origin)
    )


def may_change(offer: Offer, memory: Memory, said: Grounds) -> bool:
    """Return whether an offer may change a memory. Text of a tool or a page never changes what a person or their agent
    said, and what an agent says by itself never changes what a person did."""
    if not offer.origin.trusted:
        return not memory.origin.trusted
    if offer.origin is Origin.USER or not memory.is_a_persons:
        return True
    return not say_the_same(offer.content, memory.content) and said.hold(offer.content)

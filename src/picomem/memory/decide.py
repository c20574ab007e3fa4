"""Decides about an offer to memory: add, merge, supersede or refuse. Pure.

    offer → gate (policy/gate.py) → the known memories that it may concern → decision, with its reason

The rules, in order; the first that fits decides:

1. The gate refuses.                                                          → refuse
2. Its owner has a memory under the same key:
     the same words, and nothing else new                                     → merge (nothing is written)
     anything else                                                            → supersede: the key's next version
3. A known memory says the same, or more                                      → merge into it (only new details,
                                                                                 such as an earlier beginning)
4. A known memory says less than the offer, which contains all its words       → merge: its next version says more
5. A known memory of the same owner and kind contradicts it                    → supersede: its next version
6. It very likely says the same in other words                                 → merge: its next version, in new words
   It very likely contradicts a known memory                                  → supersede: its next version
   It may contradict a known memory                                           → add, linked to that memory
   (if someone chose the key of the offer, only the last: the key names a subject of its own)
7. No known memory concerns it                                                → add

Rules 3 to 6 consider memories of the owner in the same scope or a wider one. For rule 6, a small classifier estimates
the probabilities (`relation.py`). The more memories an offer is compared with, the likelier one of them looks related
by mistake, so the probabilities are corrected for the number of comparisons. A candidate never replaces a confirmed
memory, however likely: it is linked; and it replaces another candidate only where that is nearly certain. A model,
where there is one, only makes offers; the decisions are made here.

Only the person can change what they stated or pinned: by an offer of origin `user`, or by an agent's offer whose new
part the person stated (`user_statements.py`). If another caller offers the same words, they are merged, and nothing is
written but that a candidate is one no longer; text that says more or contradicts becomes a separate memory; and an
offer under the key of the person's memory is refused. Untrusted text changes nothing that a person or their agent
said. An agent's version of such text has the origin of the text, because the agent may have read it there: only the
person can vouch for it, or their agent with what they stated.
"""

from __future__ import annotations

from collections.abc import Sequence

from picomem.clock import Micros
from picomem.light_dataclass import dataclass, replace
from picomem.memory.likeness import NEAR, SAME, Likeness, Relation, are_separate_items, compare, is_verbatim, words
from picomem.memory.relation import CONTRADICTS as _CONTRADICTING
from picomem.memory.relation import DUPLICATES, SUPERSEDES, SUPERSEDES_IN_PASSING, among, judge_pair
from picomem.policy.gate import Verdict
from picomem.policy.user_statements import Grounds
from picomem.records.kinds import Decision, Kind, Origin, Source, worst
from picomem.records.memory import CONTRADICTS, Memory, without_contradictions
from picomem.records.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Something that may become a memory; its text is redacted already.

    `around` is all that was said when it was asked for: it is judged with the content, and not stored.
    `key_given`, `kind_given`, `importance_given`: someone chose them; other values yield to those of the known memory.
    `signals` name what spoke for capturing a sentence that asks for nothing; they become part of the change's reason.
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
    signals: tuple[str, ...] = ()
    path: str = ""

    @property
    def is_candidate(self) -> bool:
        """Whether it was only said in passing, and is to wait until it is confirmed."""
        return self.source is Source.CAPTURED


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
    now: Micros,
    said: Grounds = NOBODY,
) -> Outcome:
    """The first rule that fits. `known` are memories that hold now or are to hold later and share words with the
    offer, best first; `same_key` is the version under the offer's key that holds when the offer does; `said` is what
    the person states for whom an agent makes the offer."""
    if not verdict.keep:
        return Outcome(Decision.REFUSE, f"{verdict.reason} ({verdict.refusal})")
    if same_key is not None:
        return _same_key(offer, same_key, now, said)
    likenesses = [(memory, compare(offer.content, memory.content)) for memory in known if _concerns(offer, memory)]
    for memory, likeness in likenesses:
        if likeness.relation in (Relation.SAME, Relation.CONTAINED):
            return _says_the_same(offer, memory, likeness, now, said)
    for memory, likeness in likenesses:
        if likeness.relation is Relation.EXTENDS and may_change(offer, memory, said):
            merged = _confirmed(_merged(offer, memory, said, content=offer.content), memory)
            return Outcome(Decision.MERGE, f"it says more than “{memory.key}”, which it contains", memory, merged)
    for memory, likeness in likenesses:
        same_kind = likeness.relation is Relation.CONTRADICTS and _same_kind(offer, memory)
        if same_kind and may_change(offer, memory, said):
            merged = _merged(offer, memory, said, content=offer.content)
            return Outcome(Decision.SUPERSEDE, f"it contradicts “{memory.key}” on the same subject", memory, merged)
    judged = _judged(offer, likenesses, now, said)
    if judged is not None:
        return judged
    near = [memory for memory, likeness in likenesses if likeness.relation is Relation.NEAR]
    if near:
        return Outcome(Decision.ADD, f"it is new; the closest memory is “{near[0].key}”", None, offer)
    return Outcome(Decision.ADD, "no similar memory is known", None, offer)


def decide_at_path(offer: Offer, verdict: Verdict, standing: Memory | None) -> Outcome:
    """The decision about an offer with a path. Its words are kept as they are, because a foreign tool finds them by its
    own order. So it is compared only with the memory under the same path, which a person may have reworded."""
    if not verdict.keep:
        return Outcome(Decision.REFUSE, f"{verdict.reason} ({verdict.refusal})")
    if standing is not None and standing.content == offer.content:
        return Outcome(Decision.MERGE, f"already kept as “{standing.key}”", standing)
    return Outcome(Decision.ADD, "kept in the words and the order of a foreign memory tool", None, offer)


_MOST_JUDGED = 8  # of the known memories, best first


def _judged(offer: Offer, likenesses: Sequence[tuple[Memory, Likeness]], now: Micros, said: Grounds) -> Outcome | None:
    """Rule 6; None where it does not apply."""
    alike = [memory for memory, _ in likenesses if _same_trust(offer, memory)]
    looked = [memory for memory in alike if not are_separate_items(offer.content, memory.content)][:_MOST_JUDGED]
    since = now if offer.valid_from is None else offer.valid_from
    judged = [
        (memory, judge_pair(memory.content, offer.content), True)
        if since >= memory.valid_from or offer.valid_from is None
        else (memory, judge_pair(offer.content, memory.content), False)
        for memory in looked
    ]
    count = len(judged)
    judged = [
        judgement for judgement in judged if max(judgement[1].supersedes, judgement[1].duplicates) >= _CONTRADICTING
    ]
    if not judged:
        return None
    memory, relation, _ = max(judged, key=lambda judgement: judgement[1].duplicates)
    if among(relation.duplicates, count) >= DUPLICATES and not offer.key_given:
        return _says_it_again(offer, memory, now, said)
    memory, relation, is_newer = max(judged, key=lambda judgement: judgement[1].supersedes)
    least = SUPERSEDES_IN_PASSING if offer.is_candidate else SUPERSEDES
    sure = among(relation.supersedes, count) >= least and not offer.key_given
    replaces = sure and (memory.is_candidate or not offer.is_candidate)
    if replaces and _same_kind(offer, memory) and may_change(offer, memory, said):
        merged = _merged(offer, memory, said, content=offer.content)
        reason = f"it contradicts “{memory.key}” on the same subject{relation.because()}"
        return Outcome(Decision.SUPERSEDE, reason, memory, merged)
    # A doubt costs less than a wrong replacement, so it is corrected by the root of the number alone.
    doubted = [
        (memory, relation) for memory, relation, _ in judged if among(relation.supersedes, count**0.5) >= _CONTRADICTING
    ]
    if not doubted:
        return None
    memory, relation = max(doubted, key=lambda pair: pair[1].supersedes)
    links = tuple(f"{CONTRADICTS}{memory.id}" for memory, _ in doubted)
    linked = replace(offer, related=tuple(dict.fromkeys([*offer.related, *links])))
    reason = f"it may outdate “{memory.key}”" if is_newer else f"“{memory.key}” may outdate it"
    return Outcome(Decision.ADD, f"it is new; {reason}{relation.because()}", None, linked)


def _says_it_again(offer: Offer, memory: Memory, now: Micros, said: Grounds) -> Outcome:
    """The same in other words: the newer words stand from now on, unless they are nearly the same or say less."""
    nearly = compare(offer.content, memory.content).share >= NEAR
    says_less = nearly or len(set(words(offer.content))) < _SAYS_LESS * len(set(words(memory.content)))
    if says_less or not may_change(offer, memory, said) or (offer.is_candidate and not memory.is_candidate):
        return _says_the_same(offer, memory, Likeness(Relation.SAME, SAME), now, said)
    merged = _confirmed(_merged(offer, memory, said, content=offer.content), memory)
    reason = f"already known in other words as “{memory.key}”, which now says it in these"
    return Outcome(Decision.MERGE, reason, memory, merged)


_SAYS_LESS = 0.7


def _same_trust(offer: Offer, memory: Memory) -> bool:
    """Untrusted text is not compared with trusted text: its words prove nothing about it."""
    return offer.origin.trusted == memory.origin.trusted


def _confirmed(merged: Offer, memory: Memory) -> Offer:
    """A candidate that was said again is no longer a candidate."""
    if not memory.is_candidate:
        return merged
    source = Source.SESSION if merged.is_candidate else merged.source
    return replace(merged, source=source, expires_at=None)


def persons_own(memory: Memory) -> str:
    """Explain why an agent may not change a memory."""
    how = "stated" if memory.origin is Origin.USER else "pinned"
    return (
        f"The user {how} “{memory.key}” and has not said this themselves; ask them to say it in their own words, or to "
        f"change it in a terminal, as in “picomem revise {memory.key} …”."
    )


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
    return (
        f"Not undone: the user {'stated' if memory.origin is Origin.USER else 'pinned'} “{memory.key}”; ask them to "
        f"run `picomem undo {change_id}`."
    )


def _same_key(offer: Offer, memory: Memory, now: Micros, said: Grounds) -> Outcome:
    likeness = compare(offer.content, memory.content)
    if likeness.relation is Relation.SAME and likeness.share == 1.0:
        return _says_the_same(offer, memory, likeness, now, said)
    if offer.origin.trusted and not may_change(offer, memory, said):
        return Outcome(Decision.REFUSE, persons_own(memory), memory)
    if not may_change(offer, memory, said):
        return Outcome(
            Decision.REFUSE,
            f"“{memory.key}” came from the {memory.origin}, and text of origin {offer.origin} cannot replace it.",
            memory,
        )
    if not offer.key_given and likeness.relation is Relation.CONTAINED:
        return _says_the_same(offer, memory, likeness, now, said)
    return Outcome(
        Decision.SUPERSEDE, f"a new version under the same key “{memory.key}”", memory, _merged(offer, memory, said)
    )


def _says_the_same(offer: Offer, memory: Memory, likeness: Likeness, now: Micros, said: Grounds) -> Outcome:
    same_words = likeness.share == 1.0
    how = (
        "word for word"
        if is_verbatim(offer.content, memory.content)
        else f"in {'the same' if same_words else 'other'} words"
    )
    reason = f"already known {how} as “{memory.key}”"
    if likeness.relation is Relation.CONTAINED:
        reason = f"“{memory.key}” already says this and more"
    vouches = _vouches(offer, memory, said)
    merged = _merged(offer, memory, said, content=offer.content if vouches else memory.content)
    merged = _confirmed(replace(merged, valid_from=_earlier(offer, memory, now)), memory)
    news = ["it was said again, so it is no longer a candidate"] if memory.is_candidate else []
    news += [] if not vouches and _adds_nothing(merged, memory) else ["its details were added"]
    news += ["it was true earlier than known before"] if merged.valid_from is not None else []
    if not may_change(offer, memory, said):
        return _confirmed_as_it_is(offer, memory, reason)
    if not news:
        return Outcome(Decision.MERGE, reason, memory)
    return Outcome(Decision.MERGE, "; ".join([reason, *news]), memory, merged)


def _confirmed_as_it_is(offer: Offer, memory: Memory, reason: str) -> Outcome:
    """Confirm a candidate that somebody offers who may not change it: it keeps its text, but no longer waits to be
    confirmed. Otherwise the offered fact would be gone when the candidate expires."""
    if not memory.is_candidate or offer.is_candidate or not offer.origin.trusted:
        return Outcome(Decision.MERGE, reason, memory)
    kept = replace(
        offer,
        scope=memory.scope,
        key=memory.key,
        kind=memory.kind,
        content=memory.content,
        context=memory.context,
        importance=memory.importance,
        pinned=memory.pinned,
        tags=memory.tags,
        related=memory.related,
        origin=memory.origin,
        expires_at=None,
        valid_from=None,
    )
    return Outcome(Decision.MERGE, f"{reason}; it was said again, so it is no longer a candidate", memory, kept)


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
    unconfirmed = offer.is_candidate and not memory.is_candidate  # what is known needs no confirmation
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
        source=memory.source if unconfirmed else offer.source,
        expires_at=memory.expires_at if unconfirmed or offer.expires_at is None else offer.expires_at,
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


def _concerns(offer: Offer, memory: Memory) -> bool:
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


def _same_kind(offer: Offer, memory: Memory) -> bool:
    return memory.kind == offer.kind or not offer.kind_given


def may_change(offer: Offer, memory: Memory, said: Grounds) -> bool:
    """Return whether an offer may change a memory. Text of a tool or a page never changes what a person or their agent
    said, and what an agent says by itself never changes what a person did."""
    if not offer.origin.trusted:
        return not memory.origin.trusted
    if offer.origin is Origin.USER or not memory.is_a_persons:
        return True
    return said.hold(offer.content, f"{memory.key} {memory.content}")

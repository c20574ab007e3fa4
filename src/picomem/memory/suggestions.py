"""Suggestions: sentences of past sessions that look worth remembering and that nobody asked to be remembered.

A suggestion is a pointer: an episode holds the places of such sentences (`Episode.suggested`), with an estimate of how
likely each is to last. So it is derived, like an index: it has no key and no version, it is never merged, and it goes
when its episode goes. A person makes a memory of it, or discards it (`settle_suggestion`). Both write a memory that was
made from the episode, which is archived at once if it was discarded; that memory hides the suggestion until its run is
undone. What a model was shown when it distilled the session is no suggestion any more, as long as that stands.

At most `MOST_OF_A_SESSION` of a session are listed, the likeliest. The same said again in another session, also in
other words, raises the estimate.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import InvalidInput, NotFound, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.memory.decide import Offer
from picomem.memory.remember import Writer
from picomem.memory.review_items import DISCARDED, ReviewVerdict
from picomem.policy.content_kind import kind_of
from picomem.provenance.requests import statement
from picomem.records.episode import SUGGESTED, Episode, Transcript, suggested_spans
from picomem.records.kinds import Decision, Kind, Origin
from picomem.records.memory import Change, Parent
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, consolidations, episodes, memories, memory_lineage
from picomem.store.tables.consolidations import DistilledUpTo
from picomem.text.likeness import SAME_SUBJECT, Subjects, say_the_same
from picomem.text.memory_keys import suggest_key
from picomem.text.terms import query_terms

MOST_OF_A_SESSION = 4
MOST_READ = 2_000  # episodes, the latest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A sentence that may be worth remembering. `at` is when it was said; `estimate` is the probability (0–1) that it
    is worth knowing later."""

    id: str  # of its episode, and the place of its first character there
    text: str
    kind: Kind
    at: Micros | None
    project: str
    session: str
    episode_id: str
    estimate: float


def suggestions(tx: Transaction, scope: Scope) -> list[Suggestion]:
    """What waits for a decision, the latest first."""
    likely = [one for one in undecided(tx, scope, MOST_READ) if one.estimate >= SUGGESTED]
    return sorted(_likeliest(likely), key=lambda suggestion: (-(suggestion.at or 0), suggestion.id))


def undecided(tx: Transaction, scope: Scope, most_read: int) -> list[Suggestion]:
    """What seems to state something in the latest `most_read` episodes, also what is too unlikely to be suggested, with
    estimates raised by what other sessions say of the same subject; without that on which a person decided, or a
    model, which was shown it."""
    distilled = consolidations.distilled(tx, scope)
    stated = [
        suggestion
        for episode, transcript in episodes.suggested(tx, scope, most_read)
        if not transcript.took_back(episode.first_turn)
        and not _was_distilled(episode, transcript, distilled.get(transcript.id))
        for suggestion in _of_episode(episode, transcript)
    ]
    return _raised(_without_decided(tx, scope, stated))


def _was_distilled(episode: Episode, transcript: Transcript, reached: DistilledUpTo | None) -> bool:
    return reached is not None and reached.generation == transcript.generation and episode.last_turn < reached.turns


def suggestion_named(tx: Transaction, scope: Scope, name: str) -> Suggestion | None:
    """The suggestion that waits under an id; None where the name is not of that form. Raises NotFound."""
    episode_id, colon, place = name.partition(":")
    if not colon or not place.isdigit():
        return None
    for suggestion in suggestions(tx, scope):
        if suggestion.id == f"{episode_id}:{place}":
            return suggestion
    raise NotFound(CodedText("failure.no_suggestion", name=name[:80], command=Command("suggestions")))


def settle_suggestion(
    tx: Transaction, writer: Writer, scope: Scope, suggestion: Suggestion, verdict: ReviewVerdict
) -> Change:
    """Make a memory of a suggestion, or an archived one that hides it, because a person said so. Raises InvalidInput
    for a verdict on pairs, and Refused where the gate says no."""
    if verdict not in (ReviewVerdict.KEEP, ReviewVerdict.DISCARD):
        raise InvalidInput(f"A suggestion is kept or discarded; {verdict} is for two memories.")
    owner = scope if suggestion.kind is Kind.PREFERENCE else scope.narrowed(project=suggestion.project)
    offer = Offer(
        scope=owner,
        content=suggestion.text,
        kind=suggestion.kind,
        key=suggest_key(suggestion.text, suggestion.kind.value),
        key_given=False,
        origin=Origin.USER,
        valid_from=None if suggestion.at is None else min(suggestion.at, writer.now),  # a machine's clock may be ahead
    )
    done = writer.remember(tx, offer, [Parent(kind="episode", id=suggestion.episode_id)])
    if done.memory is None:
        raise Refused(done.reason)
    if verdict is ReviewVerdict.DISCARD and done.decision is Decision.ADD:
        return writer.forget(tx, done.memory.scope, done.memory.id, DISCARDED, "discard")
    change = audit.change(tx, scope, done.change_id)
    assert change is not None
    return change


def _of_episode(episode: Episode, transcript: Transcript) -> Iterable[Suggestion]:
    for start, end, estimate, question in suggested_spans(episode.suggested):
        text = " ".join(filter(None, [question, statement(episode.preview[start:end])]))
        yield Suggestion(
            id=f"{episode.id}:{start}",
            text=text,
            kind=kind_of(text),
            at=episode.started_at,
            project=transcript.project,
            session=transcript.session,
            episode_id=episode.id,
            estimate=estimate,
        )


def _without_decided(tx: Transaction, scope: Scope, listed: Sequence[Suggestion]) -> list[Suggestion]:
    decided: defaultdict[str, list[str]] = defaultdict(list)  # texts by the episode that they were made from
    undoing = audit.undoing(tx, scope, []) if listed else {}
    for memory, made_from in memory_lineage.made_from_episodes(tx, scope, list({one.episode_id for one in listed})):
        closed_by = memories.closers(tx, scope, memory.id).get(memory.version) if memory.archived else None
        if closed_by not in undoing:
            for episode_id in made_from:
                decided[episode_id].append(memory.content)
    return [one for one in listed if not any(say_the_same(one.text, text) for text in decided[one.episode_id])]


def _raised(stated: Sequence[Suggestion]) -> list[Suggestion]:
    by_id = {one.id: one for one in stated if one.estimate >= SUGGESTED}
    subjects = Subjects({id_: query_terms(one.text) for id_, one in by_id.items()})
    raised = []
    for one in stated:
        doubt = 1 - one.estimate
        for id_, likeness in subjects.near(one.id).items() if one.id in by_id else ():
            other = by_id[id_]
            is_elsewhere = other.session != one.session and other.project == one.project
            if is_elsewhere and likeness >= 2 * SAME_SUBJECT:
                doubt *= 1 - other.estimate
        raised.append(replace(one, estimate=round(1 - doubt, 3)))
    return raised


def _likeliest(listed: Iterable[Suggestion]) -> list[Suggestion]:
    of_session: defaultdict[str, list[Suggestion]] = defaultdict(list)
    for one in listed:
        of_session[one.session].append(one)
    ranked = (sorted(some, key=lambda one: (-one.estimate, one.id)) for some in of_session.values())
    return [one for some in ranked for one in some[:MOST_OF_A_SESSION]]

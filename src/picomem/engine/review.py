"""Decisions of a person: about what waits (suggestions, statements that may contradict each other), and about several
memories at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from picomem.coded_text import CodedText, Command
from picomem.engine.engine import Engine
from picomem.errors import Conflict, Forbidden, InvalidInput, NotFound, PicomemError, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.memory.name_lookup import resolve
from picomem.memory.review_items import (
    REVIEW,
    ReviewItem,
    ReviewPlace,
    ReviewVerdict,
    count_from_others,
    items_at,
    settle,
    waiting,
)
from picomem.memory.revise import revised
from picomem.memory.suggestions import Suggestion, settle_suggestion, suggestion_named, suggestions
from picomem.records.kinds import Origin
from picomem.records.memory import Change, Memory, doubted_pairs
from picomem.store.tables import memories, memory_doubts


class PendingDecisions(NamedTuple):
    """The places of all that waits, in order, and the items at the chosen ones."""

    places: list[ReviewPlace]
    items: list[ReviewItem]


class WaitingCounts(NamedTuple):
    """How many decisions wait: about what may be outdated, about what was heard in passing, and about what came from
    others."""

    pairs: int
    suggestions: int
    from_others: int


def count_waiting(engine: Engine) -> WaitingCounts:
    """Count the decisions that wait."""
    now = engine.now()
    with engine._context.connector.read() as tx:
        pairs = doubted_pairs(memory_doubts.contradicting(tx, engine.scope, now))
        others = count_from_others(tx, engine.scope, now)
        return WaitingCounts(len(pairs), len(suggestions(tx, engine.scope)), others)


def pending_decisions(
    engine: Engine,
    choose: Callable[[list[ReviewPlace]], Sequence[ReviewPlace]] = list,
    *,
    untrusted: bool = False,
    damaged: list[str] | None = None,
) -> PendingDecisions:
    """What waits, and the items at the places that `choose` picks. Damaged rows are left out and put on `damaged`."""
    clean = engine._context.cleaner()
    now = engine.now()
    with engine._context.connector.read() as tx:
        places = waiting(tx, engine.scope, now, untrusted=untrusted)
        items = items_at(tx, engine.scope, now, choose(places), damaged)
    shown = [
        replace(item, memory=clean.shown(item.memory), older=clean.shown(item.older) if item.older else None)
        for item in items
    ]
    return PendingDecisions(places, shown)


def count_suggestions(engine: Engine) -> int:
    """How many suggestions of the scope wait."""
    with engine._context.connector.read() as tx:
        return len(suggestions(tx, engine.scope))


def waiting_suggestions(engine: Engine, project: str = "") -> list[Suggestion]:
    """The suggestions of the scope, or of one of its projects, the latest first."""
    clean = engine._context.cleaner()
    with engine._context.connector.read() as tx:
        waiting = suggestions(tx, engine.scope.narrowed(project=project))
    return [replace(suggestion, text=clean.shown_text(suggestion.text)) for suggestion in waiting]


def decide_on(engine: Engine, name: str, verdict: ReviewVerdict, other: str = "") -> tuple[Change, str]:
    """Decide on what waits; the change, and the key of the memory that it changed. Raises NotFound, Conflict or
    InvalidInput."""
    return decide_on_all(engine, [(name, other)], verdict)[0]


def decide_on_all(engine: Engine, items: Sequence[tuple[str, str]], verdict: ReviewVerdict) -> list[tuple[Change, str]]:
    """Decide on several in one run: each is a memory or a suggestion, with the other memory of its pair or nothing.

    What does not wait any more, or may not be kept, is left out. Raises what `decide_on` raises where nothing is left.
    """
    decided: list[tuple[Change, str]] = []
    problem: PicomemError | None = None
    with engine._context.connector.write(engine.scope) as tx:
        writer = engine._context.writer(REVIEW)
        for name, other in items:
            try:
                suggestion = suggestion_named(tx, engine.scope, name)
                if suggestion is not None:
                    change = settle_suggestion(tx, writer, engine.scope, suggestion, verdict)
                else:
                    change = settle(tx, writer, engine.scope, name, verdict, other)
            except (NotFound, Conflict, InvalidInput, Refused) as error:
                problem = error
            else:
                decided.append((change, memories.key_of(tx, engine.scope, change.memory_id)))
        if problem is not None and not decided:
            raise problem
    engine._context.settle()
    return decided


# Changes several memories in the same way, in one transaction and one run, which one undo reverts.

ARCHIVE, PIN, UNPIN = ACTIONS = ("archive", "pin", "unpin")


@dataclass(frozen=True, slots=True)
class EditedTogether:
    """The run, the memories as they were before, and those in which there was nothing to change."""

    run: str
    changed: list[Memory]
    unchanged: list[Memory]


def edit_together(engine: Engine, names: Sequence[str], action: str, reason: str = "") -> EditedTogether:
    """Archive, pin or unpin memories, all of them or none.

    Raises NotFound or Conflict for a name, InvalidInput where nothing would change, and Forbidden for an agent.
    """
    if engine.caller.is_agent:
        raise Forbidden(CodedText("failure.only_person_edits_many", command=Command("bulk-edit")))
    context = engine._context
    said = context.cleaner().text(reason)

    def edit() -> EditedTogether:
        with context.connector.write(engine.scope) as tx:
            writer = context.writer("forget" if action == ARCHIVE else "revise")
            owner = context.owner(None)
            meant = list({memory.id: memory for memory in (resolve(tx, owner, name) for name in names)}.values())
            done = EditedTogether(writer.run, [], [])
            for memory in meant:
                if action == ARCHIVE:
                    writer.forget(tx, engine.scope, memory.id, said)
                elif memory.pinned == (action == PIN):
                    done.unchanged.append(memory)
                    continue
                else:
                    fields: dict[str, object] = {"pinned": action == PIN}
                    revised(tx, writer, memory, fields, Origin.USER, None, False, said)
                done.changed.append(memory)
            if not done.changed:
                raise InvalidInput("Nothing is to be changed: all of them are so already.")
            return done

    done = context.deleting(edit)
    context.settle()
    return done

"""Pending decisions of a person, and the decision itself: candidates, and statements that may contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.memory.review_items import (
    REVIEW,
    ReviewItem,
    ReviewPlace,
    ReviewVerdict,
    items_at,
    settle,
    waiting,
)
from picomem.records.memory import Change
from picomem.store import memories


def review_places(engine: Engine, *, untrusted: bool = False) -> list[ReviewPlace]:
    """The places of what waits, in order; with `untrusted` also what came from others."""
    with engine._context.connector.read() as tx:
        return waiting(tx, engine.scope, engine.now(), untrusted=untrusted)


def to_review(
    engine: Engine,
    places: Sequence[ReviewPlace] | None = None,
    *,
    untrusted: bool = False,
    damaged: list[str] | None = None,
) -> list[ReviewItem]:
    """What waits at these places; without places, all of it. Damaged rows are left out and put on `damaged`."""
    clean = engine._context.cleaner()
    now = engine.now()
    with engine._context.connector.read() as tx:
        if places is None:
            places = waiting(tx, engine.scope, now, untrusted=untrusted)
        items = items_at(tx, engine.scope, now, places, damaged)
    return [
        replace(item, memory=clean.shown(item.memory), older=clean.shown(item.older) if item.older else None)
        for item in items
    ]


def decide_on(engine: Engine, name: str, verdict: ReviewVerdict, other: str = "") -> tuple[Change, str]:
    """Decide on what waits; the change, and the key of the memory that it changed. Raises NotFound, Conflict or
    InvalidInput."""
    with engine._context.connector.write(engine.scope) as tx:
        change = settle(tx, engine._context.writer(REVIEW), engine.scope, name, verdict, other)
        key = memories.key_of(tx, engine.scope, change.memory_id)
    engine._context.settle()
    return change, key

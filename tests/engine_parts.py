"""What lies behind an engine, for tests that put a state into a store which no verb makes, or look at rows.

Tests reach it here alone: the engine has no public name for it, because no surface needs one.
"""

from __future__ import annotations

from picomem.engine.caller_context import CallerContext, Resources
from picomem.engine.engine import Engine
from picomem.engine.review import pending_decisions
from picomem.memory.review_items import ReviewItem
from picomem.memory.vectors import missing
from picomem.settings import Settings
from picomem.store.connector import Connector


def caller_context_of(engine: Engine) -> CallerContext:
    """The context of its caller."""
    return engine._context


def connector_of(engine: Engine) -> Connector:
    """The open store."""
    return engine._context.connector


def resources_of(engine: Engine) -> Resources:
    """What the process opened once."""
    return engine._context.resources


def change_settings(engine: Engine, settings: Settings) -> None:
    """Give an open engine other settings."""
    engine._context.settings = settings


def missing_vectors(engine: Engine) -> int:
    """Return how many rows have no vector of the embedder."""
    with caller_context_of(engine).connector.read() as tx:
        return missing(tx, engine.scope, engine.embedder_name)


def to_review(engine: Engine, *, untrusted: bool = False) -> list[ReviewItem]:
    """All that waits, without damaged rows."""
    return pending_decisions(engine, untrusted=untrusted).items

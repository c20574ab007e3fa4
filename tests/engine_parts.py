"""What lies behind an engine, for tests that put a state into a store which no verb makes, or look at rows.

Tests reach it here alone: the engine has no public name for it, because no surface needs one.
"""

from __future__ import annotations

from picomem.engine.caller_context import CallerContext, Resources
from picomem.engine.engine import Engine
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

"""What every part of an engine has: its caller, whose memory it is, and the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo

from picomem.clock import Micros
from picomem.engine.caller_context import CallerContext
from picomem.records.caller import Caller
from picomem.records.scope import Scope
from picomem.settings import Settings


class EngineBase:
    """The memory of one user, as a caller has it. The verbs are those of its subclasses; see `Engine`."""

    def __init__(self, context: CallerContext, close: Callable[[], None] | None = None) -> None:
        """`close` ends what this engine alone uses; without it the store is others' as well."""
        self._context = context
        self._close = close

    @property
    def caller(self) -> Caller:
        """The caller, whose permissions operations check."""
        return self._context.caller

    @property
    def scope(self) -> Scope:
        """The owner of this memory, and the narrower scope within it."""
        return self._context.scope

    @property
    def settings(self) -> Settings:
        """The settings that it was opened with."""
        return self._context.settings

    @property
    def zone(self) -> tzinfo:
        """The zone in which bare dates and "yesterday" are read."""
        return self._context.zone

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or "none"."""
        return self._context.embedder_name

    @property
    def read_only(self) -> bool:
        """Whether the store can only be read here."""
        return self._context.connector.read_only

    def now(self) -> Micros:
        """The current time for this engine, in UTC microseconds."""
        return self._context.clock()

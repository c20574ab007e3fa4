"""What every method of the engine needs: what the process shares, the caller, and what is made of them when needed.

What only some methods need is imported by them: a recall in a hook must not wait for the readers of transcripts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, TypeVar

from picomem.clock import Micros, check_time, parse_iso
from picomem.engine.resources import Resources
from picomem.errors import DiskFull, InvalidInput
from picomem.memory.arguments import future
from picomem.records.caller import Caller
from picomem.records.memory import Parent
from picomem.records.scope import Scope

if TYPE_CHECKING:
    from picomem.memory.clean import Cleaner
    from picomem.memory.echo_guard import HandedOut
    from picomem.memory.remember import Writer
    from picomem.memory.vectors import Vectors
    from picomem.notes.notes import Notes
    from picomem.policy.redact import Redactor
    from picomem.sessions.log import Sessions

_Result = TypeVar("_Result")


class Parts:
    """The memory of one user, as one caller sees it."""

    def __init__(
        self, resources: Resources, caller: Caller, scope: Scope, close: Callable[[], None] | None = None
    ) -> None:
        """`close` ends what the engine alone uses; without it, `resources` belong to others as well."""
        self.scope = scope
        self.settings = resources.settings
        self.caller = caller
        self._resources = resources
        self._close = close
        self._connector = resources.connector
        self._clock = resources.clock
        self._zone = resources.zone
        self._sources: tuple[Parent, ...] = ()
        self._said = ""
        self._kept_vectors: Vectors | None = None
        self._kept_sessions: Sessions | None = None

    @property
    def zone(self) -> tzinfo:
        """The zone in which bare dates and "yesterday" are read."""
        return self._zone

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or "none"."""
        embedder = self._resources.embedder
        return embedder.name if embedder else "none"

    @property
    def embedder_trouble(self) -> str:
        """Why there is no embedder, though the settings want one."""
        return str(self._resources.no_embedder or "")

    @property
    def read_only(self) -> bool:
        """Whether the store can only be read here."""
        return self._connector.read_only

    def now(self) -> Micros:
        """What time it is for this engine, in UTC microseconds."""
        return self._clock()

    def _writer(self, verb: str, actor: str = "", said: Sequence[str] = ()) -> Writer:
        """`said` is what the person states for whom an agent writes."""
        from picomem.memory.remember import Writer
        from picomem.policy.statements import Grounds

        made_by = self._vectors()
        store = made_by.store_memory if made_by else None
        return Writer(
            actor=actor or self.caller.signature,
            now=self._clock(),
            verb=verb,
            store_vector=store,
            recalled=self._handed_out().texts(),
            sources=self._sources,
            said=self._said,
            persons=Grounds(said),
        )

    def _vectors(self) -> Vectors | None:
        from picomem.memory.vectors import Vectors

        if self._kept_vectors is None and self._resources.embedder is not None:
            self._kept_vectors = Vectors(self._resources.embedder, self.scope)
        return self._kept_vectors

    def _deleting(self, delete: Callable[[], _Result]) -> _Result:
        """Run a deletion; where the disk is too full for it, once more with the room that is kept for that."""
        try:
            return delete()
        except DiskFull:
            if not self._connector.give_up_ballast():
                raise
            return delete()

    def _settle(self) -> None:
        """After a transaction: what could not be done in it, for it would have made others wait."""
        if self._kept_vectors is not None:
            self._kept_vectors.store_waiting(self._connector)

    def _notes(self) -> Notes | None:
        """The configured notes, which are the notes of the settings' own user and of nobody else."""
        chosen = self.settings.notes
        if not (chosen.paths or chosen.extra_paths) or self.scope.user != self.settings.data.user:
            return None
        from picomem.notes.notes import Notes

        return Notes(self._connector, Scope(self.scope.user), self._redactor, chosen)

    def _no_notes(self) -> str:
        chosen = self.settings.notes
        if chosen.paths or chosen.extra_paths:
            return f"The notes belong to user {self.settings.data.user}, and this memory is of {self.scope.user}."
        return "No notes are configured; the setting notes.paths names the folders that MEMORY.md and memory/ lie in."

    def _redactor(self) -> Redactor:
        return self._resources.redactor()

    def _cleaner(self) -> Cleaner:
        return self._resources.cleaner()

    def _handed_out(self) -> HandedOut:
        return self._resources.handed_out(self.scope.user)

    def _owner(self, scope: Scope | None) -> Scope:
        """The scope that a caller gave, or ours. Raises InvalidInput for another user's, and for a secret in it."""
        if scope is None:
            return self.scope
        if scope.user != self.scope.user:
            raise InvalidInput(f"This memory is of user {self.scope.user}; open another for user {scope.user}.")
        return self._cleaner().owner(scope)

    def _expiry(self, given: Micros | str | None) -> Micros | None:
        return None if given == "never" else future(self._time(given), self._clock())

    def _time(self, given: Micros | str | None) -> Micros | None:
        if given is None:
            return None
        return parse_iso(given, self._zone) if isinstance(given, str) else check_time(given)

"""What every method of the engine needs: the store, the clock, the embedder, and what is made of them when needed.

What only some methods need is imported by them: a recall in a hook must not wait for the readers of transcripts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import TYPE_CHECKING, TypeVar

from picomem.clock import Clock, Micros, check_time, parse_iso
from picomem.errors import DiskFull, EmbedderFailed, InvalidInput
from picomem.memory.arguments import future
from picomem.memory.echo_guard import HandedOut
from picomem.recall.recall import Recall
from picomem.recall.vector_search import MeaningLeg
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.memory import Parent
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store.connector import Connector
from picomem.store.meta import redaction_key

if TYPE_CHECKING:
    from picomem.memory.clean import Cleaner
    from picomem.memory.remember import Writer
    from picomem.memory.vectors import Vectors
    from picomem.models.embedder import Embedder
    from picomem.models.lexicon import Lexicon
    from picomem.notes.notes import Notes
    from picomem.policy.redact import Redactor
    from picomem.sessions.log import Sessions

_Result = TypeVar("_Result")


class Parts:
    """The memory of one user, as it was opened."""

    def __init__(
        self,
        connector: Connector,
        scope: Scope,
        embedder: Embedder | EmbedderFailed | None,
        clock: Clock,
        zone: tzinfo,
        settings: Settings,
        actor: str = "",
        lexicon: Lexicon | None = None,
        weights: Weights = WEIGHTS,
    ) -> None:
        self.scope = scope
        self.settings = settings
        self._connector = connector
        self._clock = clock
        self._zone = zone
        self._actor = actor or f"user:{scope.user}"
        self._sources: tuple[Parent, ...] = ()
        self._said = ""
        self._is_agents = False
        self._handed_out = HandedOut()
        self._kept_cleaner: Cleaner | None = None
        self._kept_redactor: Redactor | None = None
        self._no_embedder = embedder if isinstance(embedder, EmbedderFailed) else None
        embedder = None if isinstance(embedder, EmbedderFailed) else embedder
        if embedder is not None and not embedder.local:
            from picomem.policy.outgoing import RedactedEmbedder

            embedder = RedactedEmbedder(embedder, self._redactor)
        self._embedder = embedder
        self._kept_vectors: Vectors | None = None
        self._kept_sessions: Sessions | None = None
        meaning = MeaningLeg(embedder) if embedder is not None else None
        without = f"failed: {self.embedder_trouble.rstrip('.')}" if self._no_embedder else "off"
        self._recall = Recall(connector, self._redactor, meaning, zone, lexicon, weights, without)

    @property
    def zone(self) -> tzinfo:
        """The zone in which bare dates and "yesterday" are read."""
        return self._zone

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or "none"."""
        return self._embedder.name if self._embedder else "none"

    @property
    def embedder_trouble(self) -> str:
        """Why there is no embedder, though the settings want one."""
        return str(self._no_embedder or "")

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
            actor=actor or self._actor,
            now=self._clock(),
            verb=verb,
            store_vector=store,
            recalled=self._handed_out.texts(),
            sources=self._sources,
            said=self._said,
            persons=Grounds(said),
        )

    def _vectors(self) -> Vectors | None:
        from picomem.memory.vectors import Vectors

        if self._kept_vectors is None and self._embedder is not None:
            self._kept_vectors = Vectors(self._embedder, self.scope)
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
        from picomem.policy.redact import Redactor

        if self._kept_redactor is None:
            with self._connector.read() as tx:
                self._kept_redactor = Redactor(redaction_key(tx))
        return self._kept_redactor

    def _cleaner(self) -> Cleaner:
        from picomem.memory.clean import Cleaner

        if self._kept_cleaner is None:
            self._kept_cleaner = Cleaner(self._redactor())
        return self._kept_cleaner

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

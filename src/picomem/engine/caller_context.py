"""The context of one caller: the shared resources of the process, the caller, and objects made from them on demand.

A module that only some methods need is imported by those methods: a recall in a hook must not wait for the readers of
transcripts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import tzinfo
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from picomem.clock import Clock, Micros, check_time, parse_iso
from picomem.coded_text import CodedText
from picomem.errors import DiskFull, EmbedderFailed, InvalidInput
from picomem.light_dataclass import replace
from picomem.memory.checked_arguments import chosen, future, importance_of
from picomem.memory.echo_guard import ReturnedTexts
from picomem.memory.text_cleaning import Cleaner
from picomem.models.embedder import Embedder
from picomem.policy.redact import RedactedEmbedder, Redactor
from picomem.recall.recall import Recall
from picomem.recall.vector_search import VectorSearch
from picomem.recall.weights import Weights
from picomem.records.caller import READ_SESSIONS, WRITE_SESSIONS, Caller
from picomem.records.kinds import MOST_BELOW_CRITICAL, Origin, Priority
from picomem.records.memory import Parent
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store.connector import Connector, PermittedConnector
from picomem.store.tables.episodes import TimelinePlace
from picomem.store.tables.meta import redaction_key

if TYPE_CHECKING:
    from picomem.ingest.transcript_copies import TranscriptCopies
    from picomem.memory.remember import Writer
    from picomem.memory.timeline import TimelineHits
    from picomem.memory.vectors import Vectors
    from picomem.models.static_embedder import Lexicon
    from picomem.notes.note_search import Notes
    from picomem.sessions.log import Sessions

# Resources shared by the engines of a process: store, embedder, clock, settings, and objects made from them.

_USERS_KEPT = 256  # whose recalled texts are kept: 64 texts of each at most


class Resources:
    """Holds nothing that belongs to one user, except under that user's id. Safe to share between threads."""

    def __init__(
        self,
        connector: Connector,
        embedder: Embedder | EmbedderFailed | None,
        clock: Clock,
        zone: tzinfo,
        settings: Settings,
        lexicon: Lexicon | None,
        weights: Weights,
        open_store: Callable[[Path], Connector] | None = None,
    ) -> None:
        """`embedder` may be the reason why there is none. `open_store` opens another store of this kind, as a backup;
        None where stores are no files."""
        self.connector = connector
        self.clock = clock
        self.zone = zone
        self.settings = settings
        self.open_store = open_store
        self.embedder_trouble = embedder.message if isinstance(embedder, EmbedderFailed) else ""
        embedder = None if isinstance(embedder, EmbedderFailed) else embedder
        if embedder is not None and not embedder.local:
            embedder = RedactedEmbedder(embedder, self.redactor)
        self.embedder = embedder
        self._redactor: Redactor | None = None
        self._cleaner: Cleaner | None = None
        self._returned_texts: dict[str, ReturnedTexts] = {}  # by user, the one who recalled longest ago first
        self._lock = Lock()
        vectors = VectorSearch(embedder) if embedder is not None else None
        without = f"failed: {self.embedder_trouble.rstrip('.')}" if self.embedder_trouble else "off"
        self.recall = Recall(connector, self.redactor, vectors, zone, lexicon, weights, without)
        self.recall_by_words = Recall(connector, self.redactor, None, zone, None, weights)

    def redactor(self) -> Redactor:
        """Takes secrets out of texts, with the store's key for the marks. Raises StoreError."""
        if self._redactor is None:
            with self.connector.read() as tx:
                self._redactor = Redactor(redaction_key(tx))
        return self._redactor

    def cleaner(self) -> Cleaner:
        """Cleans texts on their way into the store and out of it. Raises StoreError."""
        if self._cleaner is None:
            self._cleaner = Cleaner(self.redactor())
        return self._cleaner

    def returned_texts(self, user: str) -> ReturnedTexts:
        """Text that recall recently returned to this user, through any engine."""
        with self._lock:
            texts = self._returned_texts.pop(user, None) or ReturnedTexts()
            self._returned_texts[user] = texts
            if len(self._returned_texts) > _USERS_KEPT:
                del self._returned_texts[next(iter(self._returned_texts))]
            return texts

    def drop_returned_texts(self, user: str) -> None:
        """Forget the texts that were returned to this user, because they were purged."""
        with self._lock:
            self._returned_texts.pop(user, None)


_Result = TypeVar("_Result")


class CallerContext:
    """One user's memory as one caller sees it: what the verbs of an engine work on."""

    def __init__(self, resources: Resources, caller: Caller, scope: Scope) -> None:
        self.resources = resources
        self.caller = caller
        self.scope = scope
        self.connector = resources.connector
        self.settings = resources.settings
        self.clock = resources.clock
        self.zone = resources.zone
        self.sources: tuple[Parent, ...] = ()  # what changes are made from
        self.said = ""  # by the person for whom an agent acts
        self.is_group = False  # whether others than the user read the answers
        self.is_by_words = False  # whether recall asks as without an embedder
        self.kept_sessions: Sessions | None = None
        self._kept_vectors: Vectors | None = None

    def acting_as(self, actor: str, message: str, said: str, agent: bool) -> CallerContext:
        """The same for another actor; see `Engine.acting_as`."""
        acting = type(self).__new__(type(self))
        vars(acting).update(vars(self))  # as copy does, which a hook does not wait for
        is_agent = agent or self.caller.is_agent
        acting.caller = replace(self.caller, actor=actor or self.caller.actor, is_agent=is_agent)
        acting.sources = (Parent(kind="message", id=message),) if message else ()
        acting.said = said
        acting.kept_sessions = None
        return acting

    def of_sessions(self) -> Connector:
        """The store as far as the caller may read, and write, sessions."""
        return PermittedConnector(self.connector, self.caller, "sessions", read=READ_SESSIONS, write=WRITE_SESSIONS)

    def origin(self, given: Origin | str | None) -> Origin:
        """The origin of what the caller stores: the given one, or else their own. An agent cannot vouch for the user's
        own words: they are the agent's. Raises InvalidInput."""
        own = Origin.AGENT if self.caller.is_agent else Origin.USER
        origin = own if given is None else chosen(Origin, given, "origin")
        return own if origin is Origin.USER else origin

    def importance(self, importance: float | None, priority: Priority | str | None) -> float:
        """The importance that the caller gives. What is critical stands in every prompt, so only a person says so.
        Raises InvalidInput."""
        asked = importance_of(importance, priority)
        return min(asked, MOST_BELOW_CRITICAL) if self.caller.is_agent else asked

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or "none"."""
        embedder = self.resources.embedder
        return embedder.name if embedder else "none"

    @property
    def embedder_trouble(self) -> str:
        """Why there is no embedder, though the settings want one."""
        return self.resources.embedder_trouble

    def writer(self, verb: str, actor: str = "", origin: Origin | None = None) -> Writer:
        """The writer of a verb; see `writing.make_writer`."""
        from picomem.engine.writing import make_writer  # noqa: PLC0415 - a recall does not need it

        return make_writer(self, verb, actor, origin)

    def vectors(self) -> Vectors | None:
        """The maker of vectors for stored rows, if there is an embedder."""
        from picomem.memory.vectors import Vectors  # noqa: PLC0415 - a recall does not need it

        if self._kept_vectors is None and self.resources.embedder is not None:
            self._kept_vectors = Vectors(self.resources.embedder, self.scope)
        return self._kept_vectors

    def deleting(self, delete: Callable[[], _Result]) -> _Result:
        """Run a deletion; where the disk is too full for it, once more with the room that is kept for that."""
        try:
            return delete()
        except DiskFull:
            if not self.connector.maintenance.give_up_ballast():
                raise
            return delete()

    def settle(self) -> None:
        """After a transaction: what could not be done in it, for it would have made others wait."""
        if self._kept_vectors is not None:
            self._kept_vectors.store_waiting(self.connector)

    def copies(self) -> TranscriptCopies:
        """The kept copies of the user's transcripts. Raises StoreError."""
        from picomem.ingest.transcript_copies import TranscriptCopies  # noqa: PLC0415 - a recall does not need it

        redactor = self.redactor()
        return TranscriptCopies(self.connector, Scope(self.scope.user), lambda text: redactor.redact(text).text)

    def notes(self) -> Notes | None:
        """The configured notes, which are the notes of the settings' own user and of nobody else."""
        chosen = self.settings.notes
        if not (chosen.paths or chosen.extra_paths) or self.scope.user != self.settings.data.user:
            return None
        from picomem.notes.note_search import Notes  # noqa: PLC0415 - a recall does not need it

        return Notes(self.connector, Scope(self.scope.user), self.redactor, chosen)

    def no_notes(self) -> str:
        """Return why `notes` gives none."""
        chosen = self.settings.notes
        if chosen.paths or chosen.extra_paths:
            return CodedText("warning.notes_of_other", owner=self.settings.data.user, user=self.scope.user)
        return CodedText("warning.no_notes")

    def redactor(self) -> Redactor:
        """See `Resources.redactor`."""
        return self.resources.redactor()

    def cleaner(self) -> Cleaner:
        """See `Resources.cleaner`."""
        return self.resources.cleaner()

    def returned_texts(self) -> ReturnedTexts:
        """Text that recall recently returned to this user."""
        return self.resources.returned_texts(self.scope.user)

    def owner(self, scope: Scope | None) -> Scope:
        """The scope that a caller gave, or ours. Raises InvalidInput for another user's, and for a secret in it."""
        if scope is None:
            return self.scope
        if scope.user != self.scope.user:
            raise InvalidInput(f"This memory is of user {self.scope.user}; open another for user {scope.user}.")
        return self.cleaner().owner(scope)

    def expiry(self, given: Micros | str | None) -> Micros | None:
        """Return the moment at which a memory expires. Raises InvalidTime, or InvalidInput for a past time."""
        if given is None or given == "never":
            return None
        now = self.clock()
        if isinstance(given, str):
            from picomem.text.temporal.event_times import parse_future  # noqa: PLC0415 - a recall does not need it

            return future(parse_future(given, now, self.zone), now)
        return future(check_time(given), now)

    def time(self, given: Micros | str | None) -> Micros | None:
        """A time in microseconds. Raises InvalidTime."""
        if given is None:
            return None
        return parse_iso(given, self.zone) if isinstance(given, str) else check_time(given)

    def timeline(
        self,
        scope: Scope,
        since: Micros | None,
        until: Micros | None,
        limit: int,
        damaged: list[str],
        after: TimelinePlace | None = None,
        tag: str = "",
    ) -> TimelineHits:
        """Read the episodes of a scope, redacted; see `memory/timeline.py`."""
        from picomem.memory.timeline import timeline  # noqa: PLC0415 - a recall does not need it

        clean = self.cleaner()
        with self.connector.read() as tx:
            page = timeline(tx, scope, since, until, limit, damaged, after, tag)
        return page._replace(hits=[replace(hit, text=clean.shown_text(hit.text)) for hit in page.hits])


# What every part of an engine has: its caller, whose memory it is, and the clock.


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

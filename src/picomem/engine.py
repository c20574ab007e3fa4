"""The engine: what `picomem.open()` returns, and what every surface calls.

It is synchronous. It holds one store, one embedder and one clock, and decides nothing: each method reads its
arguments, opens a transaction where one is needed, and calls the part that knows.

What only some methods need is imported by them: a recall in a hook must not wait for the readers of transcripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import tzinfo
from typing import TYPE_CHECKING

from picomem.clock import Clock, Micros, parse_iso
from picomem.errors import Conflict, EmbedderFailed, InvalidInput, NotFound, ReadOnly, Refused, StoreError
from picomem.memory.arguments import chosen, future, importance_of, positive, share
from picomem.memory.handed_out import HandedOut
from picomem.recall.filters import Filters
from picomem.recall.meaning import MeaningLeg
from picomem.recall.question import parse
from picomem.recall.recall import Recall, Wanted
from picomem.recall.weights import WEIGHTS, Weights
from picomem.records.hit import Answer, Hit
from picomem.records.kinds import Decision, Kind, Origin, Priority
from picomem.records.memory import Change, Memory, Parent
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store import episodes, memories
from picomem.store.connector import Connector, Transaction
from picomem.values import replace

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event
    from types import TracebackType

    from picomem.ingest.ingest import Ingest
    from picomem.ingest.places import Place
    from picomem.ingest.pointer import Opened
    from picomem.ingest.report import Progress, Report
    from picomem.ingest.writing import Asked
    from picomem.memory.clean import Cleaner
    from picomem.memory.consolidate import Consolidator
    from picomem.memory.doctor import Diagnosis
    from picomem.memory.embed import Embedded
    from picomem.memory.explain import Explanation
    from picomem.memory.files import Files
    from picomem.memory.index import IndexPage
    from picomem.memory.migrate import Entry
    from picomem.memory.purge import Erased, Planned, Purged
    from picomem.memory.remember import Remembered, Writer
    from picomem.memory.scrub import Scrubbed
    from picomem.memory.status import Status
    from picomem.memory.undo import Undone
    from picomem.memory.vectors import Vectors
    from picomem.models.embedder import Embedder
    from picomem.models.lexicon import Lexicon
    from picomem.notes.notes import Excerpt, Found, Notes
    from picomem.policy.redact import Redactor
    from picomem.records.episode import Episode, Transcript
    from picomem.records.session import Loaded, Summary
    from picomem.sessions.log import Sessions
    from picomem.sessions.snapshot import TakenOver
    from picomem.sessions.window import Window


class Engine:
    """The memory of one user. Every method that takes times takes UTC microseconds or ISO 8601 text."""

    def __init__(
        self,
        connector: Connector,
        scope: Scope,
        embedder: Embedder | None,
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
        self._handed_out = HandedOut()
        self._kept_cleaner: Cleaner | None = None
        self._kept_redactor: Redactor | None = None
        if embedder is not None and not embedder.local:
            from picomem.policy.outgoing import RedactedEmbedder

            embedder = RedactedEmbedder(embedder, self._redactor)
        self._embedder = embedder
        self._kept_vectors: Vectors | None = None
        self._kept_sessions: Sessions | None = None
        meaning = MeaningLeg(embedder) if embedder is not None else None
        self._recall = Recall(connector, self._redactor, meaning, zone, lexicon, weights)

    @property
    def zone(self) -> tzinfo:
        """The zone in which bare dates and "yesterday" are read."""
        return self._zone

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or "none"."""
        return self._embedder.name if self._embedder else "none"

    @property
    def read_only(self) -> bool:
        """Whether the store can only be read here."""
        return self._connector.read_only

    def acting_as(self, actor: str, *, message: str = "", said: str = "") -> Engine:
        """The same open memory for another actor, whose name stands on what it changes. It needs no closing.

        `said` is what a person says to an agent, and `message` the id under which it is stored, if it is: what is
        changed now was made from that.
        """
        from copy import copy

        acting = copy(self)
        acting._actor = actor
        acting._sources = (Parent(kind="message", id=message),) if message else ()
        acting._said = said
        return acting

    def heard(self, *texts: str) -> None:
        """Know texts that nobody trusted wrote (a tool's output) again, where an agent offers them as its own words."""
        self._handed_out.keep(texts)

    def now(self) -> Micros:
        """What time it is for this engine, in UTC microseconds."""
        return self._clock()

    # Writing

    def remember(
        self,
        content: str,
        *,
        kind: Kind | str | None = None,
        key: str = "",
        context: str = "",
        importance: float | None = None,
        priority: Priority | str | None = None,
        tags: Sequence[str] = (),
        related: Sequence[str] = (),
        pinned: bool = False,
        expires: Micros | str | None = None,
        since: Micros | str | None = None,
        origin: Origin | str = Origin.USER,
        scope: Scope | None = None,
    ) -> Remembered:
        """Store something: through redaction, the gate and the match with what is known.

        Raises InvalidInput or InvalidKey for a bad argument, and Refused, with the gate's reason, when it is not
        kept; the refusal is on record (`data["change_id"]`).
        """
        from picomem.memory.decide import Offer
        from picomem.text.keys import check_key, suggest_key

        what = chosen(Kind, kind or Kind.FACT, "kind")
        source = chosen(Origin, origin, "origin")
        clean = self._cleaner()
        content = clean.text(content)
        offer = Offer(
            scope=self._owner(scope),
            content=content,
            kind=what,
            key=check_key(key) if key else suggest_key(content, what.value),
            key_given=bool(key),
            kind_given=kind is not None,
            importance_given=importance is not None or priority is not None,
            # What a person asks for themselves is kept, chatter or not; an agent's offer must be worth it.
            explicit=source is Origin.USER,
            context=clean.text(context),
            importance=importance_of(importance, priority),
            pinned=pinned,
            tags=clean.names(tags, "tag"),
            related=clean.names(related, "related entry"),
            origin=source,
            expires_at=self._expiry(expires),
            valid_from=self._time(since),
        )
        with self._connector.write() as tx:
            result = self._writer("remember").remember(tx, offer)
        self._settle()
        if result.decision is Decision.REFUSE:
            raise Refused(f"Not stored: {result.reason}", change_id=result.change_id, reason=result.reason)
        return result

    def revise(
        self,
        name: str,
        content: str | None = None,
        *,
        kind: Kind | str | None = None,
        context: str | None = None,
        importance: float | None = None,
        priority: Priority | str | None = None,
        tags: Sequence[str] | None = None,
        related: Sequence[str] | None = None,
        pinned: bool | None = None,
        expires: Micros | str | None = None,
        since: Micros | str | None = None,
        correct: bool = False,
        reason: str = "",
        origin: Origin | str = Origin.USER,
        scope: Scope | None = None,
    ) -> Memory:
        """Replace what is believed of a memory (its key, its id, or the beginning of one) by a new version.

        The new content holds from `since`, or from now; with `correct` it was always so. `expires` "never" takes an
        expiry away. `origin` says where the new text came from. Raises NotFound, Conflict, InvalidInput, or Refused
        where the gate says no.
        """
        from picomem.memory.remember import resolve, revised

        clean = self._cleaner()
        fields: dict[str, object] = {}
        if content is not None:
            fields["content"] = clean.text(content)
        if kind is not None:
            fields["kind"] = chosen(Kind, kind, "kind")
        if context is not None:
            fields["context"] = clean.text(context)
        if importance is not None or priority is not None:
            fields["importance"] = importance_of(importance, priority)
        if tags is not None:
            fields["tags"] = clean.names(tags, "tag")
        if related is not None:
            fields["related"] = clean.names(related, "related entry")
        if pinned is not None:
            fields["pinned"] = pinned
        if expires is not None:
            fields["expires_at"] = self._expiry(expires)
        source = chosen(Origin, origin, "origin")
        at = self._time(since)
        with self._connector.write() as tx:
            memory = resolve(tx, self._owner(scope), name)
            made = revised(tx, self._writer("revise"), memory, fields, source, at, correct, clean.text(reason))
        self._settle()
        return made

    def forget(self, name: str, *, reason: str = "", scope: Scope | None = None) -> Change:
        """Archive a memory: it is believed no longer, and `history` still shows it. Raises NotFound or Conflict."""
        from picomem.memory.remember import resolve

        with self._connector.write() as tx:
            memory = resolve(tx, self._owner(scope), name)
            return self._writer("forget").forget(tx, self.scope, memory.id, self._cleaner().text(reason))

    def asked(self, said: str, *, kept: Sequence[str] = ()) -> list[Remembered]:
        """Take up what a person asks to be remembered in a message to their agent; what became of each request.

        `said` is the person's own text, and `kept` what the agent has stored itself. Each other request goes through
        the gate, as one that ingest finds does.
        """
        from picomem.ingest.writing import Asked
        from picomem.memory.proposals import is_met, offer_of
        from picomem.policy.requests import find_requests

        text = self._cleaner().text(said)
        found = [Asked(each, text, "", None, self.scope.project) for each in find_requests(text)]
        open_ = [offer_of(each, self.scope) for each in found if not is_met(each, kept)]
        if not open_:
            return []
        with self._connector.write() as tx:
            writer = self._writer("remember")
            done = [writer.remember(tx, offer) for offer in open_]
        self._settle()
        return done

    def undo(self, name: str, *, reason: str = "") -> list[Undone]:
        """Take back a change, or all changes of a run (its id, or the beginning of one); see memory/undo.py.

        What was believed before is believed again, and history shows all of it. Raises NotFound, InvalidInput for what
        cannot be undone, and Conflict where something was built on it since.
        """
        from picomem.memory.undo import undo

        with self._connector.write() as tx:
            done = undo(tx, self._writer("undo"), self.scope, name, self._cleaner().text(reason))
        if not done:
            raise Conflict(f"All of run {name} was undone already; `picomem changes --run {name}` shows by what.")
        self._settle()
        return [replace(each, memory=self._cleaner().shown(each.memory) if each.memory else None) for each in done]

    def purge_plan(self, *, session: str = "", older_than: int | None = None, everything: bool = False) -> Planned:
        """What `purge` would erase; nothing is written. Raises as `purge` does."""
        from picomem.memory.held import choice, held
        from picomem.memory.purge import planned

        with self._connector.read() as tx:
            found = held(tx, self.scope)
            chosen = choice(found, session, older_than, everything, self._clock())
            return planned(tx, self.scope, found, chosen)

    def purge(
        self,
        *,
        session: str = "",
        older_than: int | None = None,
        everything: bool = False,
        wait_seconds: float = 30.0,
    ) -> Purged:
        """Erase for good: a session (its id, or the beginning of it), what is older than so many days, or everything of
        this user; with all that was made of it, and no trace left in the files; see memory/purge.py.

        It waits for others who use the file, so long at most; what is still to be done then is said, and done by the
        next call, without a choice or with one. Raises InvalidInput for no choice or two, and NotFound.
        """
        import logging

        from picomem.memory.held import choice, held
        from picomem.memory.purge import Purged, erase
        from picomem.policy.purge import Choice, plan
        from picomem.store import tombstones

        erased: Erased | None = None
        with self._connector.write() as tx:
            begun = tombstones.begun(tx, self.scope)
            if session or older_than is not None or everything or not begun:
                found = held(tx, self.scope)
                try:
                    chosen = choice(found, session, older_than, everything, self._clock())
                except NotFound:
                    if not begun:
                        raise
                    chosen = Choice()  # it went before; what is left of it is to be done
                made = plan(found, chosen)
                if not made.empty:
                    erased = erase(tx, self._writer("purge"), self.scope, found, chosen, made)
                elif not begun:
                    return Purged(counts={}, change_id="", scan=None)
        if erased is not None:
            logging.getLogger("picomem").info("purge %s by %s: %s", erased.change.id, self._actor, erased.counts)
        self._settle()
        self._handed_out, self._kept_sessions = HandedOut(), None
        return self._without_traces(erased, wait_seconds)

    def _without_traces(self, erased: Erased | None, wait_seconds: float) -> Purged:
        from pathlib import Path

        from picomem.memory import traces
        from picomem.memory.purge import Purged
        from picomem.memory.scan import scan
        from picomem.paths import data_dir

        left, unfinished, scanned = [], "", None
        try:
            left = traces.finish(
                self._connector,
                self.scope,
                lambda owner, budget: self.index(budget=budget, scope=owner).text,
                self._clock(),
                wait_seconds,
            )
        except StoreError as error:
            unfinished = str(error)
        if erased is not None:
            folder = Path(self.settings.data.dir).expanduser() if self.settings.data.dir else data_dir()
            with self._connector.read() as tx:
                users = [Scope(user) for (user,) in tx.all("users")]
                files = traces.files_to_scan(tx, self._connector, self.scope, folder)
                scanned = scan(tx, users, self.scope, erased.texts, files)
        return Purged(
            counts=erased.counts if erased else {},
            change_id=erased.change.id if erased else "",
            scan=scanned,
            left=tuple(left),
            unfinished=unfinished,
            finished=not unfinished,
        )

    def ingest(
        self,
        found: Iterable[str | Path | Place],
        *,
        progress: Callable[[Progress], None] | None = None,
    ) -> Report:
        """Read what is new in these transcripts, files or folders; see ingest/ingest.py."""
        from picomem.ingest.places import find

        report = self.ingester().run(find(found), progress)
        self._settle()
        made_by = self._vectors()
        report.without_vector = made_by.without() if made_by else 0
        if made_by and report.without_vector:
            report.problems.append(made_by.without_sentence(report.without_vector))
        return report

    def ingester(self) -> Ingest:
        """What reads transcripts into this store, for callers that read again and again."""
        from picomem.ingest.ingest import Ingest

        return Ingest(self._connector, self.scope, self._redactor(), self._vectors(), self._propose, self._clock)

    def sessions(self) -> Sessions:
        """The conversations of this user with PicoBot: create, append, load, fork, list; see sessions/log.py."""
        from picomem.sessions.log import Sessions

        if self._kept_sessions is None:
            self._kept_sessions = Sessions(self._connector, self.scope, self._redactor, self._clock)
        return self._kept_sessions

    def files(self) -> Files:
        """Texts that an agent keeps as a whole under a path, for foreign memory tools; see memory/files.py."""
        from picomem.memory.files import Files

        return Files(self._connector, self.scope, lambda: self._writer("remember"), self._cleaner, self._clock)

    def consolidator(self) -> Consolidator:
        """What reads and writes for `picomem.consolidation`, which asks the generator."""
        from picomem.memory.consolidate import Consolidator

        return Consolidator(
            self._connector,
            self.scope,
            self._cleaner(),
            self._vectors(),
            lambda actor: self._writer("consolidate", actor),
            self.settings,
            self._clock,
            self._zone,
        )

    def window(self, session: str, *, until: int | None = None) -> Window:
        """What goes into the prompt of a session now, within the budgets of the settings; see sessions/window.py.

        With `until` as it stood with the message of that number: what another process said meanwhile is not answered
        here. With `memory.enabled` off it is the conversation alone.
        """
        from picomem.sessions.window import newest_question

        log = self.sessions()
        loaded = log.end_of(session)
        if until is not None:
            loaded = replace(loaded, messages=tuple(each for each in loaded.messages if each.seq <= until))
        shown = self.settings.session.include_summary_on_truncation
        question = newest_question(loaded)
        return self._window(loaded, question, log.summary(session) if shown else None, self.settings.memory.enabled)

    def context(self, question: str) -> Window:
        """What memory puts into the prompt for a question, without a conversation of ours: the index page and what is
        known that matters to it."""
        from picomem.records.session import Loaded

        return self._window(Loaded(), question, None, enabled=True)

    def _window(self, loaded: Loaded, question: str, summary: Summary | None, enabled: bool) -> Window:
        from picomem.sessions.window import Budgets, Known, window

        budgets = Budgets.of(self.settings)
        index, known = "", []
        if enabled and self.settings.session.enable_user_memories:
            index = self.index(budget=min(self.settings.index.budget, budgets.memory // 2)).text
            found = self.recall(question, limit=budgets.memories, include_transcripts=False).hits if question else ()
            known = [Known(hit.key, hit.text, hit.origin) for hit in found]
        return window(loaded, budgets, index=index, known=known, summary=summary)

    def import_sessions(self, path: Path, *, move: bool = False) -> TakenOver:
        """Take over the sessions of a PicoBot snapshot, each for its own user; see sessions/snapshot.py.

        With `move` the file is renamed when all is stored. Raises NotFound, InvalidInput or StoreError.
        """
        from picomem.sessions.snapshot import take_over

        return take_over(self._connector, self._redactor, self._clock, path, move=move)

    def migrate(self, paths: Sequence[Path]) -> list[tuple[Path, Entry, Remembered]]:
        """Take the entries of Markdown memory over as typed memories, through the gate; what became of each.

        A file may be migrated again: what is known already is merged. Raises InvalidInput for what is no Markdown.
        """
        from picomem.memory.migrate import markdown_files, migrate_file
        from picomem.records.ids import new_id

        done = []
        run = new_id()
        for path in markdown_files(list(paths)):
            writer = replace(self._writer("migrate"), run=run)
            with self._connector.write() as tx:
                each = migrate_file(tx, writer, self.scope, self._cleaner(), path, self._zone)
            self._settle()
            done += [(path, entry, result) for entry, result in each]
        return done

    def tidy(self, *, when_due: bool = False) -> dict[str, int]:
        """Archive expired memories (O19) and remove timeline entries past their retention (A14).

        With `when_due` only if the last time is `retention.cleanup_interval_secs` ago; whoever writes calls it so,
        and no daemon is needed.
        """
        from picomem.memory import retention

        if when_due:
            with self._connector.read() as tx:
                if not retention.is_due(tx, self.scope, self.settings, self._clock()):
                    return dict(retention.NOTHING)
        with self._connector.write() as tx:
            return retention.tidy(tx, self.scope, self.settings, self._writer("expire"))

    def scrub(self, *, dry_run: bool = False) -> Scrubbed:
        """Redact what is stored already, with the rules of today."""
        from picomem.memory.scrub import scrub

        made_by = self._vectors()
        vectors_of = made_by.store_text if made_by else None
        done = scrub(self._connector, self.scope, self._redactor(), dry_run=dry_run, store_vector=vectors_of)
        self._settle()
        return done

    def embed(
        self,
        *,
        progress: Callable[[int, int, str], None] | None = None,
        afresh: bool = False,
        remove: bool = True,
        wait: bool = True,
        stop: Event | None = None,
    ) -> Embedded:
        """Make the vectors that are missing, then remove those of other models; see memory/embed.py.

        Raises InvalidInput without an embedder, EmbedderFailed, and Conflict where another process is at it.
        """
        from picomem.memory.embed import Embed

        made_by = self._vectors()
        if made_by is None:
            raise InvalidInput("recall.embedder is none, so there are no vectors to make; set it to static or another.")
        return Embed(self._connector, self.scope, made_by, self._clock, stop).run(
            progress, afresh=afresh, remove=remove, wait=wait
        )

    def missing_vectors(self) -> int:
        """How many rows have no vector of the embedder."""
        from picomem.memory.embed import missing

        with self._connector.read() as tx:
            return missing(tx, self.scope, self.embedder_name)

    def reach(self) -> object:
        """A value that differs once a row was stored, or a vector rewritten or taken out, by whatever process."""
        from picomem.memory.embed import reach

        with self._connector.read() as tx:
            return reach(tx, self.scope, self.embedder_name)

    # Reading

    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        token_budget: int | None = None,
        min_confidence: float | None = None,
        kinds: Sequence[Kind | str] = (),
        priority: Priority | str | None = None,
        tag: str = "",
        since: Micros | str | None = None,
        until: Micros | str | None = None,
        as_of: Micros | str | None = None,
        valid_at: Micros | str | None = None,
        include_context: bool = False,
        include_memories: bool = True,
        include_transcripts: bool = True,
        include_notes: bool = True,
        include_untrusted: bool = False,
        scope: Scope | None = None,
        now: Micros | str | None = None,
    ) -> Answer:
        """Answer a question within a budget of tokens.

        `as_of` is when it was believed, `valid_at` when it was true, `now` when the question is asked (for "last
        Tuesday"). An answer that is less sure than `min_confidence` (0–1) has no hits and says so. Where nothing is
        found, or nothing surely, or the store is down, the notes are searched as well, if any are configured. Any text
        is a question; only a bad option raises InvalidInput.
        """
        wanted = Wanted(
            limit=positive(limit, self.settings.recall.limit, "limit"),
            token_budget=positive(token_budget, self.settings.recall.token_budget, "token_budget"),
            min_confidence=share(min_confidence, self.settings.recall.min_confidence, "min_confidence"),
            include_context=include_context,
            filters=Filters(
                kinds=tuple(chosen(Kind, kind, "kind") for kind in kinds),
                priority=None if priority is None else chosen(Priority, priority, "priority"),
                tag=tag,
                since=self._time(since),
                until=self._time(until),
                known_at=self._time(as_of),
                valid_at=self._time(valid_at),
                include_memories=include_memories,
                include_transcripts=include_transcripts,
                include_untrusted=include_untrusted,
            ),
        )
        asked_at = self._time(now)
        asked_at = self._clock() if asked_at is None else asked_at

        def recall() -> Answer:
            return self._recall.answer(self._owner(scope), question, wanted, asked_at)

        notes = self._notes() if include_notes and not (scope or self.scope).session else None
        if notes is None:
            answer = recall()
        else:
            from picomem.notes.fallback import answered

            answer = answered(recall, notes, parse(question, asked_at, self._zone), wanted)
        self._handed_out.note(answer.hits)
        return answer

    def search_notes(self, query: str, *, limit: int = 6, min_score: float = 0.25) -> Found:
        """The sections of the configured notes that answer a question, the best first; a score lies in 0–1."""
        from picomem.notes.fallback import note_hit
        from picomem.notes.notes import Found

        notes = self._notes()
        if notes is None:
            return Found(warnings=[self._no_notes()])
        found = notes.search(parse(query, self._clock(), self._zone), limit, min_score)
        self._handed_out.note(map(note_hit, found.hits))
        return found

    def read_note(self, name: str, *, first_line: int = 1, lines: int | None = None) -> Excerpt:
        """Lines of a note, from the file itself. Raises NotFound, or InvalidInput for what is no note's name."""
        notes = self._notes()
        if notes is None:
            raise NotFound(self._no_notes())
        return notes.read(name, first_line, lines)

    def memories(
        self, *, archived: bool = False, as_of: Micros | str | None = None, valid_at: Micros | str | None = None
    ) -> list[Memory]:
        """What is believed now; or what was believed `as_of` a time, true at `valid_at`; or what is archived."""
        now = self._clock()
        known = self._time(as_of)
        true = self._time(valid_at)
        with self._connector.read() as tx:
            if archived:
                return memories.archived(tx, self.scope)
            if known is None and true is None:
                return memories.current(tx, self.scope, now)
            known = now if known is None else known
            return memories.at(tx, self.scope, known, known if true is None else true)

    def shown(self, memory: Memory) -> Memory:
        """A memory as it may be handed out: what was stored before a rule of redaction existed is redacted now."""
        return self._cleaner().shown(memory)

    def history(self, name: str, *, scope: Scope | None = None) -> list[Memory]:
        """Every version of a memory, oldest first, archived ones too; of a key all that was held under it. Raises
        NotFound or Conflict."""
        from picomem.memory.remember import lives

        with self._connector.read() as tx:
            versions = lives(tx, self._owner(scope), name)
        return [self._cleaner().shown(version) for version in versions]

    def why(self, name: str, *, scope: Scope | None = None) -> Explanation:
        """What is on record about a memory, a change or an episode. Raises NotFound."""
        from picomem.memory.explain import explain

        with self._connector.read() as tx:
            found = explain(tx, self._owner(scope), name)
        clean = self._cleaner()
        return replace(
            found,
            memory=clean.shown(found.memory) if found.memory else None,
            versions=tuple(clean.shown(version) for version in found.versions),
            sources=tuple(replace(source, text=clean.shown_text(source.text)) for source in found.sources),
        )

    def changes(self, limit: int = 20, *, about: str = "", run: str = "") -> list[tuple[Change, str]]:
        """The latest decisions, refusals included, each with the key of the memory that it is about.

        With `about` those about one memory (its key, its id, or the beginning of one), with `run` those of a run (its
        id, or the beginning of one). Raises NotFound or Conflict.
        """
        from picomem.memory.remember import lives

        with self._connector.read() as tx:
            if about:
                ids = dict.fromkeys(version.id for version in lives(tx, self.scope, about))
                found = [change for each in ids for change in memories.changes_of(tx, self.scope, each)]
                found = sorted(found, key=lambda change: (change.at, change.id), reverse=True)
            elif run:
                found = memories.changes_named(tx, self.scope, run)[::-1]
            else:
                found = memories.latest_changes(tx, self.scope, limit)
            return [(change, memories.key_of(tx, self.scope, change.memory_id)) for change in found[:limit]]

    def undone(self) -> dict[str, str]:
        """Every change that was undone and is so still, with the change that undid it."""
        with self._connector.read() as tx:
            undoes = memories.undoing(tx, self.scope)
        undone: dict[str, str] = {}
        for change, taken_back in undoes.items():
            undone[taken_back] = change
            # To undo an undo is to have it again.
            undone.pop(undoes.get(taken_back, ""), None)
        return undone

    def withhold(self, session: str, *, release: bool = False) -> int:
        """Keep a session's transcripts from being handed out by anything (O17), or release them; how many there are.

        `session` is its id or the beginning of it. Raises NotFound.
        """
        policy = "private" if release else "deny"
        with self._connector.write() as tx:
            changed = episodes.set_send_policy(tx, self.scope, session, policy)
        if not changed:
            raise NotFound(f"There is no session “{session[:80]}”; `picomem timeline --json` shows their ids.")
        return changed

    def timeline(
        self,
        *,
        since: Micros | str | None = None,
        until: Micros | str | None = None,
        limit: int = 50,
        damaged: list[str] | None = None,
        scope: Scope | None = None,
    ) -> list[Hit]:
        """The episodes of a scope, latest first. Damaged rows are left out; their ids are put on `damaged`."""
        from picomem.memory.timeline import timeline

        lost = [] if damaged is None else damaged
        with self._connector.read() as tx:
            hits = timeline(tx, self._owner(scope), self._time(since), self._time(until), limit, lost)
        return [replace(hit, text=self._cleaner().shown_text(hit.text)) for hit in hits]

    def show(self, episode_id: str) -> tuple[Episode, Transcript | None, Opened]:
        """An episode and the messages behind it, read from the transcript or the session itself. Raises NotFound."""
        from picomem.ingest.pointer import open_episode
        from picomem.memory.explain import find_episode

        with self._connector.read() as tx:
            found = find_episode(tx, self.scope, episode_id)
            transcript = episodes.transcript(tx, self.scope, found.transcript_id)
        if transcript is not None and transcript.send_policy == "deny":
            raise Refused("That session is withheld: it is kept, and not handed out (see `picomem withhold --help`).")
        if found.category == "timeline" and transcript is not None:
            from picomem.memory.timeline import opened

            with self._connector.read() as tx:
                return found, transcript, opened(tx, self.scope, found, transcript.session, self._redactor())
        return found, transcript, open_episode(found, transcript, self._redactor())

    def index(self, *, budget: int | None = None, scope: Scope | None = None) -> IndexPage:
        """The always-loaded page, from the store where memory has not changed since it was made."""
        from picomem.memory import pages

        owner = self._owner(scope)
        size = self.settings.index.budget if budget is None else budget
        with self._connector.read() as tx:
            page, made_from = pages.page(tx, owner, self._clock(), size, lambda memory: self._cleaner().shown(memory))
        if made_from:
            # A page that cannot be kept is made again next time.
            with suppress(StoreError), self._connector.write() as tx:
                pages.keep(tx, owner, page, made_from)
        return page

    def export_index(self, path: Path, *, budget: int | None = None, scope: Scope | None = None) -> IndexPage:
        """Write the always-loaded page to a file, and remember where, for a purge. Raises InvalidInput."""
        from picomem.memory.traces import note_export
        from picomem.paths import write_whole

        page = self.index(budget=budget, scope=scope)
        owner = self._owner(scope)
        with suppress(ReadOnly), self._connector.write() as tx:  # where nothing can be written nothing can be purged
            note_export(tx, owner, path, page.text, page.budget, self._clock())
        write_whole(path, page.text)
        return page

    def status(self) -> Status:
        """What is in the store."""
        from picomem.memory.status import status

        with self._connector.read() as tx:
            limit = self.settings.memory.daily_token_limit
            return status(tx, self.scope, self._clock(), self._connector, self.embedder_name, limit)

    def doctor(self, *, repair: bool = False) -> Diagnosis:
        """Check the file, every row's hash, and what is derived; with `repair`, rebuild what is derived."""
        from picomem.memory.doctor import examine

        writer = self._writer("doctor")
        found = examine(self._connector, self.embedder_name, self._redactor, writer, repair=repair)
        made_by = self._vectors()
        if repair and made_by is not None:
            from picomem.memory.embed import Embed

            for scope, finding in found.waiting:
                with suppress(EmbedderFailed, Conflict):
                    finding.repaired = not Embed(self._connector, scope, made_by, self._clock).run(remove=False).waiting
        return found

    def safe_text(self, text: str) -> str:
        """A text without its secrets, as what is kept elsewhere must be; where the store's key for the marks cannot be
        read, with marks that link nothing."""
        from picomem.policy.redact import Redactor
        from picomem.text.plain import plain

        try:
            redactor = self._redactor()
        except StoreError:
            redactor = Redactor(bytes(32))
        return redactor.redact(plain(text)).text

    def close(self) -> None:
        self._connector.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Parts

    def _writer(self, verb: str, actor: str = "") -> Writer:
        from picomem.memory.remember import Writer

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
        )

    def _vectors(self) -> Vectors | None:
        from picomem.memory.vectors import Vectors

        if self._kept_vectors is None and self._embedder is not None:
            self._kept_vectors = Vectors(self._embedder, self.scope)
        return self._kept_vectors

    def _settle(self) -> None:
        """After a transaction: what could not be done in it, for it would have made others wait."""
        if self._kept_vectors is not None:
            self._kept_vectors.store_waiting(self._connector)

    def _propose(self, tx: Transaction, asked: Sequence[Asked]) -> None:
        from picomem.memory.proposals import propose

        propose(tx, self._writer("remember", "ingest"), self.scope, asked)

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
                row = tx.one("meta", name="redaction_key")
            self._kept_redactor = Redactor(bytes.fromhex(row[0]) if row else bytes(32))
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
        return parse_iso(given, self._zone) if isinstance(given, str) else given

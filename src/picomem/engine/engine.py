"""The engine: returned by `picomem.open()` and `Runtime.engine()`, and called by every surface.

It is synchronous and makes no decisions: each verb reads its arguments, opens a transaction if one is needed, and
calls the responsible package. It holds a `CallerContext` (caller_context.py: the caller, and the resources of the
process) and an `Eraser` (erasing.py). Functions that only the rest of picomem needs take an engine as an argument:
agent_support.py for agents and conversations, upkeep.py for background work and operations.

A module that only some verbs need is imported by those verbs: a recall in a hook must not wait for the readers of
transcripts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import tzinfo
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import CallerContext
from picomem.errors import Conflict, Corrupt, EmbedderFailed, InvalidInput, NotFound, Refused, StoreError
from picomem.light_dataclass import replace
from picomem.memory.checked_arguments import chosen, positive, share
from picomem.recall.filters import Filters, Wanted
from picomem.recall.question import parse
from picomem.recall.recall import with_doubt
from picomem.records.caller import (
    PURGE,
    READ,
    READ_SESSIONS,
    SESSIONS_NOT_READ,
    WRITE,
    WRITE_SESSIONS,
    Caller,
    needs,
)
from picomem.records.episode import BY_PERSON, DENY, PRIVATE
from picomem.records.hit import Answer, Hit
from picomem.records.kinds import Decision, Kind, Origin, Priority
from picomem.records.memory import ANY_CHANGE, Change, ChangeFilter, Memory
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store import audit, episodes, memories

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event
    from types import TracebackType

    from picomem.engine.erasing import Eraser
    from picomem.erasure.purge import Planned, Purged
    from picomem.erasure.scrub import Scrubbed
    from picomem.history.explain import Explanation
    from picomem.history.undo import Undone
    from picomem.ingest.discovery import TranscriptFolder
    from picomem.ingest.report import IngestProgress, Report
    from picomem.ingest.transcript_pointer import Opened
    from picomem.memory.agent_files import Files
    from picomem.memory.doctor import Diagnosis
    from picomem.memory.index_page import IndexPage
    from picomem.memory.markdown_import import MarkdownEntry
    from picomem.memory.remember import Remembered
    from picomem.memory.store_status import Status
    from picomem.memory.vectors import Embedded
    from picomem.notes.note_search import Excerpt, NoteSearch
    from picomem.records.episode import Episode, Transcript
    from picomem.sessions.context_window import ContextWindow
    from picomem.sessions.log import Sessions


class Engine:
    """The memory of one user. Every method that takes times takes UTC microseconds or ISO 8601 text.

    `Runtime.engine` makes it. Safe to share between threads.
    """

    def __init__(self, context: CallerContext, close: Callable[[], None] | None = None) -> None:
        """`close` ends what this engine alone uses; without it the store is others' as well."""
        self._context = context
        self._close = close

    # Whose it is

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

    def acting_as(self, actor: str = "", *, message: str = "", said: str = "", agent: bool = False) -> Engine:
        """The same open memory for another actor, whose name stands on what it changes, or for ours. It needs no
        closing.

        `said` is what a person says to an agent, and `message` the id under which it is stored, if it is: what is
        changed now was made from that. With `agent` the actor is no person: it forgets nothing that a person stated or
        pinned, unless the person asks for that in `said`, or without it in their turns of the last day that were
        ingested. What it stores has the origin agent unless another is given, and stays below critical. An agent's
        engine makes agents' engines only.
        """
        return Engine(self._context.acting_as(actor, message, said, agent), self._close)

    # Asking

    @needs(READ)
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
        file: str = "",
        failed: bool = False,
        since: Micros | str | None = None,
        until: Micros | str | None = None,
        known_since: Micros | str | None = None,
        as_of: Micros | str | None = None,
        valid_at: Micros | str | None = None,
        origins: Sequence[Origin | str] = (),
        include_context: bool = False,
        include_memories: bool = True,
        include_transcripts: bool = True,
        include_notes: bool = True,
        include_untrusted: bool = False,
        include_retold: bool = False,
        scope: Scope | None = None,
        now: Micros | str | None = None,
    ) -> Answer:
        """Answer a question within a budget of tokens.

        `since` and `until` limit the time that a hit shows: since when a memory holds, when an episode was said.
        `known_since` limits when it was stored. `as_of` is when it was believed, `valid_at` when it was true, `now`
        when the question is asked (for "last Tuesday"). `file` is a path or a part of one: only what an agent said
        while it worked on that file is found; with `failed` only that in which a test or a command of the agent's
        failed.
        `origins` are the only ones that count; where none is named, all do. An answer that is less sure than
        `min_confidence` (0–1) has no hits and says so. `include_untrusted` adds text that tools, the web or
        others wrote, `include_retold` only what an agent said after it had read such text: quote both as data, by their
        `origin`. Where nothing is found, or nothing surely, or the store is down, the notes are searched as well, if
        any are configured. A caller who may not read past sessions gets what the memories and notes say, and a warning.
        Any text is a question; only a bad option raises InvalidInput.
        """
        asks_sessions = include_transcripts and not self._context.is_group
        reads_sessions = self._context.caller.may(READ_SESSIONS)
        wanted = Wanted(
            limit=positive(limit, self.settings.recall.limit, "limit"),
            token_budget=positive(token_budget, self.settings.recall.token_budget, "token_budget"),
            min_confidence=share(min_confidence, self.settings.recall.min_confidence, "min_confidence"),
            include_context=include_context,
            filters=Filters(
                kinds=tuple(chosen(Kind, kind, "kind") for kind in kinds),
                priority=None if priority is None else chosen(Priority, priority, "priority"),
                tag=tag,
                file=file,
                failed=failed,
                since=self._context.time(since),
                until=self._context.time(until),
                known_since=self._context.time(known_since),
                known_at=self._context.time(as_of),
                valid_at=self._context.time(valid_at),
                include_memories=include_memories and not (file or failed),
                include_transcripts=asks_sessions and reads_sessions,
                include_captured=not self._context.is_group,
                origins=tuple(chosen(Origin, origin, "origin") for origin in origins),
                include_untrusted=include_untrusted,
                include_retold=include_retold,
            ),
        )
        asked_at = self._context.time(now)
        asked_at = self._context.clock() if asked_at is None else asked_at

        def recall() -> Answer:
            resources = self._context.resources
            chosen = resources.recall_by_words if self._context.is_by_words else resources.recall
            return chosen.answer(self._context.owner(scope), question, wanted, asked_at)

        notes = self._context.notes() if include_notes and not (scope or self.scope).session else None
        if notes is None:
            answer = recall()
        else:
            from picomem.notes.recall_fallback import answered

            answer = answered(recall, notes, parse(question, asked_at, self._context.zone), wanted)
        answer = with_doubt(answer)
        self._context.returned_texts().note((*answer.hits, *answer.repeats))
        if asks_sessions and not reads_sessions:
            answer = replace(answer, warnings=(SESSIONS_NOT_READ, *answer.warnings))
        return answer if reads_sessions else replace(answer, hits=tuple(map(_without_pointer, answer.hits)))

    @needs(READ)
    def search_notes(self, query: str, *, limit: int = 6, min_score: float = 0.25) -> NoteSearch:
        """The sections of the configured notes that answer a question, the best first; a score lies in 0–1."""
        from picomem.notes.note_search import NoteSearch
        from picomem.notes.recall_fallback import note_hit

        notes = self._context.notes()
        if notes is None:
            return NoteSearch(warnings=[self._context.no_notes()])
        result = notes.search(parse(query, self._context.clock(), self._context.zone), limit, min_score)
        self._context.returned_texts().note(map(note_hit, result.hits))
        return result

    @needs(READ)
    def read_note(self, name: str, *, first_line: int = 1, lines: int | None = None) -> Excerpt:
        """Lines of a note, from the file itself. Raises NotFound, or InvalidInput for what is no note's name."""
        notes = self._context.notes()
        if notes is None:
            raise NotFound(self._context.no_notes())
        return notes.read(name, first_line, lines)

    @needs(READ)
    def memories(
        self,
        *,
        archived: bool = False,
        as_of: Micros | str | None = None,
        valid_at: Micros | str | None = None,
        damaged: list[str] | None = None,
    ) -> list[Memory]:
        """The memories that are believed now; or were believed `as_of` a time, or true at `valid_at`; or are archived.

        Damaged rows are left out, and their ids are put on `damaged`; without such a list they raise Corrupt.
        """
        lost: list[str] = []
        listed = self._listed(archived, as_of, valid_at, lost)
        if lost and damaged is None:
            raise Corrupt(
                CodedText("failure.damaged_memories", count=len(lost), first=lost[0], command=Command("doctor")),
                id=lost[0],
            )
        if damaged is not None:
            damaged += lost
        return listed

    def _listed(
        self, archived: bool, as_of: Micros | str | None, valid_at: Micros | str | None, lost: list[str]
    ) -> list[Memory]:
        now = self._context.clock()
        known = self._context.time(as_of)
        true = self._context.time(valid_at)
        with self._context.connector.read() as tx:
            if archived:
                return memories.archived(tx, self.scope, lost)
            if known is None and true is None:
                return memories.current(tx, self.scope, now, lost)
            known = now if known is None else known
            return memories.at(tx, self.scope, known, known if true is None else true, lost)

    @needs(READ)
    def history(self, name: str, *, scope: Scope | None = None) -> list[Memory]:
        """Every version of a memory, oldest first, archived ones too; of a key all that was held under it. Raises
        NotFound or Conflict."""
        from picomem.memory.name_lookup import lives

        with self._context.connector.read() as tx:
            versions = lives(tx, self._context.owner(scope), name)
        return [self._context.cleaner().shown(version) for version in versions]

    @needs(READ)
    def version_number(self, memory: Memory) -> int:
        """Return the number of a version as people count them: 1, 2, 3. `Memory.version` counts the stored rows, of
        which a revision may add several."""
        from picomem.memory.version_history import version_numbers

        with self._context.connector.read() as tx:
            return version_numbers(tx, self.scope, memory.id, [memory])[memory.version]

    @needs(READ)
    def why(self, name: str, *, scope: Scope | None = None, limit: int = 50) -> Explanation:
        """The record of a memory, a change or an episode; of a memory the latest `limit` changes. Raises NotFound, and
        Forbidden for an episode if the caller may not read past sessions; the sources of a memory have no text then."""
        from picomem.history.explain import explain

        caller = self._context.caller
        with self._context.connector.read() as tx:
            explanation = explain(tx, self._context.owner(scope), name, limit, reads_sessions=caller.may(READ_SESSIONS))
        if explanation.episode is not None:
            caller.require(READ_SESSIONS, "why of an episode")
        clean = self._context.cleaner()
        return replace(
            explanation,
            memory=clean.shown(explanation.memory) if explanation.memory else None,
            versions=tuple(clean.shown(version) for version in explanation.versions),
            sources=tuple(replace(source, text=clean.shown_text(source.text)) for source in explanation.sources),
        )

    @needs(READ)
    def changes(
        self,
        limit: int = 20,
        *,
        about: str = "",
        run: str = "",
        before: str = "",
        damaged: list[str] | None = None,
        wanted: ChangeFilter = ANY_CHANGE,
    ) -> list[tuple[Change, str]]:
        """The latest decisions, refusals included, each with the key of the memory that it is about.

        With `about` those about one memory (its key, its id, or the beginning of one), with `run` those of a run (its
        id, or the beginning of one), with `before` those earlier than the change with that id, and of all these only
        those that are `wanted`. Damaged rows are left out, and their ids are put on `damaged`; without such a list they
        raise Corrupt. Raises NotFound or Conflict.
        """
        from picomem.memory.name_lookup import lives

        with self._context.connector.read() as tx:
            if about:
                ids = dict.fromkeys(version.id for version in lives(tx, self.scope, about))
                recorded = [
                    change for memory_id in ids for change in audit.of_memory(tx, self.scope, memory_id, damaged)
                ]
                recorded = sorted(recorded, key=lambda change: change.id, reverse=True)
            elif run:
                recorded = audit.named(tx, self.scope, run)[::-1]
            else:
                recorded = audit.latest(tx, self.scope, limit, before, damaged, wanted)
            recorded = [change for change in recorded if (not before or change.id < before) and wanted.wants(change)]
            return [(change, memories.key_of(tx, self.scope, change.memory_id, damaged)) for change in recorded[:limit]]

    @needs(READ_SESSIONS)
    def timeline(
        self,
        *,
        since: Micros | str | None = None,
        until: Micros | str | None = None,
        limit: int = 50,
        damaged: list[str] | None = None,
        scope: Scope | None = None,
        tag: str = "",
    ) -> list[Hit]:
        """The episodes of a scope, and with a tag or of a branch, latest first. Damaged rows are left out; their ids
        are put on `damaged`."""
        begun, ended = self._context.time(since), self._context.time(until)
        lost = [] if damaged is None else damaged
        return self._context.timeline(self._context.owner(scope), begun, ended, limit, lost, tag=tag).hits

    @needs(READ_SESSIONS)
    def show(self, episode_id: str) -> tuple[Episode, Transcript | None, Opened]:
        """An episode and the messages behind it, read from the transcript (or its kept copy) or the session itself.
        Raises NotFound."""
        from picomem.history.explain import check_shown, find_episode
        from picomem.ingest.transcript_pointer import open_entry, open_episode
        from picomem.records.episode import HOST_SUMMARY
        from picomem.records.session import session_path

        with self._context.connector.read() as tx:
            episode = find_episode(tx, self.scope, episode_id)
            transcript = episodes.transcript(tx, self.scope, episode.transcript_id)
        check_shown(transcript)
        is_of_session = transcript is not None and transcript.path == session_path(transcript.session)
        if episode.category == "timeline" and transcript is not None and is_of_session:
            from picomem.memory.timeline import opened

            with self._context.connector.read() as tx:
                return (
                    episode,
                    transcript,
                    opened(tx, self.scope, episode, transcript.session, self._context.redactor()),
                )
        is_written = episode.category == "timeline" and not episode.key.startswith(HOST_SUMMARY)
        opening = open_entry if is_written else open_episode
        return episode, transcript, opening(episode, transcript, self._context.redactor(), self._context.copies())

    @needs(READ)
    def index(self, *, budget: int | None = None, scope: Scope | None = None) -> IndexPage:
        """The always-loaded page, from the store where memory has not changed since it was made."""
        from picomem.engine.current_index_page import index_page

        return index_page(self._context, scope, budget)

    @needs(READ)
    def status(self) -> Status:
        """The contents of the store, in numbers."""
        from picomem.engine.hook_log import latest
        from picomem.memory.store_status import status

        with self._context.connector.read() as tx:
            limit = self.settings.memory.daily_token_limit
            result = status(tx, self.scope, self._context.clock(), self._context.connector, self.embedder_name, limit)
        count, size = self._context.copies().usage()
        most = self.settings.ingest.keep_mb * 1_000_000
        is_keeping = count or self.settings.ingest.keep != "none"
        return replace(
            result,
            embedder_trouble=self._context.embedder_trouble,
            hook_problem=latest(),
            copies={"files": count, "bytes": size, "most_bytes": most} if is_keeping else {},
        )

    # Telling

    @needs(WRITE)
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
        origin: Origin | str | None = None,
        replaces: str = "",
        scope: Scope | None = None,
    ) -> Remembered:
        """Store something: through redaction, the gate and the match with what is known.

        `origin` is the user's by default, or the agent's where one acts (see `acting_as`). A pin is a person's: of an
        agent the memory is stored without it. `replaces` names a memory that is no longer true because of this one: it
        ends where this one begins. Raises NotFound for a memory that there is not, InvalidInput or InvalidKey for
        another bad argument, and Refused, with the reason, when the text is not kept, or may not replace that memory;
        the refusal is on record (`data["change_id"]`).
        """
        from picomem.memory.decide import Offer
        from picomem.memory.review_items import replace_memory
        from picomem.text.memory_keys import check_key, suggest_key

        what = chosen(Kind, kind or Kind.FACT, "kind")
        source = self._context.origin(origin)
        clean = self._context.cleaner()
        content = clean.text(content)
        offer = Offer(
            scope=self._context.owner(scope),
            content=content,
            kind=what,
            key=check_key(key) if key else suggest_key(content, what.value),
            key_given=bool(key),
            kind_given=kind is not None,
            importance_given=importance is not None or priority is not None,
            # What a person asks for themselves is kept, chatter or not; an agent's offer must be worth it.
            explicit=source is Origin.USER,
            context=clean.text(context),
            importance=self._context.importance(importance, priority),
            pinned=pinned and not self.caller.is_agent,
            tags=clean.names(tags, "tag"),
            related=clean.names(related, "related entry"),
            origin=source,
            expires_at=self._context.expiry(expires),
            valid_from=self._context.time(since),
        )
        with self._context.connector.write(self.scope) as tx:
            writer = self._context.writer("remember", origin=source)
            result = writer.remember(tx, offer) if not replaces else replace_memory(tx, writer, offer, replaces)
        self._context.settle()
        if result.decision is Decision.REFUSE:
            raise Refused(f"Not stored: {result.reason}", change_id=result.change_id, reason=result.reason)
        return result

    @needs(WRITE)
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
        version: int | None = None,
        origin: Origin | str | None = None,
        scope: Scope | None = None,
    ) -> Memory:
        """Replace what is believed of a memory (its key, its id, or the beginning of one) by a new version.

        The new content holds from `since`, or from now; with `correct` it was always so. `expires` "never" takes an
        expiry away. `origin` says where the new text came from. With `version`, the memory must still be at it. Raises
        NotFound, Conflict, InvalidInput, or Refused where the gate says no, or an agent would pin.
        """
        from picomem.memory.name_lookup import resolve
        from picomem.memory.revise import revised

        if pinned and self.caller.is_agent:
            raise Refused(CodedText("failure.only_user_pins", command=Command("revise", name, pin=True)))
        clean = self._context.cleaner()
        texts = (("content", content), ("context", context))
        lists = (("tags", tags, "tag"), ("related", related, "related entry"))
        fields: dict[str, object] = {field: clean.text(text) for field, text in texts if text is not None}
        fields |= {field: clean.names(names, what) for field, names, what in lists if names is not None}
        if kind is not None:
            fields["kind"] = chosen(Kind, kind, "kind")
        if importance is not None or priority is not None:
            fields["importance"] = self._context.importance(importance, priority)
        if pinned is not None:
            fields["pinned"] = pinned
        if expires is not None:
            fields["expires_at"] = self._context.expiry(expires)
        source = self._context.origin(origin)
        at = self._context.time(since)
        with self._context.connector.write(self.scope) as tx:
            memory = resolve(tx, self._context.owner(scope), name)
            if version is not None and memory.version != version:
                raise Conflict(f"“{memory.key}” changed meanwhile; look at what it says now, and revise that.")
            writer = self._context.writer("revise", origin=source)
            made = revised(tx, writer, memory, fields, source, at, correct, clean.text(reason))
        self._context.settle()
        return made

    @needs(WRITE)
    def forget(self, name: str, *, reason: str = "", scope: Scope | None = None) -> Change:
        """Archive a memory: it is believed no longer, and `history` still shows it. Raises NotFound or Conflict, and
        Refused where an agent may not (see `acting_as`)."""
        from picomem.memory.decide import not_forgotten
        from picomem.memory.name_lookup import resolve

        def archive() -> Change:
            with self._context.connector.write(self.scope) as tx:
                memory = resolve(tx, self._context.owner(scope), name)
                writer = self._context.writer("forget")
                asked = writer.persons.ask_to_forget(memory.key, memory.content)
                if self.caller.is_agent and memory.is_a_persons and not asked:
                    raise Refused(not_forgotten(memory))
                return writer.forget(tx, self.scope, memory.id, self._context.cleaner().text(reason))

        return self._context.deleting(archive)

    @needs(WRITE)
    def undo(self, name: str = "", *, reason: str = "") -> list[Undone]:
        """Take back a change, all changes of a run, or all that a model made of a session of another program, by its id
        or the beginning of one; see history/undo.py. Without a name take back the last run of the caller's own that is
        in force and is no undo.

        What was believed before is believed again, and history shows all of it. Raises NotFound, InvalidInput for what
        cannot be undone, Conflict where something was built on it since, and Refused where an agent may not (see
        `acting_as`).
        """
        from picomem.history.undo import last_run, undo_named

        with self._context.connector.write(self.scope) as tx:
            name = name or last_run(tx, self.scope, self.caller.signature)
            said = self._context.cleaner().text(reason)
            writer, vectors = self._context.writer("undo"), self._context.vectors()
            done = undo_named(tx, writer, self.scope, name, said, vectors, by_agent=self.caller.is_agent)
        if not done:
            raise Conflict(CodedText("failure.run_undone", run=name, command=Command("changes", run=name)))
        self._context.settle()
        return [
            replace(change, memory=self._context.cleaner().shown(change.memory) if change.memory else None)
            for change in done
        ]

    # What others wrote

    @needs(WRITE)
    def ingest(
        self,
        transcripts: str | Path | Iterable[str | Path | TranscriptFolder],
        *,
        progress: Callable[[IngestProgress], None] | None = None,
    ) -> Report:
        """Read what is new in these transcripts, files or folders, or in a single one; see ingest/ingest.py."""
        from picomem.engine import upkeep
        from picomem.ingest.discovery import find

        if isinstance(transcripts, str | os.PathLike):
            transcripts = [transcripts]
        ingester = upkeep.ingester(self)
        with self._context.connector.read():  # one snapshot: a transaction for each file costs more than the look at it
            files = find(transcripts, ingester.recognize)
        report = ingester.run(files, progress)
        self._context.settle()
        made_by = self._context.vectors()
        report.without_vector = made_by.without() if made_by else 0
        if made_by and report.without_vector:
            report.problems.append(made_by.without_sentence(report.without_vector))
        return report

    @needs(WRITE)
    def migrate(self, paths: Sequence[Path]) -> list[tuple[Path, MarkdownEntry, Remembered]]:
        """Take the entries of Markdown memory over as typed memories, through the gate; what became of each.

        A file may be migrated again: what is known already is merged. Raises InvalidInput for what is no Markdown.
        """
        from picomem.memory.markdown_import import markdown_files, migrate_file
        from picomem.records.ids import new_id

        done = []
        run = new_id()
        for path in markdown_files(list(paths)):
            writer = replace(self._context.writer("migrate"), run=run)
            with self._context.connector.write(self.scope) as tx:
                entries = migrate_file(tx, writer, self.scope, self._context.cleaner(), path, self._context.zone)
            self._context.settle()
            done += [(path, entry, result) for entry, result in entries]
        return done

    @needs(WRITE_SESSIONS)
    def withhold(self, session: str, *, release: bool = False) -> int:
        """Withhold a session's transcripts from every answer (O17), or release them; return how many there are.

        `session` is its id or the beginning of it. A session that its host denies is released as well, until the host
        allows it and denies it again. Raises NotFound.
        """
        policy = PRIVATE if release else DENY
        with self._context.connector.write(self.scope) as tx:
            changed = episodes.set_send_policy(tx, self.scope, session, policy, BY_PERSON)
        if not changed:
            raise NotFound(
                CodedText("failure.no_read_session", name=session[:80], command=Command("timeline", json=True))
            )
        return changed

    @needs(WRITE_SESSIONS)
    def tag(self, episode_id: str, tags: Sequence[str]) -> Episode:
        """Give an episode these tags in place of those that it has; no tag takes all away. Raises NotFound, Refused for
        a withheld session, and InvalidInput."""
        from picomem.history.explain import check_shown, find_episode
        from picomem.records.memory import Parent

        cleaned = self._context.cleaner().names(tags, "tag")
        writer = self._context.writer("tag")
        with self._context.connector.write(self.scope) as tx:
            episode = find_episode(tx, self.scope, episode_id)
            check_shown(episodes.transcript(tx, self.scope, episode.transcript_id))
            change = writer.record(tx, self.scope, "tag", CodedText("reason.tagged"))
            memories.add_lineage(
                tx, self.scope, "change", change.id, 0, [Parent(kind="episode", id=episode.id)], change.id
            )
            return episodes.set_tags(tx, self.scope, episode, cleaned)

    def sessions(self) -> Sessions:
        """The conversations of this user with PicoBot: create, append, load, fork, list; see sessions/log.py."""
        from picomem.sessions.log import Sessions

        if self._context.kept_sessions is None:
            self._context.kept_sessions = Sessions(
                self._context.of_sessions(), self.scope, self._context.redactor, self._context.clock
            )
        return self._context.kept_sessions

    @needs(WRITE)
    def files(self) -> Files:
        """Texts that an agent keeps as a whole under a path, for foreign memory tools; see memory/agent_files.py."""
        from picomem.memory.agent_files import Files

        return Files(self._context.agent_store())

    @needs(READ)
    def context(self, question: str) -> ContextWindow:
        """The memory part of a prompt for a question: the index page and the relevant memories."""
        from picomem.engine.agent_support import window_around
        from picomem.records.session import Loaded

        return window_around(self, Loaded(), question)

    # Erasing and upkeep

    @needs(PURGE)
    def purge_plan(self, *, session: str = "", older_than: int | None = None, everything: bool = False) -> Planned:
        """The plan of a purge; nothing is written. Raises as `purge` does."""
        return self._eraser().plan(session, older_than, everything)

    @needs(PURGE)
    def purge(
        self,
        *,
        session: str = "",
        older_than: int | None = None,
        everything: bool = False,
        wait_seconds: float = 30.0,
        permits: Callable[[Planned], bool] | None = None,
    ) -> Purged:
        """Erase for good: a session (its id, or the beginning of it), what is older than so many days, or everything of
        this user; with all that was made of it, and no trace left in the files; see erasure/purge.py.

        It waits for others who use the file, so long at most; what is still to be done then is said, and done by the
        next call, without a choice or with one. `permits` is asked in the transaction that erases. Raises InvalidInput
        for no choice or two, NotFound, and Conflict for a plan that is not permitted.
        """
        return self._eraser().purge(session, older_than, everything, wait_seconds, permits)

    @needs(WRITE)
    def scrub(self, *, dry_run: bool = False) -> Scrubbed:
        """Redact what is stored already, with the rules of today, and leave no trace of it in the files.

        Where another program is reading, the last is done by the next `purge`, without a choice or with one.
        """
        return self._eraser().scrub(dry_run)

    @needs(WRITE)
    def tidy(self, *, when_due: bool = False) -> dict[str, int]:
        """Archive expired memories (O19) and remove timeline entries past their retention (A14). Once a day, also make
        a verified copy of the store (docs/backups.md).

        With `when_due` only if the last time is `retention.cleanup_interval_secs` ago; writers call it like this,
        and no daemon is needed.
        """
        from picomem.erasure import retention

        if when_due:
            with self._context.connector.read() as tx:
                if not retention.is_due(tx, self.scope, self.settings, self._context.clock()):
                    return dict(retention.NOTHING)
        most_bytes = self.settings.data.daily_copy_mb * 1_000_000
        self._context.connector.maintenance.copy_daily(self._context.clock(), most_bytes)
        with self._context.connector.write(self.scope) as tx:
            return retention.tidy(tx, self.scope, self.settings, self._context.writer("expire"))

    @needs(WRITE)
    def embed(
        self,
        *,
        progress: Callable[[int, int, str], None] | None = None,
        afresh: bool = False,
        remove: bool = True,
        wait: bool = True,
        stop: Event | None = None,
    ) -> Embedded:
        """Make the vectors that are missing, then remove those of other models; see memory/vectors.py.

        Raises InvalidInput without an embedder, EmbedderFailed, and Conflict where another process is at it.
        """
        from picomem.memory.vectors import EmbedMissing

        made_by = self._context.vectors()
        if trouble := self._context.embedder_trouble:
            raise EmbedderFailed(trouble)
        if made_by is None:
            raise InvalidInput(
                "recall.embedder is none, so there are no vectors to create; set it to static or to another embedder."
            )
        return EmbedMissing(self._context.connector, self.scope, made_by, self._context.clock, stop).run(
            progress, afresh=afresh, remove=remove, wait=wait
        )

    @needs(READ)
    def export_index(self, path: Path, *, budget: int | None = None, scope: Scope | None = None) -> IndexPage:
        """Write the always-loaded page to a file, and remember where, for a purge. Raises InvalidInput."""
        from picomem.erasure import file_traces

        try:
            str(path).encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{path} is not valid UTF-8; name another file for the page.") from None
        page = self.index(budget=budget, scope=scope)
        file_traces.export(
            self._context.connector, self._context.owner(scope), path, page.text, page.budget, self._context.clock()
        )
        return page

    @needs(WRITE)
    def doctor(self, *, repair: bool = False, progress: Callable[[int, int, str], None] | None = None) -> Diagnosis:
        """Check the file, every row's hash, what is derived, and the kept copies of transcripts; with `repair`, rebuild
        what is derived. `progress` is told how many parts are done, of how many, and which comes."""
        from picomem.ingest.transcript_copies import copy_problems
        from picomem.memory.doctor import examine

        writer = self._context.writer("doctor")
        diagnosis = examine(
            self._context.connector,
            self.embedder_name,
            self._context.redactor,
            writer,
            repair=repair,
            progress=progress,
        )
        with suppress(StoreError):  # what cannot be read was reported
            for problem in copy_problems(self._context.connector):
                diagnosis.add("copy", problem)
        if not diagnosis.healthy:
            diagnosis.restore_with = self._context.connector.maintenance.restore_command()
        made_by = self._context.vectors()
        if repair and made_by is not None:
            from picomem.memory.vectors import EmbedMissing

            for scope, finding in diagnosis.waiting:
                with suppress(EmbedderFailed, Conflict):
                    finding.repaired = (
                        not EmbedMissing(self._context.connector, scope, made_by, self._context.clock)
                        .run(remove=False)
                        .waiting
                    )
        return diagnosis

    def _eraser(self) -> Eraser:
        from picomem.engine.erasing import Eraser

        return Eraser(self._context)

    def close(self) -> None:
        """Close the store, where it was opened for this engine alone; the engine of a `Runtime` leaves it open."""
        if self._close is not None:
            self._close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _without_pointer(hit: Hit) -> Hit:
    """A memory as a hit, without what leads to the session where it was said; any other hit as it is."""
    return replace(hit, transcript="", turns=None, citation="") if hit.source == "memory" else hit

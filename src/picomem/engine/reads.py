"""The verbs of an engine that ask: recall, notes, memories and their versions, changes, what was said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict, Unpack

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import CallerContext, EngineBase
from picomem.errors import Corrupt, NotFound
from picomem.light_dataclass import replace
from picomem.memory.checked_arguments import check_names, chosen, positive, share
from picomem.memory.name_lookup import lives
from picomem.recall.filters import Filters, Wanted
from picomem.recall.question import parse
from picomem.recall.recall import with_doubt
from picomem.records.caller import READ, READ_SESSIONS, SESSIONS_NOT_READ, needs
from picomem.records.episode import Episode, Transcript
from picomem.records.hit import Answer, Hit
from picomem.records.kinds import Kind, Origin, Priority
from picomem.records.memory import ANY_CHANGE, Change, ChangeFilter, Memory
from picomem.records.scope import Scope
from picomem.store.tables import audit, memories

if TYPE_CHECKING:
    from picomem.health.store_status import Status
    from picomem.history.explain import Explanation
    from picomem.index_page.page import IndexPage
    from picomem.ingest.transcript_pointer import Opened
    from picomem.notes.note_search import Excerpt, NoteSearch


class RecallFilters(TypedDict, total=False):
    """The filters of a recall; see there."""

    kinds: Sequence[Kind | str]
    priority: Priority | str | None
    tag: str
    file: str
    failed: bool
    since: Micros | str | None
    until: Micros | str | None
    known_since: Micros | str | None
    as_of: Micros | str | None
    valid_at: Micros | str | None
    origins: Sequence[Origin | str]
    include_memories: bool
    include_transcripts: bool
    include_untrusted: bool
    include_retold: bool


class EngineReads(EngineBase):
    """Answers questions about one user's memory; see `Engine`."""

    @needs(READ)
    def recall(
        self,
        question: str,
        *,
        limit: int | None = None,
        token_budget: int | None = None,
        min_confidence: float | None = None,
        include_context: bool = False,
        include_notes: bool = True,
        scope: Scope | None = None,
        now: Micros | str | None = None,
        **filters: Unpack[RecallFilters],
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
        asks_sessions = filters.get("include_transcripts", True) and not self._context.is_group
        reads_sessions = self._context.caller.may(READ_SESSIONS)
        wanted = Wanted(
            limit=positive(limit, self.settings.recall.limit, "limit"),
            token_budget=positive(token_budget, self.settings.recall.token_budget, "token_budget"),
            min_confidence=share(min_confidence, self.settings.recall.min_confidence, "min_confidence"),
            include_context=include_context,
            filters=_filters(self._context, filters, reads_transcripts=asks_sessions and reads_sessions),
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
            from picomem.notes.recall_fallback import answered  # noqa: PLC0415 - a recall does not need it

            answer = answered(recall, notes, parse(question, asked_at, self._context.zone), wanted)
        answer = with_doubt(answer)
        self._context.returned_texts().note((*answer.hits, *answer.repeats))
        if asks_sessions and not reads_sessions:
            answer = replace(answer, warnings=(SESSIONS_NOT_READ, *answer.warnings))
        return answer if reads_sessions else replace(answer, hits=tuple(map(_without_pointer, answer.hits)))

    @needs(READ)
    def search_notes(self, query: str, *, limit: int = 6, min_score: float = 0.25) -> NoteSearch:
        """The sections of the configured notes that answer a question, the best first; a score lies in 0–1."""
        from picomem.notes import note_search, recall_fallback  # noqa: PLC0415 - a recall does not need it

        notes = self._context.notes()
        if notes is None:
            return note_search.NoteSearch(warnings=[self._context.no_notes()])
        result = notes.search(parse(query, self._context.clock(), self._context.zone), limit, min_score)
        self._context.returned_texts().note(map(recall_fallback.note_hit, result.hits))
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
        with self._context.connector.read() as tx:
            versions = lives(tx, self._context.owner(scope), name)
        return [self._context.cleaner().shown(version) for version in versions]

    @needs(READ)
    def version_number(self, memory: Memory) -> int:
        """Return the number of a version as people count them: 1, 2, 3. `Memory.version` counts the stored rows, of
        which a revision may add several."""
        from picomem.memory.version_history import version_numbers  # noqa: PLC0415 - a recall does not need it

        with self._context.connector.read() as tx:
            return version_numbers(tx, self.scope, memory.id, [memory])[memory.version]

    @needs(READ)
    def why(self, name: str, *, scope: Scope | None = None, limit: int = 50) -> Explanation:
        """The record of a memory, a change or an episode; of a memory the latest `limit` changes. Raises NotFound, and
        Forbidden for an episode if the caller may not read past sessions; the sources of a memory have no text then."""
        from picomem.history.explain import explain  # noqa: PLC0415 - a recall does not need it

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
        from picomem.engine.transcripts import show_episode  # noqa: PLC0415 - a recall does not need it

        return show_episode(self, episode_id)

    @needs(READ)
    def index(self, *, budget: int | None = None, scope: Scope | None = None) -> IndexPage:
        """The always-loaded page, from the store where memory has not changed since it was made."""
        from picomem.engine.current_index_page import index_page  # noqa: PLC0415 - a recall does not need it

        return index_page(self._context, scope, budget)

    @needs(READ)
    def status(self) -> Status:
        """The contents of the store, in numbers."""
        from picomem.engine.hook_log import latest  # noqa: PLC0415 - a recall does not need it
        from picomem.health.store_status import status  # noqa: PLC0415 - a recall does not need it

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


def _filters(context: CallerContext, given: RecallFilters, *, reads_transcripts: bool) -> Filters:
    check_names(given, RecallFilters, "recall")
    priority, file, failed = given.get("priority"), given.get("file", ""), given.get("failed", False)
    return Filters(
        kinds=tuple(chosen(Kind, kind, "kind") for kind in given.get("kinds", ())),
        priority=None if priority is None else chosen(Priority, priority, "priority"),
        tag=given.get("tag", ""),
        file=file,
        failed=failed,
        since=context.time(given.get("since")),
        until=context.time(given.get("until")),
        known_since=context.time(given.get("known_since")),
        known_at=context.time(given.get("as_of")),
        valid_at=context.time(given.get("valid_at")),
        include_memories=given.get("include_memories", True) and not (file or failed),
        include_transcripts=reads_transcripts,
        include_captured=not context.is_group,
        origins=tuple(chosen(Origin, origin, "origin") for origin in given.get("origins", ())),
        include_untrusted=given.get("include_untrusted", False),
        include_retold=given.get("include_retold", False),
    )


def _without_pointer(hit: Hit) -> Hit:
    """A memory as a hit, without what leads to the session where it was said; any other hit as it is."""
    return replace(hit, transcript="", turns=None, citation="") if hit.source == "memory" else hit

"""The engine reads: recall, notes, what is believed and was, why, past sessions, the index page, what is there."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.engine.parts import Parts
from picomem.errors import Corrupt, NotFound, Refused, StoreError
from picomem.memory.arguments import chosen, positive, share
from picomem.recall.filters import Filters, Wanted
from picomem.recall.question import parse
from picomem.records.hit import Answer, Hit
from picomem.records.kinds import Kind, Priority
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.store import audit, episodes, memories
from picomem.values import replace

if TYPE_CHECKING:
    from picomem.history.explain import Explanation
    from picomem.ingest.pointer import Opened
    from picomem.memory.index import IndexPage
    from picomem.memory.status import Status
    from picomem.notes.notes import Excerpt, Found
    from picomem.records.episode import Episode, Transcript


_LATELY = 500  # episodes


class Reading(Parts):
    """Nothing here changes what is remembered; a page of the index is kept, since it was made."""

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
            return self._resources.recall.answer(self._owner(scope), question, wanted, asked_at)

        notes = self._notes() if include_notes and not (scope or self.scope).session else None
        if notes is None:
            answer = recall()
        else:
            from picomem.notes.fallback import answered

            answer = answered(recall, notes, parse(question, asked_at, self._zone), wanted)
        self._handed_out().note(answer.hits)
        return answer

    def search_notes(self, query: str, *, limit: int = 6, min_score: float = 0.25) -> Found:
        """The sections of the configured notes that answer a question, the best first; a score lies in 0–1."""
        from picomem.notes.fallback import note_hit
        from picomem.notes.notes import Found

        notes = self._notes()
        if notes is None:
            return Found(warnings=[self._no_notes()])
        found = notes.search(parse(query, self._clock(), self._zone), limit, min_score)
        self._handed_out().note(map(note_hit, found.hits))
        return found

    def read_note(self, name: str, *, first_line: int = 1, lines: int | None = None) -> Excerpt:
        """Lines of a note, from the file itself. Raises NotFound, or InvalidInput for what is no note's name."""
        notes = self._notes()
        if notes is None:
            raise NotFound(self._no_notes())
        return notes.read(name, first_line, lines)

    def memories(
        self,
        *,
        archived: bool = False,
        as_of: Micros | str | None = None,
        valid_at: Micros | str | None = None,
        damaged: list[str] | None = None,
    ) -> list[Memory]:
        """What is believed now; or what was believed `as_of` a time, true at `valid_at`; or what is archived.

        Damaged rows are left out, and their ids are put on `damaged`; without such a list they raise Corrupt.
        """
        lost: list[str] = []
        found = self._listed(archived, as_of, valid_at, lost)
        if lost and damaged is None:
            raise Corrupt(f"Of the memories {len(lost)} are damaged ({lost[0]}); run `picomem doctor`.", id=lost[0])
        if damaged is not None:
            damaged += lost
        return found

    def _listed(
        self, archived: bool, as_of: Micros | str | None, valid_at: Micros | str | None, lost: list[str]
    ) -> list[Memory]:
        now = self._clock()
        known = self._time(as_of)
        true = self._time(valid_at)
        with self._connector.read() as tx:
            if archived:
                return memories.archived(tx, self.scope, lost)
            if known is None and true is None:
                return memories.current(tx, self.scope, now, lost)
            known = now if known is None else known
            return memories.at(tx, self.scope, known, known if true is None else true, lost)

    def shown(self, memory: Memory) -> Memory:
        """A memory as it may be handed out: what was stored before a rule of redaction existed is redacted now."""
        return self._cleaner().shown(memory)

    def history(self, name: str, *, scope: Scope | None = None) -> list[Memory]:
        """Every version of a memory, oldest first, archived ones too; of a key all that was held under it. Raises
        NotFound or Conflict."""
        from picomem.memory.naming import lives

        with self._connector.read() as tx:
            versions = lives(tx, self._owner(scope), name)
        return [self._cleaner().shown(version) for version in versions]

    def why(self, name: str, *, scope: Scope | None = None) -> Explanation:
        """What is on record about a memory, a change or an episode. Raises NotFound."""
        from picomem.history.explain import explain

        with self._connector.read() as tx:
            found = explain(tx, self._owner(scope), name)
        clean = self._cleaner()
        return replace(
            found,
            memory=clean.shown(found.memory) if found.memory else None,
            versions=tuple(clean.shown(version) for version in found.versions),
            sources=tuple(replace(source, text=clean.shown_text(source.text)) for source in found.sources),
        )

    def changes(
        self, limit: int = 20, *, about: str = "", run: str = "", damaged: list[str] | None = None
    ) -> list[tuple[Change, str]]:
        """The latest decisions, refusals included, each with the key of the memory that it is about.

        With `about` those about one memory (its key, its id, or the beginning of one), with `run` those of a run (its
        id, or the beginning of one). Damaged rows are left out, and their ids are put on `damaged`; without such a list
        they raise Corrupt. Raises NotFound or Conflict.
        """
        from picomem.memory.naming import lives

        with self._connector.read() as tx:
            if about:
                ids = dict.fromkeys(version.id for version in lives(tx, self.scope, about))
                found = [change for each in ids for change in audit.of_memory(tx, self.scope, each, damaged)]
                found = sorted(found, key=lambda change: change.id, reverse=True)
            elif run:
                found = audit.named(tx, self.scope, run)[::-1]
            else:
                found = audit.latest(tx, self.scope, limit, damaged)
            return [(change, memories.key_of(tx, self.scope, change.memory_id)) for change in found[:limit]]

    def undone(self) -> dict[str, str]:
        """Every change that was undone and is so still, with the change that undid it."""
        with self._connector.read() as tx:
            undoes = audit.undoing(tx, self.scope)
        undone: dict[str, str] = {}
        for change, taken_back in undoes.items():
            undone[taken_back] = change
            # To undo an undo is to have it again.
            undone.pop(undoes.get(taken_back, ""), None)
        return undone

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

    def stated_lately(self) -> list[str]:
        """What the user said in the transcripts of the last day, the latest first."""
        from picomem.clock import DAY
        from picomem.records.kinds import Origin

        try:
            hits = self.timeline(since=self._clock() - DAY, limit=_LATELY, scope=Scope(self.scope.user))
        except StoreError:
            return []
        return [hit.text for hit in hits if hit.role == "user" and hit.origin is Origin.USER]

    def _persons(self) -> list[str]:
        """What the person says for whom an agent acts; nothing where the person acts themselves."""
        if self._said or not self.caller.is_agent:
            return [self._said] if self._said else []
        return self.stated_lately()

    def show(self, episode_id: str) -> tuple[Episode, Transcript | None, Opened]:
        """An episode and the messages behind it, read from the transcript or the session itself. Raises NotFound."""
        from picomem.history.explain import find_episode
        from picomem.ingest.pointer import open_episode

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

    def status(self) -> Status:
        """What is in the store."""
        from picomem.memory.status import status

        with self._connector.read() as tx:
            limit = self.settings.memory.daily_token_limit
            found = status(tx, self.scope, self._clock(), self._connector, self.embedder_name, limit)
        return replace(found, embedder_trouble=self.embedder_trouble)

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

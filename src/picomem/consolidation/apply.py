"""Writes the result of one run of consolidation, in the caller's transaction.

A run writes these rows, all in one transaction and under one `run` id:

- `changes`: a row of verb `consolidate` and decision `consolidate`, without a memory, whose `before` and `after` are
  the pointer before and after; and a row of verb `consolidate` for each fact (add, merge, supersede, refuse), each
  invalidated memory (archive) and each rejected part (refuse);
- `memories`: the versions that those changes opened and closed, of source `consolidation`;
- `episodes`: one timeline entry (role `summary`, category `timeline`, key `ctx_{session}_{uuid}`), or several parts
  with one key for a `[RAW]` entry, with full text and vector; their position is the number of the message minus one;
- `transcripts`: the session's own row (host `picobot`, path `picomem:session/ID`), to which the entries point. The
  first run creates it, and later runs update it;
- `session_summaries`: the summary, if this run wrote one (`consolidations.summarised`);
- `lineage`: from the messages (`message`, id) to the memory version, to the refusal's change, to the timeline entry
  (`episode`, id, 0) and to the summary (`summary`, the session's id, 0), with the change that made it;
- `sessions`: the pointer, its time, and the count of failures, which is reset;
- `consolidations`: a row that records all this, and the previous pointer, failures and summary.

`spending` is written separately, and no undo reverts it. `undo.py` and `undo_consolidation.py` undo a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from picomem.clock import Micros
from picomem.coded_text import CodedText
from picomem.consolidation.material import Part
from picomem.consolidation.proposal_checks import CheckedProposal
from picomem.consolidation.undo_consolidation import CONSOLIDATED
from picomem.light_dataclass import dataclass, field, replace
from picomem.memory.decide import Offer
from picomem.memory.remember import Remembered, Writer
from picomem.memory.review_items import ReviewVerdict, settle_pair
from picomem.memory.text_cleaning import Cleaner
from picomem.memory.transcript_requests import importance_of_request
from picomem.memory.vectors import Prepared, Vectors
from picomem.policy.content_kind import kind_of
from picomem.provenance.requests import find_requests
from picomem.records.episode import Episode, Transcript
from picomem.records.ids import content_hash, new_id
from picomem.records.kinds import Decision, Kind, Origin, Source
from picomem.records.memory import Memory, Parent
from picomem.records.scope import Scope
from picomem.records.session import Role, Summary, session_path
from picomem.store.connector import Transaction
from picomem.store.tables import consolidations, episodes, memories, memory_lineage, session_rows, transcript_rows
from picomem.text.likeness import holds_words
from picomem.text.memory_keys import suggest_key
from picomem.text.tokens import count_tokens

_IMPORTANCE = 0.3  # of a timeline entry
_EXCERPT = 200  # characters of what was turned down that its change keeps

Offered = tuple[str, Origin, Remembered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """The result of a run. `offered` is each fact with its origin and what became of it; `timeline` the entry's
    text, all parts of it."""

    run: str
    change_id: str
    generator: str
    first: int
    last: int
    timeline: str
    summary: str
    covered: int
    origin: Origin
    unit: str  # what `first` and `last` number: messages or turns
    offered: tuple[Offered, ...]
    called_off: tuple[str, ...]
    turned_down: tuple[tuple[str, str], ...] = field(default=())


@dataclass(slots=True)
class ConsolidationRun:
    """One run in its transaction; `owner` is the scope of the session."""

    tx: Transaction
    part: Part
    checked: CheckedProposal
    writer: Writer
    generator: str
    owner: Scope
    cleaner: Cleaner
    unit: str = "messages"
    change_id: str = ""  # of the run's own change
    turned_down: list[tuple[str, str]] = field(default_factory=list)  # a text and the reason

    def all(self, texts: Sequence[str], vectors: Sequence[Prepared | None], store: Vectors | None) -> Applied:
        part = self.part
        before, after = self._before(), self._after()
        own = self.writer.record(self.tx, self.owner, CONSOLIDATED, self._reason(), before=before, after=after)
        self.change_id = own.id
        forgotten = self._forgotten()
        called_off = self._call_off()
        offered = self._requests(forgotten) + self._facts(forgotten)
        for down in self.checked.turned_down:
            self._refuse(down.text, down.reason, down.memory_id)
        stored = self._timeline(texts)
        if store is not None:
            for episode, vector in zip(stored, vectors, strict=True):
                store.store(self.tx, "episode", episode.doc, vector)
        self._keep_on_record(stored)
        return Applied(
            run=self.writer.run,
            change_id=self.change_id,
            generator=self.generator,
            first=self._first(),
            last=after,
            timeline="\n".join(texts),
            summary=self.checked.summary if part.covers else "",
            covered=part.covers,
            origin=self.checked.origin,
            unit=self.unit,
            offered=tuple(offered),
            called_off=tuple(called_off),
            turned_down=tuple(self.turned_down),
        )

    def _first(self) -> int:
        return self.part.first

    def _before(self) -> int:
        """Return where the pointer stands before the run."""
        return self.part.session.last_consolidated_seq

    def _after(self) -> int:
        """Return where the pointer stands after the run."""
        return self.part.last

    def _reason(self) -> str:
        return self._span("reason.consolidated", self.part.first, self.part.last)

    def _span(self, code: str, first: int, last: int) -> CodedText:
        session = self.part.session.id
        return CodedText(code, first=str(first), last=str(last), session=session, generator=self.generator)

    def _keep_on_record(self, stored: Sequence[Episode]) -> None:
        """Write the summary, move the pointer, and record what was there before."""
        part, session = self.part, self.part.session
        before = session_rows.summary(self.tx, self.owner, session.id) if part.covers else None
        self._summarise(before)
        consolidations.record(
            self.tx,
            self.owner,
            consolidations.Record(
                run=self.writer.run,
                change_id=self.change_id,
                session=session.id,
                generator=self.generator,
                first=part.first,
                last=part.last,
                before_seq=session.last_consolidated_seq,
                before_at=session.last_consolidated_at,
                before_failures=session.consolidation_failures,
                summary=before,
                summarised=bool(part.covers),
                episodes=tuple(episode.id for episode in stored),
                at=self.writer.now,
            ),
        )
        consolidations.move_pointer(self.tx, session, part.last, self.writer.now)

    def _forgotten(self) -> list[Memory]:
        """Return the memories that were forgotten after the first of these messages, which must not bring them
        back."""
        since = self.part.fresh[0].created_at
        archived = memories.archived(self.tx, self.owner)
        return [memory for memory in archived if memory.known_to is not None and memory.known_to > since]

    def _call_off(self) -> list[str]:
        called_off = []
        for memory in self.checked.invalidate:
            if self._unchanged(memory) is not None:
                reason = CodedText("reason.session_denies", session=self.part.session.id)
                change = self.writer.forget(self.tx, memory.scope, memory.id, reason)
                parents = self._parents(message.seq for message in self.part.fresh)
                memory_lineage.add_lineage(self.tx, self.owner, "change", change.id, 0, parents, change.id)
                called_off.append(memory.key)
        return called_off

    def _requests(self, forgotten: Sequence[Memory]) -> list[Offered]:
        """Find what the user asked to be remembered, as ingest finds it in transcripts, without a generator."""
        offered = []
        for message in self.part.fresh:
            if message.role is not Role.USER or message.origin is not Origin.USER:
                continue
            for wish in find_requests(self.cleaner.shown_text(message.content)):
                kind = kind_of(wish.content)
                key = suggest_key(wish.content, kind.value)
                offer = self._offer(
                    kind, wish.content, key, importance_of_request(kind), Origin.USER, message.created_at
                )
                offer = replace(offer, around=message.content, kind_given=True)
                offered += self._offered(offer, (message.seq,), forgotten)
        return offered

    def _facts(self, forgotten: Sequence[Memory]) -> list[Offered]:
        times = {message.seq: message.created_at for message in self.part.messages}
        offered = []
        for fact in self.checked.facts:
            said_at = times[fact.source]
            offer = self._offer(fact.kind, fact.content, fact.key, fact.importance, Origin.AGENT, said_at)
            if fact.is_personal:
                offer = replace(offer, scope=replace(self.owner, project=""))
            offer = replace(offer, kind_given=fact.kind_given, context=f"“{fact.quote}”")
            done = self._offered(offer, (fact.source,), forgotten)
            for _, _, remembered in done:
                if remembered.memory is not None and fact.replaces is not None:
                    self._replace(remembered.memory, fact.replaces)
            offered += done
        return offered

    def _replace(self, newer: Memory, older: Memory) -> None:
        """Let a memory end where the one that replaces it begins, if it is as the generator was shown it. A decision in
        a project does not end what holds everywhere."""
        now = self._unchanged(older)
        if now is not None and newer.id != now.id and newer.scope.project in ("", now.scope.project):
            by = {"code": "reason.reconciled", "generator": self.generator}
            settle_pair(self.tx, self.writer, newer, now, ReviewVerdict.SUPERSEDE, **by)

    def _unchanged(self, memory: Memory) -> Memory | None:
        now = memories.by_key(self.tx, memory.scope, memory.key)
        return now if now is not None and (now.id, now.version) == (memory.id, memory.version) else None

    def _offer(self, kind: Kind, content: str, key: str, importance: float, origin: Origin, said_at: Micros) -> Offer:
        """A preference is a person's, wherever it was said; the rest belongs to the project of the session. The key is
        a suggestion: what stands under it already gives way only to what is about the same."""
        personal = replace(self.owner, project="") if kind is Kind.PREFERENCE else self.owner
        return Offer(
            scope=personal,
            content=content,
            kind=kind,
            key=key,
            key_given=False,
            importance=importance,
            origin=origin,
            source=Source.CONSOLIDATION,
            valid_from=min(said_at, self.writer.now),
            explicit=False,
        )

    def _offered(self, offer: Offer, sources: Sequence[int], forgotten: Sequence[Memory]) -> list[Offered]:
        gone = next((memory for memory in forgotten if holds_words(memory.content, offer.content)), None)
        if gone is not None:
            self._refuse(offer.content, CodedText("reason.was_forgotten", key=gone.key))
            return []
        return [(offer.content, offer.origin, self.writer.remember(self.tx, offer, self._parents(sources)))]

    def _timeline(self, texts: Sequence[str]) -> list[Episode]:
        """Store the entry, and the row that stands for the session as a transcript."""
        entry = self._entry()
        parts = [
            replace(
                entry,
                id=new_id(),
                part=entry.part + number,
                preview=text,
                tokens=count_tokens(text),
                identity=content_hash(entry.key, str(number)),
            )
            for number, text in enumerate(texts)
        ]
        stored = episodes.insert_all(self.tx, self.owner, parts)
        parents = self._parents(message.seq for message in self.part.fresh)
        for episode in stored:
            memory_lineage.add_lineage(self.tx, self.owner, "episode", episode.id, 0, parents, self.change_id)
        return stored

    def _entry(self) -> Episode:
        """The entry without its text, at its place."""
        part, fresh = self.part, self.part.fresh
        return Episode(
            id="",
            transcript_id=self._transcript().id,
            first_turn=part.first - 1,
            last_turn=part.last - 1,
            part=0,
            start=part.first,
            end=part.last + 1,
            role="summary",
            origin=self.checked.origin,
            preview="",
            started_at=fresh[0].created_at,
            ended_at=fresh[-1].created_at,
            identity="",
            category="timeline",
            key=f"ctx_{part.session.id}_{new_id()}",
            importance=_IMPORTANCE,
            created_at=self.writer.now,
        )

    def _transcript(self) -> Transcript:
        """The session as a transcript: what timeline entries point into, and what a person can withhold."""
        part, session = self.part, self.part.session
        path = session_path(session.id)
        known = transcript_rows.transcript_at(self.tx, self.owner, path, session.id)
        transcript = known or Transcript(
            id=new_id(),
            host="picobot",
            path=path,
            session=session.id,
            agent=session.scope.agent,
            project=session.scope.project,
            started_at=part.fresh[0].created_at,
        )
        transcript = replace(
            transcript,
            title=session.title,
            ended_at=part.fresh[-1].created_at,
            turns=max(transcript.turns, part.last),
            updated_at=self.writer.now,
        )
        transcript_rows.put_transcript(self.tx, self.owner, transcript)
        return transcript

    def _summarise(self, before: Summary | None) -> None:
        part = self.part
        if not part.covers:
            return
        summary = Summary(
            session_id=part.session.id,
            text=self.checked.summary,
            origin=self.checked.origin,
            message_count=part.covered,
            covered_seq=part.covers,
            created_at=before.created_at if before else self.writer.now,
            updated_at=self.writer.now,
        )
        session_rows.put_summary(self.tx, self.owner, summary)
        parents = self._parents(message.seq for message in part.messages if message.seq <= part.covers)
        memory_lineage.add_lineage(self.tx, self.owner, "summary", part.session.id, 0, parents, self.change_id)

    def _parents(self, numbers: Iterable[int]) -> list[Parent]:
        wanted = set(numbers)
        return [Parent(kind="message", id=message.id) for message in self.part.messages if message.seq in wanted]

    def _refuse(self, text: str, reason: str, memory_id: str = "") -> None:
        """Put on record what was not even offered, with the messages that it came from."""
        self.turned_down.append((text, reason))
        excerpt = text[:_EXCERPT]
        change = self.writer.record(
            self.tx, self.owner, Decision.REFUSE, reason, memory_id=memory_id, candidate=excerpt
        )
        parents = self._parents(message.seq for message in self.part.fresh)
        memory_lineage.add_lineage(self.tx, self.owner, "change", change.id, 0, parents, change.id)

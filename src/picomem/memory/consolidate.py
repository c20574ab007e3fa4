"""Consolidating a conversation: what is read before a generator is asked, and the one transaction that keeps what came
of it. The thin part; what is due is decided in `sessions/due.py`, what may be kept in `proposed.py`, what becomes of
each fact in `decide.py`. Between the two stands `picomem/consolidation.py`, which asks the generator.

What a run leaves behind, all in one transaction and under one `run` id (nothing of it is anywhere else):

- `changes`: a row of verb `consolidate` and decision `consolidate`, without a memory, whose `before` and `after` are
  the pointer before and after; and a row for each fact (add, merge, supersede, refuse), each memory that was called off
  (archive) and each thing that was turned down (refuse), all of verb `consolidate`;
- `memories`: the versions that those changes opened and closed, of source `consolidation`;
- `episodes`: one timeline entry (role `summary`, category `timeline`, key `ctx_{session}_{uuid}`), in several parts of
  one key where it is a `[RAW]` one; with its full text and vector; their place is the messages' numbers minus one;
- `transcripts`: the session's own row (host `picobot`, path `picomem:session/ID`), made by the first run and only
  brought up to date by the later ones, as the place that the entries point into;
- `session_summaries`: the summary, if this run wrote one (`consolidations.summarised`);
- `lineage`: from the messages (`message`, id) to the memory version, to the refusal's change, to the timeline entry
  (`episode`, id, 0) and to the summary (`summary`, the session's id, 0), with the change that made it;
- `sessions`: pointer, its time, and the count of failures, which begins anew;
- `consolidations`: a row that says all that, and what pointer, failures and summary were before.

Beside it stands `spending`, which no undo takes back. What an undo does is in `undo.py` and `reopening.py`.

The transaction looks first whether the pointer and the messages are still what was read: if another process was
faster, or a message was purged meanwhile, nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import tzinfo

from picomem.clock import Clock, Micros, to_datetime
from picomem.errors import NotFound
from picomem.memory.clean import Cleaner
from picomem.memory.decide import Offer
from picomem.memory.likeness import Relation, compare
from picomem.memory.proposed import Taken, taken, worst
from picomem.memory.remember import Remembered, Writer
from picomem.memory.reopening import CONSOLIDATED
from picomem.memory.vectors import Prepared, Vectors
from picomem.models.generator import KnownMemory, Material, Proposal
from picomem.policy.requests import find_requests
from picomem.records.episode import Episode, Transcript
from picomem.records.ids import content_hash, new_id
from picomem.records.kinds import Decision, Kind, Origin, Source
from picomem.records.memory import Memory, Parent
from picomem.records.scope import Scope
from picomem.records.session import Message, Role, Session, Summary, session_path
from picomem.records.spend import Spend
from picomem.sessions.due import Triggers, due
from picomem.sessions.material import Part, part_of
from picomem.settings import Settings
from picomem.store import consolidations, episodes, memories, sessions
from picomem.store.connector import Connector, Row, Transaction
from picomem.text.terms import terms
from picomem.text.tokens import count_tokens
from picomem.values import dataclass, field, replace

RAW = "[RAW]"
_IMPORTANCE = 0.3  # of a timeline entry
_MOST_KNOWN = 24  # memories that a generator is shown
_LONGEST_PREVIEW = 1_500  # characters of an episode
_EXCERPT = 200  # characters of what was turned down that its change keeps
_RECALLING = ("recall", "search", "memory_get")  # in the names of tools that hand out what is in memory

MakeWriter = Callable[[str], Writer]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A part of what is due (up to the message `due_to`), with what the generator is shown of memory, and the marks of
    what was read."""

    part: Part
    due_to: int
    known: tuple[Memory, ...]
    material: Material
    marks: tuple[Row, ...]


Offered = tuple[str, Origin, Remembered]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a run did. `offered` is each fact with its origin and what became of it; `timeline` the entry's text, all
    parts of it."""

    run: str
    change_id: str
    generator: str
    first: int
    last: int
    timeline: str
    summary: str
    covered: int
    origin: Origin
    offered: tuple[Offered, ...]
    called_off: tuple[str, ...]
    turned_down: tuple[tuple[str, str], ...] = field(default=())


class Consolidator:
    """Reads and writes for the consolidation of one user's conversations."""

    def __init__(
        self,
        connector: Connector,
        scope: Scope,
        cleaner: Cleaner,
        vectors: Vectors | None,
        writer: MakeWriter,
        settings: Settings,
        clock: Clock,
        zone: tzinfo,
    ) -> None:
        self._connector = connector
        self._scope = scope
        self._cleaner = cleaner
        self._vectors = vectors
        self._writer = writer
        self._settings = settings
        self._clock = clock
        self._zone = zone

    # Before

    def waiting(self) -> list[Session]:
        """The sessions with messages that memory has not taken up, the one that waits longest first."""
        with self._connector.read() as tx:
            return consolidations.waiting(tx, self._scope)

    def ready(self, session_id: str, *, asked: bool = False) -> Ready | None:
        """The next part of a session that is due, or None. Raises NotFound and Corrupt."""
        with self._connector.read() as tx:
            session = self._session(tx, sessions.find_id(tx, self._scope, session_id))
            summary = sessions.summary(tx, self._scope, session.id)
            stands = summary.covered_seq if summary else 0
            if not self._settings.session.enable_summarization:
                stands = session.last_consolidated_seq
            loaded = sessions.messages_after(tx, self._scope, session.id, min(stands, session.last_consolidated_seq))
            found = due(session, loaded.messages, self._clock(), Triggers.of(self._settings), asked=asked)
            if found is None:
                return None
            if not self._settings.session.enable_summarization:
                found = replace(found, covers=0)
            window = self._settings.memory.consolidation_window
            part = part_of(session, loaded.messages, found, summary, window // 2, self._cleaner.shown_text)
            marks = sessions.marks(tx, self._scope, session.id, part.messages[0].seq - 1, part.last)
            known = self._known(tx, part, window // 10)
        material = self._material(part, known, window)
        return Ready(part=part, due_to=found.last, known=known, material=material, marks=marks)

    def _session(self, tx: Transaction, session_id: str) -> Session:
        found = sessions.session(tx, self._scope, session_id)
        if found is None:
            raise NotFound(f"There is no session “{session_id[:80]}”; `picomem sessions` lists them.")
        return found

    def _known(self, tx: Transaction, part: Part, room: int) -> tuple[Memory, ...]:
        """What is believed and shares words with the part, the likest first, within so many tokens."""
        said = frozenset(term for line in part.lines for term in terms(line.text))
        found = []
        for memory in memories.current(tx, part.session.scope, self._clock()):
            shared = len(said & frozenset(terms(f"{memory.key} {memory.content}")))
            if shared and memory.origin.trusted:
                found.append((-shared, memory.id, memory))
        kept: list[Memory] = []
        for _, _, memory in sorted(found, key=lambda each: each[:2])[:_MOST_KNOWN]:
            room -= memory.tokens + count_tokens(memory.key)
            if room < 0:
                break
            kept.append(self._cleaner.shown(memory))
        return tuple(kept)

    def _material(self, part: Part, known: Sequence[Memory], window: int) -> Material:
        return Material(
            lines=part.lines,
            known=tuple(KnownMemory(memory.key, memory.content) for memory in known),
            summary=self._cleaner.shown_text(part.summary.text) if part.summary and part.covers else "",
            summary_origin=part.summary.origin if part.summary else Origin.AGENT,
            summarise_to=part.covers,
            day=self._stamp(part),
            output_tokens=window // 4,
        )

    def reserve(self, model: str, most: Spend) -> bool:
        """Put on the books what a call may cost at most; False where the day's limit does not leave that much."""
        limit = self._settings.memory.daily_token_limit
        now = self._clock()
        with self._connector.write() as tx:
            if limit and consolidations.spent_on(tx, self._scope, now).tokens + most.tokens > limit:
                return False
            consolidations.add_spending(tx, self._scope, now, model, most)
        return True

    # After

    def settle(self, model: str, most: Spend, spend: Spend) -> None:
        """Set what was reserved for a call to what it cost."""
        with self._connector.write() as tx:
            consolidations.add_spending(tx, self._scope, self._clock(), model, spend + -most)

    def taken(self, ready: Ready, proposal: Proposal) -> Taken:
        """What may be kept of a proposal. Raises GeneratorFailed where it is none."""
        return taken(proposal, ready.part, ready.known, self._cleaner.shown_text)

    def failed(self, ready: Ready) -> int:
        """Count a failure of the generator; how many there were in a row, with this one."""
        with self._connector.write() as tx:
            consolidations.count_failure(tx, ready.part.session)
        return ready.part.session.consolidation_failures + 1

    def apply(self, ready: Ready, taken: Taken, generator: str, *, dry_run: bool = False) -> Applied | None:
        """Keep what came of a part; None where it was overtaken. With `dry_run` all is done, and then taken back."""
        texts = self._entry(ready.part, taken.timeline)
        with_vectors = self._vectors is not None and not dry_run
        vectors = self._vectors.prepare(texts) if self._vectors and with_vectors else [None] * len(texts)
        writer = self._writer(f"consolidation:{generator}")
        writer.recalled = (*writer.recalled, *_recalled(ready.part.messages))
        if dry_run:
            writer.store_vector = None
        try:
            with self._connector.write() as tx:
                if not self._unchanged(tx, ready):
                    return None
                done = _Applying(tx, ready, taken, writer, generator, ready.part.session.scope, self._cleaner)
                applied = done.all(texts, vectors, self._vectors if with_vectors else None)
                if dry_run:
                    raise _TakenBack(applied)
        except _TakenBack as end:
            return end.applied
        if self._vectors is not None:
            self._vectors.store_waiting(self._connector)
        return applied

    def _unchanged(self, tx: Transaction, ready: Ready) -> bool:
        part = ready.part
        now = sessions.session(tx, self._scope, part.session.id)
        if now is None or now.last_consolidated_seq != part.session.last_consolidated_seq:
            return False
        if sessions.summary(tx, self._scope, part.session.id) != part.summary:
            return False
        return sessions.marks(tx, self._scope, part.session.id, part.messages[0].seq - 1, part.last) == ready.marks

    def _entry(self, part: Part, timeline: str) -> list[str]:
        """The parts of the timeline entry, each under its time."""
        stamp = self._stamp(part)
        if not timeline.startswith(RAW):
            return [f"[{stamp}] {timeline}"[:_LONGEST_PREVIEW]]
        room = _LONGEST_PREVIEW - len(stamp) - len(RAW) - 4
        body = timeline.removeprefix(RAW).strip()
        return [f"[{stamp}] {RAW} {piece}" for piece in _pieces(body, room)]

    def _stamp(self, part: Part) -> str:
        return f"{to_datetime(part.fresh[-1].created_at, self._zone):%Y-%m-%d %H:%M}"


class _TakenBack(Exception):
    """A dry run is over."""

    def __init__(self, applied: Applied) -> None:
        super().__init__()
        self.applied = applied


@dataclass(slots=True)
class _Applying:
    """One run in its transaction."""

    tx: Transaction
    ready: Ready
    taken: Taken
    writer: Writer
    generator: str
    owner: Scope
    cleaner: Cleaner
    change_id: str = ""  # of the run's own change

    def all(self, texts: Sequence[str], vectors: Sequence[Prepared | None], store: Vectors | None) -> Applied:
        part = self.ready.part
        session = part.session
        reason = f"messages {part.first} to {part.last} of session {session.id}, by {self.generator}"
        before_seq = session.last_consolidated_seq
        own = self.writer.record(self.tx, self.owner, CONSOLIDATED, reason, before=before_seq, after=part.last)
        self.change_id = own.id
        forgotten = self._forgotten()
        called_off = self._call_off()
        offered = self._requests(forgotten) + self._facts(forgotten)
        for down in self.taken.turned_down:
            self._refuse(down.text, down.reason, down.memory_id)
        stored = self._timeline(texts)
        if store is not None:
            for episode, vector in zip(stored, vectors, strict=True):
                store.store(self.tx, "episode", episode.doc, vector)
        before = sessions.summary(self.tx, self.owner, part.session.id) if part.covers else None
        self._summarise(before)
        consolidations.record(
            self.tx,
            consolidations.Run(
                id=self.writer.run,
                change_id=self.change_id,
                before=part.session,
                before_summary=before,
                summarised=bool(part.covers),
                generator=self.generator,
                first=part.first,
                last=part.last,
                episodes=tuple(episode.id for episode in stored),
                at=self.writer.now,
            ),
        )
        consolidations.move_pointer(self.tx, part.session, part.last, self.writer.now)
        return Applied(
            run=self.writer.run,
            change_id=self.change_id,
            generator=self.generator,
            first=part.first,
            last=part.last,
            timeline="\n".join(texts),
            summary=self.taken.summary if part.covers else "",
            covered=part.covers,
            origin=self.taken.origin,
            offered=tuple(offered),
            called_off=tuple(called_off),
            turned_down=tuple((down.text, down.reason) for down in self.taken.turned_down),
        )

    def _forgotten(self) -> list[Memory]:
        """What was forgotten since the first of these messages was said: it must not come back by them."""
        since = self.ready.part.fresh[0].created_at
        found = memories.archived(self.tx, self.owner)
        return [memory for memory in found if memory.known_to is not None and memory.known_to > since]

    def _call_off(self) -> list[str]:
        called_off = []
        for memory in self.taken.invalidate:
            now = memories.by_key(self.tx, memory.scope, memory.key)
            if now is not None and now.id == memory.id and now.version == memory.version:
                reason = f"it holds no longer, says session {self.ready.part.session.id}"
                change = self.writer.forget(self.tx, memory.scope, memory.id, reason)
                parents = self._parents(message.seq for message in self.ready.part.fresh)
                memories.add_lineage(self.tx, self.owner, "change", change.id, 0, parents, change.id)
                called_off.append(memory.key)
        return called_off

    def _requests(self, forgotten: Sequence[Memory]) -> list[Offered]:
        """What the user asked to be remembered, as ingest finds it in transcripts: no generator decides on that."""
        offered = []
        for message in self.ready.part.fresh:
            if message.role is not Role.USER or message.origin is not Origin.USER:
                continue
            for wish in find_requests(self.cleaner.shown_text(message.content)):
                offer = self._offer(wish.kind, wish.content, wish.key, wish.importance, Origin.USER, message.created_at)
                offer = replace(offer, around=message.content, kind_given=True)
                offered += self._offered(offer, (message.seq,), forgotten)
        return offered

    def _facts(self, forgotten: Sequence[Memory]) -> list[Offered]:
        times = {message.seq: message.created_at for message in self.ready.part.messages}
        offered = []
        for fact in self.taken.facts:
            said_at = max((times[number] for number in fact.sources), default=self.writer.now)
            offer = self._offer(fact.kind, fact.content, fact.key, fact.importance, fact.origin, said_at)
            offered += self._offered(replace(offer, kind_given=fact.kind_given), fact.sources, forgotten)
        return offered

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
        same = (Relation.SAME, Relation.CONTAINED)
        gone = next((each for each in forgotten if compare(offer.content, each.content).relation in same), None)
        if gone is not None:
            self._refuse(offer.content, f"“{gone.key}” said this and was forgotten since")
            return []
        return [(offer.content, offer.origin, self.writer.remember(self.tx, offer, self._parents(sources)))]

    def _timeline(self, texts: Sequence[str]) -> list[Episode]:
        """Store the entry, and the row that stands for the session as a transcript."""
        part = self.ready.part
        fresh = part.fresh
        transcript = self._transcript()
        key = f"ctx_{part.session.id}_{new_id()}"
        entry = Episode(
            id="",
            transcript_id=transcript.id,
            first_turn=part.first - 1,
            last_turn=part.last - 1,
            part=0,
            start=part.first,
            end=part.last + 1,
            role="summary",
            origin=self.taken.origin,
            preview="",
            started_at=fresh[0].created_at,
            ended_at=fresh[-1].created_at,
            identity="",
            category="timeline",
            key=key,
            importance=_IMPORTANCE,
            created_at=self.writer.now,
        )
        parts = [
            replace(
                entry,
                id=new_id(),
                part=number,
                preview=text,
                tokens=count_tokens(text),
                identity=content_hash(key, str(number)),
            )
            for number, text in enumerate(texts)
        ]
        stored = episodes.insert_all(self.tx, self.owner, parts)
        parents = self._parents(message.seq for message in fresh)
        for episode in stored:
            memories.add_lineage(self.tx, self.owner, "episode", episode.id, 0, parents, self.change_id)
        return stored

    def _transcript(self) -> Transcript:
        """The session as a transcript: what timeline entries point into, and what a person can withhold."""
        part = self.ready.part
        session = part.session
        path = session_path(session.id)
        found = episodes.transcript_at(self.tx, self.owner, path, session.id)
        transcript = found or Transcript(
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
        episodes.put_transcript(self.tx, self.owner, transcript)
        return transcript

    def _summarise(self, before: Summary | None) -> None:
        part = self.ready.part
        if not part.covers:
            return
        summary = Summary(
            session_id=part.session.id,
            text=self.taken.summary,
            origin=self.taken.origin,
            message_count=part.covered,
            covered_seq=part.covers,
            created_at=before.created_at if before else self.writer.now,
            updated_at=self.writer.now,
        )
        sessions.put_summary(self.tx, self.owner, summary)
        parents = self._parents(message.seq for message in part.messages if message.seq <= part.covers)
        memories.add_lineage(self.tx, self.owner, "summary", part.session.id, 0, parents, self.change_id)

    def _parents(self, numbers: Iterable[int]) -> list[Parent]:
        wanted = set(numbers)
        return [Parent(kind="message", id=each.id) for each in self.ready.part.messages if each.seq in wanted]

    def _refuse(self, text: str, reason: str, memory_id: str = "") -> None:
        """Put on record what was not even offered, with the messages that it came from."""
        excerpt = text[:_EXCERPT]
        change = self.writer.record(
            self.tx, self.owner, Decision.REFUSE, reason, memory_id=memory_id, candidate=excerpt
        )
        parents = self._parents(message.seq for message in self.ready.part.fresh)
        memories.add_lineage(self.tx, self.owner, "change", change.id, 0, parents, change.id)


def raw(part: Part) -> Taken:
    """What is kept where no generator had anything to say: the new messages as they are, long ones cut (A11)."""
    lines = [line for line in part.lines if line.fresh]
    said = "\n".join(f"{line.role}: {line.text}" for line in lines)
    numbers = f"messages {part.first} to {part.last}, without words of anybody's"
    return Taken(
        facts=(),
        invalidate=(),
        timeline=f"{RAW} {said or numbers}",
        summary=_with_earlier(part, said or numbers),
        origin=worst([line.origin for line in part.lines] + ([part.summary.origin] if part.summary else [])),
    )


def _with_earlier(part: Part, said: str) -> str:
    """A summary without a generator: the one before, and the beginning of what is covered now."""
    if not part.covers:
        return ""
    earlier = part.summary.text if part.summary else ""
    return f"{earlier}\n{RAW} {said}".strip()[-4_000:]


def _pieces(text: str, room: int) -> list[str]:
    """A text in pieces, cut where a line or a word ends."""
    pieces = []
    while len(text) > room:
        head = text[:room]
        cut = max(head.rfind("\n"), head.rfind(" "))
        cut = cut if cut > room // 2 else room
        pieces.append(text[:cut].strip())
        text = text[cut:].strip()
    return [*pieces, text] if text or not pieces else pieces


def _recalled(messages: Sequence[Message]) -> list[str]:
    """What memory's own tools handed out in these messages: an agent that repeats it says nothing new."""
    asked = {
        call.id for message in messages for call in message.tool_calls if any(name in call.name for name in _RECALLING)
    }
    return [message.content for message in messages if message.role is Role.TOOL and message.tool_call_id in asked]

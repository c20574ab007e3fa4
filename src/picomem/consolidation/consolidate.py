"""Consolidates a conversation: prepares the input of a generator, and applies its answer in one transaction.

This is the thin part. `due.py` decides what is due, `proposal_checks.py` what may be kept, and `memory/decide.py` the
outcome of each fact; `apply.py` writes it. In between, `picomem/consolidation_runner.py` asks the generator.

The transaction first checks that the pointer and the messages are unchanged since they were read. If another process
was faster, or a message was purged meanwhile, nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import tzinfo

from picomem.clock import Clock, Micros, to_datetime
from picomem.coded_text import CodedText, Command
from picomem.consolidation.apply import Applied, ConsolidationRun
from picomem.consolidation.due import Triggers, due
from picomem.consolidation.material import Part, TranscriptPlace, part_of
from picomem.consolidation.proposal_checks import CheckedProposal, check_proposal, worst
from picomem.errors import NotFound
from picomem.light_dataclass import dataclass, replace
from picomem.memory.lease import Heartbeat, Lease
from picomem.memory.remember import Writer
from picomem.memory.text_cleaning import Cleaner
from picomem.memory.vectors import Vectors
from picomem.models.generator import KnownMemory, Material, Proposal
from picomem.records.kinds import Origin
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.records.session import Message, Role, Session
from picomem.records.spend import Spend
from picomem.settings import Settings
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import consolidations, memories, session_rows
from picomem.text.terms import terms
from picomem.text.tokens import count_tokens

# The texts of a timeline entry, each within an episode's preview. Pure.
#
# If no generator produced an entry, the entry consists of the messages themselves (A11).

RAW = "[RAW]"
_LONGEST_PREVIEW = 1_500  # characters of an episode
_LONGEST_SUMMARY = 4_000  # characters


def entry(stamp: str, timeline: str) -> list[str]:
    """The texts of an entry, each under its time; only a raw one has several."""
    if not timeline.startswith(RAW):
        return [f"[{stamp}] {timeline}"[:_LONGEST_PREVIEW]]
    room = _LONGEST_PREVIEW - len(stamp) - len(RAW) - 4
    body = timeline.removeprefix(RAW).strip()
    return [f"[{stamp}] {RAW} {piece}" for piece in _pieces(body, room)]


def raw(part: Part) -> CheckedProposal:
    """The entry of a part without a generator: the new messages as they are, long ones cut."""
    lines = [line for line in part.lines if line.fresh]
    said = "\n".join(f"{line.role}: {line.text}" for line in lines)
    numbers = f"messages {part.first} to {part.last}, without words of anybody's"
    return CheckedProposal(
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
    return f"{earlier}\n{RAW} {said}".strip()[-_LONGEST_SUMMARY:]


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


_MOST_KNOWN = 24  # memories that a generator is shown
_RECALLING = ("recall", "search", "memory_get")  # in the names of tools that return memories

MakeWriter = Callable[[str], Writer]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedPart:
    """A part of what is due (up to the message `due_to`), with what the generator is shown of memory, and the marks of
    what was read. `place` says where the part of a transcript stands in it."""

    part: Part
    due_to: int
    known: tuple[Memory, ...]
    material: Material
    marks: tuple[session_rows.MessageMark, ...] = ()
    place: TranscriptPlace | None = None


class Consolidator:
    """Reads and writes for the consolidation of one user's conversations with PicoBot."""

    works_without_model = True  # due messages are consolidated at the daily limit, and after failures, as well

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
        """Return the sessions with unconsolidated messages, the one that waits longest first."""
        with self._connector.read() as tx:
            return consolidations.waiting(tx, self._scope)

    def ready(self, session_id: str, *, asked: bool = False) -> PreparedPart | None:
        """The next part of a session that is due, or None. Raises NotFound and Corrupt."""
        with self._connector.read() as tx:
            session = self._session(tx, session_rows.find_id(tx, self._scope, session_id))
            summary = session_rows.summary(tx, self._scope, session.id)
            stands = summary.covered_seq if summary else 0
            if not self._settings.session.enable_summarization:
                stands = session.last_consolidated_seq
            loaded = session_rows.messages_after(
                tx, self._scope, session.id, min(stands, session.last_consolidated_seq)
            )
            due_now = due(session, loaded.messages, self._clock(), Triggers.of(self._settings, self._zone), asked=asked)
            if due_now is None:
                return None
            if not self._settings.session.enable_summarization:
                due_now = replace(due_now, covers=0)
            window = self._settings.memory.consolidation_window
            part = part_of(session, loaded.messages, due_now, summary, window // 2, self._cleaner.shown_text)
            marks = session_rows.marks(tx, self._scope, session.id, part.messages[0].seq - 1, part.last)
            known = self._known(tx, part, window // 10)
        material = self._material(part, known, window)
        return PreparedPart(part=part, due_to=due_now.last, known=known, material=material, marks=marks)

    def _session(self, tx: Transaction, session_id: str) -> Session:
        session = session_rows.session(tx, self._scope, session_id)
        if session is None:
            raise NotFound(CodedText("failure.no_conversation", name=session_id[:80], command=Command("sessions")))
        return session

    def _known(self, tx: Transaction, part: Part, room: int) -> tuple[Memory, ...]:
        """Return the current memories that share words with the part, most similar first, within a token budget."""
        said = frozenset(term for line in part.lines for term in terms(line.text))
        sharing = []
        for memory in memories.current(tx, part.session.scope, self._clock()):
            shared = len(said & frozenset(terms(f"{memory.key} {memory.content}")))
            if shared and memory.origin.trusted:
                sharing.append((-shared, memory.id, memory))
        kept: list[Memory] = []
        for _, _, memory in sorted(sharing, key=lambda ranked: ranked[:2])[:_MOST_KNOWN]:
            room -= memory.tokens + count_tokens(memory.key)
            if room < 0:
                break
            kept.append(self._cleaner.shown(memory))
        return tuple(kept)

    def _material(self, part: Part, known: Sequence[Memory], window: int) -> Material:
        return Material(
            lines=part.lines,
            known=tuple(KnownMemory(memory.key, memory.content, self._day(memory.valid_from)) for memory in known),
            summary=self._cleaner.shown_text(part.summary.text) if part.summary and part.covers else "",
            summary_origin=part.summary.origin if part.summary else Origin.AGENT,
            summarise_to=part.covers,
            day=self._stamp(part),
            output_tokens=window // 4,
        )

    def lease(self) -> Lease:
        """The right to ask a model about this user's conversations: what two ask at once, both pay for."""
        return Lease(scope=self._scope, name="consolidating", clock=self._clock)

    def begun(self, ready: PreparedPart, lease: Lease) -> str:
        """Take the lease; why a model is not to be asked: "busy" where another process asks one, "overtaken" where it
        has, and else an empty string."""
        with self._connector.write(self._scope) as tx:
            if not lease.acquire(tx):
                return "busy"
            if not self._unchanged(tx, ready):
                lease.give_back(tx)
                return "overtaken"
        return ""

    def renewing(self, lease: Lease) -> Heartbeat:
        """Renew the lease for as long as the model takes."""
        return Heartbeat(self._connector, lease)

    def ended(self, lease: Lease, heartbeat: Heartbeat) -> None:
        """Give the lease back."""
        heartbeat.stop()
        with self._connector.write(self._scope) as tx:
            lease.give_back(tx)

    def reserve(self, model: str, most: Spend) -> bool:
        """Put on the books what a call may cost at most; False where the day's limit does not leave that much."""
        limit = self._settings.memory.daily_token_limit
        now = self._clock()
        with self._connector.write(self._scope) as tx:
            if limit and consolidations.spent_on(tx, self._scope, now).tokens + most.tokens > limit:
                return False
            consolidations.add_spending(tx, self._scope, now, model, most)
        return True

    # After

    def settle(self, model: str, most: Spend, spend: Spend) -> None:
        """Set what was reserved for a call to what it cost."""
        with self._connector.write(self._scope) as tx:
            consolidations.add_spending(tx, self._scope, self._clock(), model, spend + -most)

    def check_proposal(self, ready: PreparedPart, proposal: Proposal) -> CheckedProposal:
        """The parts of a proposal that pass the checks. Raises GeneratorFailed for an invalid proposal."""
        return check_proposal(proposal, ready.part, ready.known, self._cleaner.shown_text)

    def failed(self, ready: PreparedPart) -> int:
        """Count a failure of the generator; how many there were in a row, with this one."""
        with self._connector.write(self._scope) as tx:
            consolidations.count_failure(tx, ready.part.session)
        return ready.part.session.consolidation_failures + 1

    def apply(
        self, ready: PreparedPart, checked: CheckedProposal, generator: str, *, dry_run: bool = False
    ) -> Applied | None:
        """Store the result of a part; None if another process was faster. With `dry_run` everything is rolled back."""
        texts = entry(self._stamp(ready.part), checked.timeline)
        with_vectors = self._vectors is not None and not dry_run
        vectors = self._vectors.prepare(texts) if self._vectors and with_vectors else [None] * len(texts)
        writer = self._writer(f"consolidation:{generator}")
        writer.recalled = (*writer.recalled, *_recalled(ready.part.messages))
        if dry_run:
            writer.store_vector = None
        try:
            with self._connector.write(self._scope) as tx:
                if not self._unchanged(tx, ready):
                    return None
                done = self._run(tx, ready, checked, writer, generator)
                applied = done.all(texts, vectors, self._vectors if with_vectors else None)
                if dry_run:
                    raise _DryRunEnded(applied)
        except _DryRunEnded as end:
            return end.applied
        if self._vectors is not None:
            self._vectors.store_waiting(self._connector)
        return applied

    def _run(
        self, tx: Transaction, ready: PreparedPart, checked: CheckedProposal, writer: Writer, generator: str
    ) -> ConsolidationRun:
        return ConsolidationRun(tx, ready.part, checked, writer, generator, ready.part.session.scope, self._cleaner)

    def _unchanged(self, tx: Transaction, ready: PreparedPart) -> bool:
        part = ready.part
        now = session_rows.session(tx, self._scope, part.session.id)
        if now is None or now.last_consolidated_seq != part.session.last_consolidated_seq:
            return False
        if session_rows.summary(tx, self._scope, part.session.id) != part.summary:
            return False
        return session_rows.marks(tx, self._scope, part.session.id, part.messages[0].seq - 1, part.last) == ready.marks

    def _day(self, at: Micros) -> str:
        return f"{to_datetime(at, self._zone):%Y-%m-%d}"

    def _stamp(self, part: Part) -> str:
        return f"{to_datetime(part.fresh[-1].created_at, self._zone):%Y-%m-%d %H:%M}"


class _DryRunEnded(Exception):
    """A dry run is over."""

    def __init__(self, applied: Applied) -> None:
        super().__init__()
        self.applied = applied


def _recalled(messages: Sequence[Message]) -> list[str]:
    """Return the texts that memory's own tools returned in these messages: repeating them says nothing new."""
    asked = {
        call.id for message in messages for call in message.tool_calls if any(name in call.name for name in _RECALLING)
    }
    return [message.content for message in messages if message.role is Role.TOOL and message.tool_call_id in asked]

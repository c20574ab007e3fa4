"""Consolidates transcripts: conversations that other programs own, stored as episodes.

This works as for a conversation with PicoBot (`consolidate.py`, `apply.py`), with these differences:

- Episodes replace messages, and lineage leads to them.
- The end of the latest recorded run is the position in a transcript; only a purge or an undo moves it back.
- Requests of the person were extracted when the transcript was ingested, and no prompt waits for a summary.
- Without a model, or at the daily limit, nothing happens, because recall finds the episodes anyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from picomem.coded_text import CodedText, Command
from picomem.consolidation.apply import ConsolidationRun, Offered
from picomem.consolidation.consolidate import Consolidator, PreparedPart
from picomem.consolidation.due import Due, Trigger, Triggers
from picomem.consolidation.material import (
    MOST_TOKENS,
    ConsolidatedUpTo,
    Part,
    TranscriptPlace,
    fresh_episodes,
    hints_of,
    messages_of,
    part_of,
    turns_before,
)
from picomem.consolidation.proposal_checks import CheckedProposal, own_text
from picomem.errors import NotFound, Refused
from picomem.light_dataclass import dataclass, replace
from picomem.memory.remember import Writer
from picomem.recall.hit_sessions import session_title
from picomem.records.episode import Episode, Transcript
from picomem.records.memory import Memory, Parent
from picomem.records.session import Channel, Session
from picomem.store.connector import Transaction
from picomem.store.tables import consolidations, episodes, transcript_rows
from picomem.store.tables.session_names import Place, find_session

_TOKENS_OF_A_CALL = 1_800  # of the task, what is known, and a usual answer
_ENTRY_PART = 1_000  # so that an entry stands behind the parts of the turn with which it begins


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTranscript:
    """A transcript with something new, and what its consolidation may cost: calls, and tokens in all. `title` is the
    host's, or else the first request."""

    transcript: Transcript
    title: str
    episodes: int
    calls: int
    tokens: int


class TranscriptConsolidator(Consolidator):
    """Reads and writes for the consolidation of one user's transcripts."""

    works_without_model = False

    def waiting_transcripts(self, *, only_idle: bool = False) -> list[WaitingTranscript]:
        """The transcripts with something new, the latest first; with `only_idle` those in which nothing was said for
        `memory.idle_consolidation_minutes`, or since `memory.consolidation_time`."""
        most = self._settings.memory.consolidation_window // 2
        quiet = Triggers.of(self._settings, self._zone).quiet_before(self._clock())
        waiting = []
        with self._connector.read() as tx:
            for row in consolidations.waiting_transcripts(tx, self._scope, MOST_TOKENS):
                transcript = transcript_rows.transcript(tx, self._scope, row.id)
                if transcript is None or (only_idle and (transcript.ended_at or 0) > quiet):
                    continue
                calls = -(-row.tokens // most)
                tokens = row.tokens + calls * _TOKENS_OF_A_CALL
                waiting.append(
                    WaitingTranscript(
                        transcript=transcript,
                        title=self._title(tx, transcript),
                        episodes=row.episodes,
                        calls=calls,
                        tokens=tokens,
                    )
                )
        return waiting

    def find(self, name: str) -> str:
        """The id of the transcript of a session, by the session's id or the beginning of one. Raises NotFound."""
        with self._connector.read() as tx:
            session = find_session(tx, self._scope, name, Place.TRANSCRIPTS)
            if not session:
                raise NotFound(
                    CodedText(
                        "failure.no_session_or_transcript",
                        name=name[:80],
                        sessions=Command("sessions"),
                        timeline=Command("timeline", json=True),
                    )
                )
            return transcript_rows.longest_transcript(tx, self._scope, session)

    def ready(self, session_id: str, *, asked: bool = False) -> PreparedPart | None:  # noqa: ARG002 - see waiting
        """The next part of the transcript of that id, or None. Raises NotFound, Refused and Corrupt."""
        window = self._settings.memory.consolidation_window
        with self._connector.read() as tx:
            transcript = transcript_rows.transcript(tx, self._scope, session_id)
            if transcript is None:
                raise NotFound(f"There is no transcript {session_id}.")
            if transcript.send_policy == "deny":
                raise Refused(CodedText("failure.withheld_from_models", command=Command("withhold", help=True)))
            reached = self._reached(tx, transcript)
            there = episodes.of_transcript(tx, self._scope, transcript.id, [])
            shown = fresh_episodes(transcript, there, reached)
            if not any(char.isalnum() for episode in shown for char in episode.preview):
                return None
            session = self._session_of(tx, transcript)
            messages = messages_of(transcript, shown)
            everything = Due(Trigger.ASKED, 1, len(messages), 0)
            part = _of_own_words(part_of(session, messages, everything, None, window // 2, self._cleaner.shown_text))
            known = self._known(tx, part, window // 10)
        place = TranscriptPlace(
            transcript=transcript,
            reached=reached,
            shown=tuple(shown[part.first - 1 : part.last]),
            first_turn=shown[part.first - 1].first_turn + 1,
            last_turn=turns_before(shown, part.last, transcript.turns),
        )
        hints = [replace(hint, text=self._cleaner.shown_text(hint.text)) for hint in hints_of(shown, part.lines)]
        material = replace(self._material(part, known, window), hints=tuple(hints))
        # What is shown next is numbered from 1 again, so a run has no number at which to end.
        return PreparedPart(part=part, due_to=transcript.turns, known=known, material=material, place=place)

    def _reached(self, tx: Transaction, transcript: Transcript) -> ConsolidatedUpTo:
        run = consolidations.latest_of_transcript(tx, self._scope, transcript.id)
        return ConsolidatedUpTo(turns=run.last, generation=run.generation, at=run.at) if run else ConsolidatedUpTo()

    def _session_of(self, tx: Transaction, transcript: Transcript) -> Session:
        """The transcript as a session, for what both have in common."""
        return Session(
            id=transcript.session or transcript.id,
            scope=replace(self._scope, project=transcript.project),
            channel=Channel.API,
            title=self._title(tx, transcript),
            created_at=transcript.started_at or 0,
            last_active_at=transcript.ended_at or 0,
        )

    def _title(self, tx: Transaction, transcript: Transcript) -> str:
        return session_title(tx, self._scope, transcript, self._cleaner.shown_text)[0]

    def failed(self, ready: PreparedPart) -> int:  # noqa: ARG002 - no failure of a transcript is counted in the store
        return 1

    def _unchanged(self, tx: Transaction, ready: PreparedPart) -> bool:
        place = _place_of(ready)
        now = transcript_rows.transcript(tx, self._scope, place.transcript.id)
        if now is None or now.send_policy == "deny" or now.generation != place.transcript.generation:
            return False
        if self._reached(tx, now) != place.reached:
            return False
        there = {episode.id: episode.preview for episode in episodes.of_transcript(tx, self._scope, now.id, [])}
        # The last one may have grown meanwhile; the next run consolidates what was added to it.
        return all(there.get(episode.id, "").startswith(episode.preview) for episode in place.shown)

    def _run(
        self, tx: Transaction, ready: PreparedPart, checked: CheckedProposal, writer: Writer, generator: str
    ) -> ConsolidationRun:
        scope = ready.part.session.scope
        run = _TranscriptConsolidationRun(
            tx, ready.part, checked, writer, generator, scope, self._cleaner, unit="turns"
        )
        run.place = _place_of(ready)
        return run


def _of_own_words(part: Part) -> Part:
    """The part as a generator is shown it: what others wrote is left out, if the user or the agent says anything. So
    nothing that a page says can become a memory, and the summary of a session in which one was read is trusted."""
    own = [replace(line, text=own_text(line).strip()) for line in part.lines if line.origin.trusted]
    return replace(part, lines=tuple(line for line in own if line.text) or part.lines)


def _place_of(ready: PreparedPart) -> TranscriptPlace:
    assert ready.place is not None
    return ready.place


class _TranscriptConsolidationRun(ConsolidationRun):
    """One run on a transcript in its transaction."""

    place: TranscriptPlace

    def _first(self) -> int:
        return self.place.first_turn

    def _before(self) -> int:
        return self.place.reached.turns

    def _after(self) -> int:
        return self.place.last_turn

    def _reason(self) -> str:
        return self._span("reason.consolidated_turns", self.place.first_turn, self.place.last_turn)

    def _requests(self, forgotten: Sequence[Memory]) -> list[Offered]:  # noqa: ARG002 - ingest found them
        return []

    def _entry(self) -> Episode:
        shown = self.place.shown
        return replace(
            ConsolidationRun._entry(self),
            first_turn=shown[0].first_turn,
            last_turn=max(episode.last_turn for episode in shown),
            part=_ENTRY_PART,
            start=min(episode.start for episode in shown),
            end=max(episode.end for episode in shown),
        )

    def _transcript(self) -> Transcript:
        return self.place.transcript

    def _keep_on_record(self, stored: Sequence[Episode]) -> None:
        place = self.place
        consolidations.record(
            self.tx,
            self.owner,
            consolidations.Record(
                run=self.writer.run,
                change_id=self.change_id,
                session="",
                transcript=place.transcript.id,
                generation=place.transcript.generation,
                generator=self.generator,
                first=place.first_turn,
                last=place.last_turn,
                before_seq=place.reached.turns,
                before_at=None,
                before_failures=0,
                summary=None,
                summarised=False,
                episodes=tuple(episode.id for episode in stored),
                at=self.writer.now,
            ),
        )

    def _parents(self, numbers: Iterable[int]) -> list[Parent]:
        wanted = set(numbers)
        return [Parent(kind="episode", id=message.id) for message in self.part.messages if message.seq in wanted]

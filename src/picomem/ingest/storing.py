"""The transaction of an ingest: the pieces of a stretch of a transcript, the requests in them, and the cursor.

Stretches of several transcripts may be stored in one transaction. It ends after a moment, so that other processes can
write as well; the rest is stored in the next one.

Requests on an abandoned branch are not proposed. If the rewind appears only in a later reading, the memory already
exists, and a person may have built on it: it stays, and its source is shown as being on an abandoned branch. (If the
branch is resumed later, its requests were read before and are not proposed again.)

Copies give their turns once: the episodes point into the transcript that was read first, and the record of the copy
remembers the owner. When the first file is gone, the copy is read again, and the pointers move to it. What the file of
a sub-agent repeats of its session belongs to the session's own file, whichever was read first: there the user speaks.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import Enum, auto
from functools import lru_cache

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt, InvalidInput, NotFound
from picomem.ingest.batch import Batch, PieceVectors, PreparedPiece
from picomem.ingest.discovery import FoundTranscript
from picomem.ingest.episode_packing import Piece, PieceDecision, decide_piece, episode_of, is_repeated
from picomem.ingest.report import Report
from picomem.ingest.resuming import ResumedTranscript, is_gone, rows_of
from picomem.ingest.send_policies import HostPolicies
from picomem.light_dataclass import dataclass, replace
from picomem.provenance.requests import Candidate, find_requests
from picomem.records.episode import DENY, Episode, Transcript
from picomem.records.ids import new_id
from picomem.records.kinds import worst
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import episode_events, episodes, transcript_rows
from picomem.store.tables.tombstones import Tombstones

LOCK_SECONDS = 0.2  # after which a transaction takes no further stretch: others wait to write meanwhile


@dataclass(frozen=True, slots=True)
class TranscriptRequest:
    """A memory that a person asked for in a transcript, all that they said with it, and the episode in which they
    did. `question` is what the agent had asked, where they answered a form."""

    candidate: Candidate
    said: str
    episode_id: str
    at: Micros | None
    project: str
    question: str = ""


Propose = Callable[
    [Transaction, Sequence[TranscriptRequest], str], Sequence[str]
]  # with the run's id; what was decided on each


class Overtaken(Exception):
    """Another process has read on in this transcript since we looked, or purged it."""


class StretchOutcome(Enum):
    """The outcome of storing a stretch."""

    STORED = auto()
    OVERTAKEN = auto()


@dataclass(slots=True)
class Stretch:
    """A stretch of a transcript, ready to be stored, and the transcript's record as it is `after` it.

    `report` is what is to be told of it when it is stored; `stored` says that it is. `is_last`: it ends the transcript.
    """

    found: FoundTranscript
    reading: ResumedTranscript
    after: Transcript
    batch: Batch
    report: Report
    is_last: bool
    stored: bool = False


Outcomes = list[tuple[Stretch, StretchOutcome | InvalidInput | NotFound | Corrupt]]


class Writing:
    """Stores what was read, one transaction a batch."""

    def __init__(
        self,
        connector: Connector,
        scope: Scope,
        vectors: PieceVectors | None,
        propose: Propose,
        clock: Callable[[], Micros],
        policies: HostPolicies,
    ) -> None:
        self._connector = connector
        self._scope = scope
        self._vectors = vectors
        self._propose = propose
        self._clock = clock
        self._policies = policies

    def commit(self, stretches: Sequence[Stretch], prepared: Mapping[str, PreparedPiece], report: Report) -> Outcomes:
        """Store stretches of different transcripts, in order, and add to `report` what is to be told of them.

        What became of each is in the answer: one that cannot be stored is no obstacle for the others.
        """
        outcomes: Outcomes = []
        waiting = deque(stretches)
        while waiting:
            try:
                some = self._transaction(waiting, prepared, report)
            except (InvalidInput, NotFound, Corrupt) as error:
                # The transaction is undone. One by one, the stretch at fault is told from the others.
                if len(waiting) > 1:
                    alone = (self.commit([stretch], prepared, report) for stretch in waiting)
                    return [*outcomes, *(outcome for outcomes_of_one in alone for outcome in outcomes_of_one)]
                some = [(waiting[0], error)]
            outcomes += some
            for _ in some:
                waiting.popleft()
        return outcomes

    def _transaction(
        self, waiting: Iterable[Stretch], prepared: Mapping[str, PreparedPiece], report: Report
    ) -> Outcomes:
        """One transaction, with as many of the first stretches as are stored in a moment."""
        outcomes: Outcomes = []
        done = Report(run=report.run)
        after: list[Transcript] = []
        with self._connector.write(self._scope) as tx:
            end = time.monotonic() + LOCK_SECONDS
            for stretch in waiting:
                try:
                    after.append(self._store(tx, stretch, prepared, done))
                    outcomes.append((stretch, StretchOutcome.STORED))
                except Overtaken:
                    after.append(stretch.reading.transcript)
                    outcomes.append((stretch, StretchOutcome.OVERTAKEN))
                if time.monotonic() > end:
                    break
        for (stretch, outcome), transcript in zip(outcomes, after, strict=True):
            if outcome is StretchOutcome.STORED:
                stretch.stored = True
                stretch.reading.transcript = transcript
                report.add(stretch.report)
        report.add(done)
        return outcomes

    def _store(
        self, tx: Transaction, stretch: Stretch, prepared: Mapping[str, PreparedPiece], report: Report
    ) -> Transcript:
        """Store a stretch, and the record of its transcript, which is given back. Raises Overtaken, and then nothing of
        the stretch is stored."""
        reading, batch = stretch.reading, stretch.batch
        after = replace(stretch.after, state=reading.stored(), updated_at=self._clock())
        self._check_not_overtaken(tx, reading, after)
        tombstones = Tombstones(tx, self._scope)
        unknown = episodes.unknown_identities(tx, self._scope, batch.pieces)
        purged = _purged(tombstones, reading, batch, unknown)
        if _works_for_purged(tombstones, reading):
            purged = set(unknown)
            tombstones.put_transcript(after.host, after.session, after.path, None)  # it may have sub-agents as well
        reading.buried |= bool(purged)  # a fork or a copy of a purged session: its title tells of that one
        if purged or tombstones.bars_title(after.title):
            reading.state.info = replace(reading.state.info, title="")
            after = replace(after, title="", state=reading.stored())
        if not reading.transcript.updated_at and (withheld_by := self._policies.first(tx, after)):
            after = replace(after, send_policy=DENY, policy_by=withheld_by)
        transcript_rows.put_transcript(tx, self._scope, after)
        owners = self._write(tx, after, reading.packer.session, batch, prepared, unknown, purged, report)
        if not owners <= reading.owners:
            reading.owners |= owners
            after = replace(after, state=reading.stored())
            transcript_rows.put_transcript(tx, self._scope, after)
        is_done = reading.buried and stretch.is_last and not reading.owners
        if is_done and not episodes.has_episodes(tx, self._scope, after.id):
            # Nothing in it is new. Its record would tell the folder, and so the project, of what was purged.
            transcript_rows.purge_transcript(tx, self._scope, after.id)
            tombstones.put_copy(after.host, after.session, after.path, reading.look.size)
            reading.is_copy = True
        report.turns += batch.turns
        report.redacted += batch.redacted
        return after

    def _check_not_overtaken(self, tx: Transaction, reading: ResumedTranscript, after: Transcript) -> None:
        before = reading.transcript
        now = transcript_rows.transcript(tx, self._scope, before.id)
        if now is not None:
            if now.updated_at != before.updated_at:
                raise Overtaken
            return
        other = transcript_rows.transcript_at(tx, self._scope, after.path, after.session)
        if other is not None and other.id == before.id:  # to read again would find it again, without an end
            raise Corrupt(CodedText("failure.transcript_by_path", command=Command("doctor", repair=True)), id=before.id)
        tombstones = Tombstones(tx, self._scope)
        if before.updated_at or tombstones.bars(after.host, after.session, after.path, reading.look.size):
            raise Overtaken  # it was purged while we read
        if other is not None and other.host == after.host:
            raise Overtaken
        if other is not None:
            raise InvalidInput(f"It was read as a transcript of {other.host} before; give it another name.")

    def _write(
        self,
        tx: Transaction,
        transcript: Transcript,
        session: str,
        batch: Batch,
        prepared: Mapping[str, PreparedPiece],
        unknown: Collection[str],
        purged: Collection[str],
        report: Report,
    ) -> set[str]:
        """Store the pieces, and propose what is asked for in those that are new; the other transcripts that have
        some of them. Of the identities `unknown` have no row, and of those `purged` had one that is gone for good."""
        owners: set[str] = set()
        relatives = _Relatives(tx, self._scope, transcript)
        news: dict[str, tuple[str, str]] = {}  # identity → the episode, and its text before
        tombstones = Tombstones(tx, self._scope)
        report.passed_over({"purged": len(purged)}, {})
        new: dict[str, Episode] = {}
        now = self._clock()
        read = {
            name: episode_of(piece, transcript.id, prepared[piece.meaning].tokens, now)
            for name, piece in batch.pieces.items()
            if name not in purged
        }
        first = relatives.first_rows({name: fresh for name, fresh in read.items() if name in unknown})
        for name, fresh in read.items():
            if name in unknown and name not in first:
                new[name] = fresh
                continue
            rows = rows_of(tx, self._scope, first.get(name, name), session)
            decided, fresh, old = _decided(fresh, rows, relatives)
            if decided is PieceDecision.KEPT and old is not None:
                report.repeated += 1
                if old.transcript_id != transcript.id and not relatives.is_gone(old.transcript_id):
                    owners.add(old.transcript_id)
                continue
            piece = batch.pieces[name]
            if old is None and (tombstones.episodes([fresh.identity]) or tombstones.words({name: _said(piece)})):
                report.passed_over({"purged": 1}, {})
                continue
            if old is None:
                new[name] = fresh
                continue
            stored = episodes.renew(tx, self._scope, old, fresh)
            report.updated += 1
            is_changed = (old.preview, old.actions, old.outcomes) != (fresh.preview, fresh.actions, fresh.outcomes)
            if is_changed:
                self._store_vector(tx, stored, prepared[piece.meaning])
                episode_events.replace(tx, self._scope, stored.doc, batch.events.get(name))
            if is_changed or old.origin is not fresh.origin:  # what an agent said asked for nothing
                news[name] = stored.id, old.preview if old.origin is fresh.origin else ""
        added = dict(zip(new, episodes.insert_all(tx, self._scope, list(new.values())), strict=True))
        for name, stored in added.items():
            news[name] = stored.id, ""
            self._store_vector(tx, stored, prepared[batch.pieces[name].meaning])
        events = {stored.doc: batch.events[name] for name, stored in added.items() if name in batch.events}
        episode_events.put_all(tx, self._scope, events)
        report.episodes += len(new)
        self._ask(tx, transcript, batch, news, report)
        return owners

    def _store_vector(self, tx: Transaction, episode: Episode, ready: PreparedPiece) -> None:
        if self._vectors is not None:
            self._vectors.store(tx, "episode", episode.doc, ready.vector)

    def _ask(
        self, tx: Transaction, transcript: Transcript, batch: Batch, news: dict[str, tuple[str, str]], report: Report
    ) -> None:
        """Propose what is asked for in pieces that are new; in one that changed, what it did not ask for before."""
        asked: list[TranscriptRequest] = []
        now = self._clock()
        for name, candidate, turn in batch.asked:
            episode_id, before = news.get(name, ("", ""))
            if episode_id and candidate.content not in {request.content for request in find_requests(before)}:
                if transcript.took_back(turn.index):
                    report.passed_over({"request taken back": 1}, {})
                    continue
                if transcript.send_policy == DENY:
                    report.passed_over({"request in a withheld session": 1}, {})
                    continue
                # A machine's clock may have been ahead of ours.
                said_at = None if turn.at is None else min(turn.at, now)
                question = turn.question_of(candidate.start, candidate.end)
                asked.append(TranscriptRequest(candidate, turn.text, episode_id, said_at, transcript.project, question))
        report.requests += len(asked)
        if asked:
            report.run = report.run or new_id()
            for decision in self._propose(tx, asked, report.run):
                report.decisions[decision] = report.decisions.get(decision, 0) + 1


class _Relatives:
    """The transcripts that may have rows of the one that is being read: its sub-agents' and forks, its parent's, other
    files of its session, and any that hold turns with the same ids."""

    def __init__(self, tx: Transaction, scope: Scope, transcript: Transcript) -> None:
        self._tx = tx
        self._scope = scope
        self._transcript = transcript
        self._owner = lru_cache(maxsize=None)(lambda owner: transcript_rows.transcript(tx, scope, owner))
        self.is_gone = lru_cache(maxsize=None)(lambda owner: is_gone(tx, scope, owner))

    def is_ours(self, owner: str) -> bool:
        """Return whether the rows of a transcript are those of the one that is read: it is the same, or gone, or is a
        sub-agent's or a fork, which repeats the session's own file."""
        return owner == self._transcript.id or self.is_gone(owner) or self.is_copy(owner)

    def is_copy(self, owner: str) -> bool:
        """Return whether a transcript repeats the one that is read."""
        return _repeats(self._owner(owner), self._transcript)

    def is_parents(self, owner: str) -> bool:
        """Return whether the transcript that is read repeats this one."""
        return not self.is_gone(owner) and _repeats(self._transcript, self._owner(owner))

    def first_rows(self, unknown: Mapping[str, Episode]) -> dict[str, str]:
        """Of identities that no row has, those whose turn a relative has under another id: the identity of its row. A
        copy may get new ids; the moment, the place and the words stay."""
        times = {fresh.started_at for fresh in unknown.values() if fresh.started_at is not None}
        if not self._transcript.session or not times:
            return {}
        there = episodes.said_by_relatives(self._tx, self._scope, self._transcript, times)
        first: dict[str, str] = {}
        for name, fresh in unknown.items():
            at_the_time = there.get(fresh.started_at or 0, ())
            row = next((old for old in at_the_time if is_repeated(fresh, old)), None)
            if row is not None:
                first[name] = row.identity
        return first


def _repeats(copy: Transcript | None, parent: Transcript | None) -> bool:
    """Return whether a transcript is that of a sub-agent or a fork of a session, and the other the session's own."""
    if copy is None or parent is None or not parent.session or copy.host != parent.host:
        return False
    return copy.parent_session == parent.session != parent.parent_session


def _decided(
    fresh: Episode, rows: Iterable[tuple[str, Episode | None]], relatives: _Relatives
) -> tuple[PieceDecision, Episode, Episode | None]:
    """A piece's fate, the episode as it is to be stored, and the row that it replaces or that stands for it."""
    for name, old in rows:
        ours = old is not None and relatives.is_ours(old.transcript_id)
        decided = decide_piece(fresh, old, ours)
        if old is None:
            return decided, replace(fresh, identity=name), None
        if decided is PieceDecision.CHANGED and relatives.is_parents(old.transcript_id):
            continue
        if decided is not PieceDecision.APART:
            return decided, _successor(old, replace(fresh, identity=name), relatives), old
    raise AssertionError("the rows of an identity end with None")


def _purged(tombstones: Tombstones, reading: ResumedTranscript, batch: Batch, unknown: Collection[str]) -> set[str]:
    """Return which of the identities that no row has are of purged turns, or of copies of them."""
    purged = tombstones.episodes(unknown)
    said = {name: _said(piece) for name, piece in batch.pieces.items() if name in unknown and name not in purged}
    source = reading.state.copied_session
    is_copy = bool(source) and tombstones.touches(reading.transcript.host, source, "")
    return purged | tombstones.words(said, is_copy=is_copy)


def _works_for_purged(tombstones: Tombstones, reading: ResumedTranscript) -> bool:
    """Return whether a transcript is of a sub-agent of a session that a person chose to purge."""
    parent = reading.state.info.parent_session
    return bool(parent) and not reading.state.is_fork and tombstones.bars_what_is_new(reading.transcript.host, parent)


def _said(piece: Piece) -> tuple[str, Micros | None]:
    return piece.meaning, piece.started_at


def _successor(old: Episode, fresh: Episode, relatives: _Relatives) -> Episode:
    """A row as it is after `fresh` was read in its place.

    The row keeps its speaker and origin, unless the session's own file says who spoke, or the row gets other words and
    these come from a less trusted origin.
    """
    kept = replace(fresh, key=old.key, summary=old.summary)
    is_less_trusted = fresh.origin is not old.origin and worst((old.origin, fresh.origin)) is fresh.origin
    if relatives.is_copy(old.transcript_id) or (fresh.preview != old.preview and is_less_trusted):
        return kept
    return replace(kept, role=old.role, origin=old.origin)

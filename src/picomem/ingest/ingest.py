"""Ingest: transcripts in, episodes out, each exactly once.

    find → for each file: where did the last reading end? → lines → turns → redact → pieces → one transaction

What a transaction holds belongs together: the episodes of a stretch of a file, their full text and vectors, the
memories that were asked for in it, and the cursor behind it. So a run that is killed anywhere goes on from its last
transaction, and nothing is lost or doubled.

A file can change under us. Its fingerprint (over what was read) tells whether it was only appended to. If not, it is
read again from the start: what is in the store already is known by its identity and only gets its new place; what
was cut from the file stays in the store, and its pointer says that it is gone. A file that was moved is known by its
session and its fingerprint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Protocol

from picomem.clock import Micros
from picomem.errors import InvalidInput, NotFound
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, State, TranscriptFormat, format_named
from picomem.ingest.pieces import Packer, Piece
from picomem.ingest.places import Found
from picomem.policy.redact import Redactor
from picomem.policy.requests import Candidate, find_requests
from picomem.records.episode import Episode, Transcript
from picomem.records.ids import new_id
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.records.transcript import TranscriptInfo, Turn
from picomem.store import episodes
from picomem.store.connector import Connector, Transaction
from picomem.text.tokens import count_tokens

BATCH_PIECES = 400  # a transaction: half a second of work, and the most that a kill makes us read again
BATCH_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Asked:
    """A memory that a person asked for in a transcript, and the episode in which they did."""

    candidate: Candidate
    episode_id: str
    at: Micros | None
    project: str


Propose = Callable[[Transaction, Sequence[Asked]], None]


class Vectors(Protocol):
    """What ingest needs of the embedder: to prepare vectors outside a transaction, and to store them inside it."""

    def prepare(self, texts: Sequence[str]) -> list[tuple[float, bytes]]: ...

    def store(self, tx: Transaction, source: str, doc: int, prepared: tuple[float, bytes]) -> None: ...


@dataclass(slots=True)
class Progress:
    """How far an ingest is; `bytes_done` of `bytes_total` over all files."""

    files_total: int = 0
    files_done: int = 0
    bytes_total: int = 0
    bytes_done: int = 0
    path: str = ""
    episodes: int = 0


@dataclass(slots=True)
class Report:
    """What an ingest did. `skipped` counts what was passed over, by reason; `problems` are files and why."""

    files: int = 0
    unchanged: int = 0
    turns: int = 0
    episodes: int = 0
    updated: int = 0
    repeated: int = 0
    rewritten: int = 0
    bytes: int = 0
    redacted: int = 0
    requests: int = 0
    hosts: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Batch:
    """One stretch of a transcript, ready to be stored."""

    pieces: dict[str, Piece] = field(default_factory=dict)
    asked: list[tuple[str, Candidate, Micros | None]] = field(default_factory=list)
    turns: int = 0
    redacted: int = 0


class _Overtaken(Exception):
    """Another process has read on in this transcript since we looked."""


class Ingest:
    """Reads transcripts into one user's store."""

    def __init__(
        self,
        connector: Connector,
        scope: Scope,
        redactor: Redactor,
        vectors: Vectors | None,
        propose: Propose,
        clock: Callable[[], Micros],
    ) -> None:
        self._connector = connector
        self._scope = scope
        self._redactor = redactor
        self._vectors = vectors
        self._propose = propose
        self._clock = clock

    def run(self, found: Iterable[Found], progress: Callable[[Progress], None] | None = None) -> Report:
        """Read all that is new in these files. Raises only what stops everything (a full disk, a locked store)."""
        files = list(found)
        report = Report()
        state = Progress(files_total=len(files), bytes_total=sum(_size(each.path) for each in files if each.format))
        for each in files:
            state.path = str(each.path)
            if not each.format:
                report.problems.append(f"{each.path}: {each.problem}")
            else:
                report.files += 1
                report.hosts[each.format] = report.hosts.get(each.format, 0) + 1
                try:
                    self._file(each, report, state, progress)
                except (InvalidInput, NotFound) as error:
                    report.problems.append(f"{each.path}: {error}")
            state.files_done += 1
            if progress:
                progress(state)
        return report

    def _file(self, found: Found, report: Report, state: Progress, progress: Callable[[Progress], None] | None) -> None:
        path = found.path.resolve()
        before = state.bytes_done
        form = format_named(found.format)
        while True:
            try:
                if isinstance(form, DocumentFormat):
                    self._document(form, path, report)
                else:
                    for done in self._stretches(form, path, report):
                        state.bytes_done = before + done
                        state.episodes = report.episodes
                        if progress:
                            progress(state)
                break
            except _Overtaken:
                continue  # what the other process stored is complete; go on behind it
        state.bytes_done = before + _size(path)

    def _stretches(self, form: TranscriptFormat, path: Path, report: Report) -> Iterator[int]:
        """Read a line format stretch by stretch; after each, how many bytes of the file are behind us."""
        transcript, reading = self._resume(form, path, report)
        if transcript.cursor and transcript.size == _size(path):
            report.unchanged += 1
            return
        packer = self._packer(form.name, transcript, reading)
        batch = _Batch()
        cursor = since = start = transcript.cursor
        before = dict(reading.skipped.counts)
        for line in reader.lines(path, transcript.cursor):
            for turn in form.feed(reading, line):
                self._pack(packer, turn, reading, batch)
            cursor = line.end
            if len(batch.pieces) >= BATCH_PIECES or cursor - since >= BATCH_BYTES:
                transcript = self._store(path, transcript, reading, packer, cursor, batch, report)
                batch, since = _Batch(), cursor
                yield cursor
        self._store(path, transcript, reading, packer, cursor, batch, report)
        report.bytes += cursor - start
        for reason, count in reading.skipped.counts.items():
            if count > before.get(reason, 0):
                report.skipped[reason] = report.skipped.get(reason, 0) + count - before.get(reason, 0)
        yield cursor

    def _resume(self, form: TranscriptFormat, path: Path, report: Report) -> tuple[Transcript, State]:
        """The transcript's record and the reader's state at its cursor; both new for a file that is new, or that is
        no longer what was read."""
        with self._connector.read() as tx:
            known = next(iter(episodes.transcripts_at(tx, self._scope, str(path))), None)
            if known is None:
                known = self._moved(tx, form, path)
        if known is None:
            return Transcript(id=new_id(), host=form.name, path=str(path), session=""), form.start(path)
        known = replace(known, path=str(path))
        if known.cursor and reader.fingerprint(path, known.cursor) != known.fingerprint:
            report.rewritten += 1
            known = replace(known, generation=known.generation + 1, cursor=0, size=0, state="{}", turns=0)
            return known, form.start(path)
        stored = json.loads(known.state)
        return known, State.from_json(stored["reader"]) if stored else form.start(path)

    def _moved(self, tx: Transaction, form: TranscriptFormat, path: Path) -> Transcript | None:
        """The record of a file that lay elsewhere and is there no longer."""
        session = _session_of(form, path)
        for known in episodes.transcripts_of_session(tx, self._scope, form.name, session) if session else []:
            gone = not Path(known.path).exists()
            if gone and known.cursor and reader.fingerprint(path, known.cursor) == known.fingerprint:
                return known
        return None

    def _packer(self, host: str, transcript: Transcript, reading: State) -> Packer:
        stored = json.loads(transcript.state).get("open", "")
        open_piece = None
        if stored:
            with self._connector.read() as tx:
                last = episodes.by_identity(tx, self._scope, stored)
            open_piece = _piece_of(last) if last is not None else None
        return Packer(host, reading.info.session or transcript.session, open_piece)

    def _pack(self, packer: Packer, turn: Turn, reading: State, batch: _Batch) -> None:
        packer.session = reading.info.session
        safe = self._redactor.redact(turn.text)
        batch.turns += 1
        batch.redacted += len(safe.findings)
        turn = replace(turn, text=safe.text)
        first = ""
        for piece in packer.add(turn):
            first = first or piece.identity
            batch.pieces[piece.identity] = piece
        if turn.origin is Origin.USER:
            batch.asked += [(first, candidate, turn.at) for candidate in find_requests(turn.text)]

    def _store(
        self,
        path: Path,
        transcript: Transcript,
        reading: State,
        packer: Packer,
        cursor: int,
        batch: _Batch,
        report: Report,
    ) -> Transcript:
        """One transaction: the pieces, what was asked for in them, and the cursor."""
        state = {"reader": reading.to_json(), "open": packer.open.identity if packer.open else ""}
        after = replace(
            _described(transcript, reading.info, batch.pieces.values()),
            size=_size(path),
            fingerprint=reader.fingerprint(path, cursor) if cursor else "",
            cursor=cursor,
            state=json.dumps(state, ensure_ascii=False),
            turns=reading.turns,
            skipped=json.dumps(reading.skipped.counts, ensure_ascii=False),
            updated_at=self._clock(),
        )
        prepared = self._prepared(batch)
        with self._connector.write() as tx:
            self._check_not_overtaken(tx, path, transcript)
            episodes.put_transcript(tx, self._scope, after)
            self._write(tx, after, batch, prepared, report)
        report.turns += batch.turns
        report.redacted += batch.redacted
        return after

    def _check_not_overtaken(
        self, tx: Transaction, path: Path, transcript: Transcript, session: str | None = None
    ) -> None:
        now = episodes.transcript(tx, self._scope, transcript.id)
        if now is None:
            there = episodes.transcripts_at(tx, self._scope, str(path))
            overtaken = any(session in (None, each.session) for each in there)
        else:
            overtaken = now.updated_at != transcript.updated_at
        if overtaken:
            raise _Overtaken

    def _document(self, form: DocumentFormat, path: Path, report: Report) -> None:
        """A file that holds many sessions and is rewritten as a whole."""
        with self._connector.read() as tx:
            known = episodes.transcripts_at(tx, self._scope, str(path))
        size = _size(path)
        fingerprint = reader.fingerprint(path, size)
        if known and all((each.size, each.fingerprint) == (size, fingerprint) for each in known):
            report.unchanged += 1
            return
        for number, (info, turns, skipped) in enumerate(form.sessions(path)):
            session = info.session or str(number)
            transcript = next((each for each in known if each.session == session), None) or Transcript(
                id=new_id(), host=form.name, path=str(path), session=session
            )
            packer, reading, batch = Packer(form.name, session), State(info=info), _Batch()
            for turn in turns:
                self._pack(packer, turn, reading, batch)
            after = replace(
                _described(transcript, info, batch.pieces.values()),
                session=session,
                size=size,
                fingerprint=fingerprint,
                cursor=size,
                turns=len(turns),
                skipped=json.dumps(skipped.counts),
                updated_at=self._clock(),
            )
            prepared = self._prepared(batch)
            with self._connector.write() as tx:
                self._check_not_overtaken(tx, path, transcript, session)
                episodes.put_transcript(tx, self._scope, after)
                self._write(tx, after, batch, prepared, report)
            report.turns += batch.turns
            report.redacted += batch.redacted
            for reason, count in skipped.counts.items():
                report.skipped[reason] = report.skipped.get(reason, 0) + count
        report.bytes += size

    def _prepared(self, batch: _Batch) -> dict[str, tuple[float, bytes]]:
        if self._vectors is None or not batch.pieces:
            return {}
        vectors = self._vectors.prepare([piece.text for piece in batch.pieces.values()])
        return dict(zip(batch.pieces, vectors, strict=True))

    def _write(
        self,
        tx: Transaction,
        transcript: Transcript,
        batch: _Batch,
        prepared: dict[str, tuple[float, bytes]],
        report: Report,
    ) -> None:
        ids: dict[str, str] = {}
        for key, piece in batch.pieces.items():
            fresh = _episode_of(piece, transcript.id, self._clock())
            old = episodes.by_identity(tx, self._scope, key)
            if old is None:
                stored = episodes.insert(tx, self._scope, fresh)
                report.episodes += 1
            elif old.transcript_id == transcript.id or self._gone(tx, old):
                if _same_place(old, fresh) and old.preview == fresh.preview:
                    ids[key] = old.id
                    report.repeated += 1
                    continue
                stored = episodes.replace_preview(tx, self._scope, old, fresh)
                report.updated += 1
            else:
                ids[key] = old.id
                report.repeated += 1
                continue
            ids[key] = stored.id
            if self._vectors is not None and key in prepared:
                self._vectors.store(tx, "episode", stored.doc, prepared[key])
        asked = [Asked(candidate, ids[key], at, transcript.project) for key, candidate, at in batch.asked if key in ids]
        report.requests += len(asked)
        if asked:
            self._propose(tx, asked)

    def _gone(self, tx: Transaction, old: Episode) -> bool:
        owner = episodes.transcript(tx, self._scope, old.transcript_id)
        return owner is None or not Path(owner.path).exists()


def _described(transcript: Transcript, info: TranscriptInfo, pieces: Iterable[Piece]) -> Transcript:
    """The record with what the transcript says of itself by now."""
    times = [at for piece in pieces for at in (piece.started_at, piece.ended_at) if at is not None]
    starts = [at for at in (transcript.started_at, *times) if at is not None]
    ends = [at for at in (transcript.ended_at, *times) if at is not None]
    return replace(
        transcript,
        session=info.session or transcript.session,
        agent=info.agent or transcript.agent,
        project=transcript.project or project_of(info.cwd),
        branch=info.branch or transcript.branch,
        cwd=transcript.cwd or info.cwd,
        title=info.title or transcript.title,
        parent_session=info.parent_session or transcript.parent_session,
        started_at=min(starts, default=info.started_at),
        ended_at=max(ends, default=None),
    )


def project_of(cwd: str) -> str:
    """A project is called by the last part of the folder in which a session began."""
    if not cwd:
        return ""
    path = PureWindowsPath(cwd) if "\\" in cwd else PurePosixPath(cwd)
    return path.name[:200]


def _session_of(form: TranscriptFormat, path: Path) -> str:
    """The session that a file's first lines name."""
    reading = form.start(path)
    for number, line in enumerate(reader.lines(path)):
        form.feed(reading, line)
        if reading.info.session or number >= 20:
            break
    return reading.info.session


def _episode_of(piece: Piece, transcript_id: str, now: Micros) -> Episode:
    values = asdict(piece)
    text = values.pop("text")
    values["origin"] = piece.origin
    return Episode(
        id=new_id(),
        transcript_id=transcript_id,
        preview=text,
        tokens=count_tokens(text),
        created_at=now,
        **values,
    )


def _piece_of(episode: Episode) -> Piece:
    return Piece(
        first_turn=episode.first_turn,
        last_turn=episode.last_turn,
        part=episode.part,
        start=episode.start,
        end=episode.end,
        role=episode.role,
        origin=episode.origin,
        branch=episode.branch,
        text=episode.preview,
        started_at=episode.started_at,
        ended_at=episode.ended_at,
        identity=episode.identity,
    )


def _same_place(one: Episode, other: Episode) -> bool:
    return (one.transcript_id, one.first_turn, one.last_turn, one.start, one.end) == (
        other.transcript_id,
        other.first_turn,
        other.last_turn,
        other.start,
        other.end,
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0

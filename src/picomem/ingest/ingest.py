"""Ingest: transcripts in, episodes out, each exactly once.

find → for each file: where did the last reading end? → lines → turns → redact → pieces → one transaction

What a transaction holds belongs together: the episodes of a stretch of a file, their full text and vectors, the
memories that were asked for in it, and the cursor behind it. So a run that is killed anywhere goes on from its last
transaction, and nothing is lost or doubled. A transcript's `size` says that it was read to its end: it is the file's
size before the last reading began, and 0 as long as a reading is not done.

A file can change under us. Its fingerprint (over what was read) tells whether it was only appended to; one of the old
size that was written since was edited in place. Such a file is read again from the start: what is in the store
already is known by its identity and only gets its new place; what was cut from the file stays in the store, and its
pointer says that it is gone. Where another session lies under the name of an old one, that one keeps its own record.
A file that was moved is known by its session and its fingerprint.

Copies give their turns once: the episodes point into the transcript that was read first, and the record of the copy
remembers whose they are. When that file is gone, the copy is read again, and the pointers move to it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple, Protocol

from picomem.clock import Micros
from picomem.errors import Corrupt, InvalidInput, NotFound
from picomem.ingest import reader
from picomem.ingest.format import DocumentFormat, Record, State, TranscriptFormat, format_named
from picomem.ingest.noise import visible
from picomem.ingest.pieces import Fate, Packer, Piece, apart, episode_of, fate
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
_MOST_OWNERS = 64  # transcripts that one copy repeats and whose fate it watches


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

    def passed_over(self, counts: dict[str, int], before: dict[str, int]) -> None:
        """Add what a reader counted since `before`."""
        for reason, count in counts.items():
            if count > before.get(reason, 0):
                self.skipped[reason] = self.skipped.get(reason, 0) + count - before.get(reason, 0)


@dataclass(slots=True)
class _Batch:
    """One stretch of a transcript, ready to be stored. `asked` holds, with each request, its piece's identity."""

    pieces: dict[str, Piece] = field(default_factory=dict)
    asked: list[tuple[str, Candidate, Micros | None]] = field(default_factory=list)
    turns: int = 0
    redacted: int = 0


class _Look(NamedTuple):
    """What a file system says of a file: which it is, its bytes, and when it was written."""

    file: int
    size: int
    written: int


@dataclass(slots=True)
class _Reading:
    """A transcript and where its reading stands; `owners` are the transcripts that have some of its turns."""

    transcript: Transcript
    state: State
    packer: Packer
    look: _Look  # taken before we began
    owners: set[str] = field(default_factory=set)

    def stored(self) -> str:
        """What `Ingest._resume` needs to go on from here. (ASCII: it may quote a half of a surrogate pair.)"""
        stored = {"reader": self.state.to_json(), "packer": self.packer.to_json(), "written": self.look.written}
        return json.dumps({**stored, "owners": sorted(self.owners)[:_MOST_OWNERS]})


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is made of a piece's text outside the transaction."""

    tokens: int
    vector: tuple[float, bytes] | None


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
        self._label = lru_cache(maxsize=256)(lambda text: redactor.redact(visible(text)).text)

    def run(self, found: Iterable[Found], progress: Callable[[Progress], None] | None = None) -> Report:
        """Read all that is new in these files. Raises only what stops everything (a full disk, a locked store)."""
        files = list(found)
        report = Report()
        state = Progress(
            files_total=len(files), bytes_total=sum(_look(each.path).size for each in files if each.format)
        )
        for each in files:
            state.path = str(each.path)
            if not each.format and not each.problem:
                report.skipped["no transcript"] = report.skipped.get("no transcript", 0) + 1
            elif not each.format:
                report.problems.append(f"{each.path}: {each.problem}")
            else:
                report.files += 1
                report.hosts[each.format] = report.hosts.get(each.format, 0) + 1
                try:
                    self._file(each, report, state, progress)
                except (InvalidInput, NotFound, Corrupt) as error:
                    report.problems.append(f"{each.path}: {error}")
            state.files_done += 1
            if progress:
                progress(state)
        return report

    def _file(self, found: Found, report: Report, state: Progress, progress: Callable[[Progress], None] | None) -> None:
        path = found.path.resolve()
        if not _is_text(str(path)):
            raise InvalidInput("The name of the file is not valid Unicode; rename it.")
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
        state.bytes_done = before + _look(path).size

    def _stretches(self, form: TranscriptFormat, path: Path, report: Report) -> Iterator[int]:
        """Read a line format stretch by stretch; after each, how many bytes of the file are behind us."""
        look = _look(path)  # before the first line: what is appended while we read is met by the next run
        reading = self._resume(form, path, look, report)
        if reading is None:
            report.unchanged += 1
            return
        batch = _Batch()
        cursor = since = start = reading.transcript.cursor
        before = dict(reading.state.skipped.counts)
        for line in reader.lines(path, cursor):
            self._line(form, line, reading, batch)
            cursor = line.end
            if len(batch.pieces) >= BATCH_PIECES or cursor - since >= BATCH_BYTES:
                self._store(path, reading, cursor, 0, batch, report)
                batch, since = _Batch(), cursor
                yield cursor
        self._store(path, reading, cursor, look.size, batch, report)
        report.bytes += cursor - start
        report.passed_over(reading.state.skipped.counts, before)
        yield cursor

    def _line(self, form: TranscriptFormat, line: reader.Line, reading: _Reading, batch: _Batch) -> None:
        info = reading.state.info
        turns = form.feed(reading.state, line)
        if reading.state.info is not info:
            reading.state.info = self._safe(reading.state.info)
        reading.packer.session = reading.state.info.session or reading.transcript.session
        for turn in turns:
            self._pack(reading.packer, turn, batch)

    # Where to go on

    def _resume(self, form: TranscriptFormat, path: Path, look: _Look, report: Report) -> _Reading | None:
        """The reading at the transcript's cursor; from the start for a file that is new, or is no longer what was
        read, or repeats turns of a transcript that is gone. None where there is nothing new."""
        with self._connector.read() as tx:
            known, session = self._known(tx, form, path)
            if known is None:
                known = Transcript(id=new_id(), host=form.name, path=str(path), session=session)
                return self._start(form, path, known, look)
            stored = json.loads(known.state)
            same_size = bool(known.cursor) and known.size == look.size
            holds = _holds(path, known) and not (same_size and stored.get("written") != look.written)
            report.rewritten += not holds and known.path == str(path)
            if holds and not any(self._is_gone(tx, owner) for owner in stored.get("owners", ())):
                if same_size and known.path == str(path):
                    return None
                try:
                    return self._at_cursor(tx, form, replace(known, path=str(path)), stored, look)
                except InvalidInput:
                    holds = False  # an older picomem's state: read again, the rows are known by their identity
        generation = known.generation + (not holds)
        again = replace(known, path=str(path), generation=generation, cursor=0, size=0, state="{}", turns=0)
        return self._start(form, path, again, look)

    def _known(self, tx: Transaction, form: TranscriptFormat, path: Path) -> tuple[Transcript | None, str]:
        """The record of this file, if there is one, and the session that a new record would be of."""
        there = [each for each in episodes.transcripts_at(tx, self._scope, str(path)) if each.host == form.name]
        there.sort(key=lambda each: -each.cursor)
        if same := next((each for each in there if _holds(path, each)), None):
            return same, same.session
        session = _session_of(form, path)
        rewritten = next((each for each in there if session in ("", each.session)), None)
        return rewritten or self._moved(tx, form, path, session), session

    def _moved(self, tx: Transaction, form: TranscriptFormat, path: Path, session: str) -> Transcript | None:
        """The record of a file that lay elsewhere and is there no longer: the same bytes, or the same compressed."""
        for known in episodes.transcripts_of_session(tx, self._scope, form.name, session) if session else []:
            old = Path(known.path)
            compressed = path.name == f"{old.name}.zst"
            if known.cursor and not old.exists() and (compressed or _holds(path, known)):
                return known
        return None

    def _start(self, form: TranscriptFormat, path: Path, transcript: Transcript, look: _Look) -> _Reading:
        state = form.start(path)
        session = state.info.session or transcript.session
        return _Reading(transcript, state, Packer(form.name, session), look)

    def _at_cursor(
        self, tx: Transaction, form: TranscriptFormat, known: Transcript, stored: Record, look: _Look
    ) -> _Reading:
        """The reading as `stored` has it. Raises InvalidInput where that cannot be read."""
        if not known.cursor:
            return self._start(form, Path(known.path), known, look)
        state = State.from_json(stored.get("reader", {}))
        packed = stored.get("packer", {})
        first = (packed.get("open") or {}).get("identity", "")
        session = state.info.session or known.session
        previews = (row.preview for _, row in self._rows(tx, first, session) if row is not None)
        packer = Packer.resumed(form.name, session, packed, previews)
        return _Reading(known, state, packer, look, set(stored.get("owners", ())))

    def _is_gone(self, tx: Transaction, transcript_id: str) -> bool:
        owner = episodes.transcript(tx, self._scope, transcript_id)
        return owner is None or not Path(owner.path).exists()

    # From turns to pieces

    def _pack(self, packer: Packer, turn: Turn, batch: _Batch) -> None:
        safe = self._redactor.redact(turn.text)
        batch.turns += 1
        batch.redacted += len(safe.findings)
        turn = replace(turn, text=safe.text, role=self._label(turn.role), branch=self._label(turn.branch))
        made = list(packer.add(turn))
        batch.pieces |= {piece.identity: piece for piece in made}
        # A speaker in somebody's log is a person, but not the user: what they want is no wish of the user's.
        if turn.origin is Origin.USER and turn.role == "user":
            for candidate in find_requests(turn.text):
                said = turn.text[candidate.start : candidate.end]
                holder = next((piece for piece in made if said in piece.text), made[0])
                batch.asked.append((holder.identity, candidate, turn.at))

    def _safe(self, info: TranscriptInfo) -> TranscriptInfo:
        """What a transcript says of itself, fit to be stored: valid text, and without secrets."""
        return replace(
            info,
            session=visible(info.session),
            parent_session=visible(info.parent_session),
            title=self._label(info.title),
            cwd=self._label(info.cwd),
            branch=self._label(info.branch),
            agent=self._label(info.agent),
        )

    def _prepared(self, batch: _Batch) -> dict[str, _Ready]:
        if not batch.pieces:
            return {}
        texts = [piece.text for piece in batch.pieces.values()]
        tokens = [count_tokens(text) for text in texts]
        vectors = self._vectors.prepare(texts) if self._vectors else [None] * len(texts)
        ready = (_Ready(count, vector) for count, vector in zip(tokens, vectors, strict=True))
        return dict(zip(batch.pieces, ready, strict=True))

    # Storing

    def _store(self, path: Path, reading: _Reading, cursor: int, size: int, batch: _Batch, report: Report) -> None:
        """One transaction: the pieces, what was asked for in them, and the cursor."""
        after = replace(
            _described(reading.transcript, reading.state.info, batch.pieces.values()),
            size=size,
            # Of another file that lies there by now, nothing was read.
            fingerprint=_fingerprint(path, cursor) if _look(path).file == reading.look.file else "",
            cursor=cursor,
            turns=reading.state.turns,
            skipped=json.dumps(reading.state.skipped.counts),
        )
        self._commit(reading, after, batch, report)

    def _document(self, form: DocumentFormat, path: Path, report: Report) -> None:
        """A file that holds many sessions and is rewritten as a whole. It is read when its last session is stored:
        only then its records get its size and fingerprint."""
        look = _look(path)
        fingerprint = _fingerprint(path, look.size)
        with self._connector.read() as tx:
            at_path = [each for each in episodes.transcripts_at(tx, self._scope, str(path)) if each.host == form.name]
            if at_path and self._is_read(tx, at_path, look, fingerprint):
                report.unchanged += 1
                return
        known = {each.session: each for each in at_path}
        nameless = 0
        for info, turns, skipped in form.sessions(path):
            info = self._safe(info)
            nameless += not info.session
            session = info.session or f"#{nameless}"
            transcript = known.get(session) or Transcript(id=new_id(), host=form.name, path=str(path), session=session)
            state = State(info=info, skipped=skipped, turns=len(turns))
            reading, batch = _Reading(transcript, state, Packer(form.name, session), look), _Batch()
            for turn in turns:
                self._pack(reading.packer, turn, batch)
            self._store(path, reading, 0, 0, batch, report)
            known[session] = reading.transcript
            report.passed_over(skipped.counts, {})
        with self._connector.write() as tx:
            for each in known.values():
                # A session that is in the document no longer was read as well: it is told by being there no more.
                state = json.dumps({**json.loads(each.state), "written": look.written})
                done = replace(
                    each,
                    size=look.size,
                    fingerprint=fingerprint,
                    cursor=look.size,
                    state=state,
                    updated_at=self._clock(),
                )
                episodes.put_transcript(tx, self._scope, done)
        report.bytes += look.size

    def _is_read(self, tx: Transaction, known: list[Transcript], look: _Look, fingerprint: str) -> bool:
        """Whether a document is what was read, and whose turns it repeats is still there."""
        for each in known:
            stored = json.loads(each.state)
            same = (each.size, each.fingerprint) == (look.size, fingerprint) and stored.get("written") == look.written
            if not same or any(self._is_gone(tx, owner) for owner in stored.get("owners", ())):
                return False
        return True

    def _commit(self, reading: _Reading, after: Transcript, batch: _Batch, report: Report) -> None:
        prepared = self._prepared(batch)
        after = replace(after, state=reading.stored(), updated_at=self._clock())
        with self._connector.write() as tx:
            self._check_not_overtaken(tx, reading.transcript, after)
            episodes.put_transcript(tx, self._scope, after)
            owners = self._write(tx, after, reading.packer.session, batch, prepared, report)
            if not owners <= reading.owners:
                reading.owners |= owners
                after = replace(after, state=reading.stored())
                episodes.put_transcript(tx, self._scope, after)
        reading.transcript = after
        report.turns += batch.turns
        report.redacted += batch.redacted

    def _check_not_overtaken(self, tx: Transaction, before: Transcript, after: Transcript) -> None:
        now = episodes.transcript(tx, self._scope, before.id)
        if now is not None:
            if now.updated_at != before.updated_at:
                raise _Overtaken
            return
        for other in episodes.transcripts_at(tx, self._scope, after.path):
            if other.session == after.session:
                if other.host == after.host:
                    raise _Overtaken
                raise InvalidInput(f"It was read as a transcript of {other.host} before; give it another name.")

    def _write(
        self,
        tx: Transaction,
        transcript: Transcript,
        session: str,
        batch: _Batch,
        prepared: dict[str, _Ready],
        report: Report,
    ) -> set[str]:
        """Store the pieces, and propose what is asked for in those that are new; the other transcripts that have
        some of them."""
        owners: set[str] = set()
        gone = lru_cache(maxsize=None)(lambda owner: self._is_gone(tx, owner))
        news: dict[str, tuple[str, str]] = {}  # identity → the episode, and its text before
        for name, piece in batch.pieces.items():
            ready = prepared[name]
            fresh = episode_of(piece, transcript.id, ready.tokens, self._clock())
            decided, fresh, old = self._decided(tx, fresh, session, transcript.id, gone)
            if decided is Fate.KEPT and old is not None:
                report.repeated += 1
                if old.transcript_id != transcript.id and not gone(old.transcript_id):
                    owners.add(old.transcript_id)
                continue
            if old is None:
                stored = episodes.insert(tx, self._scope, fresh)
                report.episodes += 1
            else:
                stored = episodes.renew(tx, self._scope, old, fresh)
                report.updated += 1
            if old is None or old.preview != fresh.preview:
                news[name] = stored.id, old.preview if old else ""
                if self._vectors is not None and ready.vector is not None:
                    self._vectors.store(tx, "episode", stored.doc, ready.vector)
        self._ask(tx, transcript, batch, news, report)
        return owners

    def _decided(
        self, tx: Transaction, fresh: Episode, session: str, transcript_id: str, gone: Callable[[str], bool]
    ) -> tuple[Fate, Episode, Episode | None]:
        """A piece's fate, the episode as it is to be stored, and the row that it replaces or that stands for it."""
        for name, old in self._rows(tx, fresh.identity, session):
            ours = old is not None and (old.transcript_id == transcript_id or gone(old.transcript_id))
            decided = fate(fresh, old, ours)
            if old is None:
                return decided, replace(fresh, identity=name), None
            if decided is not Fate.APART:
                # What a row is, and who said it, was decided when it was made.
                kept = replace(fresh, identity=name, role=old.role, origin=old.origin, key=old.key, summary=old.summary)
                return decided, kept, old
        raise AssertionError("the rows of an identity end with None")

    def _rows(self, tx: Transaction, name: str, session: str) -> Iterator[tuple[str, Episode | None]]:
        """The rows that begin with the same turn: the one that was read first, then those of this session that went
        on differently; None after the last."""
        row = episodes.by_identity(tx, self._scope, name)
        while row is not None:
            yield name, row
            name = apart(name, session)
            row = episodes.by_identity(tx, self._scope, name)
        yield name, None

    def _ask(
        self, tx: Transaction, transcript: Transcript, batch: _Batch, news: dict[str, tuple[str, str]], report: Report
    ) -> None:
        """Propose what is asked for in pieces that are new; in one that changed, what it did not ask for before."""
        asked: list[Asked] = []
        now = self._clock()
        for name, candidate, at in batch.asked:
            episode_id, before = news.get(name, ("", ""))
            if episode_id and candidate.content not in {each.content for each in find_requests(before)}:
                said_at = at if at is None else min(at, now)  # a machine's clock may have been ahead of ours
                asked.append(Asked(candidate, episode_id, said_at, transcript.project))
        report.requests += len(asked)
        if asked:
            self._propose(tx, asked)


def _described(transcript: Transcript, info: TranscriptInfo, pieces: Iterable[Piece]) -> Transcript:
    """The record with what the transcript says of itself by now."""
    times = [at for piece in pieces for at in (piece.started_at, piece.ended_at) if at is not None]
    starts = [at for at in (transcript.started_at, *times) if at is not None]
    ends = [at for at in (transcript.ended_at, *times) if at is not None]
    return replace(
        transcript,
        session=transcript.session or info.session,
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
    return "".join(char if char.isprintable() else " " for char in path.name[:200])


def _session_of(form: TranscriptFormat, path: Path) -> str:
    """The session that a file's first lines name."""
    reading = form.start(path)
    for number, line in enumerate(reader.lines(path)):
        form.feed(reading, line)
        if reading.info.session or number >= 20:
            break
    return visible(reading.info.session)


def _holds(path: Path, known: Transcript) -> bool:
    """Whether what was read of a transcript is still there."""
    return not known.cursor or reader.fingerprint(path, known.cursor) == known.fingerprint


def _fingerprint(path: Path, upto: int) -> str:
    """The file's fingerprint; none for one that is gone by now, so that it is read again should it come back."""
    try:
        return reader.fingerprint(path, upto) if upto else ""
    except NotFound:
        return ""


def _is_text(text: str) -> bool:
    """Whether it can be written as UTF-8: no half of a surrogate pair is in it."""
    return text.isascii() or not any("\ud800" <= char <= "\udfff" for char in text)


def _look(path: Path) -> _Look:
    try:
        status = path.stat()
    except OSError:
        return _Look(0, 0, 0)
    return _Look(status.st_ino, status.st_size, status.st_mtime_ns)

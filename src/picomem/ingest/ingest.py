"""Ingest: transcripts in, episodes out, each exactly once.

find → for each file: where did the last reading end? → lines → turns → redact → pieces → queue → one transaction

The content of small files is stored together (see `queue`). The content of one file belongs together: the episodes of
a stretch of it, their full text and vectors, the memories that were requested in it, and the cursor behind it are in
one transaction. So after a kill the next run continues from the last transaction, and nothing is lost or duplicated.
A transcript's `size` shows that it was read to its end: it is the size of the file before the last reading began, and
0 until a reading is complete.

If a file changed, `resuming` determines where to continue; `batch` prepares turns, and `storing` runs the transaction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from picomem.clock import Micros
from picomem.errors import Corrupt, InvalidInput, NotFound
from picomem.ingest import queue, reader
from picomem.ingest.batch import Batch, Maker
from picomem.ingest.discovery import FoundTranscript
from picomem.ingest.episode_packing import Packer, Piece
from picomem.ingest.format import NAMELESS, NO_HEADER, TOO_LONG, DocumentFormat, LineFormat, State, format_named
from picomem.ingest.projects import ProjectNames
from picomem.ingest.queue import Queue
from picomem.ingest.report import IngestProgress, Report
from picomem.ingest.resuming import PURGED, Recognizer, Resolver, ResumedTranscript, Resumer, is_gone
from picomem.ingest.send_policies import HostPolicies
from picomem.ingest.source import RecordFile, RecordSource, SourceState, look_at, print_of, sources
from picomem.ingest.storing import Stretch, Writing
from picomem.light_dataclass import dataclass, replace
from picomem.records.episode import KnownFolder, Transcript
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.records.transcript import TranscriptInfo, Turn
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import transcript_rows
from picomem.store.tables.tombstones import Tombstones
from picomem.text.late_pattern import late_pattern

_BEGINNING = 20  # lines
_SURROGATE = late_pattern("[\ud800-\udfff]")


@dataclass(slots=True)
class _IngestRun:
    """One run over some files."""

    report: Report
    state: IngestProgress
    progress: Callable[[IngestProgress], None] | None
    queue: Queue

    def advance(self, read: int) -> None:
        """Tell that so many bytes more were read."""
        self.state.bytes_done += read
        self.tell()

    def tell(self) -> None:
        """Tell how far the run is."""
        self.state.episodes = self.report.episodes
        if self.progress:
            self.progress(self.state)


class Ingest:
    """Reads transcripts into one user's store."""

    def __init__(
        self,
        connector: Connector,
        scope: Scope,
        maker: Maker,
        writing: Writing,
        clock: Callable[[], Micros],
        policies: HostPolicies,
        *,
        longest: int,
    ) -> None:
        """`longest` is how many characters the preview of an episode may have."""
        self._connector = connector
        self._scope = scope
        self._clock = clock
        # A host calls the person at this machine by the channel.
        self._users = {scope.user, f"tui:{scope.user}"}  # as the terminal of PicoBot calls them
        self._resumer = Resumer(connector, scope, longest)
        self._longest = longest
        self._maker = maker
        self._policies = policies
        self._writing = writing
        self._resolved = Resolver()
        self._projects = ProjectNames(self._known_folders)
        self._recognizer = Recognizer(connector, scope, self._resolved)

    def recognize(self, path: Path) -> str:
        """The format of a file that is in the store as it is; empty for one that is to be looked into."""
        return self._recognizer(path)

    def run(
        self, transcripts: Iterable[FoundTranscript], progress: Callable[[IngestProgress], None] | None = None
    ) -> Report:
        """Read all that is new in these files. Raises only what stops everything (a full disk, a locked store)."""
        files = list(transcripts)
        report = Report()
        state = IngestProgress(
            files_total=len(files),
            bytes_total=sum(look_at(transcript.path).size for transcript in files if transcript.format),
        )
        self._policies.settle(self._resolved_files(files), report)
        run = _IngestRun(report, state, progress, Queue(self._writing, self._maker, report))
        try:
            for transcript in map(self._as_before, files):
                state.path = str(transcript.path)
                self._count(transcript, report)
                if transcript.format:
                    self._file(transcript, run)
                self._store_when_due(run)
                state.files_done += 1
                run.tell()
            self._store_all(run)
        except KeyboardInterrupt:
            run.queue.store()  # a moment's work, and what was told of is kept
            raise
        run.tell()
        return report

    def _resolved_files(self, files: Iterable[FoundTranscript]) -> Iterable[FoundTranscript]:
        """The transcripts by their resolved paths; those whose paths cannot be resolved are left out."""
        for transcript in files:
            if transcript.format:
                with suppress(OSError, RuntimeError):
                    yield replace(transcript, path=self._resolved(transcript.path))

    def _count(self, transcript: FoundTranscript, report: Report) -> None:
        if transcript.format:
            report.files += 1
            report.hosts[transcript.format] = report.hosts.get(transcript.format, 0) + 1
        elif transcript.problem:
            report.fail(transcript.path, transcript.problem)
        else:
            report.passed_over({"no transcript": 1}, {})

    def _as_before(self, transcript: FoundTranscript) -> FoundTranscript:
        """Return a file of what may be any log in the format under which it was read before, if that still finds turns
        in it: the first line, which told the format, may be damaged by now."""
        if not transcript.format or transcript.unchanged or not format_named(transcript.format).takes_any_log:
            return transcript
        try:
            with self._connector.read() as tx:
                there = transcript_rows.transcripts_at(tx, self._scope, str(self._resolved(transcript.path)))
            hosts = {known.host for known in there}
            before = format_named(hosts.pop()) if len(hosts) == 1 and transcript.format not in hosts else None
            if isinstance(before, LineFormat) and _finds_turns(before, transcript.path):
                return replace(transcript, format=before.name)
        except (InvalidInput, NotFound, Corrupt, UnicodeError):
            pass  # its reading reports it
        return transcript

    def _store_when_due(self, run: _IngestRun) -> None:
        if run.queue.is_due():
            self._store_all(run)

    def _store_all(self, run: _IngestRun) -> None:
        """Store what waits, and read on where another process did so meanwhile: what it stored is complete."""
        run.queue.store()
        while run.queue.overtaken:
            self._file(run.queue.overtaken.pop(), run)
            run.queue.store()

    def _file(self, transcript: FoundTranscript, run: _IngestRun) -> None:
        """Read a file; what is wrong with it is reported."""
        before = run.state.bytes_done
        try:
            path = self._resolved(transcript.path)
            if not _is_text(str(path)):
                raise InvalidInput("The name of the file is not valid Unicode; rename it.")
            if transcript.unchanged:
                run.report.unchanged += 1
            else:
                self._sources(replace(transcript, path=path), run)
            run.state.bytes_done = before + look_at(path).size
        except (InvalidInput, NotFound, Corrupt) as error:
            run.report.fail(transcript.path, error)

    def _sources(self, transcript: FoundTranscript, run: _IngestRun) -> None:
        form, report = format_named(transcript.format), run.report
        if isinstance(form, DocumentFormat):
            self._document(form, transcript, run)
            return
        with sources(form, transcript.path) as there:
            unchanged = [self._source(form, transcript, source, run) for source in there]
        # A database is a file like any other: it is unchanged when all its sessions are.
        report.unchanged += all(unchanged)

    def _source(self, form: LineFormat, transcript: FoundTranscript, source: RecordSource, run: _IngestRun) -> bool:
        """Read the records of a source stretch by stretch; whether there was nothing new. The last stretch waits for
        those of other files."""
        look = source.look()  # before the first line: what is appended while we read is met by the next run
        reading = self._resumer.resume(form, source, look, run.report)
        if reading is None:
            return True
        batch = Batch()
        cursor, since = reading.transcript.cursor, source.read
        before = dict(reading.state.skipped.counts)
        for line in source.lines(cursor):
            self._line(form, line, reading, batch)
            cursor = line.end
            if len(batch.pieces) >= queue.BATCH_PIECES or source.read - since >= queue.BATCH_BYTES:
                read = source.read - since
                stretch = self._stretch(transcript, source, reading, cursor, 0, batch, read, is_last=False)
                run.queue.add(stretch)
                run.queue.store()
                run.advance(source.read - since)
                if not stretch.stored:
                    return False  # what became of it is known to the queue
                batch, since = Batch(), source.read
        read = source.read - since
        stretch = self._stretch(transcript, source, reading, cursor, look.size, batch, read, is_last=True)
        stretch.report.passed_over(reading.state.skipped.counts, before)
        too_long = stretch.report.skipped.get(TOO_LONG, 0)
        if too_long:
            of = f" of {source.session}" if source.session else ""
            most = reader.LONGEST >> 20
            stretch.report.fail(
                source.path, f"Lines{of} that are longer than {most} MiB were not read: {too_long}. Shorten them."
            )
        if stretch.report.skipped.get(NO_HEADER, 0):
            stretch.report.fail(
                source.path,
                "The first line, which says who speaks, is not whole JSON, so no word counts as the user's. Restore "
                "the file, and ingest it again.",
            )
        run.queue.add(stretch)
        run.advance(source.read - since)
        return reading.unchanged

    def _line(self, form: LineFormat, line: reader.Line, reading: ResumedTranscript, batch: Batch) -> None:
        info = reading.state.info
        turns = form.feed(reading.state, line)
        if reading.state.info is not info:
            reading.state.info = self._maker.safe(reading.state.info)
        reading.packer.session = reading.state.info.session or reading.transcript.session
        for turn in turns:
            self._maker.pack(reading.packer, turn, batch)

    def _stretch(
        self,
        transcript: FoundTranscript,
        source: RecordSource,
        reading: ResumedTranscript,
        cursor: int,
        size: int,
        batch: Batch,
        read: int,
        *,
        is_last: bool,
    ) -> Stretch:
        """A stretch as it is to be stored: the pieces, what was asked for in them, and the cursor."""
        fingerprint = print_of(source, cursor)
        if reading.buried:
            reading.state.info = replace(reading.state.info, title="")
        after = replace(
            self._described(reading.transcript, reading.state.info, batch.pieces.values()),
            size=size,
            # Of another file that lies there by now, nothing was read.
            fingerprint=fingerprint if source.look().file == reading.look.file else "",
            cursor=cursor,
            turns=reading.state.turns,
            abandoned=json.dumps(reading.state.branches.abandoned()),
            skipped=json.dumps(reading.state.skipped.counts),
        )
        return Stretch(transcript, reading, after, batch, Report(bytes=read), is_last)

    def _described(self, transcript: Transcript, info: TranscriptInfo, pieces: Iterable[Piece]) -> Transcript:
        """The record with what the transcript says of itself by now."""
        times = [at for piece in pieces for at in (piece.started_at, piece.ended_at) if at is not None]
        starts = [at for at in (transcript.started_at, *times) if at is not None]
        cwd = transcript.cwd or info.cwd
        if not cwd:
            form, path = format_named(transcript.host), Path(transcript.path)
            cwd = self._projects.known_folder(lambda folder: form.is_place_of(path, folder))
        place = KnownFolder(cwd, transcript.project, transcript.repository)
        place = place if place.project else self._projects.of(cwd)
        ends = [at for at in (transcript.ended_at, *times) if at is not None]
        return replace(
            transcript,
            session=transcript.session or info.session,
            agent=info.agent or transcript.agent,
            project=place.project,
            repository=place.repository,
            branch=info.branch or transcript.branch,
            cwd=cwd,
            title=info.title or transcript.title,
            parent_session=info.parent_session or transcript.parent_session,
            started_at=min(starts, default=info.started_at),
            ended_at=max(ends, default=None),
        )

    def _known_folders(self) -> list[KnownFolder]:
        with self._connector.read() as tx:
            return transcript_rows.known_folders(tx, self._scope)

    def _document(self, form: DocumentFormat, document: FoundTranscript, run: _IngestRun) -> None:
        """A file that holds many sessions and is rewritten as a whole. It is read when its last session is stored:
        only then its records get its size and fingerprint."""
        path, report = document.path, run.report
        look = look_at(path)
        fingerprint = print_of(RecordFile(path), look.size)
        with self._connector.read() as tx:
            at_path = [
                stored
                for stored in transcript_rows.transcripts_at(tx, self._scope, str(path))
                if stored.host == form.name
            ]
            if at_path and self._is_read(tx, at_path, look, fingerprint):
                report.unchanged += 1
                return
        known = {stored.session: stored for stored in at_path}
        nameless, before = 0, run.state.bytes_done
        for info, turns, skipped in form.sessions(path):
            info = self._maker.safe(info)
            nameless += not info.session
            session = info.session or f"{NAMELESS}{nameless}"
            if info.user and info.user not in self._users:
                report.passed_over({"session of another user": 1}, {})
                continue
            if session not in known and self._is_barred(form, session, path, look):
                report.passed_over({PURGED: 1}, {})
                continue
            transcript = known.get(session) or Transcript(id=new_id(), host=form.name, path=str(path), session=session)
            packer = Packer(form.name, session, longest=self._longest)
            reading = ResumedTranscript(transcript, State(info=info, skipped=skipped), packer, look)
            for part in self._parts(document, reading, turns):
                run.queue.add(part)
                run.queue.store()  # the same session may come once more
                if not part.stored:
                    return  # what became of it is known to the queue
                if turns:  # of an archive the places are those of what it unpacks to
                    end = turns[reading.state.turns - 1].end
                    run.advance(max(0, before + min(end, look.size) - run.state.bytes_done))
            if reading.is_copy:
                known.pop(session, None)
            else:
                known[session] = reading.transcript
        with self._connector.write(self._scope) as tx:
            for stored in known.values():
                # A session that is in the document no longer was read as well: it is told by being there no more.
                state = json.dumps({**json.loads(stored.state), "written": look.written})
                done = replace(
                    stored,
                    size=look.size,
                    fingerprint=fingerprint,
                    cursor=look.size,
                    state=state,
                    updated_at=self._clock(),
                )
                transcript_rows.put_transcript(tx, self._scope, done)
        report.bytes += look.size

    def _parts(self, document: FoundTranscript, reading: ResumedTranscript, turns: Sequence[Turn]) -> Iterator[Stretch]:
        """The stretches of a session in a document, one after the other, each as large as a transaction should be."""
        state, source = reading.state, RecordFile(document.path)
        while True:
            batch = Batch()
            for turn in turns[state.turns : state.turns + queue.BATCH_PIECES]:
                self._maker.pack(reading.packer, turn, batch)
                state.turns += 1
            batch.date(state.info.started_at)
            is_last = state.turns >= len(turns)
            stretch = self._stretch(document, source, reading, 0, 0, batch, 0, is_last=is_last)
            if is_last:
                stretch.report.passed_over(state.skipped.counts, {})
            yield stretch
            if is_last:
                return

    def _is_barred(self, form: DocumentFormat, session: str, path: Path, look: SourceState) -> bool:
        with self._connector.read() as tx:
            return Tombstones(tx, self._scope).bars(form.name, session, str(path), look.size)

    def _is_read(self, tx: Transaction, known: list[Transcript], look: SourceState, fingerprint: str) -> bool:
        """Return whether a document is what was read, and whose turns it repeats is still there."""
        for transcript in known:
            stored = json.loads(transcript.state)
            seen = (transcript.size, transcript.fingerprint, stored.get("written"))
            same = seen == (look.size, fingerprint, look.written)
            if not same or any(is_gone(tx, self._scope, owner) for owner in stored.get("owners", ())):
                return False
        return True


def _finds_turns(form: LineFormat, path: Path) -> bool:
    """Return whether a format finds a turn at the beginning of a file."""
    state = form.start(path)
    return any(form.feed(state, line) for line in islice(reader.records(path), _BEGINNING))


def _is_text(text: str) -> bool:
    """Return whether it can be written as UTF-8: no half of a surrogate pair is in it."""
    return text.isascii() or _SURROGATE.search(text) is None

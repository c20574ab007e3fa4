"""The position in a transcript, and where the next reading continues.

A file can change between readings. Its fingerprint, over the part that was read, tells whether it was only appended
to; a file of the old size that was written since was edited in place. Such a file is read again from the start. Rows
that are already stored are recognised by their identity and only get a new position; text that was cut from the file
stays in the store, and its pointer says that it is gone. If another session now lies under the name of an old one,
the old one keeps its own record. A file that was moved is recognised by its session and its fingerprint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from picomem.errors import Corrupt, InvalidInput
from picomem.ingest.episode_packing import Packer, apart
from picomem.ingest.format import LineFormat, State
from picomem.ingest.noise import visible
from picomem.ingest.reader import PACKED
from picomem.ingest.record_fields import Record
from picomem.ingest.report import Report
from picomem.ingest.source import RecordSource, SourceState, begin, look_at
from picomem.light_dataclass import dataclass, field, replace
from picomem.records.episode import Episode, Transcript
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import episodes, transcript_rows
from picomem.store.tables.tombstones import Tombstones

PURGED = "purged session"
_MOST_OWNERS = 64  # transcripts that one copy repeats and whose fate it watches


@dataclass(slots=True)
class ResumedTranscript:
    """A transcript and where its reading stands; `owners` are the transcripts that have some of its turns. `unchanged`
    says that there is nothing new, and only the proof of that is stored."""

    transcript: Transcript
    state: State
    packer: Packer
    look: SourceState  # taken before we began
    owners: set[str] = field(default_factory=set)
    unchanged: bool = False
    buried: bool = False  # something of it was purged: its title tells of that, and is not stored
    is_copy: bool = False  # all of it was purged: its record is gone as well

    def stored(self) -> str:
        """The state that `Resumer.resume` needs to continue. (ASCII: it may quote half of a surrogate pair.)"""
        stored = {"reader": self.state.to_json(), "packer": self.packer.to_json(), "written": self.look.written}
        proof = {"file": self.look.file, "changed": self.look.changed, "buried": self.buried}
        return json.dumps({**stored, **proof, "owners": sorted(self.owners)[:_MOST_OWNERS]})


class Resolver:
    """Resolves paths, each folder once: in a folder of thousands of files that is most of what a look at one costs."""

    def __init__(self) -> None:
        self._folders: dict[Path, Path] = {}

    def __call__(self, path: Path) -> Path:
        if path.name in ("", "..") or path.is_symlink():
            return path.resolve()
        if path.parent not in self._folders:
            self._folders[path.parent] = path.parent.resolve()
        return self._folders[path.parent] / path.name


class Recognizer:
    """Tells the files that were read to their end and were not touched since, from their status alone.

    The time of a file's last change cannot be set, unlike that of its last writing. So a file of the same size and
    times, with the same number, is the same to the last byte. In doubt the file is looked into (see `Resumer`).
    """

    def __init__(self, connector: Connector, scope: Scope, resolved: Callable[[Path], Path]) -> None:
        self._connector = connector
        self._scope = scope
        self._resolved = resolved

    def __call__(self, path: Path) -> str:
        """The format of such a file; empty for any other."""
        look = look_at(path)
        if not look.changed:
            return ""
        with self._connector.read() as tx:
            try:
                there = transcript_rows.transcripts_at(tx, self._scope, str(self._resolved(path)))
            except (Corrupt, UnicodeError):
                return ""  # the reader of the file reports it
        if len(there) != 1:
            return ""
        (known,) = there
        stored = json.loads(known.state)
        same = (stored.get("file"), known.size, stored.get("written"), stored.get("changed")) == look
        return known.host if same and known.cursor and not stored.get("owners") else ""


class Resumer:
    """Finds where to go on in a transcript of one user."""

    def __init__(self, connector: Connector, scope: Scope, longest: int) -> None:
        """`longest` is how many characters a preview may have."""
        self._connector = connector
        self._longest = longest
        self._scope = scope

    def resume(
        self, form: LineFormat, source: RecordSource, look: SourceState, report: Report
    ) -> ResumedTranscript | None:
        """The reading at the transcript's cursor; from the start for a file that is new, or is no longer what was
        read, or repeats turns of a transcript that is gone. None where there is nothing new."""
        path = source.path
        with self._connector.read() as tx:
            known, session = self._known(tx, form, source)
            if known is None:
                known = Transcript(id=new_id(), host=form.name, path=str(path), session=session)
                if Tombstones(tx, self._scope).bars(form.name, session, str(path), look.size):
                    report.passed_over({PURGED: 1}, {})
                    return None
                return self._start(tx, form, source, known, look)
            stored = json.loads(known.state)
            same_size = bool(known.cursor) and known.size == look.size
            holds = _holds(source, known) and not (same_size and stored.get("written") != look.written)
            report.rewritten += not holds and known.path == str(path)
            if holds and not any(is_gone(tx, self._scope, owner) for owner in stored.get("owners", ())):
                unchanged = same_size and known.path == str(path)
                if unchanged and look.changed in (0, stored.get("changed")):
                    return None
                try:
                    here = replace(known, path=str(path))
                    return self._at_cursor(tx, form, source, here, stored, look, unchanged=unchanged)
                except InvalidInput:
                    holds = False  # an older picomem's state: read again, the rows are known by their identity
            generation = known.generation + (not holds)
            again = replace(known, path=str(path), generation=generation, cursor=0, size=0, state="{}", turns=0)
            return self._start(tx, form, source, again, look)

    def _known(self, tx: Transaction, form: LineFormat, source: RecordSource) -> tuple[Transcript | None, str]:
        """The record of this source, if there is one, and the session that a new record would be of."""
        path = str(source.path)
        if source.session:  # of a database, which may hold thousands
            one = transcript_rows.transcript_at(tx, self._scope, path, source.session)
            there = [] if one is None else [one]
        else:
            there = transcript_rows.transcripts_at(tx, self._scope, path)
        there = [transcript for transcript in there if transcript.host == form.name]
        there.sort(key=lambda transcript: -transcript.cursor)
        if same := next((transcript for transcript in there if _holds(source, transcript)), None):
            return same, same.session
        session = source.session or _session_of(form, source)
        rewritten = next((transcript for transcript in there if session in ("", transcript.session)), None)
        return rewritten or self._moved(tx, form, source, session), session

    def _moved(self, tx: Transaction, form: LineFormat, source: RecordSource, session: str) -> Transcript | None:
        """The record of a file that lay elsewhere and is there no longer: the same bytes, or the same compressed."""
        for known in transcript_rows.transcripts_of_session(tx, self._scope, form.name, session) if session else []:
            old = Path(known.path)
            compressed = source.path.name in [old.name + ending for ending in PACKED]
            if known.cursor and not old.exists() and (compressed or _holds(source, known)):
                return known
        return None

    def _start(
        self, tx: Transaction, form: LineFormat, source: RecordSource, transcript: Transcript, look: SourceState
    ) -> ResumedTranscript:
        state = begin(form, source)
        session = state.info.session or transcript.session
        buried = Tombstones(tx, self._scope).touches(form.name, transcript.session, transcript.path)
        packer = Packer(form.name, session, longest=self._longest)
        return ResumedTranscript(transcript, state, packer, look, buried=buried)

    def _at_cursor(
        self,
        tx: Transaction,
        form: LineFormat,
        source: RecordSource,
        known: Transcript,
        stored: Record,
        look: SourceState,
        *,
        unchanged: bool,
    ) -> ResumedTranscript:
        """The reading as `stored` has it. Raises InvalidInput where that cannot be read."""
        if not known.cursor:
            return self._start(tx, form, source, known, look)
        state = State.from_json(stored.get("reader", {}))
        state.path = source.path
        state.marks |= source.marks()
        packed = stored.get("packer", {})
        first = (packed.get("open") or {}).get("identity", "")
        session = state.info.session or known.session
        rows = (row for _, row in rows_of(tx, self._scope, first, session) if row is not None)
        words = ((row.preview, row.actions, row.outcomes) for row in rows)
        packer = Packer.resumed(form.name, session, packed, words, longest=self._longest)
        owners, buried = set(stored.get("owners", ())), stored.get("buried", False) is True
        return ResumedTranscript(known, state, packer, look, owners, unchanged, buried)


def is_gone(tx: Transaction, scope: Scope, transcript_id: str) -> bool:
    """Return whether the file of a transcript is no longer there."""
    owner = transcript_rows.transcript(tx, scope, transcript_id)
    return owner is None or not Path(owner.path).exists()


def rows_of(tx: Transaction, scope: Scope, name: str, session: str) -> Iterator[tuple[str, Episode | None]]:
    """The rows that begin with the same turn: the one that was read first, then those of this session that went
    on differently; None after the last."""
    row = episodes.by_identity(tx, scope, name)
    while row is not None:
        yield name, row
        name = apart(name, session)
        row = episodes.by_identity(tx, scope, name)
    yield name, None


def _session_of(form: LineFormat, source: RecordSource) -> str:
    """The session that a file's first lines name."""
    reading = form.start(source.path)
    reading.is_glance = True
    for number, line in enumerate(source.lines(0)):
        form.feed(reading, line)
        if reading.info.session or number >= 20:
            break
    return visible(reading.info.session)


def _holds(source: RecordSource, known: Transcript) -> bool:
    """Return whether what was read of a transcript is still there."""
    return not known.cursor or source.fingerprint(known.cursor) == known.fingerprint

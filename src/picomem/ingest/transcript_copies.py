"""The kept copies of a user's transcripts, for when a host deletes the originals.

The copies lie beside the database, in a folder for each user. A copy has every record that was read, redacted, up to
the place that the store has read to; what is appended later is copied later. After a purge a copy takes only records
in which episodes lie: nothing else shows that the rest tells nothing of what was erased.

A copy takes its place under the user's write lock, and only if the store still knows the transcript and nothing was
purged since. So a purge, which removes copies after its own transaction, meets every copy made before it.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from threading import Event
from typing import NamedTuple

from picomem.clock import DAY, Micros
from picomem.errors import Corrupt, InvalidInput, NotFound, StoreError
from picomem.ingest.format import LineFormat, format_named, formats
from picomem.ingest.reader import Line
from picomem.ingest.source import (
    ENDING,
    CopyHeader,
    RecordSource,
    SourceState,
    current_file,
    header_of,
    look_at,
    records_of,
    searchable,
    source_of,
    write_copy,
)
from picomem.light_dataclass import dataclass, field
from picomem.policy.redact import redact_json
from picomem.records.episode import HOST_SUMMARY, Transcript
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import episodes, tombstones, transcript_rows, users

MARGIN = 7 * DAY  # before a host deletes a transcript: nothing of picomem may run for some days
_NANOSECONDS = 1_000  # of a microsecond
_LONGEST_WRITING_SECONDS = 3_600  # of a copy

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepRule:
    """The rule for which transcripts are copied: all, or those that their host is about to delete; `lifetimes` says
    after how long without a change each host does that. The copies take `most_bytes` together."""

    all: bool
    most_bytes: int
    lifetimes: Mapping[str, Micros]


@dataclass(slots=True)
class KeptCopies:
    """The number of copies that were made or updated, or dropped for lack of space, and the problems."""

    made: int = 0
    dropped: int = 0
    problems: list[str] = field(default_factory=list)


class RedactedCopies(NamedTuple):
    """The number of records in the copies, of redacted records, and of damaged copies."""

    records: int
    changed: int
    damaged: int


def lifetimes(home: Path, env: Mapping[str, str]) -> dict[str, Micros]:
    """After how long without a change hosts delete a transcript; of others that is not known."""
    days = ((form.name, form.deletes_after_days(home, env)) for form in formats())
    return {name: count * DAY for name, count in days if count is not None}


def is_expiring(age: Micros, lifetime: Micros | None) -> bool:
    """Return whether a host deletes a transcript of that age soon."""
    return lifetime is not None and age >= lifetime - MARGIN


def copies_folder(connector: Connector) -> Path | None:
    """The folder of all users' copies, beside the database; None where the store is no file."""
    database = next(iter(connector.maintenance.files()), None)
    return None if database is None else Path(f"{database.absolute()}-transcripts")


def folder_name(scope: Scope) -> str:
    """The name of a user's folder: an id may hold any character, and say who somebody is."""
    return blake2b(scope.user.encode(), digest_size=16).hexdigest()


class TranscriptCopies:
    """The kept copies of one user's transcripts."""

    def __init__(self, connector: Connector, scope: Scope, redact: Callable[[str], str]) -> None:
        self._connector = connector
        self._scope = scope
        self._redact = redact
        root = copies_folder(connector)
        self._folder = root / folder_name(scope) if root else None

    def paths(self) -> list[Path]:
        """The copies that are there."""
        return [path for path in self._files() if path.name.endswith(ENDING) and not path.name.startswith(".")]

    def usage(self) -> tuple[int, int]:
        """Return how many copies there are, and their bytes."""
        sizes = [look_at(path).size for path in self.paths()]
        return len(sizes), sum(sizes)

    def lines(self, transcript: Transcript, span: Span) -> list[Line]:
        """The records of a span, from a copy that is whole. Raises NotFound, or InvalidInput for a damaged copy."""
        path = self._path(transcript.id)
        if path is None or header_of(path).generation != transcript.generation:
            raise NotFound(f"There is no copy of {transcript.path} as it was read.")
        return [line for line in records_of(path) if span[0] <= line.offset < span[1]]

    def keep(
        self, rule: KeepRule, now: Micros, *, only: Sequence[str] | None = None, stop: Event | None = None
    ) -> KeptCopies:
        """Copy what is due, and bring the copies that are there up to date; with `only` those of transcripts at these
        paths. Raises StoreError."""
        kept = KeptCopies()
        if self._folder is None:
            return kept
        for transcript, path, look in self._due(rule, now, only):
            if stop is not None and stop.is_set():
                break
            try:
                kept.made += self._fits(transcript, look, rule.most_bytes) and self._copy(transcript, path, look)
            except (InvalidInput, NotFound, Corrupt) as error:
                kept.problems.append(f"No copy was made of {path}: {error}")
        self._remove_unfinished()
        kept.dropped = self._drop_oldest(rule.most_bytes)
        return kept

    def redact_again(self, redact: Callable[[str], str], *, dry_run: bool) -> RedactedCopies:
        """Redact every copy by the current rules. A damaged one is left: it is never shown."""
        records = changed = damaged = 0

        def redacted(record: Line) -> Line:
            nonlocal records, changed
            safe = record._replace(data=_redacted(record.data or b"", redact))
            records += 1
            changed += safe != record
            return safe

        for path in self.paths():
            try:
                if dry_run:
                    for record in records_of(path):
                        redacted(record)
                else:
                    self._rewrite(path, redacted)
            except (InvalidInput, NotFound):
                damaged += 1
        return RedactedCopies(records, changed, damaged)

    def remove_purged(self) -> None:
        """Remove what is left of erased transcripts: their copies, unfinished ones, and from the copies of transcripts
        that lost a part all records in which no episode lies. The database alone decides, so a run that was killed is
        repeated. Raises StoreError."""
        try:
            self._remove_purged()
        except OSError as error:
            raise StoreError(f"The copies in {self._folder} cannot be removed: {error.strerror or error}.") from error

    def _remove_purged(self) -> None:
        if self._folder is None or not self._folder.exists():
            return
        with self._connector.read() as tx:
            known = {stored.record.id: stored.record for stored in transcript_rows.stored_transcripts(tx, self._scope)}
            graves = tombstones.Tombstones(tx, self._scope)
            spans = {
                transcript.id: _spans(tx, self._scope, transcript)
                for transcript in known.values()
                if graves.touches(transcript.host, transcript.session, transcript.path)
                or any(owner not in known for owner in _owners(transcript))
            }
        for path in self._files():
            transcript_id = path.name.removesuffix(ENDING)
            if transcript_id not in known:
                path.unlink(missing_ok=True)
            elif transcript_id in spans:
                inside = spans[transcript_id]
                self._filter(path, lambda record, inside=inside: _is_inside(record, inside))
        with suppress(OSError):  # others are in it
            self._folder.rmdir()

    def remove_matching(self, matches: Callable[[bytes], object]) -> None:
        """Remove every record in which something matches."""
        for path in self.paths():
            self._filter(path, lambda record: not matches(searchable(record.data or b"")))

    def _files(self) -> list[Path]:
        if self._folder is None or not self._folder.is_dir():
            return []
        return sorted(self._folder.iterdir())

    def _path(self, transcript_id: str) -> Path | None:
        """The copy of a transcript. An id that picomem did not make names no file."""
        if self._folder is None or not transcript_id.replace("-", "").isalnum():
            return None
        return self._folder / f"{transcript_id}{ENDING}"

    def _due(
        self, rule: KeepRule, now: Micros, only: Sequence[str] | None
    ) -> Iterable[tuple[Transcript, Path, SourceState]]:
        """The transcripts to copy, the one that was changed last first: it is the last to be dropped."""
        with self._connector.read() as tx:
            if only is None:
                stored = transcript_rows.stored_transcripts(tx, self._scope)
                transcripts = [transcript.record for transcript in stored if transcript.is_whole]
            else:
                transcripts = [
                    known for path in only for known in transcript_rows.transcripts_at(tx, self._scope, path)
                ]
        due = []
        for transcript in transcripts:
            if not transcript.cursor or not _has_lines(transcript):
                continue
            path = current_file(Path(transcript.path))
            look, copy = look_at(path), self._path(transcript.id)
            if not look.size or copy is None:
                continue
            age = now - look.written // _NANOSECONDS
            if rule.all or copy.exists() or is_expiring(age, rule.lifetimes.get(transcript.host)):
                due.append((transcript, path, look))
        return sorted(due, key=lambda row: -row[2].written)

    def _fits(self, transcript: Transcript, look: SourceState, most: int) -> bool:
        """Return whether a copy has a chance to stay. Without this, a transcript that is older than all copies would be
        copied and dropped again each time. (Half of its size is more than nearly every copy takes.)"""
        path = self._path(transcript.id)
        others = [look_at(copy) for copy in self.paths() if copy != path]
        is_oldest = all(look.written < other.written for other in others)
        likely_size = min(look.size, transcript.cursor) // 2  # a database holds other sessions too
        return not is_oldest or sum(other.size for other in others) + likely_size <= most

    def _copy(self, transcript: Transcript, path: Path, look: SourceState) -> bool:
        """Copy what is new in a transcript; whether there was something."""
        target, form = self._path(transcript.id), format_named(transcript.host)
        assert target is not None and isinstance(form, LineFormat)
        before, header = look_at(target), _header_at(target)
        if header is not None and (header.generation, header.end) == (transcript.generation, transcript.cursor):
            return False
        with self._connector.read() as tx:
            purged = tombstones.count(tx, self._scope)
            spans = _spans(tx, self._scope, transcript) if purged else None
        with source_of(form, path, transcript.session) as source:
            if not _holds(source, transcript.cursor, transcript.fingerprint):
                return False  # it was rewritten; the next ingest reads it again
            start = header.end if header is not None and _continues(header, transcript, source) else 0
            after = CopyHeader(
                transcript=transcript.id,
                host=transcript.host,
                session=transcript.session,
                generation=transcript.generation,
                fingerprint=transcript.fingerprint,
                end=transcript.cursor,
            )

            def put(rename: Callable[[], None]) -> bool:
                if not _holds(source, transcript.cursor, transcript.fingerprint):
                    return False
                return self._put(rename, target, before, transcript, purged)

            def copied(since: int) -> bool:
                new = self._records(source, since, transcript.cursor, spans)
                return write_copy(target, after, chain(records_of(target) if since else (), new), look.written, put)

            try:
                return copied(start)
            except InvalidInput:
                if not start:
                    raise
                return copied(0)  # the copy that was there is damaged

    def _records(self, source: RecordSource, start: int, end: int, spans: Sequence[Span] | None) -> Iterator[Line]:
        for line in source.lines(start):
            if line.offset >= end:
                return
            if line.data is not None and (spans is None or _is_inside(line, spans)):
                yield line._replace(data=_redacted(line.data, self._redact))

    def _put(
        self, rename: Callable[[], None], target: Path, before: SourceState, transcript: Transcript, purged: int
    ) -> bool:
        """Let a copy take its place, unless another process put one there, or something was purged meanwhile."""
        with self._connector.write(self._scope) as tx:
            now = transcript_rows.transcript(tx, self._scope, transcript.id)
            is_current = now is not None and now.generation == transcript.generation
            is_current = is_current and tombstones.count(tx, self._scope) == purged
            if is_current and look_at(target)[:3] == before[:3]:
                with suppress(FileNotFoundError):  # a purge removed it before it was complete
                    rename()
                    return True
        return False

    def _filter(self, path: Path, stays: Callable[[Line], object]) -> None:
        """Rewrite a copy with the records that stay; one that cannot be read goes, because it may hold anything."""
        try:
            self._rewrite(path, lambda record: record if stays(record) else None)
        except InvalidInput:
            path.unlink(missing_ok=True)

    def _rewrite(self, path: Path, change: Callable[[Line], Line | None]) -> None:
        """Rewrite a copy with other records. Another process may append to it meanwhile; then it is read once more."""

        def put(rename: Callable[[], None]) -> bool:
            with self._connector.write(self._scope):
                if look_at(path)[:3] != before[:3]:
                    return False
                rename()
                return True

        is_put = False
        while not is_put:
            before = look_at(path)
            if not before.size:
                return
            old = list(records_of(path))
            new = [after for record in old if (after := change(record)) is not None]
            is_put = new == old or write_copy(path, header_of(path), new, before.written, put)

    def _remove_unfinished(self) -> None:
        """Remove what processes left that were killed while they wrote a copy."""
        before = time.time() - _LONGEST_WRITING_SECONDS
        for path in self._files():
            with suppress(FileNotFoundError):
                if path.name.startswith(".") and path.stat().st_ctime < before:
                    path.unlink()

    def _drop_oldest(self, most: int) -> int:
        """Remove the copies of the transcripts that were changed longest ago until the rest fits; how many."""
        copies = sorted(((look_at(path), path) for path in self.paths()), key=lambda row: row[0].written)
        total = sum(look.size for look, _ in copies)
        dropped = 0
        for look, path in copies:
            if total <= most:
                break
            path.unlink(missing_ok=True)
            total -= look.size
            dropped += 1
        return dropped


def copy_problems(connector: Connector) -> Iterator[str]:
    """Return what is wrong with the copies of all users: damaged ones, and those that the store knows nothing of.
    Raises StoreError."""
    root = copies_folder(connector)
    if root is None or not root.is_dir():
        return
    with connector.read() as tx:
        known = {folder_name(scope): scope for scope in users.scopes(tx)}
    for folder in sorted(root.iterdir()):
        scope = known.get(folder.name)
        if scope is None:
            yield f"{folder} belongs to no user of the store; delete it if it is not wanted any more"
            continue
        with connector.read() as tx:
            ids = {stored.record.id for stored in transcript_rows.stored_transcripts(tx, scope)}
        for path in TranscriptCopies(connector, scope, str).paths():
            if path.name.removesuffix(ENDING) not in ids:
                yield f"{path} is a copy of a transcript that the store does not know; delete it if it is not wanted"
                continue
            try:
                for _ in records_of(path):
                    pass
            except (InvalidInput, NotFound) as error:
                yield str(error).rstrip(".")


def _has_lines(transcript: Transcript) -> bool:
    try:
        return isinstance(format_named(transcript.host), LineFormat)
    except InvalidInput:
        return False


def _owners(transcript: Transcript) -> Sequence[str]:
    """The transcripts whose turns this one repeats."""
    try:
        owners = json.loads(transcript.state).get("owners", ())
    except (ValueError, AttributeError):
        return ()
    return owners if isinstance(owners, list) else ()


def _header_at(path: Path) -> CopyHeader | None:
    try:
        return header_of(path)
    except (InvalidInput, NotFound):
        return None


def _continues(header: CopyHeader, transcript: Transcript, source: RecordSource) -> bool:
    """Return whether a transcript was only appended to since it was copied."""
    is_same = header.generation == transcript.generation and header.end <= transcript.cursor
    return is_same and _holds(source, header.end, header.fingerprint)


def _holds(source: RecordSource, upto: int, fingerprint: str) -> bool:
    return bool(fingerprint) and source.fingerprint(upto) == fingerprint


def _spans(tx: Transaction, scope: Scope, transcript: Transcript) -> list[Span]:
    """The spans of a transcript in which its episodes lie, joined, in order."""
    stored = episodes.of_transcript(tx, scope, transcript.id, [])
    of_records = [one for one in stored if one.category == "transcript" or one.key.startswith(HOST_SUMMARY)]
    spans: list[Span] = []
    for start, end in sorted((episode.start, episode.end) for episode in of_records):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    return spans


def _is_inside(record: Line, spans: Sequence[Span]) -> bool:
    place = bisect_right(spans, record.offset, key=lambda span: span[0]) - 1
    return place >= 0 and record.offset < spans[place][1]


def _redacted(data: bytes, redact: Callable[[str], str]) -> bytes:
    safe = redact_json(data.decode("utf-8", "replace"), redact)
    return safe.encode("utf-8", "replace").replace(b"\n", b" ").strip(b" \t\r\n\0")

"""The source of a transcript's records: the lines of a file, or the rows of a host's database.

Both are read the same way: from an offset on, with a fingerprint of everything before it, and nothing is read twice.
In a file, offsets count bytes; in a database they count the records of a session, so record number n is the span [n,
n + 1).
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Protocol

from picomem.errors import DiskFull, InvalidInput, NotFound, StoreError
from picomem.ingest import reader
from picomem.ingest.format import DatabaseFormat, LineFormat, State
from picomem.ingest.reader import Line
from picomem.light_dataclass import asdict, dataclass
from picomem.paths import make_private_dir, refuse_open_database, status_of, sync_folder

MAGIC = b"SQLite format 3\0"
LOG = "-wal"  # what is written to a database stands in the file of this ending at first
# Nanoseconds after which a file system gives another time to a change; some count in seconds, or by twos.
_SETTLED = 2_500_000_000
_PART = re.compile(r"\.(sqlite3?|db)-(wal|shm|journal)$")


class SourceState(NamedTuple):
    """The state of a source without reading it: its identity, its last offset, and the time of its last write.

    `changed` is when the file was changed in any way, which no program can set. 0 where that does not prove anything:
    the source is no file, the system keeps no such time, or the time is so near that another change could have it too.
    """

    file: int
    size: int
    written: int
    changed: int = 0


class RecordSource(Protocol):
    """The records of one transcript."""

    path: Path
    session: str  # the one that is asked for; empty where the records tell
    read: int  # bytes that `lines` gave

    def look(self) -> SourceState:
        """Zeros where there is nothing."""
        ...

    def lines(self, offset: int) -> Iterator[Line]:
        """The records from `offset` on. Raises NotFound or InvalidInput."""
        ...

    def marks(self) -> dict[str, str]:
        """Facts about the transcript besides its records, as marks of the format."""
        ...

    def fingerprint(self, upto: int) -> str:
        """A digest that identifies the records before `upto`; empty if they do not exist."""
        ...


class RecordFile:
    """A transcript of one record a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session = ""
        self.read = 0

    def look(self) -> SourceState:
        return look_at(self.path)

    def lines(self, offset: int) -> Iterator[Line]:
        for line in reader.records(self.path, offset):
            self.read += line.end - offset
            offset = line.end
            yield line

    def marks(self) -> dict[str, str]:
        return {}

    def fingerprint(self, upto: int) -> str:
        return reader.fingerprint(self.path, upto)


@contextmanager
def sources(form: LineFormat, path: Path) -> Iterator[Sequence[RecordSource]]:
    """The transcripts in a file: itself, or the sessions of a database. Raises InvalidInput."""
    if isinstance(form, DatabaseFormat) and is_database(path):
        with form.database(path) as sessions:
            yield sessions
    else:
        yield [RecordFile(path)]


@contextmanager
def source_of(form: LineFormat, path: Path, session: str) -> Iterator[RecordSource]:
    """The source of a transcript that was read before. Raises NotFound where the database has no such session."""
    with sources(form, path) as there:
        wanted = next((source for source in there if source.session in ("", session)), None)
        if wanted is None:
            raise NotFound(f"There is no session {session} in {path}.")
        yield wanted


def begin(form: LineFormat, source: RecordSource) -> State:
    """The state of a parser before the first record of a source."""
    state = form.start(source.path)
    state.note(session=source.session)
    state.marks |= source.marks()
    return state


def is_database(path: Path) -> bool:
    """Return whether a file is read as a database, and so by SQLite alone.

    The name decides, and the file is not looked into. POSIX drops all locks that a process has on a file when the
    process closes any descriptor of it. So a glance at the header would take away the locks of a connection that
    another thread has open, and the host could write in the middle of what that thread reads. A file of any other name
    is read by `reader` alone, and never by SQLite.
    """
    return path.suffix in (".sqlite", ".sqlite3", ".db")


def check_database(path: Path) -> None:
    """Look at a database from outside. Raises NotFound or InvalidInput for what SQLite must not be given."""
    status = status_of(path)
    if status is None:
        raise NotFound(f"There is no file {path}.")
    if not stat.S_ISREG(status.st_mode):
        raise InvalidInput(f"{path} is not a regular file; name one that is.")
    refuse_open_database(path)


def refuse_part_of_database(path: Path) -> None:
    """Raise InvalidInput for a log or an index that SQLite keeps beside a database: it holds locks on it as well."""
    if _PART.search(path.name):
        raise InvalidInput(f"{path} is a part of a database; name the database itself.")


def print_of(source: RecordSource, upto: int) -> str:
    """The source's fingerprint; none for one that is gone by now, so that it is read again should it come back."""
    try:
        return source.fingerprint(upto) if upto else ""
    except NotFound:
        return ""


def current_file(path: Path) -> Path:
    """The file of a transcript that was read at a path: hosts compress old files, and offsets count decompressed
    bytes."""
    if path.exists():
        return path
    compressed = (path.with_name(path.name + ending) for ending in reader.PACKED)
    return next((packed for packed in compressed if packed.exists()), path)


def look_at(path: Path) -> SourceState:
    """Zeros where there is no file."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return SourceState(0, 0, 0)
    # On Windows `st_ctime` is when a file was made.
    settled = os.name == "posix" and time.time_ns() - status.st_ctime_ns > _SETTLED
    return SourceState(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns if settled else 0)


# The file format of a kept transcript: its redacted records, each with its position in the original transcript.
#
#     a header, JSON            the transcript, and how far it was copied
#     offset end record         a line for each record; pointers into the transcript find it by these offsets
#     digest                    of all lines before it
#
# All of this is one zstd frame. A file is never changed in place: it is written beside its name, synced and renamed.
# So a reader sees a complete copy or none, and a process may be killed at any point.

ENDING = ".copy.zst"
_FORM = "picomem transcript copy 1"
_LONGEST = 2 * reader.LONGEST  # a redacted record may be a little longer than the record
_LEVEL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyHeader:
    """The header of a copy. The transcript was copied up to `end`, and `fingerprint` is that of the transcript before
    it."""

    transcript: str
    host: str
    session: str
    generation: int
    fingerprint: str
    end: int
    form: str = _FORM


def header_of(path: Path) -> CopyHeader:
    """The header of a copy; the rest is not checked. Raises NotFound or InvalidInput."""
    for line in reader.lines(path, longest=_LONGEST):
        return _header(path, line)
    raise _damaged(path)


def records_of(path: Path) -> Iterator[Line]:
    """The records of a copy. Raises NotFound, or InvalidInput for a damaged one, at its end at the latest: a record
    counts only when all were read."""
    digest = blake2b(digest_size=32)
    waiting: bytes | None = None
    for number, line in enumerate(reader.lines(path, longest=_LONGEST)):
        if line.data is None:
            raise _damaged(path)
        if number == 0:
            _header(path, line)
            _add(digest, line.data)
            continue
        if waiting is not None:
            _add(digest, waiting)
            yield _record(path, waiting)
        waiting = line.data
    if waiting is None or waiting.decode("ascii", "replace") != digest.hexdigest():
        raise _damaged(path)


def write_copy(
    path: Path, header: CopyHeader, records: Iterable[Line], written: int, put: Callable[[Callable[[], None]], bool]
) -> bool:
    """Write a copy whose file has the time `written` (nanoseconds) of its transcript; whether it took its place.

    `put` decides that: it calls the function it is given, which renames the file, or does not. Raises StoreError where
    the file cannot be written.
    """
    spare = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        make_private_dir(path.parent)
        try:
            _write(spare, header, records)
            os.utime(spare, ns=(written, written))

            def rename() -> None:
                spare.replace(path)

            is_put = put(rename)
            if is_put:
                sync_folder(path.parent)
        finally:
            spare.unlink(missing_ok=True)
    except OSError as error:
        kind = DiskFull if error.errno == errno.ENOSPC else StoreError
        raise kind(f"{path} cannot be written: {error.strerror or error}.") from error
    return is_put


def _write(path: Path, header: CopyHeader, records: Iterable[Line]) -> None:
    import zstandard

    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    digest = blake2b(digest_size=32)
    with os.fdopen(descriptor, "wb") as file:
        with zstandard.ZstdCompressor(level=_LEVEL).stream_writer(file, closefd=False) as stream:

            def put_line(data: bytes) -> None:
                _add(digest, data)
                stream.write(data + b"\n")

            put_line(json.dumps(asdict(header)).encode())
            for record in records:
                if record.data is not None:
                    put_line(b"%d %d %b" % (record.offset, record.end, record.data))
            stream.write(digest.hexdigest().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def texts_of(path: Path) -> Iterator[bytes]:
    """The bytes of a copy for a search: its header and each record, as it stands there and with its texts unescaped.
    Raises as `records_of` does."""
    yield json.dumps(asdict(header_of(path)), ensure_ascii=False).encode("utf-8", "surrogatepass")
    for record in records_of(path):
        yield searchable(record.data or b"")


def searchable(data: bytes) -> bytes:
    """A record, and its texts without the escapes of JSON."""
    try:
        texts = "\n".join(_strings(json.loads(data)))
    except (ValueError, RecursionError):
        return data
    return data + b"\n" + texts.encode("utf-8", "ignore")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _strings(item)


def _add(digest: blake2b, data: bytes) -> None:
    digest.update(len(data).to_bytes(8, "big"))
    digest.update(data)


def _header(path: Path, line: Line) -> CopyHeader:
    try:
        header = CopyHeader(**json.loads(line.data or b""))
    except (ValueError, TypeError) as error:
        raise _damaged(path) from error
    if header.form != _FORM:
        raise InvalidInput(f"{path} was written by another version of picomem; delete it to have it made again.")
    return header


def _record(path: Path, data: bytes) -> Line:
    try:
        offset, end, record = data.split(b" ", 2)
        return Line(int(offset), int(end), record)
    except ValueError as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} is damaged; delete it, and picomem copies the transcript again if it is still there.")

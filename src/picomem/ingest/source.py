"""The source of a transcript's records: the lines of a file, or the rows of a host's database.

Both are read the same way: from an offset on, with a fingerprint of everything before it, and nothing is read twice.
In a file, offsets count bytes; in a database they count the records of a session, so record number n is the span [n,
n + 1).
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from picomem.errors import InvalidInput, NotFound
from picomem.ingest import reader
from picomem.ingest.format import DatabaseFormat, LineFormat, State
from picomem.ingest.reader import Line
from picomem.paths import refuse_open_database, status_of

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

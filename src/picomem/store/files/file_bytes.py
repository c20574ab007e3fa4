"""The bytes of files on disk, read without harm to a database that this process has open.

POSIX drops every lock that a process holds on a file when the process closes any descriptor of that file. A plain
`open` and `close` of a live database, its log or its log's index therefore takes away SQLite's locks, and other
processes may then overwrite what this one writes (sqlite.org/howtocorrupt.html, 2.2). SQLite's own VFS knows which
descriptors share an inode and defers the close, so an open database is read through it. It does not know the index of
the log (`-shm`), so that is read before the process opens the database or not at all: it holds page numbers and locks,
no content (sqlite.org/walformat.html, 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from picomem import paths
from picomem.errors import InvalidInput

_CHUNK = 8 << 20

ReadAt = Callable[[int, int], bytes]  # offset, size


def database_head(path: Path, size: int) -> bytes:
    """The first `size` bytes of a file that may be an open database; fewer where it is shorter. Raises apsw.Error."""
    return _read(path, apsw.SQLITE_OPEN_MAIN_DB, 0, size)


def chunks(path: Path, size: int = _CHUNK) -> Iterator[bytes]:
    """The bytes of a file, `size` at a time. Raises NotFound or InvalidInput, so for the `-shm` of an open database."""
    suffix = paths.open_database_suffix(path)
    if suffix is None or suffix == "-shm":
        with paths.open_regular(path) as file:
            while chunk := file.read(size):
                yield chunk
    else:
        kind = apsw.SQLITE_OPEN_WAL if suffix else apsw.SQLITE_OPEN_MAIN_DB
        offset = 0
        try:
            while chunk := _read(path, kind, offset, size):
                yield chunk
                offset += len(chunk)
        except apsw.Error as error:
            raise InvalidInput(f"{path} cannot be read: {error}.") from error


def _read(path: Path, kind: int, offset: int, size: int) -> bytes:
    with opened_file(path, kind) as read:
        return read(offset, size)


@contextmanager
def opened_file(path: Path, kind: int) -> Iterator[ReadAt]:
    """A reader of a database that may be open (`apsw.SQLITE_OPEN_MAIN_DB`), or of its log (`apsw.SQLITE_OPEN_WAL`):
    `size` bytes from `offset`, fewer at its end. Raises apsw.Error."""
    file = apsw.VFSFile("", str(path.absolute()), [kind | apsw.SQLITE_OPEN_READONLY, 0])

    def read(offset: int, size: int) -> bytes:
        # Asked for more than there is, apsw cuts the zeros at the end off as well.
        return file.xRead(min(size, file.xFileSize() - offset), offset) if file.xFileSize() > offset else b""

    try:
        yield read
    finally:
        file.xClose()

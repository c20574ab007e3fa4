"""The content of files for a search of their bytes. Of a sealed file that is its pages decrypted, for a search of
encrypted bytes proves nothing.

SQL reads no page that no table uses. But SQLite's layer of files decrypts every page that is read from a file which a
connection with the key has open, used or not. So a layer of ours on top keeps the open file, and reads all pages
through it. It must not be the log's, whose pages cannot be told apart there: what stands in the log is merged into the
file first, and a purge has emptied the log before.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw

from picomem.errors import InvalidInput, StoreError
from picomem.store.files.database_files import LOG
from picomem.store.files.file_bytes import chunks
from picomem.store.files.sealed_files import connect, is_sealed, key_of

_PAGES = 1_024  # at a time
_RESERVED = 64  # bytes at the end of a page, which the cipher uses
_TRIES = 20  # a page that another process writes at this moment cannot be decrypted


def content(path: Path) -> Iterator[bytes]:
    """The bytes of a file, some megabytes at a time. Raises NotFound, and InvalidInput where they cannot be read."""
    database = path.with_name(path.name.removesuffix(LOG))
    if is_sealed(path):
        yield from _decrypted(path)
    elif database == path or not is_sealed(database):
        yield from chunks(path)


class _Looking(apsw.VFS):
    """Keeps the one file that a connection opens through it."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "")
        self.name = name
        self.file: apsw.VFSFile | None = None

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        self.file = apsw.VFSFile("", name, flags)
        return self.file


def _decrypted(path: Path) -> Iterator[bytes]:
    layer = _Looking(f"picomem-{os.urandom(8).hex()}")
    try:
        key = key_of(path)
        with suppress(apsw.Error), closing(connect(path, key=key, flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            connection.pragma("user_version")
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        flags = apsw.SQLITE_OPEN_READONLY
        with closing(connect(path, key=key, flags=flags, vfs=layer.name, immutable=True)) as connection:
            size = int(str(connection.pragma("page_size")))
            assert layer.file is not None
            count = layer.file.xFileSize() // size
            for first in range(0, count, _PAGES):
                numbers = range(first, min(first + _PAGES, count))
                yield b"".join(_page(layer.file, number, size) for number in numbers)
    except (apsw.Error, StoreError) as error:
        raise InvalidInput(f"{path} cannot be read: {str(error).rstrip('.')}.") from error
    finally:
        layer.unregister()


def _page(file: apsw.VFSFile, number: int, size: int) -> bytes:
    for _ in range(_TRIES):
        with suppress(apsw.Error):
            return file.xRead(size, number * size)[: size - _RESERVED]
        time.sleep(0.01)
    return file.xRead(size, number * size)[: size - _RESERVED]

"""Copies a store as it is at this moment. The copy may be written; the store itself is only read.

SQLite's backup API copies page by page what a reader sees, including the log, so it neither waits for a writing
process nor delays one. The store is not opened as the engine opens it, because that would bring an older one up to
date.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import apsw

from picomem.errors import InvalidInput, NotADatabase, NotFound
from picomem.paths import hold_database, release_database, status_of, sync_folder
from picomem.store.files.database_files import SUFFIXES, log_size
from picomem.store.files.new_file import check_name
from picomem.store.files.sealed_files import connect, key_of
from picomem.store.files.wrapped_keys import wrapped_of
from picomem.store.sqlite.errors import BUSY_MILLISECONDS, translated
from picomem.store.sqlite.schema import APPLICATION_ID, check_version, refuse_another_programs

_STEPS = 100_000  # of SQLite's machine between two looks at how far it is
Telling = Callable[[int], object]  # bytes that were written so far


def copy_store(source: Path, target: Path, key: str | None = None, tell: Telling = lambda _: None) -> None:
    """Copy the store at `source` to a new file, readable by its owner alone, and with its key unless another is given
    ("": the copy is plain). `tell` follows the latter, which takes longer. Raises StoreError."""
    for path in (source, target):
        check_name(path)
    if not source.is_file():
        raise NotADatabase(f"{source} is no file; name a file for the database.")
    refuse_another_programs(source)
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600))
    hold_database(source, SUFFIXES)
    try:
        _copy(source, target, key, tell)
    finally:
        release_database(source)


def back_up(source: Path, target: Path) -> None:
    """Copy the store to a file that is there whole or not at all. Raises InvalidInput where the name is taken or cannot
    be written, and StoreError."""
    check_name(target)
    if target.is_symlink() or target.exists():
        raise InvalidInput(f"{target} exists already; name another file, or a folder.")
    spare = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        spare.unlink(missing_ok=True)  # of a killed process with the same number
        copy_store(source, spare)
        if wrapped := wrapped_of(source):
            wrapped.copy_to(target)  # the pass phrase opens nothing without it
        spare.rename(target)
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        with suppress(OSError):
            spare.unlink(missing_ok=True)
    sync_folder(target.parent)


def copy_backup(source: Path, target: Path, key: str | None = None) -> None:
    """Copy a backup, to examine it or to put it in the place of a store, which may have another key. Raises NotFound
    where there is none, and StoreError for what is no whole store."""
    if status_of(source) is None:
        raise NotFound(f"There is no file {source}.")
    copy_store(source, target, key)
    with translated(target), closing(connect(target, key=key)) as copy:
        if copy.pragma("application_id") != APPLICATION_ID:
            raise NotADatabase(f"{source} is empty: it is no backup of a store.")


def _copy(source: Path, target: Path, key: str | None, tell: Telling) -> None:
    own = key_of(source)
    with translated(source), closing(_reader(source, own)) as reader:
        check_version(reader, source)
        if key is not None and key != own:
            _write_with_key(reader, target, key, tell)
            return
        with (
            translated(target),
            closing(connect(target, key=own)) as writer,
            writer.backup("main", reader, "main") as backup,
        ):
            backup.step()  # all of it in one snapshot


def _write_with_key(reader: apsw.Connection, target: Path, key: str, tell: Telling) -> None:
    """Write all of a store to an empty file, sealed with another key, or plain. No page is the same there, so the
    backup API cannot do it."""

    def go_on() -> bool:
        tell(target.stat().st_size)
        return False

    reader.set_progress_handler(go_on, _STEPS)
    reader.pragma("query_only", False)  # it counts the new file too
    secret = f"cipher=aegis&key=x'{key}'" if key else "key="
    try:
        reader.execute("VACUUM INTO ?", (f"{target.resolve().as_uri()}?{secret}",))
    except apsw.Error as error:
        error.args = (str(error).replace(secret, "…"),)
        raise
    with target.open("rb+") as file:  # SQLite leaves it to the disk when it is written
        os.fsync(file.fileno())


def _reader(path: Path, key: str) -> apsw.Connection:
    """A reader of a WAL database writes to its -shm, so it is opened for both, where it can be, and told not to change
    anything. What lies where nothing can be written, and has no log, is read as a file that does not change."""
    try:
        reader = connect(path, key=key, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
        reader.set_busy_timeout(BUSY_MILLISECONDS)
        reader.pragma("query_only", True)
        reader.pragma("user_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if log_size(path):
            raise
        return connect(path, key=key, flags=apsw.SQLITE_OPEN_READONLY, immutable=True)
    return reader

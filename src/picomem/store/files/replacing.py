"""Replaces a store by another one, and keeps the old store beside it under a new name, or not at all.

    lock the old store → its log into its file → index and log aside → a second name for the file → the new file

The old store's write lock is held from the first step to the last. So a change that another process acknowledged before
is in the kept store, and a process that still has the old store open notices before its next change that its files have
moved (opened_files.py). After a kill at any moment, one of the two stores has the name: the old file keeps it until the
new one takes it. A kill between the last two steps leaves the old file with two names. Opening it is then refused
(new_file.py) until the second name is deleted, which the next restore does.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

import apsw

from picomem import errors
from picomem.paths import hold_database, release_database, sync_folder
from picomem.store.files import ballast
from picomem.store.files.database_files import LOG, LOG_INDEX, SUFFIXES, files_of
from picomem.store.files.sealed_files import connect
from picomem.store.sqlite.errors import BUSY_MILLISECONDS, ask_again_for, translated

_KEPT = ".before-restore-"


def replace_store(path: Path, new: Path, stamp: str, look: Callable[[], None] = lambda: None) -> Path | None:
    """Move the closed store `new`, which lies in the same folder, to `path`; the name under which the old one is kept,
    None where there was none. `stamp` makes that name; without one the old store is not kept.

    `look` runs while nobody can write to the old store, and may make the new one then; what it raises leaves everything
    as it was. Raises Locked where another process reads or writes for too long, and StoreError where the folder cannot
    be written.
    """
    path = Path(os.path.realpath(path))
    try:
        _remove_second_names(path)
        if not path.exists():
            look()
            new.replace(path)
            sync_folder(path.parent)
            return None
        kept = _free_name(path, stamp) if stamp else None
        with _at_rest(path) as is_whole:
            look()
            _move(path, new, kept)
    except OSError as error:
        raise errors.StoreError(
            f"{path} could not be replaced ({error.strerror}); the store is as it was. Check the rights of its folder."
        ) from error
    if is_whole and kept is not None:
        with translated(kept), closing(connect(kept)) as connection:
            connection.pragma("user_version")  # the last one to close a store folds its log into the file
    return kept


def remove_store(path: Path) -> None:
    """Delete a store that nobody has open, with all that lies beside it."""
    ballast.give_up(path)
    for file in files_of(path):
        file.unlink(missing_ok=True)


@contextmanager
def _at_rest(path: Path) -> Iterator[bool]:
    """Nobody writes to the store meanwhile, and its file holds all of it; False where it is too damaged for that."""
    hold_database(path, SUFFIXES)
    try:
        with translated(path), ExitStack() as stack:
            try:
                stack.enter_context(_locked(path))
            except (apsw.NotADBError, apsw.CorruptError, errors.Sealed):
                is_whole = False
            else:
                is_whole = True
            yield is_whole
    finally:
        release_database(path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with closing(_connection(path)) as writer, closing(_connection(path)) as reader:
        writer.execute("BEGIN IMMEDIATE")
        _empty_log(reader, path)
        yield
        writer.execute("ROLLBACK")


def _connection(path: Path) -> apsw.Connection:
    connection = connect(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.set_busy_handler(ask_again_for(BUSY_MILLISECONDS / 1000))
    # At its close the log lies elsewhere, and another store's may stand under the name.
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def _empty_log(connection: apsw.Connection, path: Path) -> None:
    """Copy the whole log into the file. A passive checkpoint needs no lock of writers, which the other connection has;
    it copies no further than the oldest reader has come."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
    connection.pragma("user_version")  # before it has read anything it knows of no log
    while True:
        with suppress(apsw.BusyError):  # another process is copying
            in_log, copied = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if in_log == copied:
                return
        if time.monotonic() > deadline:
            raise errors.Locked(
                f"{path} is being read by another process; nothing was replaced. Try again when it has finished."
            )
        time.sleep(0.01)


def kept_stores(path: Path) -> list[Path]:
    """The stores that lie beside one, because it was put in their place."""
    named = sorted(path.parent.glob(f"{path.name}{_KEPT}*"))
    return [file for file in named if not file.name.endswith((LOG, LOG_INDEX, ballast.SUFFIX))]


def _move(path: Path, new: Path, kept: Path | None) -> None:
    # The index goes first: an index without its log looks like a log that was lost (lost_files.py).
    for suffix in (LOG_INDEX, LOG):
        beside = Path(f"{path}{suffix}")
        if beside.exists() and kept is None:
            beside.unlink()
        elif beside.exists():
            beside.rename(f"{kept}{suffix}")
    if kept is not None:
        _give_second_name(path, kept)
    new.replace(path)
    sync_folder(path.parent)


def _give_second_name(path: Path, kept: Path) -> None:
    try:
        os.link(path, kept)
    except FileExistsError:
        raise
    except OSError:  # a file system without second names
        path.rename(kept)


def _free_name(path: Path, stamp: str) -> Path:
    name = f"{path.name}{_KEPT}{stamp}"
    kept, number = path.with_name(name), 2
    while kept.exists():
        kept, number = path.with_name(f"{name}-{number}"), number + 1
    return kept


def _remove_second_names(path: Path) -> None:
    """Remove what a killed replacement left: another name of the file that still stands under its own."""
    if not path.exists():
        return
    for other in path.parent.glob(f"{path.name}{_KEPT}*"):
        if other.samefile(path):
            other.unlink()

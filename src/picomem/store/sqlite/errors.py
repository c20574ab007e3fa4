"""Converts the errors of SQLite to picomem's, in this one place, and decides how long SQLite waits for a lock."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from picomem import errors
from picomem.coded_text import CodedText, Command

BUSY_MILLISECONDS = 30_000


def ask_again_for(seconds: float) -> Callable[[int], bool]:
    """A busy handler that asks for the lock every two milliseconds, for so many seconds.

    SQLite's own handler soon asks ten times a second only. A process that writes without a pause leaves the lock free
    for about a millisecond between two transactions, so that handler can miss every gap for half a minute.
    """
    deadline = 0.0

    def ask_again(refusals: int) -> bool:
        nonlocal deadline
        if refusals == 0:
            deadline = time.monotonic() + seconds
        time.sleep(0.002)
        return time.monotonic() < deadline

    return ask_again


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn the library's errors into picomem's."""
    try:
        yield
    except apsw.Error as error:
        raise translation(error, path) from error


def lacks_room_for_log_index(error: apsw.Error) -> bool:
    """Return whether there was no room for the index of the log, which SQLite calls a failure of the disk."""
    # An error of apsw's own, as that a connection is closed, has no code of SQLite's.
    return getattr(error, "extendedresult", None) == apsw.SQLITE_IOERR_SHMSIZE


def _may_open_files() -> bool:
    """Return whether this process may open another file; SQLite does not tell why it could not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        return False
    return True


def translation(error: apsw.Error, path: Path) -> errors.StoreError:
    """The error of ours for one of the library's, with a sentence that says what to do."""
    if isinstance(error, apsw.NotADBError):
        from picomem.store.files.sealed_files import is_sealed  # noqa: PLC0415 - only a failure needs it

        if is_sealed(path):
            return errors.Sealed(CodedText("failure.sealed_wrong_key", path=str(path)))
        return errors.NotADatabase(f"{path} is not a database; name another file with --db.")
    if isinstance(error, apsw.CorruptError):
        return errors.Corrupt(
            CodedText("failure.damaged_file", path=str(path), problem=str(error), command=Command("doctor"))
        )
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return errors.Locked(
            f"{path} has been locked by another process for {BUSY_MILLISECONDS // 1000} seconds; "
            "nothing was written. Try again when it has finished."
        )
    if isinstance(error, apsw.FullError) or lacks_room_for_log_index(error):
        return errors.DiskFull()
    if isinstance(error, apsw.NoMemError):
        return errors.OutOfMemory()
    if isinstance(error, apsw.CantOpenError) and not _may_open_files():
        return errors.TooManyFiles()
    if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.PermissionsError):
        return errors.ReadOnly(
            f"{path} cannot be opened for writing ({error}); check the rights of the file and its folder."
        )
    if isinstance(error, apsw.SQLError):
        return errors.Corrupt(
            CodedText(
                "failure.incomplete_store", place=str(path), problem=str(error), command=Command("doctor", repair=True)
            )
        )
    return errors.StoreError(f"{path} could not be read or written: {error}.")

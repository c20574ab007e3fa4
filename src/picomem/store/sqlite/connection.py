"""What is done with a connection of SQLite: WAL is switched on, a write begins, it is closed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from picomem import errors
from picomem.store.sqlite.errors import BUSY_MILLISECONDS, ask_again_for

_CLOSING_SECONDS = 5


def switch_to_wal(connection: apsw.Connection) -> None:
    """SQLite waits for no lock here, so of several processes that make the file at once all but one would fail."""
    deadline = time.monotonic() + BUSY_MILLISECONDS / 1000
    while connection.pragma("journal_mode") != "wal":
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def begin(writer: apsw.Connection, wait_seconds: float | None) -> None:
    """Take the lock of the writer at once."""
    if wait_seconds is None:
        writer.execute("BEGIN IMMEDIATE")
        return
    writer.set_busy_handler(ask_again_for(wait_seconds))
    try:
        writer.execute("BEGIN IMMEDIATE")
    finally:
        writer.set_busy_handler(ask_again_for(BUSY_MILLISECONDS / 1000))


@contextmanager
def refusing_invalid_unicode() -> Iterator[None]:
    """Raise InvalidInput for a caller's text that no database can hold, since no stored one is invalid Unicode."""
    try:
        yield
    except UnicodeEncodeError as error:
        raise errors.InvalidInput(
            "A text or a name is not valid Unicode, so no database can hold it; give it as UTF-8."
        ) from error


def leave_log_alone(connection: apsw.Connection) -> None:
    """Keep a connection from merging the log into the database, and deleting it, when it is closed as the last one."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def close(connection: apsw.Connection) -> None:
    """Close a connection, interrupting what still runs on it after a while."""
    deadline = time.monotonic() + _CLOSING_SECONDS
    while True:
        try:
            return connection.close()
        except apsw.ThreadingViolationError:  # another thread runs a statement on it
            if time.monotonic() > deadline:
                connection.interrupt()
            time.sleep(0.002)

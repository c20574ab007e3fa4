"""Detects from the files beside a database that a part of the stored data is missing.

SQLite creates `-wal` before `-shm`, and when the last connection closes, it deletes `-shm` before `-wal`. It writes a
page of the database before there is a log. So two states never occur normally: an empty database with a log that is
not empty, which SQLite would delete unread; and a `-shm` without a `-wal`.

SQLite reads a log up to the first page (frame) whose checksum is wrong, as after a power cut, and says nothing of what
stood behind it. The `-shm` of a killed process counts the pages that were committed (sqlite.org/walformat.html, 2.1).
"""

from __future__ import annotations

import time
from pathlib import Path
from struct import unpack_from
from typing import NamedTuple

from picomem import paths
from picomem.errors import InvalidInput, NotFound, StoreError
from picomem.store.files.ballast import SUFFIX as BALLAST

_HEADER = 48  # bytes at the beginning of the index of a log; they stand there twice
_MAKING_SECONDS = 60  # an empty file that is younger may be one that another process is making a store of


def look_for_lost_files(path: Path) -> None:
    """Raise StoreError for a database that was cut to nothing while its log is there. Warn where the log is gone, or
    the file has been empty for a while and may have been a store."""
    log = Path(f"{path}-wal")
    # Another process may be making the store: its log is checked first, because the database is never empty after.
    has_log = bool(_size(log))
    is_empty = _size(path) == 0
    if is_empty and has_log:
        raise StoreError(
            f"{path} is empty while its log {log.name} is not, so the database was truncated; restore both from a "
            f"backup, or move {log.name} away to start with an empty store."
        )
    if is_empty and is_abandoned(path):
        import logging  # noqa: PLC0415 - only a loss needs it

        logging.getLogger("picomem").warning("%s is empty, so a new store is made in it.", path)
    if is_log_lost(path):
        import logging  # noqa: PLC0415 - only a loss needs it

        logging.getLogger("picomem").warning(
            "%s is gone, though the program that used it last did not end properly; what was stored last may be lost. "
            "Put a copy of the database and its log in their place if something is missing.",
            log,
        )


class LogIndex(NamedTuple):
    """What the index of a log says of it: how many pages were committed, and the salts of its present round."""

    pages: int
    salts: bytes


def read_log_index(path: Path) -> LogIndex | None:
    """The index that a killed process left beside the log of a database that this process does not have open; None
    where there is none. SQLite makes it anew when it opens the database."""
    try:
        with paths.open_regular(Path(f"{path}-shm"), buffering=2 * _HEADER) as file:
            head = file.read(2 * _HEADER)
    except (NotFound, InvalidInput, OSError):
        return None
    is_whole = len(head) == 2 * _HEADER and head[:_HEADER] == head[_HEADER:]
    return LogIndex(unpack_from("=I", head, 16)[0], head[32:40]) if is_whole and head[12] else None


def warn_of_cut_log(path: Path, valid: int, index: LogIndex) -> None:
    """Warn where the log held more than the `valid` pages that SQLite reads. `index` is as it was before the database
    was opened. (Where no page is valid, another process may just have begun the log anew.)"""
    if not 0 < valid < index.pages:
        return
    import apsw  # noqa: PLC0415 - only a loss needs it

    from picomem.store.files.file_bytes import opened_file  # noqa: PLC0415 - only a loss needs it

    with opened_file(Path(f"{path}-wal"), apsw.SQLITE_OPEN_WAL) as read:
        is_same_round = read(16, len(index.salts)) == index.salts
    if is_same_round:
        import logging  # noqa: PLC0415 - only a loss needs it

        logging.getLogger("picomem").warning(
            "A part of the log %s-wal is damaged or gone, so what was stored last, before the program that used it "
            "ended without closing it, is lost.",
            path,
        )


def is_empty_file(path: Path) -> bool:
    """Return whether a database is a file of no bytes without a log, so nothing is stored there."""
    return path.is_file() and not _size(path) and not _size(Path(f"{path}-wal"))


def is_abandoned(path: Path) -> bool:
    """Return whether an empty file may have been a store, rather than one that another process is making now."""
    # A store that is being made has no ballast yet, so one that lies there is of a store that was cut to nothing.
    return bool(_size(Path(f"{path}{BALLAST}"))) or time.time() - path.stat().st_mtime > _MAKING_SECONDS


def is_log_lost(path: Path) -> bool:
    """Return whether the log was removed from beside its index. Another process may be opening or closing the database
    meanwhile, so it must be the same index before and after the log was looked for."""
    before = _inode(Path(f"{path}-shm"))
    return before is not None and not Path(f"{path}-wal").exists() and _inode(Path(f"{path}-shm")) == before


def _size(path: Path) -> int | None:
    """None where there is no such file, or none any more: the last process that leaves a store removes its log."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None

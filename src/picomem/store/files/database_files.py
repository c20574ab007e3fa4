"""The files of a SQLite database: itself, and what SQLite keeps beside it."""

from __future__ import annotations

import stat
from contextlib import suppress
from pathlib import Path

from picomem.paths import open_database_suffix

LOG, LOG_INDEX, JOURNAL = "-wal", "-shm", "-journal"
SUFFIXES = ("", LOG, LOG_INDEX, JOURNAL)


def files_of(database: Path) -> list[Path]:
    """The files that a database may consist of, whether they are there or not."""
    return [Path(f"{database}{suffix}") for suffix in SUFFIXES]


def log_size(database: Path) -> int:
    """Bytes of the log, 0 where there is none. The last process that leaves a store removes it at any moment."""
    try:
        return Path(f"{database}{LOG}").stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


def make_log_writable(database: Path) -> None:
    """Give the log and its index the rights of a database that is writable again: SQLite makes them with the rights of
    a read-only database, too, and leaves them so."""
    for file in (Path(f"{database}{LOG}"), Path(f"{database}{LOG_INDEX}")):
        with suppress(OSError):  # it is not there, or somebody else's
            left = file.lstat().st_mode
            mode = database.stat().st_mode
            if stat.S_ISREG(left) and mode & ~left & stat.S_IWUSR:
                file.chmod(stat.S_IMODE(mode))


def holds_content(path: Path) -> bool:
    """Return whether a file may hold what was stored, and can be read without harm. The index of the log of an open
    database holds page numbers and locks alone (see file_bytes.py). Raises InvalidInput where that cannot be told."""
    return open_database_suffix(path) != LOG_INDEX

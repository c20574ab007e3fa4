"""Disk space that a store reserves for the case that the disk is full.

Deleting needs space too: changed pages go into the log first, and a purge rewrites the database. On a full disk a
person could not have anything erased, and could not even open the store, because the log needs an index. So a file
beside the database reserves some space while there is enough. Opening releases a little of it, forgetting and purging
all of it. The next opening that finds space creates it again. It grows with the store, until it has its full size.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from picomem.store.files.database_files import log_size

SUFFIX = "-ballast"
_LEAST, _MOST = 1 << 20, 4 << 20  # bytes; between them twice the size of the database
_STEP = 256 << 10  # what an opening needs


def keep(database: Path) -> None:
    """Make the ballast of a database where there is room, so that twice as much stays free."""
    ballast = _beside(database)
    with suppress(OSError):
        there = ballast.stat().st_size if ballast.exists() else 0
        if there >= _MOST:
            return
        wanted = min(_MOST, max(_LEAST, 2 * (database.stat().st_size + log_size(database))))
        if there >= wanted:
            return
        room = free_bytes(database.parent) + there
        size = min(wanted, room // (2 if room < 2 * _LEAST else 3))  # of a tiny disk half
        if size < min(there + _STEP, _MOST):
            return
        descriptor = os.open(ballast, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            _fill(descriptor, size)
        finally:
            os.close(descriptor)


def give_up_some(database: Path) -> bool:
    """Give up as much as an opening needs; whether there was anything."""
    ballast = _beside(database)
    with suppress(OSError):
        size = ballast.stat().st_size
        os.truncate(ballast, max(0, size - _STEP))
        return size > 0
    return False


def give_up(database: Path) -> bool:
    """Give up all of it; whether there was anything."""
    ballast = _beside(database)
    with suppress(OSError):
        size = ballast.stat().st_size
        ballast.unlink()
        return size > 0
    return False


def free_bytes(folder: Path) -> int:
    """Bytes that are free on the disk of a folder."""
    if hasattr(os, "statvfs"):
        disk = os.statvfs(folder)
        return disk.f_bavail * disk.f_frsize
    import shutil  # noqa: PLC0415 - it loads the archive formats

    return shutil.disk_usage(folder).free


def _beside(database: Path) -> Path:
    return Path(f"{database}{SUFFIX}")


def _fill(descriptor: int, size: int) -> None:
    """Take the room up for real: a file of holes takes none."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.write(descriptor, bytes(size))

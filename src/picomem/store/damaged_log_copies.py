"""The copies of damaged logs, which are kept beside a database.

A log that lost changes is copied to `-wal-damaged` as soon as this is noticed. While that copy exists, the store is
read-only. A repair continues without the lost changes, and the copy stays as `-wal-damaged.1`, `.2` and so on.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

from picomem.store.database_files import damaged_log
from picomem.store.file_bytes import opened_log

_CHUNK = 8 << 20


def keep(path: Path) -> None:
    """Copy the damaged log of a database. Raises apsw.Error or OSError."""
    copy = damaged_log(path)
    part = Path(f"{copy}.{os.getpid()}.part")
    try:
        descriptor = os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_CLOEXEC", 0), 0o600)
        with os.fdopen(descriptor, "wb") as file, opened_log(Path(f"{path}-wal")) as read:
            offset = 0
            while chunk := read(offset, _CHUNK):
                file.write(chunk)
                offset += len(chunk)
            file.flush()
            os.fsync(descriptor)
        part.replace(copy)
    finally:
        part.unlink(missing_ok=True)


def settled_name(path: Path) -> Path:
    """The first free name for a copy that stays."""
    names = (Path(f"{damaged_log(path)}.{number}") for number in count(1))
    return next(name for name in names if not name.exists())


def forget_settled(path: Path) -> None:
    """Remove the copies that stayed, because what is purged may stand in them. Raises OSError."""
    start = f"{damaged_log(path).name}."
    for copy in list(path.parent.iterdir()):
        if copy.name.startswith(start):
            copy.unlink(missing_ok=True)

"""Creates the file of a new store."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from picomem import errors
from picomem.paths import make_private_dir
from picomem.store.files.database_files import LOG, log_size


def check_name(path: Path) -> None:
    """SQLite takes names in UTF-8 only. Raises StoreError for another."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise errors.StoreError(f"{path} is not valid UTF-8; choose another path for the database.") from None


def create_missing_file(path: Path) -> bool:
    """Make the file, private, where there is none; whether it was made."""
    check_name(path)
    try:
        return _create(path)
    except RuntimeError:  # what Path.resolve raises for a loop of links, before Python 3.13
        raise errors.StoreError(
            f"{path} is a link that leads back to itself; choose another path for the database."
        ) from None
    except (FileExistsError, NotADirectoryError):
        if path.exists():
            return False
        raise errors.StoreError(
            f"{path.parent} is a file, not a folder; choose another path for the database."
        ) from None
    except IsADirectoryError:
        raise errors.NotADatabase(f"{path} is a folder; name a file for the database.") from None
    except PermissionError:
        raise errors.ReadOnly(
            f"{path} does not exist and cannot be created there; choose a folder that you may write to."
        ) from None
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        kind = errors.DiskFull if full else errors.ReadOnly if error.errno == errno.EROFS else errors.StoreError
        raise kind(f"{path} cannot be created: {error.strerror}.") from error


def _create(path: Path) -> bool:
    if path.is_dir():
        raise IsADirectoryError
    # Before the database, which another process that makes both at this moment makes first.
    has_log = log_size(Path(os.path.realpath(path))) > 0
    if path.exists():
        _check_existing(path)
        return False
    if has_log:  # SQLite would delete it
        log = f"{Path(os.path.realpath(path)).name}{LOG}"
        raise errors.StoreError(
            f"{path} is gone while its log {log} is there; put the database back, or move {log} away to begin anew."
        )
    make_private_dir(path.parent)
    # O_EXCL: closing a descriptor of a file that another thread has made and opened meanwhile would drop its locks.
    os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600))
    return True


def _check_existing(path: Path) -> None:
    if not path.is_file():
        raise errors.NotADatabase(f"{path} is not a regular file; name another file with --db.")
    if path.stat().st_nlink > 1:
        raise errors.StoreError(
            f"{path} has a second name (a hard link), and SQLite keeps a log for each name, so rows "
            "would be lost; remove the other name, or make a copy in its place."
        )

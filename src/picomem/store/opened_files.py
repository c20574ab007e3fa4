"""Checks that the files of an open database still have the names under which they were opened.

SQLite continues to write into its open files, whatever happened to their names. So before a change is acknowledged, the
names are compared with the open files.
"""

from __future__ import annotations

import os
from pathlib import Path

from picomem.errors import FilesMoved
from picomem.store.database_files import LOG, LOG_INDEX

_Identity = tuple[int, int]  # of a file: device and inode


class OpenedFiles:
    """The files of one database, by their names."""

    def __init__(self, path: Path, named: Path) -> None:
        """Note the database file. `named` is the name by which it was opened; it may be a link to `path`."""
        self._path = path
        self._link = named if named != path else None
        self._identities: dict[str, _Identity] = {}
        self._note(str(path))

    def note_log(self) -> None:
        """Note the log and its index, which are there from the first statement to the close."""
        self._note(f"{self._path}{LOG}")
        self._note(f"{self._path}{LOG_INDEX}")

    def check(self) -> None:
        """Raise FilesMoved where a file was moved, deleted or replaced."""
        is_moved = any(_identity(name) not in (identity, None) for name, identity in self._identities.items())
        if is_moved or (self._link is not None and self._leads_elsewhere(self._link)):
            raise FilesMoved(
                f"{self._path} or its log was moved, deleted or replaced while it was open, so nothing was stored; put "
                "it back if that was a mistake, and restart the program that uses it."
            )

    def is_database_moved(self) -> bool:
        """Return whether the database file itself does not stand under its name any more."""
        name = str(self._path)
        return name in self._identities and _identity(name) not in (self._identities[name], None)

    def is_log_replaced(self) -> bool:
        """Return whether a log, or an index of a log, stands under the name of this one's that is another."""
        return any(
            _identity(name) not in (identity, None, _GONE)
            for name, identity in self._identities.items()
            if name != str(self._path)
        )

    def _leads_elsewhere(self, link: Path) -> bool:
        try:
            status = link.stat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False  # nobody can tell
        opened = self._identities.get(str(self._path))
        return opened is not None and (status.st_dev, status.st_ino) != opened

    def _note(self, name: str) -> None:
        identity = _identity(name)
        if identity not in (None, _GONE):
            self._identities[name] = identity


_GONE: _Identity = (0, 0)


def _identity(name: str) -> _Identity | None:
    """The identity of a file itself, not of what a link leads to; None where it cannot be told."""
    try:
        status = os.lstat(name)
    except (FileNotFoundError, NotADirectoryError):
        return _GONE
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status.st_ino else None  # some file systems number no files

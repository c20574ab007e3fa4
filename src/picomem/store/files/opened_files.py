"""Checks that the files of an open database have the names under which they were opened, and hold the same store.

SQLite continues to write into its open files, whatever happened to their names. So before a change is acknowledged, the
names are compared with the open files.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw

from picomem.errors import Corrupt, FilesMoved
from picomem.store.files.database_files import LOG, LOG_INDEX
from picomem.store.files.sealed_files import salt_of
from picomem.store.sqlite.transaction import SqliteTransaction
from picomem.store.tables import meta

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


# Whether an open database file still holds the store that was opened.
#
# `cp other.db store.db` writes into the file that is open, so neither its name nor its inode tells. SQLite does not
# notice it either: it has pages in its cache, and newer ones in the log. But every store has a random key of its own,
# in a page that changes only when the whole file is written anew. So the bytes of that page are read from the file
# itself, past cache and log, before and after each change. (An older copy of the same store has the same key. It is not
# noticed.) A sealed file begins with random bytes of its own, which serve instead; no copy has the same.

_PAGE = "SELECT rootpage FROM sqlite_schema WHERE name = 'meta'"
_SMALLEST_PAGE = 512


class StoreIdentity:
    """The key of a store, and the page of the file in which it stands. Not for several threads at once."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        """Note both. Raises apsw.Error."""
        self._path = path
        self._salt = salt_of(path)
        self._page = 1 if self._salt else _page_of(connection)
        self._key: str | None = None  # a store without a key, or with a damaged one, cannot be told from another
        with suppress(Corrupt):
            if self._page and not self._salt:
                self._key = meta.value(SqliteTransaction(connection, path), meta.REDACTION_KEY)
        self._page_bytes = int(connection.pragma("page_size"))
        # SQLite's own handle: closing any other would drop the locks of this process (see file_bytes.py).
        self._file = apsw.VFSFile("", str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY, 0])
        self._was_in_file = self._is_in_file()

    def is_lost(self, look: Callable[[], apsw.Connection]) -> bool:
        """Return whether the file holds another store; `look` opens it anew. Raises apsw.Error, or Corrupt.

        Where the whole file was written anew, the page is another one, which may stand in the log alone until it is
        merged. As long as it does, nobody can tell.
        """
        if self._is_in_file():
            self._was_in_file = True
            return False
        if not self._was_in_file:
            return False
        if self._salt or salt_of(self._path):
            return True
        connection = look()
        if meta.value(SqliteTransaction(connection, self._path), meta.REDACTION_KEY) != self._key:
            return True
        self._page = _page_of(connection)
        self._was_in_file = self._is_in_file()
        return False

    def close(self) -> None:
        self._file.xClose()

    def _is_in_file(self) -> bool:
        start = (self._page - 1) * self._page_bytes
        room = self._file.xFileSize() - start
        mark = self._salt or (self._key or "").encode()
        if not self._page or not mark or room < _SMALLEST_PAGE:
            return False
        return mark in self._file.xRead(min(self._page_bytes, room), start)


def _page_of(connection: apsw.Connection) -> int:
    row = connection.execute(_PAGE).fetchone()
    return int(row[0]) if row else 0

"""Whether an open database file still holds the store that was opened.

`cp other.db store.db` writes into the file that is open, so neither its name nor its inode tells. SQLite does not
notice it either: it has pages in its cache, and newer ones in the log. But every store has a random key of its own, in
a page that changes only when the whole file is written anew. So the bytes of that page are read from the file itself,
past cache and log, before and after each change. (An older copy of the same store has the same key. It is not noticed.)
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import apsw

from picomem.errors import Corrupt
from picomem.store import meta
from picomem.store.sqlite_transaction import SqliteTransaction

_PAGE = "SELECT rootpage FROM sqlite_schema WHERE name = 'meta'"
_SMALLEST_PAGE = 512


class StoreIdentity:
    """The key of a store, and the page of the file in which it stands. Not for several threads at once."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        """Note both. Raises apsw.Error."""
        self._path = path
        self._page = _page_of(connection)
        self._key: str | None = None  # a store without a key, or with a damaged one, cannot be told from another
        with suppress(Corrupt):
            self._key = meta.value(SqliteTransaction(connection, path), meta.REDACTION_KEY) if self._page else None
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
        if not self._page or self._key is None or room < _SMALLEST_PAGE:
            return False
        return self._key.encode() in self._file.xRead(min(self._page_bytes, room), start)


def _page_of(connection: apsw.Connection) -> int:
    row = connection.execute(_PAGE).fetchone()
    return int(row[0]) if row else 0

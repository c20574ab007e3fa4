"""The step of schema 0008 that SQL cannot do: entries of meta about users become rows of their own, with a hash.

An entry that did not match its hash gets none, so it is as damaged afterwards as it was before. A process of an older
version that has the file open finds its counter gone, and stores nothing more.
"""

from __future__ import annotations

import apsw

from picomem.store import user_entries
from picomem.store.meta import DOCS_BEFORE_RANGES
from picomem.store.row_hash import is_whole, row_hash
from picomem.store.tolerant_text import rows_of

_NONE = ""  # no row has this hash
_COUNTER = "next_doc"
_MARKS = (user_entries.PURGE, user_entries.TIDIED)  # an entry was called so, and then by the user's name


def move_user_rows(connection: apsw.Connection) -> None:
    """Move the entries, in the caller's transaction."""
    for row in rows_of(connection, "SELECT name, value, row_hash FROM meta", {}):
        name, value = str(row[0]), str(row[1])
        if name == _COUNTER:
            digest = row_hash("meta", (DOCS_BEFORE_RANGES, value)) if is_whole("meta", row) else _NONE
            connection.execute(
                "UPDATE meta SET name = ?, row_hash = ? WHERE name = ?", (DOCS_BEFORE_RANGES, digest, _COUNTER)
            )
        for mark in _MARKS:
            if name.startswith(f"{mark} "):
                user = name.removeprefix(f"{mark} ")
                digest = row_hash("user_marks", (mark, value, user)) if is_whole("meta", row) else _NONE
                connection.execute(
                    "INSERT INTO user_marks (user_id, name, value, row_hash) VALUES (?, ?, ?, ?)",
                    (user, mark, value, digest),
                )
                connection.execute("DELETE FROM meta WHERE name = ?", (name,))

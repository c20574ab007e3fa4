"""Finds a session by its id or the beginning of it, among all tables that name sessions."""

from __future__ import annotations

from enum import Flag, auto

from picomem.errors import NotFound
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql

_AFTER_EVERY_CHARACTER = "\U0010ffff"


class Place(Flag):
    """The tables that may name a session."""

    CONVERSATIONS = auto()  # with PicoBot
    TRANSCRIPTS = auto()  # of other programs
    MEMORIES = auto()  # of a session alone


def find_session(tx: Transaction, scope: Scope, name: str, places: Place) -> str:
    """The id of the session that is called so, or else of the only one whose id begins so; "" where there is none.

    Raises NotFound for several. picomem's own ids are lower-case, so they are found in capitals too.
    """
    if not name:
        return ""
    for beginning in dict.fromkeys((name, name.lower())):
        rows = sql(tx).all(
            "sessions_that_begin",
            user=scope.user,
            **{"from": beginning, "to": beginning + _AFTER_EVERY_CHARACTER},
            conversations=int(Place.CONVERSATIONS in places),
            transcripts=int(Place.TRANSCRIPTS in places),
            memories=int(Place.MEMORIES in places),
        )
        # The id itself comes first, since it is the shortest that begins so.
        if len(rows) == 1 or (rows and rows[0][0] == beginning):
            return str(rows[0][0])
        if rows:
            raise NotFound(f"Several sessions begin with “{name[:80]}”; write more of the id.")
    return ""

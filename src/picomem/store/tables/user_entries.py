"""Named texts about a user, one for each name. Every call takes a scope."""

from __future__ import annotations

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.row_hash import is_whole
from picomem.store.sql_access import sql

PURGE = "purge unfinished"  # see tombstones.py
HANDED_OVER = "handed over"  # see memory/untrusted_handouts.py
INJECTED = "injected"  # see memory/injection_log.py
HANDED_OUT = (HANDED_OVER, INJECTED)  # what was made from texts; nothing shows from which, so a purge removes it
GRANTED = "granted"  # permissions that reach further than the user's own data, separated by spaces
MOVED = "moved"  # when the user came from another store, in microseconds
CHAIN, HANDOUT_CHAIN = "turns of the record", "turns of the handouts"  # see store/chain_links.py
TIDIED = "tidied"  # when retention ran last, in microseconds


def value(tx: Transaction, scope: Scope, name: str) -> str | None:
    """The text of that name; None where there is none. Raises Corrupt where it does not match its hash."""
    row = sql(tx).one("user_mark", user=scope.user, name=name)
    if row is None:
        return None
    if not is_whole("user_marks", row):
        raise Corrupt(
            CodedText("failure.damaged_user_entry", name=name, user=scope.user, command=Command("doctor", repair=True))
        )
    return str(row[1])


def put(tx: Transaction, scope: Scope, name: str, text: str) -> None:
    """Store a text under a name, in place of the one before."""
    sql(tx).run("put_user_mark", user=scope.user, name=name, value=text)


def remove(tx: Transaction, scope: Scope, name: str) -> None:
    """Remove the text of that name, if there is one."""
    sql(tx).run("remove_user_mark", user=scope.user, name=name)


def is_there(tx: Transaction, scope: Scope, name: str) -> bool:
    """Return whether there is a text of that name, damaged or not."""
    return sql(tx).one("user_mark", user=scope.user, name=name) is not None


def damaged(tx: Transaction, scope: Scope) -> list[str]:
    """The names of the texts that do not match their hash."""
    return [str(row[0]) for row in sql(tx).all("user_marks", user=scope.user) if not is_whole("user_marks", row)]

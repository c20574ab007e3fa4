"""The log of what hooks injected into the contexts of a host's sessions, so that nothing is injected twice.

For each memory and episode it holds the id and a checksum of the text, because a revised text is injected again, and
when that was. One entry holds the latest sessions of a user; a purge removes it.

The log also says when a memory was handed out. What an agent recalls is not in it, because a recall writes nothing.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import user_entries

_MOST_SESSIONS = 50
_MOST_IDS = 200  # of a session, the latest


class Handout(NamedTuple):
    """A session of a host into which something was injected, and when."""

    session: str
    at: Micros


def load(tx: Transaction, scope: Scope, session: str) -> frozenset[str]:
    """The ids of what was injected into a session. Raises Corrupt where the record is damaged."""
    return frozenset(_all(tx, scope).get(session, {}))


def handouts(tx: Transaction, scope: Scope, id_: str) -> list[Handout]:
    """The sessions into which any version of a memory, or an episode, was injected, the latest first. Raises Corrupt
    where the record is damaged."""
    injected = [
        Handout(session, at)
        for session, entries in _all(tx, scope).items()
        for at in [max((at for entry, at in entries.items() if entry.partition(" ")[0] == id_), default=None)]
        if at is not None
    ]
    return sorted(injected, key=lambda handout: -handout.at)


def keep(tx: Transaction, scope: Scope, session: str, ids: tuple[str, ...], now: Micros) -> None:
    """Note what was injected into a session. Raises Corrupt where the record is damaged."""
    sessions = _all(tx, scope)
    entries = {**sessions.pop(session, {}), **dict.fromkeys(ids, now)}
    sessions[session] = dict(list(entries.items())[-_MOST_IDS:])
    latest = dict(list(sessions.items())[-_MOST_SESSIONS:])
    user_entries.put(tx, scope, user_entries.INJECTED, json.dumps(latest))


def _all(tx: Transaction, scope: Scope) -> dict[str, dict[str, Micros]]:
    """Return what each session was given, and when; the latest last."""
    stored = user_entries.value(tx, scope, user_entries.INJECTED)
    try:
        rows: dict[str, Any] = json.loads(stored) if stored else {}
        return {str(session): _times(entries) for session, entries in rows.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise Corrupt(CodedText("failure.damaged_injections", command=Command("doctor", repair=True))) from error


def _times(entries: Any) -> dict[str, Micros]:
    """When each entry was given. An older program has stored a list, with the time of the last one alone."""
    if isinstance(entries, list):
        at, ids = entries
        entries = dict.fromkeys(ids, at)
    return {str(entry): int(at) for entry, at in entries.items()}

"""The log of what hooks injected into the contexts of a host's sessions, so that nothing is injected twice.

For each memory and episode it holds the id and a checksum of the text, because a revised text is injected again. One
entry holds the latest sessions of a user; a purge removes it.
"""

from __future__ import annotations

import json

from picomem.clock import Micros
from picomem.errors import Corrupt
from picomem.records.scope import Scope
from picomem.store import user_entries
from picomem.store.connector import Transaction

_MOST_SESSIONS = 50
_MOST_IDS = 200  # of a session, the latest


def load(tx: Transaction, scope: Scope, session: str) -> frozenset[str]:
    """The ids of what was injected into a session. Raises Corrupt where the record is damaged."""
    _, ids = _all(tx, scope).get(session, (0, ()))
    return frozenset(ids)


def keep(tx: Transaction, scope: Scope, session: str, ids: tuple[str, ...], now: Micros) -> None:
    """Note what was injected into a session. Raises Corrupt where the record is damaged."""
    sessions = _all(tx, scope)
    _, before = sessions.pop(session, (0, ()))
    sessions[session] = (now, tuple(dict.fromkeys((*before, *ids)))[-_MOST_IDS:])
    latest = dict(list(sessions.items())[-_MOST_SESSIONS:])
    user_entries.put(tx, scope, user_entries.INJECTED, json.dumps(latest))


def _all(tx: Transaction, scope: Scope) -> dict[str, tuple[Micros, tuple[str, ...]]]:
    """Return when each session was last given something, and what; the latest last."""
    stored = user_entries.value(tx, scope, user_entries.INJECTED)
    try:
        rows = json.loads(stored) if stored else {}
        return {str(session): (int(at), tuple(map(str, ids))) for session, (at, ids) in rows.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise Corrupt("The record of what was injected is damaged; run `picomem doctor --repair`.") from error

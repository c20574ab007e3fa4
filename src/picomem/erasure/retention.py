"""Retention: archives expired memories (O19), removes old timeline entries (A14) and old conversations (P7).

The memories made from a timeline entry or a conversation stay. To erase those as well, use `purge`.
"""

from __future__ import annotations

from picomem.clock import DAY, SECOND, Micros
from picomem.errors import Corrupt
from picomem.memory.remember import Writer
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store.connector import Transaction
from picomem.store.tables import channel_messages, consolidations, episodes, handout_rows, session_rows, user_entries

NOTHING = {"expired": 0, "timeline_removed": 0, "sessions_removed": 0}


def is_due(tx: Transaction, scope: Scope, settings: Settings, now: Micros) -> bool:
    """Return whether the last time is `retention.cleanup_interval_secs` ago, or there was none."""
    try:
        last = user_entries.value(tx, scope, user_entries.TIDIED)
    except Corrupt:
        return True
    return last is None or now - int(last) >= settings.retention.cleanup_interval_secs * SECOND


def tidy(tx: Transaction, scope: Scope, settings: Settings, writer: Writer) -> dict[str, int]:
    """Archive and remove everything past its time; the counts by kind."""
    expired = writer.expire(tx, scope)
    before = writer.now - settings.memory.timeline_retention_days * DAY
    old = episodes.old_timeline_entries(tx, scope, before)
    for episode in old:
        episodes.delete(tx, scope, episode)
    consolidations.forget_entries(tx, scope, before)
    inactive = session_rows.inactive_since(tx, scope, writer.now - settings.retention.max_age_days * DAY)
    for session in inactive:
        session_rows.delete(tx, scope, session.id)
    channel_messages.delete_before(tx, scope, writer.now - settings.retention.max_age_days * DAY)
    handout_rows.delete_before(tx, scope, writer.now - settings.retention.max_age_days * DAY, writer.now)
    user_entries.put(tx, scope, user_entries.TIDIED, str(writer.now))
    return {"expired": len(expired), "timeline_removed": len(old), "sessions_removed": len(inactive)}

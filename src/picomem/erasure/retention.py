"""Retention: what is past its time goes. Expired memories are archived (O19), old timeline entries removed (A14)."""

from __future__ import annotations

from picomem.clock import DAY, SECOND, Micros
from picomem.errors import Corrupt
from picomem.memory.remember import Writer
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store import consolidations, episodes, meta
from picomem.store.connector import Transaction

NOTHING = {"expired": 0, "timeline_removed": 0}


def is_due(tx: Transaction, scope: Scope, settings: Settings, now: Micros) -> bool:
    """Whether the last time is `retention.cleanup_interval_secs` ago, or there was none."""
    try:
        last = meta.value(tx, _name(scope))
    except Corrupt:
        return True
    return last is None or now - int(last) >= settings.retention.cleanup_interval_secs * SECOND


def tidy(tx: Transaction, scope: Scope, settings: Settings, writer: Writer) -> dict[str, int]:
    """Let go what is past its time; how much that was."""
    expired = writer.expire(tx, scope)
    before = writer.now - settings.memory.timeline_retention_days * DAY
    old = episodes.old_timeline_entries(tx, scope, before)
    for episode in old:
        episodes.delete(tx, scope, episode)
    consolidations.forget_entries(tx, scope, before)
    meta.put(tx, _name(scope), str(writer.now))
    return {"expired": len(expired), "timeline_removed": len(old)}


def _name(scope: Scope) -> str:
    return f"tidied {scope.user}"

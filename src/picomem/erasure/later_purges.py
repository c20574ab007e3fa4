"""Finds what was purged after a backup was made, by comparing the backup with the store, and purges it again.

Only a purge and retention delete rows (and consolidation, rows that it can rebuild). So if a user purged since the
backup, every row that only the backup has was deleted on purpose. This requires a store without loss by damage.

The tombstones of the store are copied to the backup as well, because they also cover entries that the backup never had.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from picomem.clock import Micros
from picomem.erasure.plan import Choice, Plan, PurgeInventory, load_inventory
from picomem.erasure.purge import erase
from picomem.memory.remember import Writer
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE, Connector, Transaction
from picomem.store.retention_rows import EpisodeAge, RefusalAge, SessionAge, TranscriptAge
from picomem.store.tables import audit, tombstones, users


class LaterPurge(NamedTuple):
    """A purge that the backup does not know of."""

    scope: Scope
    change: str
    at: Micros
    actor: str


def purge_ids(store: Transaction) -> frozenset[str]:
    """The changes of every purge that the store has on record."""
    changes = (change for scope in users.scopes(store) for change in audit.every(store, scope))
    return frozenset(change.id for change in changes if change.verb == "purge")


def later_purges(store: Transaction, backup: Transaction) -> list[LaterPurge]:
    """The purges of the store that are not in the backup, by user."""
    purges = []
    for scope in users.scopes(store):
        known = {change.id for change in audit.every(backup, scope)}
        purges += [
            LaterPurge(scope, change.id, change.at, change.actor)
            for change in audit.every(store, scope)
            if change.verb == "purge" and change.id not in known
        ]
    return purges


def purge_again(store: Transaction, backup: Connector, scope: Scope, writer: Writer) -> dict[str, int]:
    """Erase from the backup what a user purged from the store since, in one transaction; how many of what went.

    The traces in the file stay: who calls has it written anew.
    """
    now, changes_now = load_inventory(store, scope), {change.id for change in audit.every(store, scope)}
    with backup.write(EVERYONE) as tx:  # whom a channel knows stands in rows that are nobody's own
        unfinished = tombstones.marks(tx, scope)
        then, changes_then = load_inventory(tx, scope), {change.id for change in audit.every(tx, scope)}
        is_everything = bool(changes_then) and not changes_then & changes_now
        made = gone_since(then, now, everything=is_everything)
        counts: dict[str, int] = {}
        if not made.empty:
            # An age leaves it to the tombstones of the store whether what is said later stays out as well.
            counts = erase(tx, writer, scope, then, Choice(before=0), made).counts
        tombstones.copy(store, tx, scope)
        tombstones.end(tx, scope, set(tombstones.marks(tx, scope)) - set(unfinished))
    return counts


def gone_since(then: PurgeInventory, now: PurgeInventory, *, everything: bool) -> Plan:
    """The plan that takes from `then` what `now` does not hold."""
    transcripts = _ids(then.transcripts) - _ids(now.transcripts)
    sessions = _ids(then.sessions) - _ids(now.sessions)
    episodes = _ids(then.episodes) - _ids(now.episodes)
    kept_messages = {(message.session, message.seq) for message in now.messages}
    messages = frozenset((message.session, message.seq) for message in then.messages) - kept_messages
    kept_versions = {(version.id, version.version) for version in now.versions}
    return Plan(
        everything=everything,
        transcripts=transcripts,
        trimmed=frozenset(episode.transcript for episode in then.episodes if episode.id in episodes) - transcripts,
        episodes=episodes,
        sessions=sessions,
        shortened=frozenset(session for session, _ in messages) - sessions,
        messages=messages,
        summaries=frozenset(then.covered.keys() - now.covered.keys()),
        versions=frozenset((version.id, version.version) for version in then.versions) - kept_versions,
        refusals=_ids(then.refusals) - _ids(now.refusals),
    )


def _ids(rows: Iterable[TranscriptAge | EpisodeAge | SessionAge | RefusalAge]) -> frozenset[str]:
    return frozenset(row.id for row in rows)

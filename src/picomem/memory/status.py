"""What is in a store, in numbers."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store import tombstones
from picomem.store.connector import Connector, Transaction
from picomem.text.terms import VERSION
from picomem.values import dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """Counts for one user; `bytes` is the size of the database with its log, `embedder` a name or "none".

    `purge_unfinished` says that a purge was interrupted: what was erased may still stand in free space.
    """

    database: str
    read_only: bool
    user: str
    memories: dict[str, int]
    archived: int
    episodes: int
    transcripts: dict[str, dict[str, int]]
    sessions: int
    messages: int
    vectors: dict[str, int]
    decisions: dict[str, int]
    bytes: int
    terms_version: str
    embedder: str
    purge_unfinished: bool


def status(tx: Transaction, scope: Scope, now: Micros, connector: Connector, embedder: str) -> Status:
    """Count. Reads only."""
    user = scope.user
    return Status(
        database=connector.name,
        read_only=connector.read_only,
        user=user,
        memories=dict(tx.all("count_memories", user=user, now=now)),
        archived=len(tx.all("archived_memories", user=user)),
        episodes=int((tx.one("count_episodes", user=user) or (0,))[0]),
        transcripts={
            host: {"files": files, "turns": turns or 0, "bytes": size or 0}
            for host, files, turns, size in tx.all("count_transcripts", user=user)
        },
        sessions=int((tx.one("count_sessions", user=user) or (0,))[0]),
        messages=int((tx.one("count_all_messages", user=user) or (0,))[0]),
        vectors={f"{source} {model}": count for source, model, count in tx.all("count_vectors", user=user)},
        decisions=dict(tx.all("count_changes", user=user)),
        bytes=connector.size(),
        terms_version=VERSION,
        embedder=embedder,
        purge_unfinished=tombstones.begun(tx, scope) != "",
    )

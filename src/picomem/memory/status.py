"""What is in a store, in numbers."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store import consolidations, tombstones
from picomem.store.connector import Connector, Transaction
from picomem.text.terms import VERSION
from picomem.values import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """Counts for one user; `bytes` is the size of the database with its log, `embedder` a name or "none", and
    `embedder_trouble` why there is none though the settings want one.

    `purge_unfinished` says that a purge was interrupted: what was erased may still stand in free space. `models` is
    what each text model was asked and answered in all, `spent_today` the tokens of today (UTC), of which
    `daily_token_limit` are allowed; 0: any number is.
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
    models: dict[str, dict[str, int]]
    spent_today: int
    daily_token_limit: int
    embedder_trouble: str = ""


def status(
    tx: Transaction, scope: Scope, now: Micros, connector: Connector, embedder: str, daily_token_limit: int
) -> Status:
    """Count. Reads only."""
    user = scope.user
    return Status(
        database=connector.name,
        read_only=connector.read_only,
        user=user,
        memories=dict(tx.all("count_memories", user=user, now=now)),
        archived=len(tx.all("archived_memories", user=user)) + len(tx.all("expired_memories", user=user, now=now)),
        episodes=int((tx.one("count_episodes", user=user) or (0,))[0]),
        transcripts={
            host: {"files": files, "turns": turns or 0, "bytes": size or 0}
            for host, files, turns, size in tx.all("count_transcripts", user=user)
        },
        sessions=int((tx.one("count_sessions", user=user) or (0,))[0]),
        messages=int((tx.one("count_all_messages", user=user) or (0,))[0]),
        vectors={f"{source} {model}": count for source, model, count in tx.all("count_vectors", user=user)},
        decisions=dict(tx.all("count_changes", user=user)),
        bytes=connector.maintenance.size(),
        terms_version=VERSION,
        embedder=embedder,
        purge_unfinished=bool(tombstones.marks(tx, scope)),
        models={model: asdict(spend) for model, spend in consolidations.spent_in_all(tx, scope)},
        spent_today=consolidations.spent_on(tx, scope, now).tokens,
        daily_token_limit=daily_token_limit,
    )

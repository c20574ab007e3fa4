"""What a person sees first of their memory: what holds in the project they work in, and its last sessions."""

from __future__ import annotations

from typing import NamedTuple

from picomem.clock import Micros
from picomem.engine.engine import Engine
from picomem.recall.hit_sessions import session_of
from picomem.records.caller import READ_SESSIONS
from picomem.records.hit import HitSession
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import memories, memory_doubts, memory_lineage, memory_lists, transcript_rows
from picomem.store.tables.project_names import with_former_projects

HELD = (Kind.DECISION, Kind.INSTRUCTION)


class SessionOutcome(NamedTuple):
    """A session, and the memories that were made of it."""

    session: HitSession
    memories: list[Memory]


class ProjectOverview(NamedTuple):
    """The project (empty for all), its decisions and rules, the most important first, and its last sessions."""

    project: str
    holds: list[Memory]
    sessions: list[SessionOutcome]


class StoredCounts(NamedTuple):
    """How many memories are believed, how many episodes and sessions of other programs there are, and when something
    new was read last from each host."""

    memories: int
    episodes: int
    sessions: int
    read_at: dict[str, Micros]


def count_stored(engine: Engine) -> StoredCounts:
    """Count, as `status` does, what a person sees first."""
    with engine._context.connector.read() as tx:
        hosts = transcript_rows.count_by_host(tx, engine.scope)
        return StoredCounts(
            sum(memories.count_by_kind(tx, engine.scope, engine.now()).values()),
            transcript_rows.count_shown(tx, engine.scope),
            sum(count.files for count in hosts),
            {count.host: count.read_at for count in hosts},
        )


def project_overview(engine: Engine, project: str, limit: int) -> ProjectOverview:
    """Look at a project; at that of the session that ended last, where none is named."""
    context = engine._context
    reads_sessions = engine.caller.may(READ_SESSIONS)
    with context.connector.read() as tx:
        if not project and reads_sessions:
            project = next((one.project for one in transcript_rows.latest_sessions(tx, engine.scope, 1)), "")
        scope = with_former_projects(tx, context.owner(engine.scope.narrowed(project=project)))
        holds = _held(engine, tx, scope, limit)
        sessions = _last_sessions(engine, tx, scope, limit) if reads_sessions else []
    return ProjectOverview(project, holds, sessions)


def _held(engine: Engine, tx: Transaction, scope: Scope, limit: int) -> list[Memory]:
    now, shown = engine.now(), engine._context.cleaner().shown
    places = memory_lists.best_entries(tx, scope, now, HELD, limit, memory_doubts.outdated_entries(tx, scope, now))
    return [shown(memory) for memory in memory_lists.entries(tx, scope, now, places, [])]


def _last_sessions(engine: Engine, tx: Transaction, scope: Scope, limit: int) -> list[SessionOutcome]:
    redactor, shown = engine._context.redactor(), engine._context.cleaner().shown
    outcomes: list[SessionOutcome] = []
    for transcript in transcript_rows.latest_sessions(tx, scope, limit):
        made = memory_lineage.made_from_transcript(tx, engine.scope, transcript.id)
        believed = memories.believed(tx, engine.scope, engine.now(), made, []).values()
        latest = sorted(believed, key=lambda memory: memory.known_from, reverse=True)
        outcomes.append(
            SessionOutcome(session_of(tx, engine.scope, transcript, redactor), [shown(memory) for memory in latest])
        )
    return outcomes

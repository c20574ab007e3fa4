"""What background work, ingest and the operations need of an open memory, besides its verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.records.kinds import Origin
from picomem.records.memory import Change, Memory
from picomem.store import audit, memories
from picomem.store.connector import Transaction

if TYPE_CHECKING:
    from pathlib import Path

    from picomem.ingest.ingest import Ingest
    from picomem.ingest.storing import TranscriptRequest
    from picomem.sessions.snapshot import TakenOver


def ingester(engine: Engine) -> Ingest:
    """What reads transcripts into this store, for callers that read again and again."""
    from picomem.ingest.ingest import Ingest
    from picomem.memory.proposals import propose

    def propose_asked(tx: Transaction, asked: Sequence[TranscriptRequest], run: str) -> list[str]:
        writer = replace(context.writer("remember", "ingest"), run=run)
        return [result.decision.value for result in propose(tx, writer, context.scope, asked)]

    context = engine._context
    return Ingest(
        engine._context.connector,
        engine.scope,
        engine._context.redactor(),
        engine._context.vectors(),
        propose_asked,
        engine._context.clock,
    )


def missing_vectors(engine: Engine) -> int:
    """How many rows have no vector of the embedder."""
    from picomem.memory.missing_vectors import missing

    with engine._context.connector.read() as tx:
        return missing(tx, engine.scope, engine.embedder_name)


def reach(engine: Engine) -> object:
    """A value that differs once a row was stored, or a vector rewritten or taken out, by whatever process."""
    from picomem.memory.missing_vectors import reach

    with engine._context.connector.read() as tx:
        return reach(tx, engine.scope, engine.embedder_name)


def shown(engine: Engine, memory: Memory) -> Memory:
    """A memory as it may be handed out: what was stored before a rule of redaction existed is redacted now."""
    return engine._context.cleaner().shown(memory)


def reason_origin(engine: Engine, change: Change) -> Origin | None:
    """The origin of the reason that a caller gave for a change, which is that of what it changed; None where picomem
    found the reason itself."""
    if change.verb not in ("revise", "forget"):
        return None
    with engine._context.connector.read() as tx:
        versions = memories.unchecked_versions(tx, engine.scope, change.memory_id)
    changed = change.after or change.before
    return next((version.origin for version in versions if version.version == changed), Origin.OTHER)


def undone_changes(engine: Engine, damaged: list[str] | None = None) -> dict[str, str]:
    """Every change that was undone and is so still, with the change that undid it.

    Damaged rows are left out, and their ids are put on `damaged`; without such a list they raise Corrupt.
    """
    with engine._context.connector.read() as tx:
        undoes = audit.undoing(tx, engine.scope, damaged)
    undone: dict[str, str] = {}
    for change, taken_back in undoes.items():
        undone[taken_back] = change
        # To undo an undo is to have it again.
        undone.pop(undoes.get(taken_back, ""), None)
    return undone


def import_sessions(engine: Engine, path: Path, *, move: bool = False) -> TakenOver:
    """Take over the sessions of a PicoBot snapshot, each for its own user; see sessions/snapshot.py.

    With `move` the file is renamed when all is stored. Raises NotFound, InvalidInput or StoreError.
    """
    from picomem.sessions.snapshot import take_over

    return take_over(engine._context.connector, engine._context.redactor, engine._context.clock, path, move=move)

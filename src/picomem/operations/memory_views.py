"""Memories and changes as operations return them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from picomem.clock import Micros, iso
from picomem.coded_text import CodedText, Command
from picomem.engine.engine import Engine
from picomem.engine.stored_memories import reason_origins
from picomem.light_dataclass import dataclass
from picomem.operations.recall_views import view_of
from picomem.records.kinds import Origin, Source
from picomem.records.memory import Change, Memory


@dataclass(frozen=True, slots=True)
class MemoryView:
    """One version of a memory. `current` says whether it is believed, and true, now; `said_at` is when its words
    were said, which may be long before they were read from a transcript. `version` counts the stored rows; people
    count fewer (see `history`)."""

    id: str
    version: int
    key: str
    kind: str
    content: str
    context: str
    importance: float
    priority: str
    pinned: bool
    tags: list[str]
    related_to: list[str]
    origin: str
    source: str
    project: str
    agent: str
    session: str
    current: bool
    valid_from: str
    valid_to: str | None
    known_from: str
    known_to: str | None
    expires_at: str | None
    created_at: str
    updated_at: str
    said_at: str
    archived: bool
    token_estimate: int


def memory_view(memory: Memory, now: Micros, *, archived: bool = False) -> MemoryView:
    """A version, as it stands at `now`; `archived` where it is listed with the archived ones."""
    return view_of(
        MemoryView,
        memory,
        memory.scope,
        related_to=list(memory.related),
        current=memory.current(now),
        updated_at=iso(memory.known_from),
        said_at=iso(_said_at(memory)),
        archived=archived or memory.archived or memory.expired(now),
        token_estimate=memory.tokens,
    )


def _said_at(memory: Memory) -> Micros:
    """A statement from a conversation holds since it was said; one that was stored directly was said then, and
    may hold since another time."""
    is_from_conversation = memory.source in (Source.SESSION, Source.CONSOLIDATION)
    return min(memory.valid_from, memory.known_from) if is_from_conversation else memory.known_from


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One recorded decision. `reason_origin` is where its reason came from; empty where picomem found the reason."""

    id: str
    run: str
    at: str
    actor: str
    verb: str
    decision: str
    reason: str
    memory_id: str
    key: str
    before: int | None
    after: int | None
    candidate: str
    undoes: str
    reason_origin: str


def change_view(engine: Engine, change: Change, key: str = "") -> ChangeView:
    """A change, with the key of the memory that it is about."""
    return change_views(engine, [(change, key)])[0]


def change_views(engine: Engine, changes: Sequence[tuple[Change, str]]) -> list[ChangeView]:
    """Changes, each with the key of the memory that it is about."""
    origins = reason_origins(engine, (change for change, _ in changes))
    return [_change_view(change, key, origins.get(change.id)) for change, key in changes]


def _change_view(change: Change, key: str, origin: Origin | None) -> ChangeView:
    return view_of(ChangeView, change, key=key, reason_origin=origin.value if origin else "")


def damage_warnings(damaged: Iterable[str]) -> list[str]:
    """The warnings about damaged rows that were left out, given their ids."""
    lost = len(set(damaged))
    return [CodedText("warning.damaged_rows", count=lost, command=Command("doctor"))] if lost else []

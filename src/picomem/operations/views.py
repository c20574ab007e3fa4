"""What operations hand out: records as plain values, times as RFC 3339 text."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from picomem.clock import Micros, iso
from picomem.records.hit import Answer, Hit
from picomem.records.memory import Change, Memory


@dataclass(frozen=True, slots=True)
class MemoryView:
    """One version of a memory. `current` says whether it is believed, and true, now."""

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
    valid_from: str
    valid_to: str | None
    known_from: str
    known_to: str | None
    expires_at: str | None
    created_at: str
    updated_at: str
    archived: bool
    token_estimate: int


def memory_view(memory: Memory) -> MemoryView:
    return MemoryView(
        id=memory.id,
        version=memory.version,
        key=memory.key,
        kind=memory.kind.value,
        content=memory.content,
        context=memory.context,
        importance=memory.importance,
        priority=memory.priority.value,
        pinned=memory.pinned,
        tags=list(memory.tags),
        related_to=list(memory.related),
        origin=memory.origin.value,
        source=memory.source.value,
        project=memory.scope.project,
        agent=memory.scope.agent,
        session=memory.scope.session,
        valid_from=iso(memory.valid_from),
        valid_to=_iso(memory.valid_to),
        known_from=iso(memory.known_from),
        known_to=_iso(memory.known_to),
        expires_at=_iso(memory.expires_at),
        created_at=iso(memory.created_at),
        updated_at=iso(memory.known_from),
        archived=memory.archived,
        token_estimate=memory.tokens,
    )


@dataclass(frozen=True, slots=True)
class HitView:
    """One result; see records/hit.py. `turns` are numbered from 1, as the citation does."""

    source: str
    id: str
    text: str
    score: float
    why: str
    origin: str
    tokens: int
    at: str | None
    key: str
    kind: str
    context: str
    importance: float
    tags: list[str]
    role: str
    session: str
    project: str
    branch: str
    transcript: str
    turns: list[int]
    citation: str


def hit_view(hit: Hit) -> HitView:
    values = asdict(hit)
    values.update(
        origin=hit.origin.value,
        at=_iso(hit.at),
        tags=list(hit.tags),
        turns=[turn + 1 for turn in hit.turns or ()],
    )
    return HitView(**values)


@dataclass(frozen=True, slots=True)
class AnswerView:
    """The answer to a question; see records/hit.py."""

    question: str
    hits: list[HitView]
    confidence: float
    legs: dict[str, str]
    tokens: int
    token_budget: int | None
    left_out: int
    since: str | None
    until: str | None
    time_phrase: str
    notes: list[str]


def answer_view(answer: Answer) -> AnswerView:
    return AnswerView(
        question=answer.question,
        hits=[hit_view(hit) for hit in answer.hits],
        confidence=answer.confidence,
        legs=answer.legs,
        tokens=answer.tokens,
        token_budget=answer.token_budget,
        left_out=answer.left_out,
        since=_iso(answer.since),
        until=_iso(answer.until),
        time_phrase=answer.time_phrase,
        notes=list(answer.notes),
    )


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One recorded decision."""

    id: str
    run: str
    at: str
    actor: str
    verb: str
    decision: str
    reason: str
    memory_id: str
    before: int | None
    after: int | None
    candidate: str
    undoes: str


def change_view(change: Change) -> ChangeView:
    return ChangeView(**{**asdict(change), "at": iso(change.at)})


def jsonable(view: Any) -> Any:
    """A view as what `json.dumps` takes."""
    return asdict(view)


def _iso(at: Micros | None) -> str | None:
    return None if at is None else iso(at)

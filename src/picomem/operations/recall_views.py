"""The answers of recall as operations return them: plain values, times as RFC 3339 text.

The views of memories and changes are in `memory_views`, so that recall does not load them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from picomem.clock import Micros, iso
from picomem.light_dataclass import asdict, dataclass, field
from picomem.records.hit import Answer, Hit, HitSession


@dataclass(frozen=True, slots=True)
class HitView:
    """One result; see records/hit.py. `turns` are numbered from 1, as the citation does; `marks` are offsets in
    `text` where words of the question stand; `event` is when that happened of which an episode tells: its start and
    its end, or nothing. `outcomes` are lines of tools, whatever `origin` says. `parts` says how much of the score each
    part of ranking made: words, neighbours, meaning, speaker, time. It is empty for an agent."""

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
    transcript: str = field(metadata={"is_path": True})
    turns: list[int]
    citation: str
    actions: list[str]
    outcomes: list[str]
    remark: str
    marks: list[list[int]]
    event: list[str]
    abandoned: bool
    parts: dict[str, float]


def hit_view(hit: Hit, *, is_cited: bool) -> HitView:
    """A hit, with its citation or without."""
    return HitView(
        source=hit.source,
        id=hit.id,
        text=hit.text,
        score=hit.score,
        why=hit.why,
        origin=hit.origin.value,
        tokens=hit.tokens,
        at=iso_or_none(hit.at),
        key=hit.key,
        kind=hit.kind,
        context=hit.context,
        importance=hit.importance,
        tags=list(hit.tags),
        role=hit.role,
        session=hit.session,
        project=hit.project,
        branch=hit.branch,
        transcript=hit.transcript,
        turns=[turn + 1 for turn in hit.turns or ()],
        citation=hit.citation if is_cited else "",
        actions=list(hit.actions),
        outcomes=list(hit.outcomes),
        remark=hit.remark,
        marks=[list(mark) for mark in hit.marks],
        event=[iso(moment) for moment in hit.event or ()],
        abandoned=hit.abandoned,
        parts=dict(hit.parts),
    )


@dataclass(frozen=True, slots=True)
class HitSessionView:
    """The session of hits with the same `session` and `transcript`; see records/hit.py."""

    session: str
    transcript: str = field(metadata={"is_path": True})
    host: str
    title: str
    origin: str
    project: str
    folder: str
    at: str | None
    files: list[str]


def hit_session_view(session: HitSession) -> HitSessionView:
    """Return the view of a session of hits."""
    return HitSessionView(
        session=session.session,
        transcript=session.transcript,
        host=session.host,
        title=session.title,
        origin=session.origin.value,
        project=session.project,
        folder=session.folder,
        at=iso_or_none(session.started_at),
        files=list(session.files),
    )


@dataclass(frozen=True, slots=True)
class AnswerView:
    """The answer to a question; see records/hit.py. `sessions` says once of each session what its hits
    share; it is empty for an agent. `is_limited` says that the caller named a limit, and so wants all of the hits;
    people are shown only those that stand out otherwise. `filters` are those of the request, if nothing was found."""

    question: str
    hits: list[HitView]
    sessions: list[HitSessionView]
    confidence: float
    legs: dict[str, str]
    tokens: int
    token_budget: int | None
    left_out: int
    since: str | None
    until: str | None
    time_phrase: str
    warnings: list[str]
    is_limited: bool
    filters: list[str] = field(default_factory=list)


def answer_view(
    answer: Answer,
    sessions: Iterable[HitSession],
    *,
    is_cited: bool,
    is_limited: bool = False,
    filters: Iterable[str] = (),
) -> AnswerView:
    return AnswerView(
        question=answer.question,
        hits=[hit_view(hit, is_cited=is_cited) for hit in answer.hits],
        sessions=[hit_session_view(session) for session in sessions],
        confidence=answer.confidence,
        legs=answer.legs,
        tokens=answer.tokens,
        token_budget=answer.token_budget,
        left_out=answer.left_out,
        since=iso_or_none(answer.since),
        until=iso_or_none(answer.until),
        time_phrase=answer.time_phrase,
        warnings=list(answer.warnings),
        is_limited=is_limited,
        filters=list(filters),
    )


def jsonable(view: Any) -> Any:
    """A view as what `json.dumps` takes."""
    return asdict(view)


def iso_or_none(at: Micros | None) -> str | None:
    return None if at is None else iso(at)

"""The answers of recall as operations return them: plain values, times as RFC 3339 text.

The views of memories and changes are in `memory_views`, so that recall does not load them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, TypeVar

from picomem.clock import Micros, iso
from picomem.light_dataclass import asdict, dataclass, field
from picomem.recall.final_scores import count_above_cutoff
from picomem.records.hit import Answer, Hit, HitSession

_View = TypeVar("_View")


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
    return view_of(
        HitView,
        hit,
        turns=[turn + 1 for turn in hit.turns or ()],
        citation=hit.citation if is_cited else "",
        marks=[list(mark) for mark in hit.marks],
        event=[iso(moment) for moment in hit.event or ()],
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
    return view_of(HitSessionView, session, at=iso_or_none(session.started_at))


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
    return view_of(
        AnswerView,
        answer,
        hits=[hit_view(hit, is_cited=is_cited) for hit in answer.hits],
        sessions=[hit_session_view(session) for session in sessions],
        is_limited=is_limited,
        filters=list(filters),
    )


def view_of(kind: type[_View], *sources: object, **others: Any) -> _View:
    """A view with the fields that these values have, each as JSON has it: a list for a tuple, a text for a time and for
    a word of a closed list; and `others`, which are named or made in another way."""
    values: dict[str, Any] = {}
    for name, annotation in kind.__annotations__.items():
        source = next((source for source in sources if hasattr(source, name)), None)
        if name not in others and source is not None:
            values[name] = _as_in_json(getattr(source, name), is_text=annotation.startswith("str"))
    return kind(**values, **others)


def _as_in_json(value: Any, *, is_text: bool) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return list(value)
    return iso(value) if is_text and isinstance(value, int) else value


def jsonable(view: Any) -> Any:
    """A view as what `json.dumps` takes."""
    return asdict(view)


def iso_or_none(at: Micros | None) -> str | None:
    return None if at is None else iso(at)


# How people see the hits of an answer: those that stand out, and those of a session together.

_SOURCES = {"memory": 0, "note": 1}  # their order; sessions come last


def standing_out(hits: Sequence[HitView]) -> tuple[list[HitView], list[HitView]]:
    """The hits that stand out, and the weaker ones; notes have scores of their own, and stay."""
    scored = [hit for hit in hits if hit.source != "note"]
    weak = scored[count_above_cutoff([hit.score for hit in scored]) :]
    return [hit for hit in hits if hit not in weak], weak


@dataclass(frozen=True, slots=True)
class HitGroup:
    """Hits of one source, and of one session, the best first."""

    source: str
    session: HitSessionView | None
    hits: list[HitView]


def group_hits(hits: Sequence[HitView], sessions: Sequence[HitSessionView]) -> list[HitGroup]:
    """The hits of a session together, below what they share, and so those among memories and notes. The group with the
    best hit comes first."""
    groups: dict[tuple[str, str, str], list[HitView]] = {}
    for hit in hits:
        is_spoken = hit.source == "episode"
        group = (hit.source, hit.transcript if is_spoken else "", hit.session if is_spoken else "")
        groups.setdefault(group, []).append(hit)
    known = {("episode", session.transcript, session.session): session for session in sessions}
    return [HitGroup(group[0], known.get(group), members) for group, members in groups.items()]


def memories_first(groups: Sequence[HitGroup]) -> list[HitGroup]:
    """Memories, then notes, then what was said."""
    return sorted(groups, key=lambda group: _SOURCES.get(group.source, len(_SOURCES)))

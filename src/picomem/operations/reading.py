"""Operations that answer: recall, show, why, history, timeline, index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from picomem.clock import iso
from picomem.errors import InvalidInput
from picomem.operations.fence import fenced
from picomem.operations.operation import Operation, option
from picomem.operations.times import moment, window
from picomem.operations.views import (
    AnswerView,
    ChangeView,
    HitView,
    MemoryView,
    answer_view,
    change_view,
    hit_view,
    memory_view,
)
from picomem.records.kinds import Kind, Priority

if TYPE_CHECKING:
    from picomem.engine import Engine
    from picomem.records.scope import Scope

# The source designs' two categories beside our kinds: everything durable, and what was said.
_CATEGORIES = (*Kind, "knowledge", "timeline")


@dataclass(frozen=True, slots=True)
class Recall:
    query: str = option("the question, in any words", positional=True)
    kind: tuple[str, ...] = option(
        "only memories of this kind; repeatable", choices=_CATEGORIES, short="-t", tool="category", many=True
    )
    priority: str | None = option("only memories of this priority or above", None, choices=tuple(Priority))
    tag: str = option("only memories with this tag", "")
    limit: int | None = option("hits at most", None, short="-n")
    token_budget: int | None = option("tokens of all hits together at most", None)
    since: int | str | None = option("not before: a date, words like 30d, or Unix milliseconds", None)
    until: int | str | None = option("not after: a date, words like yesterday, or Unix milliseconds", None)
    time_window: str | None = option("a span of time: 30d, last week, 2026-05", None)
    as_of: str | None = option("what was believed at this time", None)
    valid_at: str | None = option("what was true at this time", None)
    project: str = option("only this project, and what belongs to none", "")
    session: str = option("only this session", "")
    include_context: bool = option("with why each memory matters", False)
    include_transcripts: bool = option("search past sessions too", True)
    include_untrusted: bool = option("with text that came from tools, the web or others", False)
    now: str | None = option("when the question is asked, for “yesterday” (default now)", None, tool=None)


def recall(engine: Engine, request: Recall) -> AnswerView:
    """Search long-term memory and past sessions for what is known about a question.

    Returns scored entries within a token budget, pointers into past sessions, which ways of searching answered, and
    how sure it is.
    """
    now = moment(request.now, engine.now(), engine.zone) or engine.now()
    span = window(request.time_window, now, engine.zone)
    if span and (request.since or request.until):
        raise InvalidInput("Give a time window, or since and until; not both.")
    kinds = set(request.kind)
    durable = kinds - {"timeline"}
    answer = engine.recall(
        request.query,
        limit=request.limit,
        token_budget=request.token_budget,
        kinds=[] if "knowledge" in kinds else sorted(durable),
        priority=request.priority,
        tag=request.tag,
        since=span.since if span else moment(request.since, now, engine.zone),
        until=span.until if span else moment(request.until, now, engine.zone, end=True),
        as_of=moment(request.as_of, now, engine.zone, end=True),
        valid_at=moment(request.valid_at, now, engine.zone, end=True),
        include_context=request.include_context,
        include_memories=not kinds or bool(durable),
        include_transcripts=request.include_transcripts and (not kinds or "timeline" in kinds),
        include_untrusted=request.include_untrusted,
        scope=_narrowed(engine, request.project, request.session),
        now=now,
    )
    return answer_view(answer)


def _narrowed(engine: Engine, project: str, session: str = "") -> Scope:
    return engine.scope.narrowed(project=project, session=session)


def _recalled(answer: AnswerView) -> str:
    """The plan's reply, with episodes by their citation; text that nobody trusted wrote is fenced as data."""
    if not answer.hits:
        return "No matching memories found."
    lines = []
    for hit in answer.hits:
        text = fenced(hit.text, hit.origin)
        if hit.source == "memory":
            lines.append(f"- {hit.key} [{hit.kind}] [importance: {hit.importance:.1f}]: {text}")
            if hit.context:
                lines.append(f"  ({fenced(hit.context, hit.origin)})")
        else:
            lines.append(f"- episode {hit.id} [{hit.role}; {hit.citation}]: {text}")
    return f"Found {len(lines)} memories:\n" + "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Show:
    episode: str = option("the episode's id, or the beginning of it", positional=True)


@dataclass(frozen=True, slots=True)
class TurnView:
    number: int
    role: str
    origin: str
    at: str | None
    text: str


@dataclass(frozen=True, slots=True)
class ShowResult:
    """`state` is "open" with the very messages in `turns`; or "gone", "changed" or "unreadable" with a `note`."""

    episode: HitView
    state: str
    note: str
    turns: list[TurnView]


def show(engine: Engine, request: Show) -> ShowResult:
    """Print the very messages behind an episode, from the transcript itself; or say that it is gone."""
    from picomem.recall.recall import episode_hit

    episode, transcript, opened = engine.show(request.episode)
    hit = hit_view(episode_hit(episode, transcript, 0.0, ""))
    turns = [
        TurnView(turn.index + 1, turn.role, turn.origin.value, None if turn.at is None else iso(turn.at), turn.text)
        for turn in opened.turns
    ]
    return ShowResult(hit, opened.state, opened.note, turns)


@dataclass(frozen=True, slots=True)
class Why:
    id: str = option("a memory's key or id, a change's id, or an episode's id", positional=True)


@dataclass(frozen=True, slots=True)
class SourceView:
    version: int
    kind: str
    id: str
    role: str
    origin: str
    text: str
    citation: str


@dataclass(frozen=True, slots=True)
class WhyResult:
    id: str
    what: str
    memory: MemoryView | None
    changes: list[ChangeView]
    sources: list[SourceView]
    note: str


def why(engine: Engine, request: Why) -> WhyResult:
    """Say why something was stored, merged or refused: what was decided, when, by whom, and from what."""
    found = engine.why(request.id)
    note = ""
    if found.episode is not None:
        place = found.transcript.path if found.transcript else "a transcript that is gone"
        note = f"an episode of {place}, read there because it was said; `picomem show {found.id}` opens it"
    return WhyResult(
        id=found.id,
        what=found.what,
        memory=memory_view(found.memory) if found.memory else None,
        changes=[change_view(change) for change in found.changes],
        sources=[
            SourceView(
                each.version,
                each.parent.kind,
                each.parent.id,
                each.parent.role,
                each.origin.value,
                each.text,
                each.citation,
            )
            for each in found.sources
        ],
        note=note,
    )


@dataclass(frozen=True, slots=True)
class History:
    name: str = option("the memory's key or id", positional=True, tool="key")
    as_of: str | None = option("only what was believed at this time", None)
    valid_at: str | None = option("only what was true at this time", None)


@dataclass(frozen=True, slots=True)
class HistoryResult:
    versions: list[MemoryView]


def history(engine: Engine, request: History) -> HistoryResult:
    """List every version of a memory: what was believed, from when to when, and when it was true."""
    now = engine.now()
    known = moment(request.as_of, now, engine.zone, end=True)
    true = moment(request.valid_at, now, engine.zone, end=True)
    versions = [
        version
        for version in engine.history(request.name)
        if (known is None or version.known_from < known <= (version.known_to or known))
        and (true is None or version.valid_from < true <= (version.valid_to or true))
    ]
    return HistoryResult([memory_view(version) for version in versions])


@dataclass(frozen=True, slots=True)
class Timeline:
    since: int | str | None = option("not before: a date, or words like 30d", None)
    until: int | str | None = option("not after: a date, or words like yesterday", None)
    project: str = option("only this project", "")
    session: str = option("only this session", "")
    limit: int = option("episodes at most", 30, short="-n")


@dataclass(frozen=True, slots=True)
class TimelineResult:
    """Latest first."""

    episodes: list[HitView]


def timeline(engine: Engine, request: Timeline) -> TimelineResult:
    """List what was said, latest first, by project, session or time."""
    if request.limit < 1:
        raise InvalidInput(f"limit is {request.limit}; it must be at least 1.")
    now = engine.now()
    found = engine.timeline(
        since=moment(request.since, now, engine.zone),
        until=moment(request.until, now, engine.zone, end=True),
        limit=request.limit,
        scope=_narrowed(engine, request.project, request.session),
    )
    return TimelineResult([hit_view(hit) for hit in found])


@dataclass(frozen=True, slots=True)
class Index:
    budget: int | None = option("tokens at most (default 1500)", None)
    project: str = option("the page for this project", "")


@dataclass(frozen=True, slots=True)
class IndexResult:
    page: str
    tokens: int
    budget: int
    entries: int
    left_out: int


def index(engine: Engine, request: Index) -> IndexResult:
    """Print the always-loaded index page: what an agent should know before anything is asked."""
    page = engine.index(budget=request.budget, scope=_narrowed(engine, request.project))
    return IndexResult(page.text, page.tokens, page.budget, page.entries, page.left_out)


OPERATIONS = (
    Operation(
        name="recall",
        request=Recall,
        result=AnswerView,
        run=recall,
        reply=_recalled,
        permission="memory:read:user",
        example='picomem recall "which port does staging use?" --project harbor',
        tool="memory_recall",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="show",
        request=Show,
        result=ShowResult,
        run=show,
        reply=lambda result: (
            result.note or "\n\n".join(f"{turn.role}: {fenced(turn.text, turn.origin)}" for turn in result.turns)
        ),
        permission="memory:read:session",
        example="picomem show 01a20090-6145",
        tool="memory_show",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="why",
        request=Why,
        result=WhyResult,
        run=why,
        reply=lambda result: (
            result.note
            or "\n".join(f"{each.at} {each.decision} by {each.actor}: {each.reason}" for each in result.changes)
        ),
        permission="memory:read:user",
        example="picomem why staging_db_port",
        tool="memory_why",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="history",
        request=History,
        result=HistoryResult,
        run=history,
        reply=lambda result: "\n".join(
            f"{each.version}. {each.content} (true {each.valid_from} – {each.valid_to or 'now'}, "
            f"believed {each.known_from} – {each.known_to or 'now'})"
            for each in result.versions
        ),
        permission="memory:read:user",
        example="picomem history staging_db_port",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="timeline",
        request=Timeline,
        result=TimelineResult,
        run=timeline,
        reply=lambda result: "\n".join(f"{each.at} {each.citation}: {each.text}" for each in result.episodes),
        permission="memory:read:session",
        example="picomem timeline --project harbor --since 30d",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="index",
        request=Index,
        result=IndexResult,
        run=index,
        reply=lambda result: result.page,
        permission="memory:read:user",
        example="picomem index --budget 1200",
        read_only=True,
        idempotent=True,
    ),
)

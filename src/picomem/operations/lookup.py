"""Operations that show what is there: memories, show, why, history, timeline, index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.clock import iso
from picomem.light_dataclass import dataclass, field
from picomem.operations.fenced_results import fenced, fenced_role, fenced_turn
from picomem.operations.memory_views import ChangeView, MemoryView, change_view, damage_warnings, memory_view
from picomem.operations.operation import MOST_ROWS, ChatCommand, Operation, option
from picomem.operations.presentations import lookup as lookup_presentations
from picomem.operations.times import moment
from picomem.operations.views import HitView, hit_view
from picomem.paths import named_path
from picomem.records.kinds import Kind, Origin

if TYPE_CHECKING:
    from picomem.engine.engine import Engine


@dataclass(frozen=True, slots=True)
class MemoriesRequest:
    kind: str | None = option("only of this kind", None, choices=tuple(Kind), short="-t", tool="category")
    tag: str = option("only with this tag", "")
    project: str = option("only of this project, and what belongs to none", "")
    archived: bool = option("the archived and expired ones instead", False)
    limit: int = option("memories at most", 50, short="-n", least=1, most=MOST_ROWS)


@dataclass(frozen=True, slots=True)
class MemoriesResult:
    """The most important first; `left_out` is how many more there are, `warnings` says what is damaged."""

    memories: list[MemoryView]
    left_out: int
    warnings: list[str] = field(default_factory=list)


def memories(engine: Engine, request: MemoriesRequest) -> MemoriesResult:
    """List what is remembered, the most important first."""
    from picomem.engine.upkeep import shown

    now = engine.now()
    damaged: list[str] = []
    listed = engine.memories(archived=request.archived, damaged=damaged)
    if request.archived:
        # An expired memory counts as archived, even before the retention task archives it.
        listed += [memory for memory in engine.memories(valid_at=now, damaged=[]) if memory.expired(now)]
    matching = [
        memory
        for memory in listed
        if (request.kind is None or memory.kind == request.kind)
        and (not request.tag or request.tag in memory.tags)
        and (not request.project or memory.scope.project in ("", request.project))
    ]
    matching.sort(key=lambda memory: (not memory.pinned, -memory.importance, -memory.known_from, memory.key))
    views = [memory_view(shown(engine, memory), now) for memory in matching[: request.limit]]
    return MemoriesResult(views, len(matching) - len(views), damage_warnings(damaged))


@dataclass(frozen=True, slots=True)
class ShowRequest:
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
    """`state` is "open" with the very messages in `turns`; or "gone", "changed" or "unreadable", and `explanation` says
    why."""

    episode: HitView
    state: str
    explanation: str
    turns: list[TurnView]


def show(engine: Engine, request: ShowRequest) -> ShowResult:
    """Print the very messages behind an episode, from the transcript itself; or say that it is gone."""
    from picomem.recall.hits import episode_hit

    episode, transcript, opened = engine.show(request.episode)
    hit = hit_view(episode_hit(episode, transcript, 0.0, ""))
    turns = [
        TurnView(turn.index + 1, turn.role, turn.origin.value, None if turn.at is None else iso(turn.at), turn.shown)
        for turn in opened.turns
    ]
    return ShowResult(hit, opened.state, opened.note, turns)


@dataclass(frozen=True, slots=True)
class WhyRequest:
    id: str = option("a memory's key or id, a change's id, or an episode's id", positional=True)
    project: str = option("the project whose memory it is, where several have the key", "")


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
    """Of an episode `explanation` says where it is from, and `transcript` is the path of it."""

    id: str
    what: str
    memory: MemoryView | None
    changes: list[ChangeView]
    sources: list[SourceView]
    explanation: str
    transcript: str


def why(engine: Engine, request: WhyRequest) -> WhyResult:
    """Say why something was stored, merged or refused: what was decided, when, by whom, and from what."""
    found = engine.why(request.id, scope=engine.scope.narrowed(project=request.project))
    explanation = transcript = ""
    if found.episode is not None:
        transcript = found.transcript.path if found.transcript else ""
        place = "a transcript" if found.transcript else "a transcript that is gone"
        explanation = f"an episode of {place}, read there because it was said; `picomem show {found.id}` opens it"
        if found.episode.category == "timeline":
            explanation = (
                f"a timeline entry, made when a conversation was consolidated; `picomem show {found.id}` opens it"
            )
    return WhyResult(
        id=found.id,
        what=found.what,
        memory=memory_view(found.memory, engine.now()) if found.memory else None,
        changes=[change_view(engine, change, found.memory.key if found.memory else "") for change in found.changes],
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
        explanation=explanation,
        transcript=transcript,
    )


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    name: str = option("the memory's key or id", positional=True, tool="key")
    project: str = option("the project whose memory it is, where several have the key", "")
    as_of: str | None = option("only what was believed at this time", None)
    valid_at: str | None = option("only what was true at this time", None)


@dataclass(frozen=True, slots=True)
class HistoryResult:
    versions: list[MemoryView]


def history(engine: Engine, request: HistoryRequest) -> HistoryResult:
    """List every version of a memory: what was believed, from when to when, and when it was true."""
    now = engine.now()
    known = moment(request.as_of, now, engine.zone, end=True)
    true = moment(request.valid_at, now, engine.zone, end=True)
    every = engine.history(request.name, scope=engine.scope.narrowed(project=request.project))
    # “What was true then” is asked of what is believed now, where anything is (an archived memory has only a past).
    believed = true is not None and known is None and any(version.known_to is None for version in every)
    versions = [
        version
        for version in every
        if (known is None or version.known_from < known <= (version.known_to or known))
        and (not believed or version.known_to is None)
        and (true is None or version.valid_from < true <= (version.valid_to or true))
    ]
    return HistoryResult([memory_view(version, now) for version in versions])


@dataclass(frozen=True, slots=True)
class TimelineRequest:
    since: int | str | None = option("not before: a date, or words like 30d", None)
    until: int | str | None = option("not after: a date, or words like yesterday", None)
    project: str = option("only this project", "")
    session: str = option("only this session", "")
    limit: int = option("episodes at most", 30, short="-n", least=1, most=MOST_ROWS)


@dataclass(frozen=True, slots=True)
class TimelineResult:
    """Latest first. `warnings` says what was left out."""

    episodes: list[HitView]
    warnings: list[str]


def timeline(engine: Engine, request: TimelineRequest) -> TimelineResult:
    """List what was said, latest first, by project, session or time."""
    now = engine.now()
    damaged: list[str] = []
    found = engine.timeline(
        since=moment(request.since, now, engine.zone),
        until=moment(request.until, now, engine.zone, end=True),
        limit=request.limit,
        damaged=damaged,
        scope=engine.scope.narrowed(project=request.project, session=request.session),
    )
    views = [hit_view(hit, engine.settings.memory.citations) for hit in found]
    return TimelineResult(views, damage_warnings(damaged))


@dataclass(frozen=True, slots=True)
class IndexRequest:
    budget: int | None = option("tokens at most (default 1500)", None)
    project: str = option("the page for this project", "")
    export: str = option("write it to this file as well, such as memory/MEMORY-INDEX.md", "", tool=None, path=True)


@dataclass(frozen=True, slots=True)
class IndexResult:
    page: str
    tokens: int
    budget: int
    entries: int
    left_out: int


def index(engine: Engine, request: IndexRequest) -> IndexResult:
    """Print the always-loaded index page: what an agent should know before anything is asked."""
    scope = engine.scope.narrowed(project=request.project)
    if request.export:
        page = engine.export_index(named_path(request.export), budget=request.budget, scope=scope)
    else:
        page = engine.index(budget=request.budget, scope=scope)
    return IndexResult(page.text, page.tokens, page.budget, page.entries, page.left_out)


def _listed(result: MemoriesResult) -> str:
    if not result.memories:
        return "\n".join(result.warnings) or "Nothing is remembered yet."
    lines = [f"- {fenced(each.key, each.origin)}: {fenced(each.content, each.origin)}" for each in result.memories]
    return "\n".join([*lines, *([f"({result.left_out} more)"] if result.left_out else []), *result.warnings])


OPERATIONS = (
    Operation(
        name="memories",
        group="look",
        request=MemoriesRequest,
        result=MemoriesResult,
        run=memories,
        present=lookup_presentations.memories,
        reply=_listed,
        permission="memory:read:user",
        example="picomem memories --kind preference",
        read_only=True,
        idempotent=True,
        memory_action="list",
        chat_commands=(ChatCommand("memory", "what is remembered"),),
    ),
    Operation(
        name="show",
        group="look",
        request=ShowRequest,
        result=ShowResult,
        run=show,
        present=lookup_presentations.episode,
        reply=lambda result: (
            result.explanation
            or "\n\n".join(
                f"{fenced_role(turn.role, turn.origin)}: {fenced_turn(turn.text, turn.origin, turn.role)}"
                for turn in result.turns
            )
        ),
        permission="memory:read:session",
        example="picomem show 01a20090-6145",
        tool="memory_show",
        read_only=True,
        idempotent=True,
        default_tool=True,
    ),
    Operation(
        name="why",
        group="look",
        request=WhyRequest,
        result=WhyResult,
        run=why,
        present=lookup_presentations.reasons,
        reply=lambda result: (
            result.explanation
            or "\n".join(
                f"{each.at} {each.decision} by {each.actor}: {fenced(each.reason, each.reason_origin or Origin.AGENT)}"
                for each in result.changes
            )
        ),
        permission="memory:read:user",
        example="picomem why staging_db_port",
        tool="memory_why",
        read_only=True,
        idempotent=True,
        default_tool=True,
        chat_commands=(
            ChatCommand(
                "why",
                "why something is remembered: what was decided, when, from what",
                argument="id",
                placeholder="NAME",
                example="staging_db_port",
                not_found="Nothing is remembered as “{}”; /memory shows the names.",
            ),
        ),
    ),
    Operation(
        name="history",
        group="look",
        request=HistoryRequest,
        result=HistoryResult,
        run=history,
        present=lookup_presentations.versions,
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
        group="look",
        request=TimelineRequest,
        result=TimelineResult,
        run=timeline,
        present=lookup_presentations.timeline,
        reply=lambda result: "\n".join(
            [*result.warnings, *(f"{each.at} {each.citation}: {each.text}" for each in result.episodes)]
        ),
        permission="memory:read:session",
        example="picomem timeline --project harbor --since 30d",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="index",
        group="use",
        request=IndexRequest,
        result=IndexResult,
        run=index,
        present=lookup_presentations.index_page,
        reply=lambda result: result.page,
        permission="memory:read:user",
        example="picomem index --budget 1200",
        read_only=True,
        idempotent=True,
        resource="index",
    ),
)

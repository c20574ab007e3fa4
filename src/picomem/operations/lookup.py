"""Operations that show stored entries: memories, show, why, history, timeline, index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.clock import iso
from picomem.light_dataclass import dataclass, field, replace
from picomem.operations.fenced_results import fenced, fenced_reason, fenced_role, fenced_turn
from picomem.operations.memory_views import ChangeView, MemoryView, change_views, damage_warnings, memory_view
from picomem.operations.operation import LARGEST, ChatCommand, Operation, given_filters, option
from picomem.operations.paging import Place, cursor_of, place_of
from picomem.operations.presentations import lookup as lookup_presentations
from picomem.operations.recall_views import HitSessionView, HitView, hit_session_view, hit_view
from picomem.operations.times import between, moment
from picomem.paths import check_folder_of, named_path
from picomem.records.caller import READ_SESSIONS
from picomem.records.kinds import Kind, Origin, Priority
from picomem.records.transcript import with_questions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from picomem.engine.engine import Engine
    from picomem.memory.index_page import IndexPage
    from picomem.records.memory import Memory
    from picomem.records.transcript import Turn
    from picomem.store.episodes import TimelinePlace
    from picomem.store.memories import ListPlace


_MOST_OMITTED = 200  # entries that did not fit the index page and are listed
_MOST_AROUND = 20  # episodes on each side of one; each is read from its transcript


@dataclass(frozen=True, slots=True)
class MemoriesRequest:
    kind: str | None = option("only this kind", None, choices=tuple(Kind), short="-t", tool="category")
    origin: str | None = option("only what came from here", None, choices=tuple(Origin))
    priority_min: str | None = option("only of this priority or above", None, choices=tuple(Priority))
    tag: str = option("only with this tag", "")
    project: str = option("only of this project, and what belongs to none", "")
    all_projects: bool = option("at a terminal: ask all projects, not first that of the folder", False, tool=None)
    archived: bool = option("archived, ended and expired memories instead", False)
    limit: int = option("maximum number of memories", 50, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "", tool=None)


@dataclass(frozen=True, slots=True)
class MemoriesResult:
    """The most important first; `left_out` is how many more there are behind `cursor`, which is empty on the last page.
    `warnings` says what of the page is damaged. `filters` are those of the request, if they leave nothing of what is
    remembered."""

    memories: list[MemoryView]
    left_out: int
    cursor: str
    warnings: list[str] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)


def memories(engine: Engine, request: MemoriesRequest) -> MemoriesResult:
    """List what is remembered, the most important first."""
    from picomem.engine.upkeep import holds_memories, memories_page, shown, unknown_project
    from picomem.store.memories import ListFilter, ListQuery

    now = engine.now()
    damaged: list[str] = []
    wanted = ListFilter(request.kind or "", request.origin or "", request.tag.strip(), request.project)
    if request.priority_min:
        wanted = wanted._replace(least=Priority(request.priority_min).least)
    query = ListQuery(wanted, _list_place(request.cursor), request.limit, request.archived)
    page = memories_page(engine, query, damaged)
    views = [memory_view(shown(engine, memory), now, archived=request.archived) for memory in page.memories]
    warnings = [] if views else unknown_project(engine, request.project)
    cursor = cursor_of(_place_of(page.last)) if page.last and page.left_out else ""
    filters = given_filters(request, ("kind", "origin", "priority_min", "tag", "project", "archived"))
    if filters and (views or not holds_memories(engine)):
        filters = []
    return MemoriesResult(views, page.left_out, cursor, [*warnings, *damage_warnings(damaged)], filters)


def _place_of(last: ListPlace) -> Place:
    """Return where a memory stands in the list, the most important first."""
    return (not last.pinned, -last.importance, -last.known_from, last.key, last.id, last.version)


def _list_place(cursor: str) -> ListPlace | None:
    """The place behind which a page of the store's list begins."""
    if not cursor:
        return None
    from picomem.store.memories import ListPlace

    unpinned, importance, known_from, key, id_, version = place_of(cursor, (False, 0.0, 0, "", "", 0))
    return ListPlace(not unpinned, -importance, min(-known_from, LARGEST), key, id_, version)


@dataclass(frozen=True, slots=True)
class ShowRequest:
    episode: str = option("the episode's id, or the beginning of it", positional=True)
    query: str = option("open it at these words, and mark them", "")
    all: bool = option("print all of it, and long texts in full", False)
    around: int = option("episodes before it, and after it, to open as well", 0, least=0, most=_MOST_AROUND, tool=None)


@dataclass(frozen=True, slots=True)
class TurnView:
    """A message. Of a long one `text` is the part where the words of the query stand, or else the episode's own part,
    and the counts say how many lines come before and after it. `marks` are offsets in `text` of the query's words.
    `outcomes` are lines of tools, whatever `origin` says."""

    number: int
    role: str
    origin: str
    at: str | None
    text: str
    marks: list[list[int]]
    earlier_lines: int
    later_lines: int
    outcomes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class NearbyEpisode:
    """An episode beside the one that was asked for, with its messages; without any where they cannot be opened."""

    id: str
    turns: list[TurnView]


@dataclass(frozen=True, slots=True)
class ShowResult:
    """`state` is "open" with the very messages in `turns`; or "gone", "changed" or "unreadable", and `explanation` says
    why; of an "open" one it says where it was read from a kept copy. `happened` is the day, or the first and the last,
    of the event that the episode tells of. `before` and `after` are as many episodes as `around` asks for, in the order
    of the transcript. `session` says what people are told of the session; it is empty for an agent. `match` is the
    number of the turn that holds most of the query's words, 0 where none does; `is_whole` that all was asked for."""

    episode: HitView
    happened: str
    state: str
    explanation: str
    turns: list[TurnView]
    before: list[NearbyEpisode] = field(default_factory=list)
    after: list[NearbyEpisode] = field(default_factory=list)
    session: HitSessionView | None = None
    match: int = 0
    is_whole: bool = False


def show(engine: Engine, request: ShowRequest) -> ShowResult:
    """Print the messages behind an episode from its transcript, or report that they are gone.

    A long message, and an episode of several, is opened at the words of `query`.
    """
    from picomem.engine.upkeep import episodes_around, event_of, hit_sessions
    from picomem.recall.hits import episode_hit
    from picomem.recall.passages import best_match

    episode, transcript, opened = engine.show(request.episode)
    event = event_of(engine, episode)
    hit = episode_hit(episode, transcript, 0.0, "", event=event)
    before, after = episodes_around(engine, episode, request.around) if request.around else ([], [])
    shown = {turn.index for turn in opened.turns}
    sessions = [] if engine.caller.is_agent else hit_sessions(engine, [hit])
    match = best_match(("\n".join((turn.shown, *turn.outcomes)) for turn in opened.turns), request.query)
    return ShowResult(
        hit_view(hit, is_cited=True),
        event.days(engine.zone) if event else "",
        opened.state,
        opened.note,
        [_turn_view(turn, episode.preview, request) for turn in opened.turns],
        [_nearby(engine, name, request, shown) for name in before],
        [_nearby(engine, name, request, shown) for name in after],
        hit_session_view(sessions[0]) if sessions else None,
        0 if match is None else opened.turns[match].index + 1,
        request.all,
    )


def _nearby(engine: Engine, name: str, request: ShowRequest, shown: set[int]) -> NearbyEpisode:
    """An episode with those of its messages that are not `shown`, to which they are added: a long message is several
    episodes."""
    episode, _, opened = engine.show(name)
    fresh = [turn for turn in opened.turns if turn.index not in shown]
    shown.update(turn.index for turn in fresh)
    return NearbyEpisode(name, [_turn_view(turn, episode.preview, request) for turn in fresh])


def _turn_view(turn: Turn, preview: str, request: ShowRequest) -> TurnView:
    from picomem.recall.passages import excerpt

    text = with_questions(turn.shown, turn.answers)
    shown = excerpt(text, request.query, max(0, text.find(preview)), is_whole=request.all)
    return TurnView(
        number=turn.index + 1,
        role=turn.role,
        origin=turn.origin.value,
        at=None if turn.at is None else iso(turn.at),
        text=shown.text,
        marks=[list(mark) for mark in shown.marks],
        earlier_lines=shown.earlier_lines,
        later_lines=shown.later_lines,
        outcomes=list(turn.outcomes),
    )


@dataclass(frozen=True, slots=True)
class WhyRequest:
    id: str = option("a memory's key or id, a change's id, or an episode's id", positional=True)
    project: str = option("the project of the memory, if several have the key", "")
    limit: int = option("maximum number of changes of a memory, the latest", 50, short="-n", least=1, rows=True)


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
class HandoutView:
    """A session of a host in which a hook put an entry beside a prompt, and when."""

    session: str
    at: str


@dataclass(frozen=True, slots=True)
class WhyResult:
    """`left_out` counts the changes before those that are shown. `version_numbers` are the versions as people count
    them, by the numbers in the changes and sources. Of an episode `explanation` says where it is from, and `transcript`
    is the path of it. `contradicted` are the keys of the memories that it may contradict, by their ids. `handed_out`
    says in which of the latest sessions a hook put it beside a prompt, the latest first; what an agent recalls is not
    recorded. It is empty for an agent, and for a caller who may not read past sessions."""

    id: str
    what: str
    memory: MemoryView | None
    changes: list[ChangeView]
    sources: list[SourceView]
    explanation: str
    transcript: str = field(metadata={"is_path": True})
    version_numbers: dict[int, int] = field(default_factory=dict)
    contradicted: dict[str, str] = field(default_factory=dict)
    left_out: int = 0
    handed_out: list[HandoutView] = field(default_factory=list)


def why(engine: Engine, request: WhyRequest) -> WhyResult:
    """Explain why something was stored, merged or refused: the decision, its time, its author and its source."""
    from picomem.engine.agent_support import handouts

    explained = engine.why(request.id, scope=engine.scope.narrowed(project=request.project), limit=request.limit)
    explanation = transcript = ""
    if explained.episode is not None:
        transcript = explained.transcript.path if explained.transcript else ""
        place = "a transcript" if explained.transcript else "a transcript that is gone"
        explanation = f"an episode of {place}, read there because it was said; `picomem show {explained.id}` opens it"
        if explained.episode.category == "timeline":
            explanation = (
                f"a timeline entry, made when a conversation was consolidated; `picomem show {explained.id}` opens it"
            )
    key = explained.memory.key if explained.memory else ""
    return WhyResult(
        id=explained.id,
        what=explained.what,
        memory=memory_view(explained.memory, engine.now()) if explained.memory else None,
        changes=change_views(engine, [(change, key) for change in explained.changes]),
        sources=[
            SourceView(
                source.version,
                source.parent.kind,
                source.parent.id,
                source.parent.role,
                source.origin.value,
                source.text,
                source.citation,
            )
            for source in explained.sources
        ],
        explanation=explanation,
        transcript=transcript,
        version_numbers=dict(explained.numbers),
        left_out=explained.left_out,
        contradicted=_contradicted(engine, [explained.memory] if explained.memory else []),
        # The ids of sessions would cost an agent tokens.
        handed_out=[]
        if engine.caller.is_agent or not engine.caller.may(READ_SESSIONS)
        else [HandoutView(given.session, iso(given.at)) for given in handouts(engine, explained.id)],
    )


def _contradicted(engine: Engine, memories: Iterable[Memory]) -> dict[str, str]:
    """The keys of what memories may contradict, by id."""
    from picomem.engine.upkeep import keys_of

    return keys_of(engine, {id_ for memory in memories for id_ in memory.contradicts})


@dataclass(frozen=True, slots=True)
class HistoryRequest:
    name: str = option("the memory's key or id", positional=True, tool="key")
    project: str = option("the project of the memory, if several have the key", "")
    as_of: str | None = option("only what was believed at this time", None)
    valid_at: str | None = option("only what was true at this time", None)
    limit: int = option("maximum number of versions, the latest", 50, short="-n", least=1, rows=True)


@dataclass(frozen=True, slots=True)
class HistoryResult:
    """`left_out` counts the versions before those that are shown. `version_numbers` counts the versions as people
    do: a change may store several rows (see `picomem why`). `archived` says of each memory that is not believed any
    more, by its id, since when. `contradicted` are the keys of the memories that a version may contradict, by their
    ids."""

    versions: list[MemoryView]
    version_numbers: list[int]
    archived: dict[str, str]
    contradicted: dict[str, str] = field(default_factory=dict)
    left_out: int = 0


def history(engine: Engine, request: HistoryRequest) -> HistoryResult:
    """List every version of a memory: what it said, when it was current, and when it was true."""
    from picomem.engine.upkeep import version_numbers
    from picomem.memory.version_history import versions_at

    now = engine.now()
    known = moment(request.as_of, now, engine.zone, end=True)
    true = moment(request.valid_at, now, engine.zone, end=True)
    every = engine.history(request.name, scope=engine.scope.narrowed(project=request.project))
    then = versions_at(every, known, true)
    lives = {life: [row for row in every if row.id == life] for life in {row.id for row in every}}
    numbers = {life: version_numbers(engine, rows) for life, rows in lives.items()}
    counted = [(version.id, numbers[version.id][version.version]) for version in then]
    latest = set(list(dict.fromkeys(counted))[-request.limit :])
    versions = [version for version, number in zip(then, counted, strict=True) if number in latest]
    believed_now = {version.id for version in every if version.known_to is None}
    ended = {version.id: version.known_to for version in every if version.id not in believed_now}
    return HistoryResult(
        [memory_view(version, now) for version in versions],
        [numbers[version.id][version.version] for version in versions],
        {memory_id: iso(at) for memory_id, at in ended.items() if at is not None},
        _contradicted(engine, versions),
        len(set(counted)) - len(latest),
    )


def _told_history(result: HistoryResult) -> str:
    lines = [
        f"{number}. {version.content} (true {version.valid_from} – {version.valid_to or 'now'}, "
        f"believed {version.known_from} – {version.known_to or 'now'})"
        for version, number in zip(result.versions, result.version_numbers)
    ]
    return "\n".join([*lines, *(f"It is archived since {at}." for at in result.archived.values())])


@dataclass(frozen=True, slots=True)
class TimelineRequest:
    since: int | str | None = option("not before: a date, or words like 30d", None)
    until: int | str | None = option("not after: a date, or words like yesterday", None)
    project: str = option("only this project", "")
    all_projects: bool = option("at a terminal: list all projects, not first that of the folder", False, tool=None)
    session: str = option("only this session; the beginning of its id is enough", "")
    tag: str = option("only with this tag, or of this branch", "")
    limit: int = option("maximum number of episodes", 30, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "")


@dataclass(frozen=True, slots=True)
class TimelineResult:
    """Latest first; `cursor` is empty on the last page. `warnings` says what was left out. `sessions` says once of each
    session what its episodes share; it is empty for an agent. `filters` are those of the request, if they leave nothing
    of what was said."""

    episodes: list[HitView]
    cursor: str
    warnings: list[str]
    sessions: list[HitSessionView] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)


def timeline(engine: Engine, request: TimelineRequest) -> TimelineResult:
    """List what was said, latest first, by project, session or time."""
    from picomem.engine.agent_support import cites_sources
    from picomem.engine.upkeep import hit_sessions, holds_episodes, timeline_page, unknown_project, whole_session

    since, until = between(request.since, request.until, engine.now(), engine.zone)
    damaged: list[str] = []
    hits, last = timeline_page(
        engine,
        engine.scope.narrowed(project=request.project, session=whole_session(engine, request.session)),
        since,
        until,
        request.limit,
        _timeline_place(request.cursor),
        damaged,
        request.tag.strip(),
    )
    is_cited = cites_sources(engine)
    views = [hit_view(hit, is_cited=is_cited) for hit in hits]
    warnings = [] if views else unknown_project(engine, request.project)
    # Titles would cost an agent tokens.
    sessions = [] if engine.caller.is_agent else hit_sessions(engine, hits)
    filters = given_filters(request, ("since", "until", "project", "session", "tag"))
    if filters and (views or not holds_episodes(engine)):
        filters = []
    return TimelineResult(
        views,
        cursor_of(last) if last else "",
        [*warnings, *damage_warnings(damaged)],
        [hit_session_view(session) for session in sessions],
        filters,
    )


def _timeline_place(cursor: str) -> TimelinePlace | None:
    """The place behind which a page of the timeline begins. The first of its values, a time, may be null."""
    if not cursor:
        return None
    from picomem.store.episodes import TimelinePlace

    started_at, first_turn, part, id_ = place_of(cursor, (0, 0, 0, ""), nullable=(0,))
    return TimelinePlace(started_at, first_turn, part, id_)


@dataclass(frozen=True, slots=True)
class IndexRequest:
    budget: int | None = option("maximum number of tokens (default 1500)", None, least=200, most=20_000)
    project: str = option("the page for this project", "")
    agent: str = option("the page for this agent", "")
    lines: bool = option("say the tokens of each line as well, and which entries did not fit", False)
    export: str = option("write it to this file as well, such as memory/MEMORY-INDEX.md", "", tool=None, path=True)


@dataclass(frozen=True, slots=True)
class IndexLineView:
    """A line of the page with its tokens; `id` and `origin` are those of the memory that it is of, or empty."""

    text: str
    tokens: int
    id: str
    origin: str


@dataclass(frozen=True, slots=True)
class IndexResult:
    """`lines` are there where the request asks for them, and with them the most important 200 of the memories that did
    not fit. `warnings` says if nothing belongs to the project; an agent may name one before anything is known of it."""

    page: str
    tokens: int
    budget: int
    entries: int
    left_out: int
    lines: list[IndexLineView] = field(default_factory=list)
    omitted: list[MemoryView] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def index(engine: Engine, request: IndexRequest) -> IndexResult:
    """Print the always-loaded index page: what an agent should know before the first question."""
    from picomem.engine.upkeep import index_account, unknown_project

    scope = engine.scope.narrowed(project=request.project, agent=request.agent)
    warnings = [] if engine.caller.is_agent else unknown_project(engine, request.project)
    if request.export:
        check_folder_of(named_path(request.export))
        engine.export_index(named_path(request.export), budget=request.budget, scope=scope)
    if not request.lines:
        return _index_result(engine.index(budget=request.budget, scope=scope), warnings)
    account = index_account(engine, scope, request.budget, _MOST_OMITTED)
    now = engine.now()
    lines = [
        IndexLineView(
            line.text,
            line.tokens,
            line.memory.id if line.memory else "",
            line.memory.origin.value if line.memory else "",
        )
        for line in account.lines
    ]
    omitted = [memory_view(memory, now) for memory in account.omitted]
    return replace(_index_result(account.page, warnings), lines=lines, omitted=omitted)


def _index_result(page: IndexPage, warnings: list[str]) -> IndexResult:
    return IndexResult(page.text, page.tokens, page.budget, page.entries, page.left_out, warnings=warnings)


def _listed(result: MemoriesResult) -> str:
    if not result.memories:
        if result.filters:
            return "\n".join([f"No memory matches {', '.join(result.filters)}.", *result.warnings])
        return "\n".join(result.warnings) or "Nothing is remembered yet."
    lines = [
        f"- {fenced(memory.key, memory.origin)}: {fenced(memory.content, memory.origin)}" for memory in result.memories
    ]
    return "\n".join([*lines, *([f"({result.left_out} more)"] if result.left_out else []), *result.warnings])


def _told_turn(turn: TurnView) -> str:
    told = f"{fenced_role(turn.role, turn.origin)}: {fenced_turn(turn.text, turn.origin, turn.role)}"
    earlier, later = turn.earlier_lines, turn.later_lines
    told += f"\n({earlier} earlier and {later} later lines; all: true shows them)" if earlier or later else ""
    return "\n".join([told, *(fenced(outcome, Origin.TOOL) for outcome in turn.outcomes)])


OPERATIONS = (
    Operation(
        name="memories",
        rpc_method="memory.list",
        pages=True,
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
        has_answer=lambda result: bool(result.memories),
        chat_commands=(ChatCommand("memory", "what is remembered"),),
    ),
    Operation(
        name="show",
        group="look",
        request=ShowRequest,
        result=ShowResult,
        run=show,
        present=lookup_presentations.episode,
        reply=lambda result: result.explanation or "\n\n".join(map(_told_turn, result.turns)),
        permission="memory:read:session",
        example='picomem show 01a20090-6145 --query "staging port"',
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
                f"{change.at} {change.decision} by {change.actor}: {fenced_reason(change.reason, change.reason_origin)}"
                for change in result.changes
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
        reply=_told_history,
        permission="memory:read:user",
        example="picomem history staging_db_port",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="timeline",
        pages=True,
        group="look",
        request=TimelineRequest,
        result=TimelineResult,
        run=timeline,
        present=lookup_presentations.timeline,
        reply=lambda result: "\n".join(
            [*result.warnings, *(f"{episode.at} {episode.citation}: {episode.text}" for episode in result.episodes)]
        ),
        permission="memory:read:session",
        example="picomem timeline --project harbor --since 30d",
        has_answer=lambda result: bool(result.episodes),
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

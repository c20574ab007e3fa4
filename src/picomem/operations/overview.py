"""Operations that give an overview: what holds and what happened last, how much was said on which day, and which
projects and agents there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from picomem.clock import DAY, MINUTE, iso, to_datetime
from picomem.engine.engine import Engine
from picomem.engine.overview import count_stored, project_overview
from picomem.engine.past_sessions import episodes_by_time, holds_episodes, projects_and_agents, shown_projects
from picomem.light_dataclass import dataclass, field
from picomem.operations.memory_views import MemoryView, memory_view
from picomem.operations.operation import Operation, given_filters, option
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Table,
    Text,
    between,
    day,
    nothing_matches,
    plural,
    step,
)
from picomem.operations.recall_views import HitSessionView, hit_session_view
from picomem.operations.undoing import Changes, ListedChange, changes_page

if TYPE_CHECKING:
    from picomem.engine.engine import Engine

_SLOT = 15 * MINUTE  # the offsets of time zones from UTC are multiples of it
_USUAL_DAYS = 366


@dataclass(frozen=True, slots=True)
class OverviewRequest:
    project: str = option("this project (default: that of the latest session)", "")
    limit: int = option("maximum number of entries of each list", 6, short="-n", least=1, most=50)


@dataclass(frozen=True, slots=True)
class SessionOutcomeView:
    """A session, and what is remembered of it, the latest first."""

    session: HitSessionView
    memories: list[MemoryView]


@dataclass(frozen=True, slots=True)
class OverviewResult:
    """`holds` are the decisions and rules of the project, the most important first, `sessions` its last ones, `changes`
    the last ones of all projects. `counts` says how many memories, episodes and sessions there are in all, and
    `read_at` of each host when something new was read from its transcripts last."""

    project: str
    projects: list[str]
    holds: list[MemoryView]
    sessions: list[SessionOutcomeView]
    changes: list[ListedChange]
    counts: dict[str, int]
    read_at: dict[str, str]


def overview(engine: Engine, request: OverviewRequest) -> OverviewResult:
    """Show what holds in a project, its last sessions with what came of them, and what changed last."""
    now = engine.now()
    seen = project_overview(engine, request.project, request.limit)
    names, _ = projects_and_agents(engine)
    counts = count_stored(engine)
    return OverviewResult(
        project=shown_projects(engine).get(seen.project, seen.project),
        projects=names,
        holds=[memory_view(memory, now) for memory in seen.holds],
        sessions=[
            SessionOutcomeView(hit_session_view(outcome.session), [memory_view(one, now) for one in outcome.memories])
            for outcome in seen.sessions
        ],
        changes=changes_page(engine, Changes(limit=request.limit)).changes,
        counts={"memories": counts.memories, "episodes": counts.episodes, "sessions": counts.sessions},
        read_at={host: iso(at) for host, at in counts.read_at.items()},
    )


@dataclass(frozen=True, slots=True)
class DaysRequest:
    since: int | str | None = option("not before: a date, or words like 30d (default: a year ago)", None)
    until: int | str | None = option("not after: a date, or words like yesterday", None)
    project: str = option("only this project", "")


@dataclass(frozen=True, slots=True)
class DayCount:
    """A day of the calendar, as `2026-04-06`, and how many episodes began on it."""

    day: str
    episodes: int


@dataclass(frozen=True, slots=True)
class DaysResult:
    """The days on which something was said, the earliest first. `filters` are those of the request, if they leave
    nothing of what was said."""

    days: list[DayCount]
    filters: list[str] = field(default_factory=list)


def days(engine: Engine, request: DaysRequest) -> DaysResult:
    """Count what was said, by day."""
    now = engine.now()
    since, until = between(request.since, request.until, now, engine.zone)
    until = now + DAY if until is None else until
    since = until - _USUAL_DAYS * DAY if since is None else since
    scope = engine.scope.narrowed(project=request.project)
    counts: dict[str, int] = {}
    for at, count in episodes_by_time(engine, scope, since, until, _SLOT).items():
        day = f"{to_datetime(at, engine.zone):%Y-%m-%d}"
        counts[day] = counts.get(day, 0) + count
    filters = given_filters(request, ("since", "until", "project"))
    if filters and (counts or not holds_episodes(engine)):
        filters = []
    return DaysResult([DayCount(day, count) for day, count in sorted(counts.items())], filters)


@dataclass(frozen=True, slots=True)
class ProjectsRequest:
    pass


@dataclass(frozen=True, slots=True)
class ProjectsResult:
    """Names, in the order of the alphabet."""

    projects: list[str]
    agents: list[str]


def projects(engine: Engine, _request: ProjectsRequest) -> ProjectsResult:
    """List the projects, and the agents, that memories and past sessions belong to."""
    return ProjectsResult(*projects_and_agents(engine))


def _told_overview(result: OverviewResult) -> str:
    lines = [f"- {memory.content}" for memory in result.holds]
    lines += [
        f"{outcome.session.title}: {plural(len(outcome.memories), 'memory', 'memories')}" for outcome in result.sessions
    ]
    return "\n".join(lines) or "Nothing is remembered yet."


_ONE = {"memories": "memory", "episodes": "episode", "sessions": "session"}


def _present_overview(result: OverviewResult) -> Presentation:
    counts = ", ".join(plural(count, _ONE.get(name, name), name) for name, count in result.counts.items())
    blocks: list[Block] = [Sentence(f"{counts}.")]
    where = f" in {result.project}" if result.project else ""
    if result.holds:
        blocks += [Heading(f"What holds{where}"), *(Text(memory.content, 1) for memory in result.holds)]
    if result.sessions:
        blocks.append(Heading(f"Last sessions{where}"))
    for outcome in result.sessions:
        session = outcome.session
        heading = f"{day(session.at)}  {session.host}  {session.title}"
        blocks.append(PresentedEntry(heading, tuple(Text(f"· {memory.content}") for memory in outcome.memories)))
    if result.changes:
        blocks.append(Heading("What changed"))
    blocks += [
        PresentedEntry(f"{day(listed.change.at)}  {step(listed.change)}  {listed.change.key}", _texts_of(listed))
        for listed in result.changes
    ]
    return Presentation(blocks=tuple(blocks), next_steps=("`picomem review` lists what waits for a decision.",))


def _texts_of(listed: ListedChange) -> tuple[Text, ...]:
    return tuple(Text(text) for text in (listed.after or listed.before,) if text)


def _told_projects(result: ProjectsResult) -> str:
    lines = [f"project {name}" for name in result.projects] + [f"agent {name}" for name in result.agents]
    return "\n".join(lines) or "Nothing belongs to any project yet."


def _present_days(result: DaysResult) -> Presentation:
    if result.filters:
        return Presentation(blocks=(Sentence(nothing_matches("episode", result.filters)),))
    if not result.days:
        return Presentation(blocks=(Sentence("Nothing was said then; `picomem ingest` reads past sessions."),))
    rows = tuple((counted.day, f"{counted.episodes:,}") for counted in result.days)
    return Presentation(blocks=(Table(("day", "episodes"), rows),))


def _present_projects(result: ProjectsResult) -> Presentation:
    blocks: list[Block] = []
    for heading, names in (("Projects", result.projects), ("Agents", result.agents)):
        if names:
            blocks += [Heading(heading), *(Text(name, 1) for name in names)]
    if not blocks:
        blocks.append(Sentence("Nothing belongs to any project yet; `picomem ingest` reads past sessions."))
    return Presentation(blocks=tuple(blocks))


OPERATIONS = (
    Operation(
        name="overview",
        group="look",
        run=overview,
        present=_present_overview,
        reply=_told_overview,
        permission="memory:read:user",
        example="picomem overview --project harbor",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="days",
        group="look",
        run=days,
        present=_present_days,
        reply=lambda result: "\n".join(f"{counted.day}: {counted.episodes}" for counted in result.days),
        permission="memory:read:session",
        example="picomem days --since 30d --project harbor",
        read_only=True,
        idempotent=True,
    ),
    Operation(
        name="projects",
        group="look",
        run=projects,
        present=_present_projects,
        reply=_told_projects,
        permission="memory:read:user",
        example="picomem projects",
        read_only=True,
        idempotent=True,
    ),
)

"""Operations that give an overview: how much was said on which day, and which projects and agents there are."""

from __future__ import annotations

from picomem.clock import DAY, MINUTE, to_datetime
from picomem.engine.engine import Engine
from picomem.engine.past_sessions import episodes_by_time, holds_episodes, projects_and_agents
from picomem.light_dataclass import dataclass, field
from picomem.operations.operation import Operation, given_filters, option
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    Sentence,
    Table,
    Text,
    between,
    nothing_matches,
)

_SLOT = 15 * MINUTE  # the offsets of time zones from UTC are multiples of it
_USUAL_DAYS = 366


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

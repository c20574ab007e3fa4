"""The operation that lists what was said: timeline."""

from __future__ import annotations

from picomem.coded_text import value_of
from picomem.engine.audience import cites_sources
from picomem.engine.engine import Engine
from picomem.engine.past_sessions import hit_sessions, holds_episodes, timeline_page, unknown_project, whole_session
from picomem.light_dataclass import dataclass, field
from picomem.operations.memory_views import damage_warnings
from picomem.operations.operation import Operation, given_filters, option
from picomem.operations.paging import cursor_of, place_of
from picomem.operations.presentation import (
    Block,
    Heading,
    Presentation,
    PresentedEntry,
    Sentence,
    Text,
    attributed,
    between,
    day,
    nothing_matches,
    plural,
)
from picomem.operations.recall_views import HitSessionView, HitView, hit_session_view, hit_view
from picomem.store.tables.episodes import TimelinePlace

_MOST_ACTIONS = 3  # of an episode in the timeline
_MOST_OUTCOMES = 2


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
    started_at, first_turn, part, id_ = place_of(cursor, (0, 0, 0, ""), nullable=(0,))
    return TimelinePlace(started_at, first_turn, part, id_)


def _actions(hit: HitView) -> list[Text]:
    shown = [Text(f"· {action}", 1) for action in hit.actions[:_MOST_ACTIONS]]
    more = len(hit.actions) - len(shown)
    shown += [Text(f"· and {plural(more, 'more action')}", 1)] if more else []
    return [*shown, *(Text(f"→ {attributed(outcome, 'tool')}", 1) for outcome in hit.outcomes[:_MOST_OUTCOMES])]


def _present_timeline(result: TimelineResult) -> Presentation:
    blocks: list[Block] = []
    session = None
    for hit in result.episodes:
        if hit.session != session:
            session = hit.session
            project = f"  [{hit.project}]" if hit.project else ""
            blocks.append(Heading(f"── {value_of(hit.citation, 'where') or hit.citation}{project}"))
        blocks.append(PresentedEntry(f"{day(hit.at)}  {hit.role}  ({hit.id})", (Text(hit.text, 2), *_actions(hit))))
    if result.filters:
        blocks.append(Sentence(nothing_matches("episode", result.filters)))
    elif not blocks and not result.warnings:
        blocks.append(Sentence("Nothing was said then; `picomem ingest` reads past sessions."))
    more = (f"There are more: --cursor {result.cursor}, or -n.",) if result.cursor else ()
    return Presentation(blocks=tuple(blocks), warnings=tuple(result.warnings), next_steps=more)


OPERATIONS = (
    Operation(
        name="timeline",
        pages=True,
        group="look",
        run=timeline,
        present=_present_timeline,
        reply=lambda result: "\n".join(
            [*result.warnings, *(f"{episode.at} {episode.citation}: {episode.text}" for episode in result.episodes)]
        ),
        permission="memory:read:session",
        example="picomem timeline --project harbor --since 30d",
        has_answer=lambda result: bool(result.episodes),
        read_only=True,
        idempotent=True,
    ),
)

"""Functions on an engine about projects, sessions and episodes, for the operations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.coded_text import CodedText
from picomem.engine.engine import Engine
from picomem.errors import StoreError, nearest
from picomem.ingest.projects import ProjectNames, owners_of_names, plain_name, project_of, shown_names, stored_name
from picomem.recall.hit_sessions import hit_sessions as find_sessions
from picomem.records.episode import Episode
from picomem.records.hit import Hit, HitSession
from picomem.records.scope import Scope
from picomem.store import row_counts
from picomem.store.tables import episode_events, episodes, transcript_rows
from picomem.store.tables.episodes import NearbyEpisodes, TimelinePlace
from picomem.store.tables.project_names import with_former_projects
from picomem.store.tables.session_names import Place, find_session
from picomem.text.temporal.event_times import EventTime

if TYPE_CHECKING:
    from picomem.memory.timeline import TimelineHits


_MOST_PROJECTS = 12  # that a warning names


def projects_and_agents(engine: Engine) -> tuple[list[str], list[str]]:
    """The names of all projects, as people see them, and of all agents that something of the user belongs to."""
    with engine._context.connector.read() as tx:
        shown = shown_names(transcript_rows.known_folders(tx, engine.scope))
        names = [shown.get(project, project) for project in transcript_rows.projects(tx, engine.scope)]
        return sorted(names), transcript_rows.agents(tx, engine.scope)


def shown_projects(engine: Engine) -> dict[str, str]:
    """The names of projects that people see, by the names in the store, where they differ; none without a store."""
    try:
        with engine._context.connector.read() as tx:
            return shown_names(transcript_rows.known_folders(tx, engine.scope))
    except StoreError:
        return {}


def stored_project(engine: Engine, name: str) -> str:
    """The name in the store of a project that a caller names. Raises Conflict where several projects fit."""
    try:
        with engine._context.connector.read() as tx:
            if name in transcript_rows.projects(tx, engine.scope):
                return name
            return stored_name(name, transcript_rows.known_folders(tx, engine.scope))
    except StoreError:
        return name  # what needs the store says so


def project_of_folder(engine: Engine, folder: str) -> str:
    """The project of a folder of this machine if something of the user belongs to it; empty without a store."""
    try:
        with engine._context.connector.read() as tx:
            project = project_of(folder, transcript_rows.known_folders(tx, engine.scope))
            return project if project in transcript_rows.projects(tx, engine.scope) else ""
    except StoreError:
        return ""  # what needs the store says so


def project_meant_in(engine: Engine, folder: str, name: str) -> str:
    """The project of a folder if `name` is the plain name of it; or else the name itself."""
    try:
        with engine._context.connector.read() as tx:
            known = transcript_rows.known_folders(tx, engine.scope)
    except StoreError:
        return name  # what needs the store says so
    place = ProjectNames(lambda: known).of(folder)  # is known from here on
    return place.project if plain_name(place.project, owners_of_names(known)[place.project]) == name else name


def unknown_project(engine: Engine, project: str) -> list[str]:
    """A warning where nothing of the user belongs to a project of that name, with what there is."""
    if not project:
        return []
    with engine._context.connector.read() as tx:
        known = transcript_rows.projects(tx, engine.scope)
    if project in known:
        return []
    name, near = project[:80], nearest(project, known)
    if near is not None:
        return [CodedText("warning.no_project_near", name=name, other=near)]
    if not known:
        return [CodedText("warning.no_project_at_all", name=name)]
    listed = (*known[:_MOST_PROJECTS], *(["…"] if len(known) > _MOST_PROJECTS else []))
    return [CodedText("warning.no_project", name=name, projects=listed)]


def whole_session(engine: Engine, name: str) -> str:
    """The id of the session that begins with `name`, as other commands print it; the name itself where none does.

    Raises NotFound where several do.
    """
    if not name:
        return ""  # without a store the notes answer
    with engine._context.connector.read() as tx:
        return find_session(tx, engine.scope, name, Place.CONVERSATIONS | Place.TRANSCRIPTS) or name


def hit_sessions(engine: Engine, hits: Iterable[Hit]) -> list[HitSession]:
    """The sessions that hits come from, with their titles, dates and files, for people to read."""
    spoken = [hit for hit in hits if hit.source == "episode"]
    if not spoken:  # notes answer where the store is down
        return []
    with engine._context.connector.read() as tx:
        return find_sessions(tx, engine.scope, spoken, engine._context.redactor())


def holds_episodes(engine: Engine) -> bool:
    """Return whether the user has episodes."""
    with engine._context.connector.read() as tx:
        return row_counts.episodes(tx, engine.scope) > 0


def event_of(engine: Engine, episode: Episode) -> EventTime | None:
    """Return when that happened of which an episode tells; None where it dates no event."""
    with engine._context.connector.read() as tx:
        return episode_events.of_docs(tx, engine.scope, [episode.doc]).get(episode.doc)


def timeline_page(
    engine: Engine,
    scope: Scope,
    since: Micros | None,
    until: Micros | None,
    limit: int,
    after: TimelinePlace | None,
    damaged: list[str],
    tag: str = "",
) -> TimelineHits:
    """A page of `Engine.timeline` that begins behind `after`, with the place of its last episode.

    Raises InvalidTime.
    """
    context = engine._context
    return context.timeline(context.owner(scope), context.time(since), context.time(until), limit, damaged, after, tag)


def episodes_by_time(engine: Engine, scope: Scope, since: Micros, until: Micros, slot: Micros) -> dict[Micros, int]:
    """Return how many episodes of a scope began in [since, until), by the beginning of each span of `slot` microseconds
    that has some."""
    with engine._context.connector.read() as tx:
        reader = with_former_projects(tx, engine._context.owner(scope))
        return episodes.count_by_time(tx, reader, since, until, slot)


def episodes_around(engine: Engine, episode: Episode, limit: int) -> NearbyEpisodes:
    """The ids of at most `limit` episodes before one in its transcript, and of as many after it."""
    with engine._context.connector.read() as tx:
        return episodes.ids_around(tx, engine.scope, episode, limit)

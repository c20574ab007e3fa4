"""Functions on an engine for background work, ingest and the operations, besides its verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from picomem.clock import Micros
from picomem.coded_text import CodedText, code_of
from picomem.engine.engine import Engine
from picomem.errors import StoreError, nearest
from picomem.light_dataclass import replace
from picomem.records.hit import Hit, HitSession
from picomem.records.kinds import Origin
from picomem.records.memory import Change, Memory
from picomem.records.scope import Scope
from picomem.store import row_counts
from picomem.store.connector import Transaction
from picomem.store.tables import audit, episode_events, episodes, memories, memory_lists, transcript_rows
from picomem.store.tables.project_names import with_former_projects
from picomem.store.tables.session_names import Place, find_session

if TYPE_CHECKING:
    from pathlib import Path
    from threading import Event

    from picomem.index_page.page import IndexAccount
    from picomem.ingest.ingest import Ingest
    from picomem.ingest.storing import TranscriptRequest
    from picomem.ingest.transcript_copies import KeptCopies
    from picomem.memory.timeline import TimelineHits
    from picomem.records.episode import Episode
    from picomem.sessions.picobot_snapshot import SnapshotImport
    from picomem.store.tables.episodes import NearbyEpisodes, TimelinePlace
    from picomem.store.tables.memory_lists import ListedPage, ListQuery
    from picomem.text.temporal.event_times import EventTime

_MOST_OLDER = 3  # statements that an answer names beside a new one
_MOST_PROJECTS = 12  # that a warning names


def ingester(engine: Engine, run: str = "") -> Ingest:
    """The reader of transcripts for this store, for callers that read repeatedly. Memories that are asked for in them
    belong to `run`, or to a run of their own."""
    import os

    from picomem.ingest.batch import Maker
    from picomem.ingest.ingest import Ingest
    from picomem.ingest.send_policies import HostPolicies
    from picomem.ingest.storing import Writing
    from picomem.memory.transcript_requests import propose
    from picomem.paths import home_folder

    def propose_asked(tx: Transaction, asked: Sequence[TranscriptRequest], own_run: str) -> list[str]:
        writer = replace(context.writer("remember", "ingest"), run=run or own_run)
        return [result.decision.value for result in propose(tx, writer, context.scope, asked)]

    context = engine._context
    connector, scope, clock, vectors = context.connector, context.scope, context.clock, context.vectors()
    policies = HostPolicies(connector, scope, home_folder(), os.environ)
    return Ingest(
        connector,
        scope,
        Maker(context.redactor(), vectors, context.zone),
        Writing(connector, scope, vectors, propose_asked, clock, policies),
        clock,
        policies,
        longest=context.settings.ingest.preview_chars,
    )


def keep_transcripts(
    engine: Engine, *, only: Sequence[str] | None = None, stop: Event | None = None
) -> KeptCopies | None:
    """Copy the transcripts that the setting `ingest.keep` names, with `only` of those at these paths; None where it
    names none. Raises StoreError, and InvalidInput for what is no path."""
    import os

    from picomem.ingest.transcript_copies import KeepRule, lifetimes
    from picomem.paths import home_folder, named_path

    wanted = engine.settings.ingest
    if wanted.keep == "none" or engine.read_only:
        return None
    rule = KeepRule(
        all=wanted.keep == "all",
        most_bytes=wanted.keep_mb * 1_000_000,
        lifetimes=lifetimes(home_folder(), os.environ),
    )
    paths = None if only is None else [str(named_path(path).resolve()) for path in only]
    return engine._context.copies().keep(rule, engine.now(), only=paths, stop=stop)


def missing_vectors(engine: Engine) -> int:
    """Return how many rows have no vector of the embedder."""
    from picomem.memory.vectors import missing

    with engine._context.connector.read() as tx:
        return missing(tx, engine.scope, engine.embedder_name)


def event_of(engine: Engine, episode: Episode) -> EventTime | None:
    """Return when that happened of which an episode tells; None where it dates no event."""
    with engine._context.connector.read() as tx:
        return episode_events.of_docs(tx, engine.scope, [episode.doc]).get(episode.doc)


def reach(engine: Engine) -> object:
    """A value that differs once a row was stored, or a vector rewritten or taken out, by whatever process."""
    from picomem.memory.vectors import reach

    with engine._context.connector.read() as tx:
        return reach(tx, engine.scope, engine.embedder_name)


def redaction(engine: Engine) -> Callable[[str], str]:
    """Return the function that redacts a text with the store's fingerprints. Raises StoreError."""
    redactor = engine._context.redactor()
    return lambda text: redactor.redact(text).text


def store_size(engine: Engine) -> int:
    """Bytes on disk. Raises StoreError."""
    return engine._context.connector.maintenance.size()


def shown(engine: Engine, memory: Memory) -> Memory:
    """Return a memory redacted by the current rules, which may be newer than the stored text."""
    return engine._context.cleaner().shown(memory)


def older_beside(engine: Engine, memory: Memory) -> list[Memory]:
    """The latest of the older memories that a memory seems to put out of date, as they may be shown."""
    context = engine._context
    with context.connector.read() as tx:
        linked = memories.believed(tx, engine.scope, context.clock(), set(memory.contradicts)).values()
    older = [other for other in linked if other.valid_from <= memory.valid_from]
    latest = sorted(older, key=lambda other: -other.valid_from)[:_MOST_OLDER]
    return [context.cleaner().shown(other) for other in latest]


def version_numbers(engine: Engine, versions: Sequence[Memory]) -> dict[int, int]:
    """The versions of one memory, oldest first, as people count them, by their stored numbers."""
    from picomem.memory.version_history import version_numbers

    with engine._context.connector.read() as tx:
        return version_numbers(tx, engine.scope, versions[0].id, versions)


def memories_page(engine: Engine, query: ListQuery, damaged: list[str]) -> ListedPage:
    """A page of memories, the most important first; `damaged` gets the ids of its damaged rows."""
    context = engine._context
    with context.connector.read() as tx:
        reader = with_former_projects(tx, engine.scope.narrowed(project=query.filter.project))
        scope = replace(engine.scope, former_projects=reader.former_projects)
        return memory_lists.listed(tx, scope, context.clock(), query, damaged)


def holds_memories(engine: Engine) -> bool:
    """Return whether the user has memories, archived or not."""
    with engine._context.connector.read() as tx:
        return row_counts.memories(tx, engine.scope).there.versions > 0


def holds_episodes(engine: Engine) -> bool:
    """Return whether the user has episodes."""
    with engine._context.connector.read() as tx:
        return row_counts.episodes(tx, engine.scope) > 0


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


def projects_and_agents(engine: Engine) -> tuple[list[str], list[str]]:
    """The names of all projects, as people see them, and of all agents that something of the user belongs to."""
    from picomem.ingest.projects import shown_names

    with engine._context.connector.read() as tx:
        shown = shown_names(transcript_rows.known_folders(tx, engine.scope))
        names = [shown.get(project, project) for project in transcript_rows.projects(tx, engine.scope)]
        return sorted(names), transcript_rows.agents(tx, engine.scope)


def shown_projects(engine: Engine) -> dict[str, str]:
    """The names of projects that people see, by the names in the store, where they differ; none without a store."""
    from picomem.ingest.projects import shown_names

    try:
        with engine._context.connector.read() as tx:
            return shown_names(transcript_rows.known_folders(tx, engine.scope))
    except StoreError:
        return {}


def stored_project(engine: Engine, name: str) -> str:
    """The name in the store of a project that a caller names. Raises Conflict where several projects fit."""
    from picomem.ingest.projects import stored_name

    try:
        with engine._context.connector.read() as tx:
            if name in transcript_rows.projects(tx, engine.scope):
                return name
            return stored_name(name, transcript_rows.known_folders(tx, engine.scope))
    except StoreError:
        return name  # what needs the store says so


def index_account(engine: Engine, scope: Scope, budget: int | None, omitted: int) -> IndexAccount:
    """The index page of a scope, line by line, and at most so many of the entries that did not fit. Raises
    InvalidInput for a budget that no page fits."""
    from picomem.engine.current_index_page import index_account

    return index_account(engine._context, scope, budget, omitted)


def keys_of(engine: Engine, ids: Iterable[str]) -> dict[str, str]:
    """The keys of memories by their ids, of those that are there and whole."""
    with engine._context.connector.read() as tx:
        keys = {id_: memories.key_of(tx, engine.scope, id_, []) for id_ in ids}
    return {id_: key for id_, key in keys.items() if key}


def hit_sessions(engine: Engine, hits: Iterable[Hit]) -> list[HitSession]:
    """The sessions that hits come from, with their titles, dates and files, for people to read."""
    from picomem.recall.hit_sessions import hit_sessions

    spoken = [hit for hit in hits if hit.source == "episode"]
    if not spoken:  # notes answer where the store is down
        return []
    with engine._context.connector.read() as tx:
        return hit_sessions(tx, engine.scope, spoken, engine._context.redactor())


def whole_session(engine: Engine, name: str) -> str:
    """The id of the session that begins with `name`, as other commands print it; the name itself where none does.

    Raises NotFound where several do.
    """
    if not name:
        return ""  # without a store the notes answer
    with engine._context.connector.read() as tx:
        return find_session(tx, engine.scope, name, Place.CONVERSATIONS | Place.TRANSCRIPTS) or name


def project_of_folder(engine: Engine, folder: str) -> str:
    """The project of a folder of this machine if something of the user belongs to it; empty without a store."""
    from picomem.ingest.projects import project_of

    try:
        with engine._context.connector.read() as tx:
            project = project_of(folder, transcript_rows.known_folders(tx, engine.scope))
            return project if project in transcript_rows.projects(tx, engine.scope) else ""
    except StoreError:
        return ""  # what needs the store says so


def project_meant_in(engine: Engine, folder: str, name: str) -> str:
    """The project of a folder if `name` is the plain name of it; or else the name itself."""
    from picomem.ingest.projects import ProjectNames, owners_of_names, plain_name

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


def reason_origins(engine: Engine, changes: Iterable[Change]) -> dict[str, Origin]:
    """The origins of the reasons that callers gave for changes, by the ids of these changes: those of what they
    changed. A reason that picomem found itself has none."""
    reasoned = [change for change in changes if change.memory_id and change.reason and not code_of(change.reason)]
    numbers: dict[str, set[int]] = {}
    for change in reasoned:
        numbers.setdefault(change.memory_id, set()).add(change.after or change.before or 0)
    with engine._context.connector.read() as tx:
        origins = {
            (version.id, version.version): version.origin
            for memory_id, named in numbers.items()
            for version in memories.unchecked_versions_of_numbers(tx, engine.scope, memory_id, named)
        }
    return {
        change.id: origins.get((change.memory_id, change.after or change.before or 0), Origin.OTHER)
        for change in reasoned
    }


def undone_changes(engine: Engine, damaged: list[str] | None = None) -> dict[str, str]:
    """Every change that was undone and is so still, with the change that undid it.

    Damaged rows are left out, and their ids are put on `damaged`; without such a list they raise Corrupt.
    """
    from picomem.memory.version_history import undone_by

    with engine._context.connector.read() as tx:
        undoes = audit.undoing(tx, engine.scope, damaged)
    return undone_by(undoes)


def import_sessions(engine: Engine, path: Path, *, move: bool = False) -> SnapshotImport:
    """Take over the sessions of a PicoBot snapshot, each for its own user; see sessions/picobot_snapshot.py.

    With `move` the file is renamed when all is stored. Raises NotFound, InvalidInput or StoreError.
    """
    from picomem.sessions.picobot_snapshot import take_over

    return take_over(engine._context.connector, engine._context.redactor, engine._context.clock, path, move=move)

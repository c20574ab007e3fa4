"""The kinds of background work: when each is due, and what it calls.

    watch                    all the time, where agents keep transcripts on this machine
    embed                    when rows have no vector of the embedder
    retention                when something is past its time, once in retention.cleanup_interval_secs at most
    consolidate              when a conversation was idle for memory.idle_consolidation_minutes, or since
                             memory.consolidation_time, or is long
    consolidate-transcripts  when a session that was read rests as long, with memory.consolidate_transcripts and a
                             model; the hook of a session's end does not wait for that (hooks/hook.py)
    export-index             when memory changed, with index.export
    keep-transcripts         every minute, or hour, with ingest.keep

Conversations with PicoBot are consolidated only with `memory.enabled`.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio

from picomem.clock import DAY, HOUR, MINUTE, SECOND, Micros
from picomem.consolidation.due import Triggers, distils_unasked
from picomem.engine.engine import Engine
from picomem.engine.job_store import JobStore
from picomem.ingest.discovery import default_places
from picomem.ingest.report import IngestProgress
from picomem.jobs.watching import follow, places_of
from picomem.light_dataclass import dataclass, replace
from picomem.models.selection import generator_of
from picomem.paths import home_folder, named_path
from picomem.records.job import LONGEST_REST, Job, JobState, job_name
from picomem.side_tasks import side_tasks
from picomem.store.tables import due_work

if TYPE_CHECKING:
    from picomem.consolidation_runner import Consolidated

# Decides when a job may begin, and its state after a run. Pure.

_FIRST_REST = MINUTE  # after a failure; doubled by each further one
_LONGEST_REST_AFTER_FAILURE = HOUR
_REST_WHILE_BUSY = MINUTE


@dataclass(frozen=True, slots=True)
class Done:
    """The work is done. The job rests so long, and then runs again if there is something to do."""

    rest: Micros = 0


@dataclass(frozen=True, slots=True)
class Busy:
    """A command or a conversation does the same work now."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The work failed, with an error that is a sentence without secrets."""

    error: str


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The process ends. Another one goes on at once."""


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A person asked to stop the job."""


Outcome = Done | Busy | Failed | Interrupted | Cancelled


def may_begin(job: Job | None, now: Micros) -> bool:
    """Return whether a job does not rest. A rest that is longer than any was written before the clock was set back."""
    return job is None or not now < job.next_run_at <= now + LONGEST_REST


def ended(job: Job, outcome: Outcome, mark: str, now: Micros) -> Job:
    """The job after a run that had seen the store as far as `mark` (empty: that is not known)."""
    job = replace(job, finished_at=now, is_cancelling=False)
    match outcome:
        case Done(rest):
            rest = min(rest, LONGEST_REST)
            return replace(
                job, state=JobState.DONE, next_run_at=now + rest, failures=0, last_error="", mark=mark or job.mark
            )
        case Busy():
            return replace(job, state=JobState.WAITING, next_run_at=now + _REST_WHILE_BUSY)
        case Failed(error):
            failures = job.failures + 1
            rest = rest_after(failures)
            return replace(job, state=JobState.FAILED, next_run_at=now + rest, failures=failures, last_error=error)
        case Interrupted():
            return replace(job, state=JobState.WAITING, next_run_at=now)
        case Cancelled():
            return replace(job, state=JobState.CANCELLED, next_run_at=now + LONGEST_REST)


def rest_after(failures: int) -> Micros:
    """Return how long a job rests after so many failures in a row."""
    doublings = min(failures - 1, 16)
    return min(_FIRST_REST << doublings, _LONGEST_REST_AFTER_FAILURE)


_Result = TypeVar("_Result")
_REST_AFTER_NOTHING = MINUTE  # where a conversation looked due and was not
_REST_OF_TRANSCRIPTS = 30 * SECOND  # between two parts: people use the same model meanwhile
_STOP_LOOK_SECONDS = 0.2

WATCH = "watch"
EMBED = "embed"
RETENTION = "retention"
CONSOLIDATE = "consolidate"
CONSOLIDATE_TRANSCRIPTS = "consolidate-transcripts"
EXPORT_INDEX = "export-index"
KEEP_TRANSCRIPTS = "keep-transcripts"
OF_A_USER = (  # all that need no folder of a host
    EMBED,
    RETENTION,
    CONSOLIDATE,
    CONSOLIDATE_TRANSCRIPTS,
    EXPORT_INDEX,
    KEEP_TRANSCRIPTS,
)


@dataclass(frozen=True, slots=True)
class DueJob:
    """A job that has something to do. `mark` is how far the store has come."""

    user: str
    mark: str = ""


class Run(Protocol):
    """A job while it runs, for the work."""

    @property
    def stop(self) -> Event:
        """Set when the work is to end."""
        ...

    def progress(self, done: int, total: int, text: str = "") -> None:
        """Tell how far the work has come. Raises Stopped where it is to end."""
        ...

    def tell(self, done: int, total: int, text: str = "") -> None:
        """The same, and raise nothing."""
        ...

    def note_error(self, error: str) -> None:
        """Tell what went wrong, though the work goes on; an empty text where it is right again."""
        ...


class JobKind(Protocol):
    """A kind of work. `subject` is what it is done to, if there may be several such jobs of a user."""

    name: str
    subject: str
    look_seconds: float

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        """The jobs that have something to do and may begin; with `only` those of that user. Raises StoreError."""
        ...

    def work(self, engine: Engine, run: Run) -> Outcome:
        """Do the work. Raises PicomemError where it fails, Conflict where somebody else does it, and Stopped."""
        ...


class Stopped(Exception):
    """The work was told to end, and has."""


class Embed:
    """Makes missing vectors (memory/vectors.py)."""

    name, look_seconds = EMBED, 5.0

    def __init__(self, model: str) -> None:
        self.subject = model
        self._complete: dict[str, str] = {}  # how far the store had come when a user had all vectors

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        statement = partial(due_work.to_embed, model=self.subject)
        due = []
        for user, reach in store.find(job_name(self.name, self.subject), only, statement):
            if self._complete.get(user) == reach:
                continue
            if store.is_without_vectors(user, self.subject):
                due.append(DueJob(user))
            else:
                self._complete[user] = reach
        return due

    def work(self, engine: Engine, run: Run) -> Outcome:
        engine.embed(remove=False, wait=False, stop=run.stop, progress=run.progress)
        return Interrupted() if run.stop.is_set() else Done()


class Retention:
    """Archives and removes what is past its time (erasure/retention.py)."""

    name, subject, look_seconds = RETENTION, "", 60.0

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        now, settings = store.now(), store.settings
        statement = partial(
            due_work.to_retain,
            timeline_before=now - settings.memory.timeline_retention_days * DAY,
            sessions_before=now - settings.retention.max_age_days * DAY,
        )
        return [DueJob(user) for user in store.find(self.name, only, statement)]

    def work(self, engine: Engine, run: Run) -> Outcome:  # noqa: ARG002 - one transaction
        engine.tidy()
        return Done(engine.settings.retention.cleanup_interval_secs * SECOND)


class Consolidate:
    """Consolidates conversations with PicoBot that are due (consolidation/due.py)."""

    name, subject, look_seconds = CONSOLIDATE, "", 10.0

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        settings = store.settings
        if not settings.memory.enabled:
            return []
        triggers = Triggers.of(settings, store.zone)
        statement = partial(
            due_work.to_consolidate,
            idle_before=triggers.quiet_before(store.now()),
            turns=triggers.turns,
            tokens=triggers.tokens,
        )
        return [DueJob(user) for user in store.find(self.name, only, statement)]

    def work(self, engine: Engine, run: Run) -> Outcome:
        from picomem.consolidation_runner import consolidate_conversations  # noqa: PLC0415 - `picomem mcp` starts without it

        generator = generator_of(engine.settings)
        done = in_event_loop(lambda: consolidate_conversations(engine, generator, progress=run.tell), run)
        return _outcome(done, rest=0)


class ConsolidateTranscripts:
    """Consolidates one part of one transcript (consolidation/transcripts.py), and settles pairs."""

    name, subject, look_seconds = CONSOLIDATE_TRANSCRIPTS, "", 30.0

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        if not distils_unasked(store.settings):
            return []
        idle_before = Triggers.of(store.settings, store.zone).quiet_before(store.now())
        statement = partial(due_work.to_consolidate_transcripts, idle_before=idle_before)
        return [DueJob(user) for user in store.find(self.name, only, statement)]

    def work(self, engine: Engine, run: Run) -> Outcome:
        from picomem.consolidation_runner import distil_waiting  # noqa: PLC0415 - `picomem mcp` starts without it

        generator = generator_of(engine.settings)
        done = in_event_loop(lambda: distil_waiting(engine, generator, progress=run.tell), run)
        if any(result.state == "limit" for result in done):
            return Done(DAY - engine.now() % DAY)  # the limit is that of a day in UTC
        return _outcome(done, rest=_REST_OF_TRANSCRIPTS)


class ExportIndex:
    """Writes the index page to the file of the settings, for the settings' own user."""

    name, subject, look_seconds = EXPORT_INDEX, "", 5.0

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        user = store.settings.data.user
        if not store.settings.index.export or only not in ("", user):
            return []
        job, is_held = store.look(user, self.name)
        last = store.last_change(user)
        has_changed = bool(last) and (job is None or job.mark != last)
        return [DueJob(user, last)] if has_changed and not is_held and may_begin(job, store.now()) else []

    def work(self, engine: Engine, run: Run) -> Outcome:  # noqa: ARG002 - a moment's work
        engine.export_index(named_path(engine.settings.index.export))
        return Done()


class KeepTranscripts:
    """Copies transcripts before their host deletes them (ingest/transcript_copies.py), for the settings' own user."""

    name, subject, look_seconds = KEEP_TRANSCRIPTS, "", 30.0

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        user = only or store.settings.data.user
        if store.settings.ingest.keep == "none":
            return []
        job, is_held = store.look(user, self.name)
        return [DueJob(user)] if not is_held and may_begin(job, store.now()) else []

    def work(self, engine: Engine, run: Run) -> Outcome:
        from picomem.engine.transcripts import keep_transcripts  # noqa: PLC0415 - `picomem mcp` starts without it

        kept = keep_transcripts(engine, stop=run.stop)
        if kept is not None:
            run.note_error(next(iter(kept.problems), ""))
        if run.stop.is_set():
            return Interrupted()
        return Done(MINUTE if engine.settings.ingest.keep == "all" else HOUR)


ReadTranscripts = Callable[[Engine, Sequence[str], Run], None]


def read_transcripts(engine: Engine, paths: Sequence[str], run: Run) -> None:
    """Read what is new in files and folders, by default in the hosts' own folders."""

    def progress(state: IngestProgress) -> None:
        run.progress(state.bytes_done, state.bytes_total)

    report = engine.ingest(paths or default_places(home_folder(), os.environ), progress=progress)
    run.note_error(report.problems[0] if report.unread else "")


class Watch:
    """Reads transcripts as they grow (watching.py)."""

    name, look_seconds = WATCH, 5.0

    def __init__(
        self,
        paths: Sequence[str] = (),
        read: ReadTranscripts = read_transcripts,
        watching: Callable[[list[Path]], None] = lambda _: None,
        trouble: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`paths` are files and folders; without them the hosts' own folders are watched. For the rest see `follow`."""
        absolute = (os.fsencode(named_path(path).absolute()) for path in paths)
        self.subject = ", ".join(path.decode("utf-8", "replace") for path in absolute)
        self._paths = paths
        self._read = read
        self._watching = watching
        self._trouble = trouble

    def find(self, store: JobStore, only: str) -> list[DueJob]:
        user = only or store.settings.data.user
        if not places_of(self._paths).existing():
            return []
        job, is_held = store.look(user, job_name(self.name, self.subject))
        return [] if is_held or not may_begin(job, store.now()) else [DueJob(user)]

    def work(self, engine: Engine, run: Run) -> Outcome:
        def trouble(problem: str) -> None:
            run.note_error(problem)
            self._trouble(problem)

        def read(paths: Sequence[str]) -> None:
            try:
                self._read(engine, paths or self._paths, run)
            finally:
                run.tell(0, 0)  # it waits for more now

        follow(self._paths, read, run.stop, watching=self._watching, trouble=trouble)
        return Interrupted()


def _outcome(done: list[Consolidated], rest: int) -> Outcome:
    """Describe how a consolidation of a user's sessions ended."""
    failed = [result for result in done if result.state == "failed"]
    if failed:
        return Failed(next(iter(failed[0].warnings), "The model failed."))
    if any(result.state == "busy" for result in done):
        return Busy()
    return Done(rest if any(result.runs for result in done) else _REST_AFTER_NOTHING)


def in_event_loop(work: Callable[[], Awaitable[_Result]], run: Run) -> _Result:
    """Await a coroutine until it is done or the job is to stop. Raises Stopped, and what the coroutine raises."""
    results: list[_Result] = []

    async def stopping(scope: anyio.CancelScope) -> None:
        while not run.stop.is_set():
            await anyio.sleep(_STOP_LOOK_SECONDS)
        scope.cancel()

    async def working() -> None:
        async with side_tasks() as tasks:
            tasks.start_soon(stopping, tasks.cancel_scope)
            results.append(await work())

    anyio.run(working)
    if not results:
        raise Stopped
    return results[0]

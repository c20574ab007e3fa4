"""Runs jobs in threads: looks for what is due, takes leases, calls the work, and writes what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Event, Lock, Thread

from picomem.engine.audience import safe_text
from picomem.engine.engine import Engine
from picomem.engine.job_store import JobStore, MayBegin, RunningJob, job_store
from picomem.errors import Conflict, PicomemError, StoreError
from picomem.jobs.job_kinds import (
    CONSOLIDATE,
    CONSOLIDATE_TRANSCRIPTS,
    EMBED,
    EXPORT_INDEX,
    KEEP_TRANSCRIPTS,
    OF_A_USER,
    RETENTION,
    WATCH,
    Busy,
    Cancelled,
    Consolidate,
    ConsolidateTranscripts,
    DueJob,
    Embed,
    ExportIndex,
    Failed,
    Interrupted,
    JobKind,
    KeepTranscripts,
    Outcome,
    Retention,
    Stopped,
    Watch,
    ended,
    may_begin,
)
from picomem.records.caller import Caller
from picomem.records.job import job_name
from picomem.runtime import Runtime
from picomem.store.tables import due_work

_TELL_SECONDS = 2.0  # between two times that progress is stored: each is a transaction
_CANCEL_LOOK_SECONDS = 1.0  # between two looks at whether somebody cancelled a running job
_REST_SECONDS = 60.0  # where the store cannot be asked what is due
_FAREWELL_SECONDS = 0.5  # how long an end waits for what runs: nothing is lost without it
_FAULT = "picomem made a mistake, which its log tells."

EngineOf = Callable[[str, str], Engine]  # of a user, for an actor


class JobRun:
    """A job that runs in a thread of this process."""

    def __init__(self, running: RunningJob, engine: Engine) -> None:
        self.stop = Event()
        self.is_cancelled = False
        self.running = running
        self._engine = engine
        self._told_at = time.monotonic()

    def progress(self, done: int, total: int, text: str = "") -> None:
        """See job_kinds.Run."""
        self.tell(done, total, text)
        if self.stop.is_set():
            raise Stopped

    def tell(self, done: int, total: int, text: str = "") -> None:  # noqa: ARG002 - texts are for who watches
        """See job_kinds.Run."""
        now = time.monotonic()
        if not total or now - self._told_at >= _TELL_SECONDS:  # without a total it is between two pieces of work
            self._told_at = now
            self._store(done, total, self.running.job.last_error)

    def note_error(self, error: str) -> None:
        """See job_kinds.Run."""
        error = safe_text(self._engine, error)
        if error != self.running.job.last_error:
            self._store(self.running.job.done, self.running.job.total, error)

    def look(self) -> None:
        """Stop where somebody cancelled the job, or it is another process's by now."""
        with suppress(StoreError):  # the next look tries again
            if self.running.is_cancelling():
                self.is_cancelled = True
                self.stop.set()

    def _store(self, done: int, total: int, error: str) -> None:
        with suppress(StoreError):  # progress is for people to see; the work itself says what is wrong
            self.running.advance(done, total, error)


class Background:
    """The background work of a process: of one user, or with an empty `user` of all of them."""

    def __init__(
        self,
        store: JobStore,
        engine_of: EngineOf,
        kinds: Sequence[JobKind],
        *,
        user: str = "",
        look_seconds: float | None = None,
    ) -> None:
        """`look_seconds` is the time between two looks, in place of the kinds' own."""
        self._store = store
        self._engine_of = engine_of
        self._kinds = kinds
        self._user = user
        self._look_seconds = look_seconds
        self._is_ending = Event()
        self._lock = Lock()
        self._runs: list[JobRun] = []
        self._looking = Thread(target=self._look, name="picomem-jobs", daemon=True)
        self._working: dict[str, Thread] = {}  # by kind

    def start(self) -> None:
        """Begin to look for work. In a store that can only be read there is none."""
        if not self._store.read_only:
            self._looking.start()

    def ask_to_end(self) -> None:
        """Begin nothing new, and tell what runs to stop. Returns at once."""
        self._is_ending.set()
        with self._lock:
            for run in self._runs:
                run.stop.set()

    def end(self, seconds: float = _FAREWELL_SECONDS) -> None:
        """Do so, and wait so long at most. What does not stop ends with the process, and loses nothing either."""
        self.ask_to_end()
        deadline = time.monotonic() + seconds
        for thread in (self._looking, *self._working.values()):
            if thread.is_alive():
                thread.join(max(0.0, deadline - time.monotonic()))

    def run_here(self, kind: JobKind, waiting: Callable[[], None]) -> Outcome:
        """Run a job in this thread because a person asked for it, even if it rests; how it ended.

        Where another process runs the job, `waiting` is told once, and its end is awaited. Raises what the work raises.
        """
        is_waiting = False
        while True:
            outcome = self._run(kind, DueJob(self._user), lambda _job, _now: True, raises=True)
            if outcome is not None:
                return outcome
            if not is_waiting:
                waiting()
            is_waiting = True
            self._is_ending.wait(_CANCEL_LOOK_SECONDS)

    def find(self, kind: JobKind) -> list[DueJob]:
        """The jobs of a kind that may begin: those with something to do, and those whose process was killed, which may
        have done everything but say so. Raises PicomemError."""
        dues = kind.find(self._store, self._user)
        left = self._store.find(job_name(kind.name, kind.subject), self._user, due_work.left_running)
        return [*dues, *(DueJob(user) for user in left if user not in {due.user for due in dues})]

    def _look(self) -> None:
        pause = min(_CANCEL_LOOK_SECONDS, self._look_seconds or _CANCEL_LOOK_SECONDS)
        next_looks = dict.fromkeys((kind.name for kind in self._kinds), 0.0)
        while True:
            for kind in self._kinds:
                thread = self._working.get(kind.name)
                if time.monotonic() >= next_looks[kind.name] and not (thread and thread.is_alive()):
                    next_looks[kind.name] = time.monotonic() + self._begin_due(kind)
            with self._lock:
                runs = list(self._runs)
            for run in runs:
                run.look()
            if self._is_ending.wait(pause):
                return

    def _begin_due(self, kind: JobKind) -> float:
        """Begin what is due of a kind, in a thread; after how many seconds to look again."""
        try:
            dues = self.find(kind)
        except PicomemError:
            return _REST_SECONDS  # recall and status say what is wrong; here nobody listens
        if dues:
            thread = Thread(target=self._work, args=(kind, dues), name=f"picomem-{kind.name}", daemon=True)
            self._working[kind.name] = thread
            thread.start()
        return self._look_seconds or kind.look_seconds

    def _work(self, kind: JobKind, dues: Sequence[DueJob]) -> None:
        for due in dues:
            if self._is_ending.is_set():
                return
            with suppress(PicomemError):  # of beginning: the next look finds the job again
                self._run(kind, due, may_begin)

    def _run(self, kind: JobKind, due: DueJob, begins: MayBegin, *, raises: bool = False) -> Outcome | None:
        """Run one job; how it ended, or None where it did not begin. With `raises` its error is raised as well."""
        engine = self._engine_of(due.user, f"job:{kind.name}")  # an error here leaves no lease taken
        running = self._store.begin(due.user, kind.name, kind.subject, begins)
        if running is None:
            return None
        run = JobRun(running, engine)
        with self._lock:
            self._runs.append(run)
            if self._is_ending.is_set():
                run.stop.set()
        outcome: Outcome = Failed(_FAULT)
        try:
            outcome = kind.work(engine, run)
        except (Stopped, KeyboardInterrupt) as error:
            outcome = Interrupted()
            if isinstance(error, KeyboardInterrupt):
                raise
        except PicomemError as error:
            outcome = Busy() if isinstance(error, Conflict) else Failed(safe_text(engine, error.message))
            if raises:
                raise
        finally:
            with self._lock:
                self._runs.remove(run)
            if isinstance(outcome, Interrupted) and run.is_cancelled:
                outcome = Cancelled()
            running.end(lambda job, now: ended(job, outcome, due.mark, now))
        return outcome


@contextmanager
def in_background(
    engine: Engine, kinds: Sequence[str] = OF_A_USER, look_seconds: float | None = None
) -> Iterator[Background]:
    """Do the background work of one user until the end of the block; the engine is to be closed after that."""
    background = Background(
        job_store(engine),
        lambda _user, actor: engine.acting_as(actor),
        _kinds(kinds, engine.embedder_name),
        user=engine.scope.user,
        look_seconds=look_seconds,
    )
    background.start()
    try:
        yield background
    finally:
        background.end()


def background_of_all(runtime: Runtime, *, watches: bool, look_seconds: float | None = None) -> Background:
    """The background work of all users of a store, not begun yet. With `watches` the transcripts of this machine are
    read for the settings' own user."""
    store = JobStore(runtime.resources)
    names = (*([WATCH] if watches else []), *OF_A_USER)

    def engine_of(user: str, actor: str) -> Engine:
        return runtime.engine(Caller(user, actor))

    return Background(store, engine_of, _kinds(names, store.embedder_name), look_seconds=look_seconds)


def _kinds(names: Sequence[str], embedder_name: str) -> list[JobKind]:
    known: dict[str, Callable[[], JobKind]] = {
        WATCH: Watch,
        EMBED: lambda: Embed(embedder_name),
        RETENTION: Retention,
        CONSOLIDATE: Consolidate,
        CONSOLIDATE_TRANSCRIPTS: ConsolidateTranscripts,
        EXPORT_INDEX: ExportIndex,
        KEEP_TRANSCRIPTS: KeepTranscripts,
    }
    return [known[name]() for name in names if not (name == EMBED and embedder_name == "none")]

"""The records of background work: which is due, which runs, and how it ended.

It reads and writes; `picomem/jobs/` decides and does the work. A job runs under a lease (memory/lease.py), and its row
says which one. So of all processes on a store one runs a job, and after a kill another one may begin as soon as the
lease has expired.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import tzinfo
from typing import TypeVar

from picomem.clock import SECOND, Micros
from picomem.coded_text import CodedText, Command
from picomem.engine.caller_context import Resources
from picomem.engine.engine import Engine
from picomem.errors import Conflict, InvalidInput, NotFound, StoreError
from picomem.light_dataclass import replace
from picomem.memory.lease import LEASE_SECONDS, SLACK_SECONDS, Heartbeat, Lease, is_running, lease_name, lease_on
from picomem.memory.lease import jobs as listed
from picomem.memory.vectors import missing
from picomem.records.job import LONGEST_REST, Job, JobState, job_name
from picomem.records.scope import Scope
from picomem.settings import Settings
from picomem.store.connector import Transaction
from picomem.store.tables import audit, job_rows
from picomem.store.tables.due_work import LAST_USER, JobSearch

_Found = TypeVar("_Found")

MayBegin = Callable[["Job | None", Micros], bool]  # given the job as it stands, and the time
Ended = Callable[[Job, Micros], Job]  # the job as it is to stand after its run


class RunningJob:
    """A job that this process runs, with its lease, which is renewed until `end`."""

    def __init__(self, resources: Resources, lease: Lease, job: Job) -> None:
        self.job = job
        self._resources = resources
        self._lease = lease
        self._heartbeat = Heartbeat(resources.connector, lease)

    def advance(self, done: int, total: int, last_error: str) -> bool:
        """Store the progress; False where the job is another process's by now, or was purged. Raises StoreError."""
        self.job = replace(self.job, done=done, total=total, last_error=last_error)
        with self._resources.connector.write(self._lease.scope) as tx:
            return job_rows.advance(tx, self._lease.scope, self.job)

    def is_cancelling(self) -> bool:
        """Return whether somebody asked to stop the job, or it is not this process's any more. Raises StoreError."""
        with self._resources.connector.read() as tx:
            now = job_rows.named(tx, self._lease.scope, self.job.name)
        return now is None or now.owner != self._lease.owner or now.is_cancelling

    def end(self, ended: Ended) -> None:
        """Store how the run ended and give the lease back. If the store cannot be written, the lease expires, and the
        job begins again."""
        self._heartbeat.stop()
        with suppress(StoreError), self._resources.connector.write(self._lease.scope) as tx:
            job_rows.end(tx, self._lease.scope, ended(self.job, self._resources.clock()))
            self._lease.give_back(tx)


class JobStore:
    """The background work of a store, for one process."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    @property
    def settings(self) -> Settings:
        """The settings of the process."""
        return self._resources.settings

    @property
    def zone(self) -> tzinfo:
        """The zone of times of day."""
        return self._resources.zone

    @property
    def embedder_name(self) -> str:
        """The name of the embedder, or "none"."""
        return self._resources.embedder.name if self._resources.embedder else "none"

    @property
    def read_only(self) -> bool:
        """Whether the store can only be read here."""
        return self._resources.connector.read_only

    def now(self) -> Micros:
        """The current time, in UTC microseconds."""
        return self._resources.clock()

    def find(self, name: str, only: str, statement: Callable[[Transaction, JobSearch], list[_Found]]) -> list[_Found]:
        """Return the rows that a statement finds for users whose job of that name may begin; with `only`, for that
        user. Raises StoreError."""
        now = self.now()
        search = JobSearch(
            first=only,
            last=only or LAST_USER,
            job=name,
            lease=lease_name(name),
            now=now,
            longest_rest=now + LONGEST_REST,
            longest_lease=now + (LEASE_SECONDS + SLACK_SECONDS) * SECOND,
        )
        with self._resources.connector.read() as tx:
            return statement(tx, search)

    def look(self, user: str, name: str) -> tuple[Job | None, bool]:
        """A user's job as it stands, and whether a process has the lease on it. Raises StoreError."""
        scope = Scope(user)
        with self._resources.connector.read() as tx:
            return job_rows.named(tx, scope, name), is_running(tx, scope, name, self.now())

    def is_without_vectors(self, user: str, model: str) -> bool:
        """Return whether rows of a user have no vector of a model. Raises StoreError."""
        with self._resources.connector.read() as tx:
            return missing(tx, Scope(user), model) > 0

    def last_change(self, user: str) -> str:
        """The id of the last change to a user's memory; empty where there was none. Raises StoreError."""
        with self._resources.connector.read() as tx:
            return audit.last_id(tx, Scope(user))

    def begin(self, user: str, kind: str, subject: str, may_begin: MayBegin) -> RunningJob | None:
        """Begin a job; None where another process has it, or it may not begin any more. Raises StoreError."""
        scope, name = Scope(user), job_name(kind, subject)
        if self.look(user, name)[1]:
            return None
        lease = lease_on(scope, name, self._resources.clock)
        with self._resources.connector.write(scope) as tx:
            before, now = job_rows.named(tx, scope, name), self.now()
            # Another process may have done the work since it was found to be due.
            if not may_begin(before, now) or not lease.acquire(tx):
                return None
            job = replace(
                before or Job(user=user, name=name, kind=kind, subject=subject),
                state=JobState.RUNNING,
                is_cancelling=False,
                owner=lease.owner,
                done=0,
                total=0,
                started_at=now,
                next_run_at=now,
            )
            job_rows.begin(tx, scope, job)
        return RunningJob(self._resources, lease, job)


def job_store(engine: Engine) -> JobStore:
    """The background work of the store of an engine."""
    return JobStore(engine._context.resources)


def jobs(engine: Engine) -> list[Job]:
    """The jobs of the engine's user, by name. A job whose process was killed is waiting. Raises StoreError."""
    with engine._context.connector.read() as tx:
        return listed(tx, engine.scope, engine.now())


def cancel_job(engine: Engine, name: str, *, resume: bool = False) -> Job:
    """Stop a job and do not begin it again for a day; with `resume` let it begin again at once. How it stands then.

    `name` is the job's, or its kind where only one job is of that kind. The process that runs the job stops it within
    seconds. Raises NotFound.
    """
    with engine._context.connector.write(engine.scope) as tx:
        now = engine.now()
        job = _meant(listed(tx, engine.scope, now), name)
        if job.state is not JobState.RUNNING:
            state, rest = (JobState.WAITING, 0) if resume else (JobState.CANCELLED, LONGEST_REST)
            job_rows.put_aside(tx, engine.scope, job.name, state, now + rest)
        elif resume:
            raise Conflict(f"{job.name} is running; there is nothing to resume.")
        else:
            job_rows.ask_to_end(tx, engine.scope, job.name)
        return _meant(listed(tx, engine.scope, now), job.name)


def _meant(known: list[Job], name: str) -> Job:
    named = [job for job in known if job.name == name] or [job for job in known if job.kind == name]
    if len(named) == 1:
        return named[0]
    if named:
        raise InvalidInput(
            f"Several jobs are of the kind “{name}”; write the whole name: {', '.join(job.name for job in named)}."
        )
    raise NotFound(CodedText("failure.no_job", name=name[:80], command=Command("jobs")))

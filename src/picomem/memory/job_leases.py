"""The lease under which a job runs, and the state of a job as its lease tells it."""

from __future__ import annotations

from picomem.clock import Clock, Micros
from picomem.light_dataclass import replace
from picomem.memory.lease import Lease, is_held
from picomem.records.job import Job, JobState
from picomem.records.scope import Scope
from picomem.store import job_rows
from picomem.store.connector import Transaction


def lease_name(job: str) -> str:
    """Return what the lease on a job is called."""
    return f"job {job}"


def lease_on(scope: Scope, job: str, clock: Clock) -> Lease:
    """A lease on a user's job, not taken yet."""
    return Lease(scope=scope, name=lease_name(job), clock=clock)


def is_running(tx: Transaction, scope: Scope, job: str, now: Micros) -> bool:
    """Return whether a process runs the job."""
    return is_held(tx, scope, lease_name(job), now)


def jobs(tx: Transaction, scope: Scope, now: Micros) -> list[Job]:
    """The user's jobs, by name. A job whose process was killed waits for another one."""
    return [
        replace(job, state=JobState.WAITING)
        if job.state is JobState.RUNNING and not is_running(tx, scope, job.name, now)
        else job
        for job in job_rows.every(tx, scope)
    ]

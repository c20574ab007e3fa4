"""A background job as operations return it."""

from __future__ import annotations

from picomem.clock import iso
from picomem.light_dataclass import dataclass
from picomem.operations.recall_views import iso_or_none
from picomem.records.job import Job

_UNITS = {"watch": "bytes", "embed": "texts"}  # by the kind of job


@dataclass(frozen=True, slots=True)
class JobView:
    """A job: `state` is waiting, running, done, failed or cancelled, and `cancelling` says that a running one was
    told to stop. It has done `done` of `total`, in `unit` (`bytes` of transcripts, or pieces of work); with a total
    of 0 that is not known, or it waits for more. `failures` counts those in a row. `next_run_at` is when it may run
    again, if there is something to do."""

    name: str
    kind: str
    subject: str
    state: str
    cancelling: bool
    done: int
    total: int
    unit: str
    started_at: str | None
    finished_at: str | None
    next_run_at: str
    failures: int
    last_error: str


def job_view(job: Job) -> JobView:
    return JobView(
        name=job.name,
        kind=job.kind,
        subject=job.subject,
        state=job.state.value,
        cancelling=job.is_cancelling,
        done=job.done,
        total=job.total,
        unit=_UNITS.get(job.kind, "pieces"),
        started_at=iso_or_none(job.started_at),
        finished_at=iso_or_none(job.finished_at),
        next_run_at=iso(job.next_run_at),
        failures=job.failures,
        last_error=job.last_error,
    )

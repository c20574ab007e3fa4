"""Operations on background work: jobs, cancel-job."""

from __future__ import annotations

from picomem.engine import job_store
from picomem.engine.engine import Engine
from picomem.light_dataclass import dataclass
from picomem.operations.operation import Operation, option
from picomem.operations.paging import page_of
from picomem.operations.presentation import Block, Presentation, PresentedEntry, Sentence, Text
from picomem.operations.recall_views import view_of
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


@dataclass(frozen=True, slots=True)
class JobsRequest:
    limit: int = option("maximum number of jobs", 50, short="-n", least=1, rows=True)
    cursor: str = option("continue from here: the cursor of the previous page", "")


@dataclass(frozen=True, slots=True)
class JobsResult:
    """The user's jobs, by name."""

    jobs: list[JobView]
    cursor: str


def jobs(engine: Engine, request: JobsRequest) -> JobsResult:
    """List the background work: what runs, how far it is, how it ended, and when it runs again.

    A process that stays does the work: the server, MCP, a watch of transcripts and a chat. All of them share the jobs.
    """
    page, cursor = page_of(
        job_store.jobs(engine), lambda job: (job.name,), request.cursor, request.limit, example=("",)
    )
    return JobsResult([_job_view(job) for job in page], cursor)


@dataclass(frozen=True, slots=True)
class CancelJobRequest:
    name: str = option("the job's name, as `jobs` shows it", positional=True)
    resume: bool = option("let it run again at once", False)


def cancel_job(engine: Engine, request: CancelJobRequest) -> JobView:
    """Stop a background job, and do not begin it again for a day.

    Whichever process runs it stops it within seconds. What was stored until then is kept.
    """
    return _job_view(job_store.cancel_job(engine, request.name, resume=request.resume))


def _job_view(job: Job) -> JobView:
    return view_of(JobView, job, cancelling=job.is_cancelling, unit=_UNITS.get(job.kind, "pieces"))


def _present_jobs(result: JobsResult) -> Presentation:
    blocks: tuple[Block, ...] = tuple(map(_entry, result.jobs))
    nothing = Sentence("No job ran yet. `picomem serve`, `mcp`, `ingest --watch` and `chat` do background work.")
    more = (f"There are more: --cursor {result.cursor}",) if result.cursor else ()
    return Presentation(blocks=blocks or (nothing,), next_steps=more)


def _present_job(result: JobView) -> Presentation:
    return Presentation(blocks=(_entry(result),))


def state_of(result: JobView) -> str:
    """The state of a job and what belongs to it, in a few words."""
    if result.cancelling:
        return "running, and told to stop"
    if result.state == "running":
        return f"running, {_progress(result)}" if result.total else "running"
    if result.state == "failed":
        times = "once" if result.failures == 1 else f"{result.failures} times"
        return f"failed {times}, tried again after {result.next_run_at}"
    if result.state == "cancelled":
        return f"cancelled, not begun again before {result.next_run_at}"
    return f"{result.state}, last run ended {result.finished_at}" if result.finished_at else result.state


def _progress(result: JobView) -> str:
    if result.unit == "bytes":
        return f"{result.done / 1e6:,.1f} of {result.total / 1e6:,.1f} MB read"
    return f"{result.done:,} of {result.total:,} {result.unit}"


def _entry(result: JobView) -> PresentedEntry:
    error = (Text(result.last_error),) if result.last_error else ()
    return PresentedEntry(f"{result.name}  {state_of(result)}", error)


OPERATIONS = (
    Operation(
        name="jobs",
        group="maintain",
        run=jobs,
        present=_present_jobs,
        reply=lambda result: "\n".join(f"{job.name}: {job.state}" for job in result.jobs) or "No job ever ran.",
        permission="memory:read:user",
        example="picomem jobs",
        read_only=True,
        idempotent=True,
        pages=True,
    ),
    Operation(
        name="cancel-job",
        group="maintain",
        run=cancel_job,
        present=_present_job,
        reply=lambda job: f"{job.name}: {job.state}",
        permission="memory:write:user",
        answer_permissions=("memory:read:user",),
        example="picomem cancel-job consolidate",
        idempotent=True,
    ),
)

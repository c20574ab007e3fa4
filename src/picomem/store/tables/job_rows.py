"""The rows of background jobs. Every call takes a scope.

While a job runs, only the owner of its lease writes the row: a statement of another owner changes nothing.
"""

from __future__ import annotations

from types import NoneType

from picomem.clock import Micros
from picomem.coded_text import read_stored, stored_form
from picomem.light_dataclass import asdict
from picomem.records.job import Job, JobState
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.sql_access import sql

_STATES = frozenset(state.value for state in JobState)
_TYPES: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("name", "kind", "subject", "state"), str),
    **dict.fromkeys(("is_cancelling",), int),
    **dict.fromkeys(("owner",), str),
    **dict.fromkeys(("done", "total"), int),
    **dict.fromkeys(("started_at", "finished_at"), (int, NoneType)),
    **dict.fromkeys(("next_run_at", "failures"), int),
    **dict.fromkeys(("last_error", "mark"), str),
}  # of the columns, in their order


def every(tx: Transaction, scope: Scope) -> list[Job]:
    """The user's jobs, by name; damaged ones, which begin anew, are left out."""
    jobs = (_job(row) for row in sql(tx).all("jobs", user=scope.user))
    return [job for job in jobs if job is not None]


def named(tx: Transaction, scope: Scope, name: str) -> Job | None:
    """The user's job of that name; None where it never ran, or its row is damaged."""
    row = sql(tx).one("job", user=scope.user, name=name)
    return None if row is None else _job(row)


def begin(tx: Transaction, scope: Scope, job: Job) -> None:
    """Store a job that begins, in place of its row before."""
    values = {**asdict(job), "state": job.state.value, "is_cancelling": int(job.is_cancelling)}
    values["last_error"] = stored_form(job.last_error)
    values.pop("user")
    sql(tx).run("begin_job", user=scope.user, **values)


def advance(tx: Transaction, scope: Scope, job: Job) -> bool:
    """Store the progress and the last error of a running job; False where it is another owner's by now."""
    return bool(
        sql(tx).run(
            "advance_job",
            user=scope.user,
            name=job.name,
            owner=job.owner,
            done=job.done,
            total=job.total,
            last_error=stored_form(job.last_error),
        )
    )


def end(tx: Transaction, scope: Scope, job: Job) -> bool:
    """Store how a running job ended; False where it is another owner's by now."""
    return bool(
        sql(tx).run(
            "end_job",
            user=scope.user,
            name=job.name,
            owner=job.owner,
            state=job.state.value,
            finished_at=job.finished_at,
            next_run_at=job.next_run_at,
            failures=job.failures,
            last_error=stored_form(job.last_error),
            mark=job.mark,
        )
    )


def ask_to_end(tx: Transaction, scope: Scope, name: str) -> None:
    """Ask the owner of a running job to stop it."""
    sql(tx).run("ask_job_to_end", user=scope.user, name=name)


def put_aside(tx: Transaction, scope: Scope, name: str, state: JobState, next_run_at: Micros) -> None:
    """Change when a job that nobody runs may run next."""
    sql(tx).run("put_job_aside", user=scope.user, name=name, state=state.value, next_run_at=next_run_at)


def forget_errors(tx: Transaction, scope: Scope) -> None:
    """Delete the errors of the user's jobs, which may quote what was stored."""
    sql(tx).run("forget_job_errors", user=scope.user)


def purge(tx: Transaction, scope: Scope) -> None:
    """Delete the user's jobs. A running one finds that it has no owner any more, and stops."""
    sql(tx).run("delete_jobs", user=scope.user)


def _job(row: Row) -> Job | None:
    """A job; None for a row that holds what no job has, because the file is damaged."""
    *columns, user = row
    fields = dict(zip(_TYPES, columns, strict=True))
    if not all(isinstance(value, _TYPES[name]) for name, value in fields.items()) or fields["state"] not in _STATES:
        return None
    state, is_cancelling = JobState(fields.pop("state")), bool(fields.pop("is_cancelling"))
    last_error = read_stored(fields.pop("last_error"))
    return Job(user=user, state=state, is_cancelling=is_cancelling, last_error=last_error, **fields)

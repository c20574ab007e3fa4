"""Decides when a job may begin, and its state after a run. Pure."""

from __future__ import annotations

from picomem.clock import HOUR, MINUTE, Micros
from picomem.light_dataclass import dataclass, replace
from picomem.records.job import LONGEST_REST, Job, JobState

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

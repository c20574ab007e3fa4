"""The state of a background job of a user, as stored."""

from __future__ import annotations

from enum import StrEnum

from picomem.clock import DAY, Micros
from picomem.light_dataclass import dataclass

LONGEST_REST = DAY  # of a job, until it may run again


class JobState(StrEnum):
    """The state of a job. One that is waiting was not begun, or was interrupted and goes on."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work of one kind for one user.

    `name` is the kind, followed by `:` and the `subject` where there is one. `owner` is the lease under which it ran
    last. It has done `done` of `total` (0: not known) and runs again after `next_run_at`. `failures` counts those in a
    row, `last_error` is the sentence of the last one. `mark` is what the last complete run had seen of the store.
    """

    user: str
    name: str
    kind: str
    subject: str = ""
    state: JobState = JobState.WAITING
    is_cancelling: bool = False
    owner: str = ""
    done: int = 0
    total: int = 0
    started_at: Micros | None = None
    finished_at: Micros | None = None
    next_run_at: Micros = 0
    failures: int = 0
    last_error: str = ""
    mark: str = ""


def job_name(kind: str, subject: str = "") -> str:
    """The name of the job of a kind on a subject."""
    return f"{kind}:{subject}" if subject else kind

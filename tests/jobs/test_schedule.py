"""When a job may begin, and how long it rests."""

from __future__ import annotations

from tests.cases import each_case
from tests.conftest import START

from picomem.clock import DAY, HOUR, MINUTE
from picomem.jobs.job_kinds import Busy, Cancelled, Done, Failed, Interrupted, ended, may_begin
from picomem.light_dataclass import replace
from picomem.records.job import Job, JobState

RUNNING = Job(user="local", name="embed", kind="embed", state=JobState.RUNNING, next_run_at=START, mark="3")


def test_a_job_begins_where_it_never_ran_or_has_rested() -> None:
    assert may_begin(None, START)
    assert may_begin(replace(RUNNING, next_run_at=START), START)
    assert not may_begin(replace(RUNNING, next_run_at=START + 1), START)


def test_a_rest_that_was_written_before_the_clock_was_set_back_is_not_honoured() -> None:
    assert not may_begin(replace(RUNNING, next_run_at=START + DAY), START)
    assert may_begin(replace(RUNNING, next_run_at=START + DAY + 1), START)


def test_a_failing_job_rests_longer_each_time_and_an_hour_at_most() -> None:
    job, rests = RUNNING, []
    for _ in range(9):
        job = ended(job, Failed("It broke."), "4", START)
        rests.append((job.next_run_at - START) // MINUTE)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert (job.state, job.failures, job.last_error, job.mark) == (JobState.FAILED, 9, "It broke.", "3")
    assert ended(replace(job, failures=10_000), Failed("It broke."), "4", START).next_run_at == START + HOUR


def test_a_job_that_succeeds_has_no_error_any_more_and_knows_what_it_has_seen() -> None:
    failed = ended(RUNNING, Failed("It broke."), "4", START)
    done = ended(failed, Done(rest=5), "4", START)
    assert (done.state, done.failures, done.last_error, done.mark) == (JobState.DONE, 0, "", "4")
    assert (done.finished_at, done.next_run_at) == (START, START + 5)
    assert ended(RUNNING, Done(rest=30 * DAY), "4", START).next_run_at == START + DAY


@each_case(
    ("outcome", "state", "rest"),
    [
        (Interrupted(), JobState.WAITING, 0),
        (Busy(), JobState.WAITING, MINUTE),
        (Cancelled(), JobState.CANCELLED, DAY),
    ],
)
def test_a_job_that_did_not_finish_is_no_failure(outcome, state, rest) -> None:
    job = ended(replace(RUNNING, is_cancelling=True), outcome, "4", START)
    assert (job.state, job.next_run_at, job.failures, job.mark) == (state, START + rest, 0, "3")
    assert not job.is_cancelling

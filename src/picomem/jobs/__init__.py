"""The background work of a process that stays: `picomem serve`, `mcp`, `ingest --watch` and `chat`.

    every few seconds: one statement for each kind of work → users who have something due
    → take the lease, store the job as running → do the work → store how it ended, give the lease back

A **job** is work of one kind for one user (records/job.py). The store has a row for it with its state, progress, last
error and when it may run next. `picomem jobs` and `picomem status` show the rows, and `picomem cancel-job` asks whoever
runs a job to stop it.

A **kind** is an entry of `job_kinds.py`: whom it is due for, and which verb of the engine or of consolidation it calls.
Without reading anything, `may_begin` and others in that file decide when a job may begin and how long it rests after a
run; `runner.py` takes leases, calls the verb and writes rows. Nothing else in picomem runs by itself.

**Several processes** on a store share the jobs: a lease lets one of them run a job, and the row says that it was run,
so another one that found the same job to be due passes over it. Whatever runs is made of transactions that stand
alone, so a process may be killed at any point: its lease expires after 45 seconds, and the next process goes on where
it stopped.

**Several users** share a process: users are found by one statement, never one after another, and the kinds have a
thread each, so a consolidation that waits for a model keeps no reading of transcripts waiting. Each thread exists only
while there is something to do.

A job that fails rests a minute, then twice as long each time, and an hour at most. One that was cancelled rests a day.
"""

from picomem.jobs.job_kinds import EMBED, OF_A_USER, Run, Watch
from picomem.jobs.runner import Background, background_of_all, in_background

__all__ = ["EMBED", "OF_A_USER", "Background", "Run", "Watch", "background_of_all", "in_background"]

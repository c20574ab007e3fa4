"""An exclusive lease on a piece of a user's work, among all processes on a store.

A lease has a random owner and lasts `LEASE_SECONDS`, or less if its owner says so. An owner that works longer renews
it, which `Heartbeat` does from a thread three times in that time (`BEAT_SECONDS`). So the lease of a killed process
blocks others for at most `LEASE_SECONDS`. That of a purge, which keeps nobody out, lasts longer (`purge_seconds`).
Process ids are not used, because two containers have the same ones.

The clock is that of the machine. If it jumps forward, or the machine sleeps, a lease expires while its owner works;
the owner's next renewal then fails, and its writes must not depend on exclusivity.
"""

from __future__ import annotations

from threading import Event, Thread
from types import TracebackType

from picomem.clock import SECOND, Clock, Micros
from picomem.errors import StoreError
from picomem.light_dataclass import dataclass, field, replace
from picomem.records.ids import new_id
from picomem.records.job import Job, JobState
from picomem.records.scope import Scope
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import job_rows, leases

LEASE_SECONDS = 45
BEAT_SECONDS = LEASE_SECONDS / 3
SLACK_SECONDS = 15  # an end that is later than a lease lasts, and this, was written before the clock was set back
_LONGEST_PURGE_SECONDS = 3600
_SLOWEST_REWRITE = 5_000_000  # bytes a second

PURGING = "purging"  # says that a purge runs; it keeps no other purge out


def is_held(tx: Transaction, scope: Scope, name: str, now: Micros) -> bool:
    """Return whether any process has the lease of that name."""
    longest = _LONGEST_PURGE_SECONDS if name == PURGING else LEASE_SECONDS
    return leases.is_held(tx, scope, name, now=now, latest=now + (longest + SLACK_SECONDS) * SECOND)


def purge_seconds(size: int) -> int:
    """Return how long the lease of a purge lasts, by the bytes of the database.

    The purge writes the whole file anew, and nothing can be written meanwhile, so no heartbeat renews the lease.
    """
    return min(LEASE_SECONDS + size // _SLOWEST_REWRITE, _LONGEST_PURGE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The lease on the work of that name for a user. Each value of this class is an owner of its own."""

    scope: Scope
    name: str
    clock: Clock
    owner: str = field(default_factory=new_id)
    seconds: float = LEASE_SECONDS

    def acquire(self, tx: Transaction) -> bool:
        """Take or renew it; False where another has it."""
        now = self.clock()
        until, latest = now + round(self.seconds * SECOND), now + round((self.seconds + SLACK_SECONDS) * SECOND)
        return leases.take(tx, self.scope, self.name, self.owner, now=now, until=until, latest=latest)

    def give_back(self, tx: Transaction) -> None:
        """Let the next one have it at once."""
        leases.give_back(tx, self.scope, self.name, self.owner)


class Heartbeat:
    """Renews a lease that is held, from a thread, until it is stopped or another owner has the lease."""

    def __init__(self, connector: Connector, lease: Lease) -> None:
        self._connector = connector
        self._lease = lease
        self._is_over = Event()
        self._thread = Thread(target=self._beat, name=f"lease on {lease.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Renew no more. A renewal that is under way is waited for, so the lease can be given back afterwards."""
        self._is_over.set()
        self._thread.join()

    def __enter__(self) -> Heartbeat:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _beat(self) -> None:
        while not self._is_over.wait(BEAT_SECONDS * self._lease.seconds / LEASE_SECONDS):
            try:
                with self._connector.write(self._lease.scope) as tx:
                    if not self._lease.acquire(tx):
                        return
            except StoreError:
                continue  # locked, full or closed: the next beat tries again, and the work itself says what is wrong


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

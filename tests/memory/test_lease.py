"""A lease has one owner at a time, whoever races for it or is killed, and it ends when its time is over (R9).

    test → nursery: one interpreter, everything loaded, nothing open → the racers, forked for each race

The racers wait for one byte each and then try at once. Their clock is a file, so that a test lets time pass. This file
is the nursery's program too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest
from tests.amounts import amount
from tests.databases import chosen
from tests.programs import start
from tests.waiting import wait_until

from picomem.clock import SECOND, Micros
from picomem.memory import lease as leases
from picomem.memory.lease import LEASE_SECONDS, Heartbeat, Lease
from picomem.records.scope import Scope
from picomem.store.connector import Connector

RACES = amount(8, 200)
RACERS = 4
BEGIN = 1_777_593_600 * SECOND
PATIENCE_SECONDS = 30
MIA = Scope("mia")

Race = Callable[[str, Path], list[str]]


def _take(connector: Connector, lease: Lease) -> bool:
    with connector.write(lease.scope) as tx:
        return lease.acquire(tx)


def _try_once(connector: Connector, lease: Lease, working: Path) -> str:
    return "owner" if _take(connector, lease) else "busy"


def _work_in_turn(connector: Connector, lease: Lease, working: Path) -> str:
    """Wait for the lease, work and give it back. The work fails if another process works at the same time."""
    wait_until(lambda: _take(connector, lease), seconds=PATIENCE_SECONDS, every=0.001)
    try:
        working.touch(exist_ok=False)
    except FileExistsError:
        return "two owners"
    working.unlink()
    with connector.write(MIA) as tx:
        lease.give_back(tx)
    return "owner"


def _die_as_owner(connector: Connector, lease: Lease, working: Path) -> str:
    """Try until the lease is free; whoever gets it is killed while it holds it."""

    def is_taken() -> bool:
        if _take(connector, lease):
            return True
        with _refusals(working).open("a") as refusals:
            refusals.write(".")
        return False

    wait_until(is_taken, seconds=PATIENCE_SECONDS, every=0.001)
    with working.open("a") as owners:
        owners.write("owner\n")
    os.kill(os.getpid(), signal.SIGKILL)
    return "alive"


_KINDS = {"once": _try_once, "in turn": _work_in_turn, "killed": _die_as_owner}


def _race(kind: str, path: Path) -> list[str]:
    """Fork the racers, let them go at once, and give what became of each; "" of a racer that was killed."""
    gate, opening = os.pipe()
    answers, answering = os.pipe()
    children = []
    for _ in range(RACERS):
        child = os.fork()
        if child == 0:
            try:
                connector = chosen().connect(path)
                lease = Lease(scope=MIA, name="work", clock=lambda: _now(path))
                os.read(gate, 1)
                os.write(answering, f"{_KINDS[kind](connector, lease, path.with_suffix('.working'))}\n".encode())
            finally:
                os._exit(0)  # also one that was kept out: it has no answer
        children.append(child)
    os.write(opening, b"." * RACERS)
    os.close(answering)
    for ended in range(1, RACERS + 1):
        os.wait()
        if kind == "killed" and ended < RACERS:
            _let_the_lease_of_the_dead_expire(path, RACERS - ended)
    with open(answers, encoding="ascii") as lines:
        became = lines.read().split("\n")[:-1]
    os.close(gate)
    os.close(opening)
    return became


def _now(path: Path) -> Micros:
    return int(path.with_suffix(".clock").read_text())


def _refusals(working: Path) -> Path:
    return working.with_suffix(".refusals")


def _let_the_lease_of_the_dead_expire(path: Path, waiting: int) -> None:
    """Let the clock go on once those that wait have been refused, and nobody else has become the owner."""
    working = path.with_suffix(".working")
    owners, refusals = working.read_text(), _refusals(working)
    before = refusals.stat().st_size if refusals.exists() else 0
    # Each may have tried before the kill.
    wait_until(
        lambda: refusals.exists() and refusals.stat().st_size > before + waiting, seconds=PATIENCE_SECONDS, every=0.001
    )
    assert working.read_text() == owners, "the lease of a dead owner was taken before it expired"
    clock = path.with_suffix(".clock")
    later = clock.with_suffix(".later")
    later.write_text(str(_now(path) + LEASE_SECONDS * SECOND))
    later.replace(clock)


def _nursery() -> None:
    for line in sys.stdin:
        kind, path = json.loads(line)
        sys.stdout.write(json.dumps(_race(kind, Path(path))) + "\n")
        sys.stdout.flush()


@contextmanager
def _racing() -> Iterator[Race]:
    """A function that runs one race in the nursery."""
    nursery = start(__file__)
    assert nursery.stdin is not None
    assert nursery.stdout is not None

    def _run(kind: str, path: Path) -> list[str]:
        path.with_suffix(".clock").write_text(str(BEGIN))
        print(json.dumps([kind, str(path)]), file=nursery.stdin, flush=True)
        return json.loads(nursery.stdout.readline())

    with nursery:
        yield _run
        nursery.stdin.close()
    assert nursery.returncode == 0


@pytest.mark.sqlite_file("races processes for leases in a file")
@pytest.mark.requirement("X10")
@pytest.mark.reliability("R9")
def test_of_processes_that_try_at_once_exactly_one_gets_the_lease(db: Path) -> None:
    with _racing() as race:
        for number in range(RACES):
            path = db.with_name(f"{number}.db")
            assert sorted(race("once", path)) == ["busy"] * (RACERS - 1) + ["owner"], f"race {number}"


@pytest.mark.requirement("X10")
@pytest.mark.reliability("R9")
def test_processes_that_wait_for_the_lease_work_one_after_the_other(db: Path) -> None:
    chosen().connect(db).close()
    with _racing() as race:
        for number in range(RACES):
            assert race("in turn", db) == ["owner"] * RACERS, f"race {number}"


@pytest.mark.sqlite_file("races processes for leases in a file")
@pytest.mark.requirement("X10")
@pytest.mark.reliability("R9")
def test_the_lease_of_a_killed_process_goes_to_one_of_those_that_wait_when_it_expires(db: Path) -> None:
    """Every racer in turn gets the lease of the one that was killed before it, and none while that lease lasts."""
    with _racing() as race:
        for number in range(RACES):
            path = db.with_name(f"{number}.db")
            assert race("killed", path) == [], f"race {number}"
            assert path.with_suffix(".working").read_text() == "owner\n" * RACERS


@pytest.fixture
def now() -> list[Micros]:
    return [BEGIN]


@pytest.fixture
def connector(db: Path) -> Iterator[Connector]:
    with closing(chosen().connect(db)) as opened:
        yield opened


@pytest.mark.requirement("X10")
@pytest.mark.reliability("R9")
@pytest.mark.parametrize(
    "pid",
    [os.getpid(), os.getppid(), 1, (1 << 22) + 1],
    ids=["of this process", "of the one above it", "of the first one", "of none"],
)
def test_a_process_id_decides_nothing(pid: int, connector: Connector, now: list[Micros]) -> None:
    """In another container the id of a living owner is somebody else's, or nobody's."""
    theirs = Lease(scope=MIA, name="work", clock=lambda: now[0], owner=f"{pid}:in-another-container")
    ours = Lease(scope=MIA, name="work", clock=lambda: now[0])
    assert _take(connector, theirs)
    for now[0] in (BEGIN, BEGIN + 1, BEGIN + LEASE_SECONDS * SECOND - 1):
        assert not _take(connector, ours)
    now[0] = BEGIN + LEASE_SECONDS * SECOND
    assert _take(connector, ours)
    assert not _take(connector, theirs)


@pytest.mark.requirement("X10", "X11")
def test_each_user_and_each_work_has_a_lease_of_its_own(connector: Connector, now: list[Micros]) -> None:
    for scope in (MIA, Scope("ann")):
        for name in ("embedding", "consolidating"):
            assert _take(connector, Lease(scope=scope, name=name, clock=lambda: now[0]))
            assert not _take(connector, Lease(scope=scope, name=name, clock=lambda: now[0]))


@pytest.mark.reliability("R9")
def test_an_end_that_was_written_before_the_clock_was_set_back_is_not_honoured(
    connector: Connector, now: list[Micros]
) -> None:
    first, second = (Lease(scope=MIA, name="work", clock=lambda: now[0]) for _ in range(2))
    assert _take(connector, first)
    now[0] -= SECOND  # a correction of the clock, after which the owner is still at work
    assert not _take(connector, second)
    now[0] -= 3_600 * SECOND
    assert _take(connector, second)
    assert not _take(connector, first)


@pytest.mark.reliability("R9")
def test_giving_back_a_lease_that_ran_out_takes_nothing_from_its_next_owner(
    connector: Connector, now: list[Micros]
) -> None:
    first, second, third = (Lease(scope=MIA, name="work", clock=lambda: now[0]) for _ in range(3))
    assert _take(connector, first)
    now[0] += LEASE_SECONDS * SECOND
    assert _take(connector, second)
    with connector.write(MIA) as tx:
        first.give_back(tx)
    assert not _take(connector, third)
    assert not _take(connector, first)
    assert _take(connector, second)


def _wait_for_renewal(connector: Connector, now: list[Micros]) -> None:
    """Wait until a lease lasts for its whole time from now on. It looks through a connection of its own: on the
    writer's, which no two threads can use at once, it would keep the heartbeat out."""
    expected = [(now[0] + LEASE_SECONDS * SECOND,)]
    with closing(apsw.Connection(connector.name)) as looking:
        wait_until(
            lambda: looking.execute("SELECT expires_at FROM leases").fetchall() == expected,
            seconds=PATIENCE_SECONDS,
            every=0.001,
            otherwise="the lease was not renewed",
        )


@pytest.mark.sqlite_file("races processes for leases in a file")
@pytest.mark.requirement("X10")
@pytest.mark.reliability("R9")
def test_an_owner_that_works_longer_than_a_lease_lasts_keeps_it(
    connector: Connector, now: list[Micros], monkeypatch
) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.001)
    working, waiting = (Lease(scope=MIA, name="work", clock=lambda: now[0]) for _ in range(2))
    assert _take(connector, working)
    with Heartbeat(connector, working):
        for _ in range(4):
            now[0] += LEASE_SECONDS * SECOND // 2
            _wait_for_renewal(connector, now)
            assert not _take(connector, waiting)
    now[0] += LEASE_SECONDS * SECOND
    assert _take(connector, waiting)


@pytest.mark.requirement("X10")
@pytest.mark.parametrize(("megabytes", "seconds"), [(1, LEASE_SECONDS), (10_000, 2_045), (1_000_000, 3_600)])
def test_the_lease_of_a_purge_lasts_while_a_large_file_is_written_anew(
    connector: Connector, now: list[Micros], megabytes: int, seconds: int
) -> None:
    """Nothing can be written to the file meanwhile, so no heartbeat renews the lease."""
    lasting = leases.purge_seconds(megabytes * 1_000_000)
    assert _take(connector, Lease(scope=MIA, name=leases.PURGING, clock=lambda: now[0], seconds=lasting))

    def is_held() -> bool:
        with connector.read() as tx:
            return leases.is_held(tx, MIA, leases.PURGING, now[0])

    now[0] += (seconds - 1) * SECOND
    assert is_held()
    now[0] += LEASE_SECONDS * SECOND
    assert not is_held()
    now[0] -= 2 * 3_600 * SECOND  # so late an end was written before the clock was set back
    assert not is_held()


def test_a_heartbeat_takes_nothing_from_the_next_owner(connector: Connector, now: list[Micros], monkeypatch) -> None:
    monkeypatch.setattr(leases, "BEAT_SECONDS", 0.001)
    late, next_owner = (Lease(scope=MIA, name="work", clock=lambda: now[0]) for _ in range(2))
    assert _take(connector, late)
    now[0] += LEASE_SECONDS * SECOND
    assert _take(connector, next_owner)
    with Heartbeat(connector, late) as heartbeat:
        heartbeat._thread.join(PATIENCE_SECONDS)  # it ends by itself
        assert not heartbeat._thread.is_alive()
    assert not _take(connector, late)


def test_the_heartbeat_comes_often_enough() -> None:
    """Two renewals may be late or fail before a lease runs out under its owner."""
    assert leases.BEAT_SECONDS * 3 <= LEASE_SECONDS <= 60


if __name__ == "__main__":
    _nursery()

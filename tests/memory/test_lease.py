"""A lease has one owner at a time, whoever races for it, is killed, or gets a dead owner's process id (R9).

    test → nursery: one interpreter, everything loaded, nothing open → the racers, forked for each race

The racers wait for one byte each and then try at once. This file is the nursery's program too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.amounts import amount
from tests.programs import start

from picomem.clock import SECOND, system_clock
from picomem.memory.lease import Lease
from picomem.store.sqlite import SqliteConnector

RACES = amount(20, 200)
RACERS = 4
SECONDS = 60

Race = Callable[[str, Path], list[str]]


def _take(connector: SqliteConnector, lease: Lease) -> bool:
    with connector.write() as tx:
        return lease.taken(tx)


def _try_once(connector: SqliteConnector, lease: Lease, working: Path) -> str:
    """Try, and stay until all have tried: the lease of a process that is gone is free."""
    became = "owner" if _take(connector, lease) else "busy"
    with working.open("a") as tried:
        tried.write(".")
    while working.stat().st_size < RACERS:
        time.sleep(0.001)
    return became


def _work_in_turn(connector: SqliteConnector, lease: Lease, working: Path) -> str:
    """Wait for the lease, work and give it back. The work fails if another process works at the same time."""
    while not _take(connector, lease):
        time.sleep(0.001)
    try:
        working.touch(exist_ok=False)
    except FileExistsError:
        return "two owners"
    working.unlink()
    with connector.write() as tx:
        lease.give_back(tx)
    return "owner"


def _die_as_owner(connector: SqliteConnector, lease: Lease, working: Path) -> str:
    """Try for as long as a minute; whoever gets the lease is killed while it holds it."""
    deadline = time.monotonic() + SECONDS / 2
    while not _take(connector, lease):
        if time.monotonic() > deadline:
            return "kept out"
        time.sleep(0.001)
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
            connector = SqliteConnector(path)
            lease = Lease(name="work", seconds=SECONDS, clock=system_clock)
            os.read(gate, 1)
            os.write(answering, f"{_KINDS[kind](connector, lease, path.with_suffix('.working'))}\n".encode())
            os._exit(0)
        children.append(child)
    os.write(opening, b"." * RACERS)
    os.close(answering)
    for _ in children:
        os.wait()  # at once: a killed process that nobody waited for still has its process id
    with open(answers, encoding="ascii") as lines:
        became = lines.read().split("\n")[:-1]
    os.close(gate)
    os.close(opening)
    return became


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
        print(json.dumps([kind, str(path)]), file=nursery.stdin, flush=True)
        return json.loads(nursery.stdout.readline())

    with nursery:
        yield _run
        nursery.stdin.close()
    assert nursery.returncode == 0


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
    SqliteConnector(db).close()
    with _racing() as race:
        for number in range(RACES):
            assert race("in turn", db) == ["owner"] * RACERS, f"race {number}"


@pytest.mark.requirement("X10")
@pytest.mark.reliability("R9")
def test_the_lease_of_a_killed_process_goes_to_one_of_those_that_wait(db: Path) -> None:
    """Every racer in turn gets the lease of the one that was killed before it, long before that lease runs out."""
    SqliteConnector(db).close()
    with _racing() as race:
        for number in range(RACES):
            assert race("killed", db) == [], f"race {number}"
            owners = db.with_suffix(".working").read_text()
            assert owners == "owner\n" * RACERS * (number + 1)


@pytest.mark.requirement("X10")
@pytest.mark.reliability("R9")
@pytest.mark.parametrize("reused_by", ["this process", "another process", "another user's process"])
def test_a_lease_whose_process_id_belongs_to_another_by_now_runs_out_and_no_later(db: Path, reused_by: str) -> None:
    pid = {"this process": os.getpid(), "another process": os.getppid(), "another user's process": 1}[reused_by]
    now = [begun := 1_777_593_600 * SECOND]
    dead = Lease(name="work", seconds=SECONDS, clock=lambda: now[0], owner=f"{pid}:of-the-dead-one")
    ours = Lease(name="work", seconds=SECONDS, clock=lambda: now[0])
    connector = SqliteConnector(db)
    assert _take(connector, dead)
    for now[0] in (begun, begun + 1, begun + SECONDS * SECOND - 1):
        assert not _take(connector, ours)
    now[0] = begun + SECONDS * SECOND
    assert _take(connector, ours)
    assert not _take(connector, dead)
    connector.close()


@pytest.mark.reliability("R9")
def test_giving_back_a_lease_that_ran_out_takes_nothing_from_its_next_owner(db: Path) -> None:
    now = [1_777_593_600 * SECOND]
    first, second, third = (Lease(name="work", seconds=SECONDS, clock=lambda: now[0]) for _ in range(3))
    connector = SqliteConnector(db)
    assert _take(connector, first)
    now[0] += SECONDS * SECOND
    assert _take(connector, second)
    with connector.write() as tx:
        first.give_back(tx)
    assert not _take(connector, third)
    assert not _take(connector, first)
    assert _take(connector, second)
    connector.close()


if __name__ == "__main__":
    _nursery()

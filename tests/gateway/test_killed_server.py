"""A server that is killed at any moment loses nothing that it acknowledged (R1, over HTTP).

Each cycle starts a server on the same file, lets four clients write side by side, and kills it with SIGKILL when a
number of answers has come that the seed chose; other requests are under way then.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event

import httpx2
import pytest
from tests.amounts import amount
from tests.distinct_texts import distinct_text

from .serving import Served, picomem, serving, token

CYCLES = amount(2, 1_000)
CLIENTS = 4
MOST_ANSWERS = 24  # after which a server is killed at the latest


def _write(served: Served, shown: str, prefix: str, ends: Event) -> Iterator[str]:
    """Write until the server is gone; the keys that it acknowledged."""
    with served.client(shown) as client:
        for number in count():
            key = f"{prefix}n{number}"
            try:
                answer = client.post("/api/v1/remember", json={"content": distinct_text(key), "key": key})
            except httpx2.TransportError:
                assert ends.is_set(), "the server has ended by itself"
                return
            assert answer.status_code == 200, answer.text
            yield key


def _killed_while_it_serves(db: Path, shown: str, cycle: int) -> set[str]:
    """Run one server until it is killed; the keys that it acknowledged."""
    enough, ends = Event(), Event()
    wanted = random.Random(cycle).randrange(MOST_ANSWERS)
    acknowledged: list[str] = []

    def write(client: int) -> None:
        for key in _write(served, shown, f"c{cycle}w{client}", ends):
            acknowledged.append(key)
            if len(acknowledged) >= wanted:
                enough.set()

    with serving(db) as served, ThreadPoolExecutor(CLIENTS) as clients:
        done = [clients.submit(write, client) for client in range(CLIENTS)]
        assert enough.wait(60) or not wanted
        ends.set()
        served.process.kill()
        for writing in done:
            writing.result()
    return set(acknowledged)


@pytest.mark.reliability("R1")
@pytest.mark.requirement("X1", "X10")
@pytest.mark.sqlite_file("kills processes that have the file open")
@pytest.mark.timeout(amount(300, 36_000))
def test_a_server_that_is_killed_while_it_answers_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    shown = token(db, "--user", "gus")
    acknowledged: set[str] = set()
    for cycle in range(CYCLES):
        acknowledged |= _killed_while_it_serves(db, shown, cycle)
    listed = json.loads(picomem(db, "memories", "--user", "gus", "--json", "-n", "1000000").stdout)
    stored = {memory["key"]: memory["content"] for memory in listed["memories"]}
    assert {key: stored.get(key) for key in acknowledged} == {key: distinct_text(key) for key in acknowledged}
    doctor = picomem(db, "doctor", "--json")
    assert (doctor.returncode, json.loads(doctor.stdout)["findings"]) == (0, [])

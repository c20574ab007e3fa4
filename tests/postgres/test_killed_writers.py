"""Processes that are killed at any message to the server lose nothing that they acknowledged, and leave nothing half done.

This file is the program of these processes too: each kills itself with SIGKILL at its n-th message, before it is sent or
after it was answered, while others write for the same user. The last tests kill processes of the server instead.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count, takewhile
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import psycopg
import pytest
from tests.amounts import amount
from tests.distinct_texts import distinct_text
from tests.postgres_server import Server, wait_until_alone
from tests.programs import forking

import picomem
from picomem.engine.engine import Engine
from picomem.errors import StoreError
from picomem.store.postgres.connector import PostgresConnector

pytestmark = [
    pytest.mark.requirement("X11"),
    pytest.mark.reliability("R1"),
    pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGKILL"),
]

CYCLES = amount(2, 250)
WRITERS = 3
_LATEST = 120  # message at which a process is killed
_TURNS = 12
_BUSY = "SELECT pid FROM pg_stat_activity WHERE usename = 'picomem' AND xact_start IS NOT NULL"
_TERMINATE = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'picomem'"


def program(address: str, user: str, prefix: str, message: int, folder: str) -> None:
    """Remember without end, and read a conversation at times, until the process kills itself."""
    left = 2 * message
    wait = psycopg.Connection.wait

    def wait_or_die(self: Any, *arguments: Any) -> Any:
        nonlocal left
        for _ in range(2):
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
            if left % 2:
                result = wait(self, *arguments)
        return result

    acknowledged = Path(folder, f"{prefix}.acknowledged")
    with picomem.open(address, user=user, embedder="none") as memory:
        psycopg.Connection.wait = wait_or_die  # type: ignore[method-assign]
        for number in count():
            key = f"{prefix}n{number}"
            memory.remember(distinct_text(key), key=key)
            with acknowledged.open("a") as file:
                file.write(f"{key}\n")
            if number % 3 == 0:
                memory.ingest([Path(folder, "talk.jsonl")])
                memory.index()


def _gaps(keys: set[str]) -> list[str]:
    """A killed writer leaves its keys up to one, and none behind it."""
    problems = []
    for prefix in {key.rpartition("n")[0] for key in keys}:
        run = sum(1 for _ in takewhile(lambda number, prefix=prefix: f"{prefix}n{number}" in keys, count()))
        if run != sum(key.rpartition("n")[0] == prefix for key in keys):
            problems.append(f"{prefix} has a gap behind {run}")
    return problems


@pytest.mark.timeout(amount(120, 7_200))
def test_killed_writers_lose_nothing_that_they_acknowledged_and_leave_nothing_half_done(
    fenced: str, tmp_path: Path
) -> None:
    rng = random.Random(1)
    turns = [
        {"role": ("user", "assistant")[turn % 2], "content": distinct_text("talk", turn)} for turn in range(_TURNS)
    ]
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    with ExitStack() as stack, ThreadPoolExecutor(WRITERS) as threads:
        programs = [stack.enter_context(forking(__file__)) for _ in range(WRITERS)]
        for cycle in range(CYCLES):
            running = [
                threads.submit(run, fenced, "mia", f"c{cycle}w{writer}", rng.randint(1, _LATEST), str(tmp_path))
                for writer, run in enumerate(programs)
            ]
            assert [process.result() for process in running] == [None] * WRITERS
            wait_until_alone(fenced)  # the server may still be carrying out what it was sent
            with picomem.open(fenced, user="mia", embedder="none") as memory:
                _check(memory, [key for file in tmp_path.glob("*.acknowledged") for key in file.read_text().split()])
    with picomem.open(fenced, user="mia", embedder="none") as memory:
        memory.ingest([tmp_path / "talk.jsonl"])
        assert memory.ingest([tmp_path / "talk.jsonl"]).episodes == 0
        episodes = memory.timeline(limit=1000)
        assert len({hit.turns for hit in episodes}) == len(episodes) > 0
        page = memory.index()
        assert page.entries + page.left_out == len(memory.memories())
        assert memory.doctor().findings == []


def _check(memory: Engine, acknowledged: list[str]) -> None:
    kept = {stored.key: stored.content for stored in memory.memories()}
    assert [key for key in acknowledged if kept.get(key) != distinct_text(key)] == []
    assert _gaps(set(kept)) == []
    changed = memory.changes(limit=100_000)
    assert len(changed) == len(kept)


def _busy(server: Server) -> list[int]:
    """The processes of the server that carry out a transaction; none while it recovers."""
    try:
        return [pid for (pid,) in server.ask(_BUSY)]
    except psycopg.OperationalError:
        return []


@pytest.mark.parametrize("how", ["terminated", "killed"])
def test_writers_whose_server_processes_end_lose_nothing_and_store_nothing_twice(server: Server, how: str) -> None:
    """A process of the server that is killed makes the server end all others and recover."""
    address = server.new_database()
    PostgresConnector(address).close()
    over, together = Event(), Barrier(5)

    def write(writer: int) -> list[str]:
        stored = []
        with picomem.open(address, user=f"user{writer % 2}", embedder="none") as memory:
            together.wait(60)
            for number in count():
                key = f"w{writer}n{number}"
                if over.is_set():
                    return stored
                try:
                    memory.remember(distinct_text(key), key=key)
                    stored.append(key)
                except StoreError as error:
                    assert "\n" not in str(error)
        return stored

    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, writer) for writer in range(4)]
        try:
            together.wait(60)
            for _ in range(amount(2, 50)):
                while not (busy := _busy(server)):
                    assert not any(writer.done() for writer in writers)
                if how == "killed":
                    os.kill(busy[0], signal.SIGKILL)
                    server.wait()
                else:
                    server.ask(_TERMINATE)
        finally:
            over.set()
        stored = [writer.result() for writer in writers]
    for user in range(2):
        with picomem.open(address, user=f"user{user}", embedder="none") as memory:
            kept = sorted(memory.key for memory in memory.memories())
            assert kept == sorted(stored[user] + stored[user + 2])
            assert len(memory.changes(limit=100_000)) == len(kept)
            assert memory.doctor().findings == []

"""Writers that are killed at any moment lose nothing that they acknowledged (R1).

    test → nursery: one interpreter, everything loaded, nothing open → 4 writers and a keeper, forked for each cycle

A writer opens the store, remembers, and after each memory writes its key into a pipe. The keeper reads and purges
conversations of another user, scrubs, examines and copies the store. When a number of keys that the seed chose has
come, the nursery kills all five with SIGKILL and hands on what the pipe still held. Some cycles are killed before the
first key, while the writers open or make the database.

This file is the nursery's program too; forking spares each cycle the start of four interpreters.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice, takewhile
from pathlib import Path

import apsw
import pytest
from tests.amounts import amount
from tests.distinct_texts import SYLLABLES
from tests.sqlite_file import connection_of

from picomem import open as open_memory
from picomem.clock import system_clock
from picomem.engine.engine import Engine
from picomem.engine.record_chain import verify_record
from picomem.store.files.copying import copy_store

pytestmark = [
    pytest.mark.reliability("R1"),
    pytest.mark.sqlite_file("counts what a killed process leaves in the file"),
]

FILES, CYCLES = amount(3, 100), 10  # kills, of several files one after the other
WRITERS = 4
KEEPER = "keeper"  # the user whose conversations are purged
ROOT = Path(__file__).parents[2]
MOST_KEYS = 24  # after which a cycle is killed at the latest


def _text(key: str) -> str:
    """A sentence of words that no other key's sentence has, so that nothing is merged with anything."""
    rng = random.Random(key)
    words = ["".join(rng.choices(SYLLABLES, k=4)) for _ in range(6)]
    return f"{key} means that {words[0]} {words[1]} and {words[2]} {words[3]} make {words[4]} {words[5]}"


def _write(path: str, prefix: str, keys: int) -> None:
    memory = open_memory(path, embedder="static")
    for number in count():
        key = f"{prefix}n{number}"
        memory.remember(_text(key), key=key)
        os.write(keys, f"{key}\n".encode())


def _keep(path: str, name: str) -> None:
    """Maintenance without end, in a folder that is gone with the process's test."""
    folder = Path(f"{path}.{name}")
    folder.mkdir()
    memory = open_memory(path, user=KEEPER, embedder="static")
    for number in count():
        _maintain(memory, path, folder, f"{name}s{number}")


def _maintain(memory: Engine, path: str, folder: Path, session: str) -> None:
    transcript = folder / f"{session}.jsonl"
    transcript.write_text(json.dumps({"role": "user", "content": _text(session)}) + "\n")
    memory.ingest([transcript])
    purged = memory.purge(session=session)
    assert purged.scan is not None
    assert purged.unfinished or purged.scan.clean, purged
    memory.scrub()
    memory.doctor()
    copied = folder / f"{session}.db"
    copy_store(Path(path), copied)
    with open_memory(copied, embedder="none") as copy:
        assert copy.doctor().healthy or copy.status().purge_unfinished


def _cycle(path: str, name: str, enough: int) -> list[str]:
    """Fork the writers and the keeper, kill them after `enough` keys, and give all keys that were acknowledged."""
    reading, writing = os.pipe()
    children = []
    for writer in range(WRITERS):
        child = os.fork()
        if child == 0:
            os.close(reading)
            _write(path, f"{name}w{writer}", writing)
        children.append(child)
    keeper = os.fork()
    if keeper == 0:
        os.close(reading)
        os.close(writing)
        _keep(path, name)
    children.append(keeper)
    os.close(writing)
    with open(reading, encoding="ascii") as lines:
        keys = [line.strip() for line in islice(lines, enough)]
        for child in children:
            os.kill(child, signal.SIGKILL)
        states = [os.waitpid(child, 0)[1] for child in children]
        keys += [line.strip() for line in lines]
    died = [state for state in states if not os.WIFSIGNALED(state)]
    return [*keys, *(f"a process ended by itself: {state}" for state in died)]


def _nursery() -> None:
    # Load everything that the processes use, close everything.
    with tempfile.TemporaryDirectory() as folder, open_memory(f"{folder}/warm.db", embedder="static") as memory:
        memory.remember(_text("warm"), key="warm")
        _maintain(memory, f"{folder}/warm.db", Path(folder), "talk")
    for line in sys.stdin:
        path, name, enough = json.loads(line)
        sys.stdout.write(json.dumps(_cycle(path, name, enough)) + "\n")
        sys.stdout.flush()


@contextmanager
def _writers() -> Iterator[Callable[[Path, str, int], list[str]]]:
    """A function that runs one cycle in the nursery and gives the acknowledged keys."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), "TOKENIZERS_PARALLELISM": "false"}
    program = subprocess.Popen(
        [sys.executable, __file__], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert program.stdin is not None
    assert program.stdout is not None

    def _run(path: Path, name: str, enough: int) -> list[str]:
        print(json.dumps([str(path), name, enough]), file=program.stdin, flush=True)
        return json.loads(program.stdout.readline())

    with program:
        yield _run
        program.stdin.close()
    assert program.returncode == 0


@pytest.mark.timeout(amount(120, 7_200))
@pytest.mark.requirement("P3", "X10")
def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path, open_engine, disagreements):
    rng = random.Random(1)
    total = 0
    with _writers() as cycle:
        for file in range(FILES):
            path = tmp_path / f"{file}.db"
            acknowledged: list[str] = []
            for number in range(CYCLES):
                enough = rng.choice([0, rng.randint(0, 3), rng.randint(0, MOST_KEYS)])
                acknowledged += cycle(path, f"f{file}c{number}", enough)
                open_engine(path, user=KEEPER, embedder=_static(), clock=system_clock).purge(older_than=10_000)
                engine = open_engine(path, embedder=_static(), clock=system_clock)
                assert _lost(engine, acknowledged) == [], f"file {file}, cycle {number}"
                assert engine.doctor().findings == [], f"file {file}, cycle {number}"
                assert _unfinished(engine) == [], f"file {file}, cycle {number}"
                for user in (KEEPER, engine.scope.user):
                    assert verify_record(open_engine(path, user=user)).whole, f"file {file}, cycle {number}"
                engine.close()
            assert disagreements(path) == [], f"file {file}"
            total += len(acknowledged)
    assert total > FILES * CYCLES


def _static():
    from picomem.models.static_embedder import StaticEmbedder

    return StaticEmbedder()


def _lost(engine: Engine, acknowledged: list[str]) -> list[str]:
    held = {memory.key: memory.content for memory in engine.memories()}
    return [key for key in acknowledged if held.get(key) != _text(key)]


def _unfinished(engine: Engine) -> list[str]:
    """Memories that came in whole without being acknowledged must still be the next of their writer, each with one
    vector and one change: a killed writer leaves at most one of them, and nothing of another."""
    connection: apsw.Connection = connection_of(engine)
    tables = {
        table: connection.execute(f"SELECT count(*) FROM {table} WHERE user_id = ?", (engine.scope.user,)).fetchone()
        for table in ("memories", "vectors", "changes")
    }
    tables["memory_words"] = connection.execute(
        "SELECT count(*) FROM memory_words WHERE rowid IN (SELECT doc FROM memories WHERE user_id = ?)",
        (engine.scope.user,),
    ).fetchone()
    problems = [] if len(set(tables.values())) == 1 else [str(tables)]
    keys = {memory.key for memory in engine.memories()}
    for prefix in {key.rpartition("n")[0] for key in keys}:
        run = sum(1 for _ in takewhile(lambda number, prefix=prefix: f"{prefix}n{number}" in keys, count()))
        if run != sum(key.rpartition("n")[0] == prefix for key in keys):
            problems.append(f"{prefix} has a gap behind {run}")
    return problems


if __name__ == "__main__":
    _nursery()

"""Too little memory for the process or for SQLite: one sentence or success, and the store is whole afterwards (R5).

Each command runs in a process of its own, which caps its address space right before the command begins. What Python
itself needs to start is not capped: picomem says nothing before it runs. This file is that process's program too.
"""

from __future__ import annotations

import json
import random
import resource
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier

import apsw
import pytest
from tests.amounts import amount
from tests.programs import start

from picomem.cli.main import main
from picomem.clock import system_clock
from picomem.engine.engine import Engine
from picomem.errors import StoreError
from picomem.models.static_embedder import StaticEmbedder
from picomem.store.sqlite.connector import SqliteConnector

CAPS = amount(3, 50)
MEBIBYTE = 1 << 20
ENOUGH = 240  # MiB beside what the interpreter has: with so much every command succeeds


def _spread(least: int, most: int) -> list[int]:
    """So many caps between two, in equal steps."""
    return [least + (most - least) * number // (CAPS - 1) for number in range(CAPS)]


def _run(limit: str, size: int, *arguments: str) -> tuple[int, str]:
    """Run a command under a limit; its exit code and what it said on stderr."""
    process = start(__file__, limit, str(size), *arguments)
    out, _ = process.communicate(timeout=120)
    return process.returncode, out


def _text(number: int) -> str:
    """A sentence that shares few words with another's, so that nothing is merged with anything."""
    rng = random.Random(number)
    words = ["".join(rng.choices("bdfgklmnprstvzaeiou", k=8)) for _ in range(6)]
    return f"{words[0]} {words[1]} means that {words[2]} {words[3]} make {words[4]} {words[5]}"


def _transcript(path: Path) -> Path:
    lines = ({"role": "user", "content": f"The lantern of room {number} is lit."} for number in range(200))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _assert_whole(engine: Engine, acknowledged: dict[str, str]) -> None:
    assert engine.doctor().findings == []
    held = {memory.key: memory.content for memory in engine.memories()}
    assert acknowledged.items() <= held.items()
    engine.close()


@pytest.mark.sqlite_file("bounds the memory of a process that has the file open")
@pytest.mark.requirement("P3")
@pytest.mark.reliability("R5")
@pytest.mark.parametrize(
    ("limit", "least", "most"), [("address space", 1, ENOUGH), ("heap", 0, 8), ("soft heap", 0, 8)]
)
def test_a_lack_of_memory_is_one_sentence_and_loses_nothing(
    limit: str, least: int, most: int, db: Path, tmp_path: Path, open_engine
) -> None:
    talk = _transcript(tmp_path / "talk.jsonl")
    open_engine(db, embedder=StaticEmbedder(), clock=system_clock).close()
    acknowledged: dict[str, str] = {}
    wrong: list[str] = []
    for number, cap in enumerate(_spread(least * MEBIBYTE, most * MEBIBYTE)):
        key, text = f"k{number}", _text(number)
        remember = ("remember", text, "--key", key)
        command = (remember, ("recall", "ferry quay"), remember, ("ingest", str(talk)))[number % 4]
        code, said = _run(limit, cap, *command, "--db", str(db))
        if code == 0 and command is remember:
            acknowledged[key] = text
        if not _is_clean(code, said) and not (limit == "address space" and _is_of_a_library(code, said)):
            wrong.append(f"{cap:,} bytes, {command[0]}: exit code {code}, {said[-600:]}")
        _assert_whole(open_engine(db, clock=system_clock), acknowledged)
    assert wrong == []
    assert len(acknowledged) == (CAPS + CAPS % 2) // 2 if limit == "soft heap" else acknowledged


def _is_clean(code: int, said: str) -> bool:
    """Success, or one sentence and an exit code of ours."""
    return code == 0 or (code == StoreError.exit_code and said.startswith("picomem: ") and len(said.splitlines()) == 1)


def _is_of_a_library(code: int, said: str) -> bool:
    """Whether compiled code ended the process: Rust aborts, OpenBLAS exits with 1 and says so on its own stderr, and
    what fails without a reason gets this one from Python."""
    is_without_reason = said.endswith("SystemError: error return without exception set\n")
    return code in (-signal.SIGABRT, -signal.SIGSEGV) or (code == 1 and (said == "" or is_without_reason))


def _limited() -> int:
    """The command of the arguments under the limit of the arguments."""
    name, size, *given = sys.argv[1:]
    sys.stderr = sys.stdout  # what is said is looked at, not where
    with open("/proc/self/statm", encoding="ascii") as pages:
        used = int(pages.read().split()[0]) * resource.getpagesize()
    if name == "address space":
        resource.setrlimit(resource.RLIMIT_AS, (used + int(size), used + int(size)))
    elif name == "heap":
        apsw.hard_heap_limit(int(size) or 1)
    else:
        apsw.soft_heap_limit(int(size) or 1)
    return main(given)


@pytest.mark.sqlite_file("reads the size of SQLite's cache")
def test_the_pages_that_the_readers_of_many_threads_keep_are_bounded(tmp_path: Path) -> None:
    with closing(SqliteConnector(tmp_path / "memory.db")) as connector:
        together = Barrier(20)

        def kept(_: int) -> int:
            with connector.read():
                together.wait(60)
                return -connector._reader().pragma("cache_size") * 1024

        with ThreadPoolExecutor(20) as threads:
            sizes = list(threads.map(kept, range(20)))
    assert sum(sizes) < 64 * MEBIBYTE
    assert max(sizes) >= 15 * MEBIBYTE, "a process that reads in one thread"


if __name__ == "__main__":
    raise SystemExit(_limited())

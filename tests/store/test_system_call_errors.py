"""System calls that fail at random: what was acknowledged is stored, and what failed is stored whole or not (R4).

A commit whose sync fails is an error to the caller, and the next one who opens the store may find it in the log.

libfiu lets a share of the calls that write or sync fail, in a process of its own. Without `fiu-run` (Debian's
`fiu-utils`) the test is skipped. This file is the process's program too.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.amounts import amount
from tests.programs import start

from picomem import open as open_memory
from picomem.clock import system_clock
from picomem.errors import PicomemError, StoreError

OPERATIONS = amount(40, 2_000)
CALLS = ("posix/io/rw/pwrite", "posix/io/sync/fsync", "posix/io/sync/fdatasync")


def _text(number: int) -> str:
    return f"Crate {number} holds {number * 7} ropes, {number * 13} lanterns and {number * 29} anchors"


def _wrapped(percent: int) -> list[str]:
    points = (f"enable_random name={call},probability={percent / 100}" for call in CALLS)
    return ["fiu-run", "-x", *(part for point in points for part in ("-c", point))]


@pytest.mark.sqlite_file("lets calls on the files of the store fail")
@pytest.mark.requirement("P3")
@pytest.mark.reliability("R4")
@pytest.mark.timeout(1_800)
@pytest.mark.skipif(shutil.which("fiu-run") is None, reason="needs fiu-run, of Debian's package fiu-utils")
@pytest.mark.parametrize("percent", [1, 3, 10])
def test_what_was_acknowledged_while_calls_failed_is_stored(percent: int, db: Path, open_engine, disagreements) -> None:
    open_engine(db, clock=system_clock).close()
    process = start(__file__, str(db), wrapped=_wrapped(percent))
    lines = process.communicate(timeout=1_500)[0].splitlines()
    assert process.returncode == 0
    acknowledged, failures = json.loads(lines[-1])
    tried = len(acknowledged) + failures
    engine = open_engine(db, clock=system_clock)
    held = {memory.key: memory.content for memory in engine.memories()}
    assert held.items() <= {f"k{number}": _text(number) for number in range(tried)}.items()
    assert {f"k{number}" for number in acknowledged} <= held.keys()
    assert len(held) - len(acknowledged) <= failures
    assert engine.doctor().findings == []
    engine.close()
    assert disagreements(db) == []
    assert acknowledged
    assert failures


def _write(path: Path) -> None:
    """Remember one statement after the other, opening the store anew after a failure; say what was acknowledged.

    One attempt makes 13 to 30 calls, so where a tenth of them fail, forty attempts in a row can all fail. The process
    goes on until both outcomes were seen.
    """
    acknowledged, failures, memory = [], 0, None
    for number in itertools.count():
        if number >= OPERATIONS and acknowledged and failures:
            break
        try:
            memory = memory or open_memory(path, embedder="none")
            memory.remember(_text(number), key=f"k{number}")
            acknowledged.append(number)
        except StoreError:
            failures += 1
            if memory is not None:
                with suppress(PicomemError):
                    memory.close()
                memory = None
    sys.stdout.write(json.dumps([acknowledged, failures]) + "\n")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))

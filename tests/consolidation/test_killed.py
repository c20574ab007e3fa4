"""A real process that consolidates, killed with SIGKILL at many points and run again; and two at once.

The process kills itself right before its n-th SQL statement, as in tests/ingest/test_interrupted.py. The model is asked
between two transactions, so that is among the points too. The process is forked from one in which everything is loaded.
This file is the program of both as well.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import apsw
import pytest
from tests.consolidation.conftest import PORT, TALK, Scripted, proposal, said, with_window
from tests.programs import forking

from picomem import consolidation_runner
from picomem import open as open_memory
from picomem.models.generator import Fact

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGKILL"),
    pytest.mark.sqlite_file("kills a process at one of SQLite's statements"),
]

ROOT = Path(__file__).parents[2]
_NEVER = 1_000_000
SETTINGS = with_window(1_000)
_SCRIPT = (
    proposal(PORT, Fact("crane", "The crane of pier nine is yellow"), invalidate=("staging_pool_port",)),
    proposal(Fact("crane", "The crane of pier nine is green"), timeline="They painted the crane."),
)


Run = Callable[..., int]


def program(db: str, session: str, statement: int) -> int:
    """Consolidate until that statement; how many there were."""
    left = statement

    def count(*_: object) -> bool:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
    with open_memory(db, embedder="none", settings=SETTINGS) as memory:
        done_before = memory.sessions().get(session).last_consolidated_seq
        script = list(_SCRIPT[1:] if done_before else _SCRIPT)
        # By hand, for what is left of it after a kill may not be due.
        anyio.run(partial(consolidation_runner.consolidate, memory, Scripted(script), session, force=True))
    return statement - left


def _start(db: Path, session: str, statement: int = _NEVER) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, __file__, str(db), session, str(statement)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """`run(db, session, statement)`: consolidate until that statement; how many there were, or 0 if it was killed."""
    with forking(__file__) as call:
        yield lambda db, session, statement=_NEVER: call(str(db), session, statement) or 0


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A store with a conversation of two parts, not consolidated yet."""
    db = tmp_path_factory.mktemp("made") / "made.db"
    with open_memory(db, embedder="none", settings=SETTINGS) as memory:
        memory.remember("The staging pool asks port 6432", key="staging_pool_port", origin="agent", since="2026-04-30")
        log = memory.sessions()
        session = log.create()
        log.append(session.id, *TALK, said("user", "The crane of pier nine is yellow. " + "boat " * 240))
        log.append(session.id, said("assistant", "Noted. " + "crane " * 240), said("user", "We painted it green now."))
        log.append(
            session.id, said("assistant", "Green it is. " + "boat " * 240), said("user", "Bye. " + "boat " * 240)
        )
        log.append(session.id, said("assistant", "Bye."))
    return db, session.id


@pytest.fixture
def calm(made, run: Run, tmp_path: Path) -> tuple[dict[str, Any], int]:
    """The rows of one undisturbed run, and how many statements it had."""
    db = _copy(made[0], tmp_path / "calm.db")
    count = run(db, made[1])
    rows = _rows(db)
    assert len(rows["runs"]) == len(rows["timeline"]) == 2
    return rows, count


def _let_the_lease_expire(db: Path) -> None:
    """Let the time pass for which a killed process keeps others from asking a model."""
    with closing(apsw.Connection(str(db))) as connection:
        connection.execute("UPDATE leases SET expires_at = 0")


def _copy(made: Path, to: Path) -> Path:
    shutil.copy(made, to)
    return to


def _rows(db: Path) -> dict[str, Any]:
    """What the store holds, by what does not differ from run to run."""
    with closing(apsw.Connection(str(db))) as connection:

        def select(sql: str) -> list[Any]:
            return connection.execute(sql).fetchall()

        return {
            "memories": select(
                "SELECT key, version, content, origin, source, known_to IS NULL FROM memories ORDER BY key, version"
            ),
            "timeline": select(
                "SELECT preview, category, first_turn, last_turn, part, origin, role FROM episodes ORDER BY first_turn"
            ),
            "summary": select("SELECT summary, message_count, covered_seq, origin FROM session_summaries"),
            "pointer": select("SELECT last_consolidated_seq, consolidation_failures FROM sessions"),
            "runs": select("SELECT first_seq, last_seq, before_seq, summarised FROM consolidations ORDER BY first_seq"),
            "changes": select("SELECT verb, decision, count(*) FROM changes GROUP BY verb, decision ORDER BY 1, 2"),
            "lineage": select(
                "SELECT l.child_kind, l.role, m.seq, count(*) FROM lineage AS l "
                "LEFT JOIN messages AS m ON m.id = l.parent_id GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
            ),
            "transcripts": select("SELECT host, turns FROM transcripts"),
        }


@pytest.mark.requirement("A7", "A11")
def test_a_killed_run_that_is_run_again_leaves_the_rows_of_one_calm_run(
    calm, made, run, tmp_path, disagreements
) -> None:
    expected, statements = calm
    points = range(1, statements + 1)
    if os.environ.get("KILLS") != "all":
        points = random.Random(20260501).sample(points, 12)
    for point in points:
        db = _copy(made[0], tmp_path / f"{point}.db")
        assert run(db, made[1], point) == 0
        between = _rows(db)
        assert len(between["runs"]) == len(between["timeline"])  # a run is there whole, or not at all
        assert between["pointer"][0][0] == max([0, *(last for _, last, _, _ in between["runs"])])
        _let_the_lease_expire(db)
        run(db, made[1])
        assert _rows(db) == expected, f"killed at statement {point}"
        assert disagreements(db) == []


def test_a_process_that_dies_again_and_again_pays_for_each_call(made, run, tmp_path, calm) -> None:
    """What was reserved stays on the books, so even that ends at the limit."""
    db = _copy(made[0], tmp_path / "dying.db")
    deaths = 0
    for point in range(2, calm[1], 3):
        deaths += run(db, made[1], point) == 0
        _let_the_lease_expire(db)
        with open_memory(db, embedder="none", settings=SETTINGS) as memory:
            if memory.status().models:
                break
    with open_memory(db, embedder="none", settings=SETTINGS) as memory:
        assert deaths
        spent = memory.status().models["scripted"]
        assert spent == {"calls": 1, "input_tokens": 300, "output_tokens": 60}


@pytest.mark.requirement("A5", "X10")
def test_two_processes_that_consolidate_one_session_at_once_do_it_once(calm, made, tmp_path, disagreements) -> None:
    for attempt in range(3):
        db = _copy(made[0], tmp_path / f"both{attempt}.db")
        both = [_start(db, made[1]) for _ in range(2)]
        ended = [(process.communicate(timeout=120)[1], process.returncode) for process in both]
        assert ended == [("", 0)] * 2
        rows = _rows(db)
        spans = [(first, last) for first, last, _, _ in rows["runs"]]
        assert spans == [(first, last) for first, last, _, _ in calm[0]["runs"]]
        assert [row[2:] for row in rows["timeline"]] == [row[2:] for row in calm[0]["timeline"]]
        assert rows["pointer"] == calm[0]["pointer"]
        with open_memory(db, embedder="none", settings=SETTINGS) as memory:
            assert memory.status().models["scripted"]["calls"] == len(spans)  # nothing is paid for twice
        assert disagreements(db) == []


if __name__ == "__main__":
    program(sys.argv[1], sys.argv[2], int(sys.argv[3]))

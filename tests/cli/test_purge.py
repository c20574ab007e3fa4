"""Purge as a person runs it: the real command in a process of its own, beside others, and killed at each step."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sealed_stores import is_setting

from picomem import open as open_memory

from ..erasure.planted import OTHER, SESSION, STAYS, found_in, plant
from .conftest import Picomem

pytestmark = pytest.mark.sqlite_file("copies the file, looks at its bytes and locks it")

DATA = "data/picomem"


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a filled store in it, which tests copy."""
    home = tmp_path_factory.mktemp("filled")
    folder = home / DATA
    folder.mkdir(parents=True)
    with open_memory(folder / "picomem.db", embedder="static") as engine:
        plant(engine, folder)
    (home / "talks").mkdir()
    for talk in (folder / "talk.jsonl", folder / OTHER):
        talk.rename(home / "talks" / talk.name)  # it belongs to another program, and stays
    return home


@pytest.fixture
def stored(filled: Path, home: Path) -> Path:
    """The data directory of the test's home, filled."""
    shutil.copytree(filled, home, dirs_exist_ok=True)
    with open_memory(home / DATA / "picomem.db", embedder="none") as engine:
        engine.export_index(home / DATA / "memory" / "MEMORY-INDEX.md")
    assert found_in(home / DATA)
    return home / DATA


@pytest.mark.requirement("X5")
def test_the_command_erases_every_planted_word_and_says_what_it_scanned(picomem: Picomem, stored: Path) -> None:
    done = picomem("purge", "--session", SESSION, "--yes")
    assert done.code == 0, done.err
    assert "0 of " in done.out
    assert "strings found" in done.out
    assert found_in(stored) == {}
    again = picomem("ingest", str(stored.parent.parent / "talks"))
    assert "purged session 1" in again.out
    assert found_in(stored) == {}
    assert picomem("doctor").code == 0
    assert STAYS in picomem("recall", "harbour crane").out


def test_without_a_terminal_and_without_yes_nothing_is_purged(picomem: Picomem, stored: Path) -> None:
    before = (stored / "picomem.db").read_bytes()
    for option in ((), ("--json",)):
        done = picomem("purge", "--everything", *option, stdin="y\n")
        assert done.code == 2
        assert "no terminal to ask at" in done.err
    assert "There is no session" in picomem("purge", "--session", "nowhere", "--dry-run").err
    shown = picomem("purge", "--session", SESSION, "--dry-run")
    assert "This would go for good" in shown.out
    assert "Notes are your own files" in shown.out
    assert (stored / "picomem.db").read_bytes() == before


@pytest.mark.parametrize(("answer", "gone"), [("n", False), ("", False), ("y", True)])
def test_at_a_terminal_it_asks_and_only_yes_purges(home: Path, stored: Path, answer: str, gone: bool) -> None:
    said, answering = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "picomem.cli.main", "purge", "--session", SESSION],
        stdin=answering,
        stdout=subprocess.PIPE,
        stderr=answering,
        env=_environment(home),
        cwd=home,
    )
    os.close(answering)
    shown = b""
    while b"(y/n)" not in shown:
        shown += os.read(said, 4096)
    assert b"This would go for good" in shown
    os.write(said, answer.encode() + b"\n")
    assert process.wait() == 0
    process.stdout.close()
    os.close(said)
    assert (found_in(stored) == {}) is gone


@pytest.mark.requirement("X5", "X10")
def test_beside_a_process_that_reads_it_says_that_it_is_not_finished_and_the_next_run_finishes(
    picomem: Picomem, stored: Path, reader: subprocess.Popen
) -> None:
    blocked = picomem("purge", "--session", SESSION, "--yes", "--wait", "0")
    assert blocked.code == 6
    assert "being read by another process" in blocked.out
    assert "strings found" in blocked.out
    assert "not finished" in picomem("status").out
    assert "not finished" in picomem("doctor").out
    assert found_in(stored) != {}  # the reader's snapshot stands in the log and the file
    reader.communicate()
    done = picomem("purge")
    assert done.code == 0, done.err
    assert "is finished" in done.out
    assert found_in(stored) == {}
    assert "not finished" not in picomem("status").out


@pytest.fixture
def reader(stored: Path) -> Iterator[subprocess.Popen]:
    """Another process in the middle of a read; it ends when its stdin does."""
    code = (
        "import sys; from pathlib import Path\n"
        "from picomem.store.files.sealed_files import connect\n"
        "c = connect(Path(sys.argv[1]))\n"
        "c.execute('BEGIN'); c.execute('SELECT count(*) FROM memories').fetchall()\n"
        "print('reading', flush=True); sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(stored / "picomem.db")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "reading\n"
    yield process
    process.kill()
    process.communicate()


# Where a run is killed: the step before which it dies, and whether the deletion is committed by then.
STEPS = (
    ("picomem.store.tables.audit", "blank", False),
    ("picomem.erasure.file_traces", "without_purged", True),
    ("picomem.erasure.file_traces", "_exports", True),
    ("picomem.store.sqlite.fts5", "Fts5Search.merge", True),
    ("picomem.store.sqlite.connector", "SqliteConnector.alone", True),
    ("picomem.store.tables.tombstones", "end", True),
    ("picomem.erasure.proof", "scan", True),
)
_KILLED = """
import importlib, os, signal, sys
module, _, name = sys.argv[1].partition(":")
place = importlib.import_module(module)
*outer, last = name.split(".")
for name in outer:
    place = getattr(place, name)
setattr(place, last, lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL))
from picomem.cli.main import main
main(["purge", "--session", sys.argv[2], "--yes"])
"""


@pytest.mark.requirement("X5")
@pytest.mark.parametrize(("module", "name", "committed"), STEPS, ids=[name for _, name, _ in STEPS])
def test_killed_at_any_step_it_has_done_nothing_or_the_next_run_does_the_rest(
    picomem: Picomem, home: Path, stored: Path, module: str, name: str, committed: bool
) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", _KILLED, f"{module}:{name}", SESSION], env=_environment(home), cwd=home, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    unfinished = picomem("status", "--json").json["purge_unfinished"]
    assert unfinished == (committed and name != "scan")
    assert ("purge" in picomem("changes").out) == committed
    done = picomem("purge", "--session", SESSION, "--yes")
    assert done.code == (0 if unfinished or not committed else 3)
    assert found_in(stored) == {}
    assert picomem("doctor").code == 0


def _environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
    return {**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "TZ": "UTC"}

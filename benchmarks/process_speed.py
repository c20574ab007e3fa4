"""The cost of a process: the run time of `picomem recall` and of the prompt hook, and the memory of one that stays.

Each is compared with the minimal Python program with SQLite: `python -c "import sqlite3"`. The two are run in turn,
and the fastest time of each counts. The command is what the installed script runs, without the search for it.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from benchmarks.fill import ASKER, FOLDER, PROJECT, Filled
from picomem.errors import PicomemError
from picomem.light_dataclass import dataclass

RUNS = 15
_BARE = "import sqlite3"
_COMMAND = "import sys; from picomem.cli.main import main; sys.exit(main())"
_STATUS = Path("/proc/self/status")
_ASKING = """
import json, sys
from picomem.app import open_engine
told = json.load(sys.stdin)
engine = open_engine(told["store"], user=told["user"], embedder=told["embedder"])
for question in told["questions"]:
    engine.recall(question)
"""
_WEIGHING = """
with open("/proc/self/status") as file:
    status = dict(line.split(":", 1) for line in file)
print(status["VmRSS"].split()[0], status["VmHWM"].split()[0])
"""


class NothingFound(PicomemError):
    """The command found nothing in a store that holds what it asked for, so its times would say nothing."""

    code = "nothing_found"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartSpeed:
    """`picomem recall` as a process over a store of so many episodes of one user; the least of the runs, in
    milliseconds. `times` is by the time that passed, `cpu_times` by processor time."""

    episodes: int
    embedder: str
    ms: float
    cpu_ms: float
    bare_ms: float
    bare_cpu_ms: float
    times: float
    cpu_times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryUse:
    """Resident memory of a process after recalls over so many episodes of one user, and its peak, in megabytes (10⁶
    bytes; pages of mapped files count). `times` is over a bare interpreter's."""

    episodes: int
    embedder: str
    questions: int
    mb: float
    peak_mb: float
    bare_mb: float
    times: float


def start(filled: Filled, embedder: str, runs: int = RUNS) -> StartSpeed:
    """Start `picomem recall` and the bare interpreter `runs` times each."""
    env = environment(filled, embedder)
    options = ["--db", str(filled.store), "--user", ASKER]
    command = [sys.executable, "-c", _COMMAND, *options, "recall", filled.questions[0]]
    bare = [sys.executable, "-c", _BARE]
    _check_found([*command, "--json"], env)
    both = [(run_timed(command, env), run_timed(bare, env)) for _ in range(runs)]
    (ms, cpu_ms), (bare_ms, bare_cpu_ms) = (
        tuple(min(run[which][kind] for run in both) for kind in (0, 1)) for which in (0, 1)
    )
    return StartSpeed(
        episodes=filled.episodes,
        embedder=embedder,
        ms=ms,
        cpu_ms=cpu_ms,
        bare_ms=bare_ms,
        bare_cpu_ms=bare_cpu_ms,
        times=ms / bare_ms,
        cpu_times=cpu_ms / bare_cpu_ms,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HookSpeed:
    """The prompt hook from its start to its answer, over so many episodes of one user, and a bare interpreter: medians
    of the time that passed, in milliseconds. `beside` is what answers: the hook by itself, or a process that runs."""

    episodes: int
    beside: str
    ms: float
    bare_ms: float
    times: float


def hook(filled: Filled, runs: int = RUNS) -> list[HookSpeed]:
    """Start the hook and the bare interpreter `runs` times each: alone, then while `picomem mcp` runs."""
    env = environment(filled, "static")
    asking = [sys.executable, "-c", _COMMAND, "--db", str(filled.store), "--user", ASKER, "prompt-context"]
    _check_found([*asking, filled.questions[0], "--project", PROJECT, "--json"], env, "entries")
    alone = _hook_speed(filled, "alone", env, runs)
    command = [sys.executable, "-c", _COMMAND, "--db", str(filled.store), "--user", ASKER, "mcp"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as server:
        try:
            while not list(filled.store.parent.glob("hook-*.sock")):
                sleep(0.05)
            return [alone, _hook_speed(filled, "picomem mcp", env, runs)]
        finally:
            server.communicate()


def _hook_speed(filled: Filled, beside: str, env: Mapping[str, str], runs: int) -> HookSpeed:
    """A prompt each, which no run before it was given."""
    command = [sys.executable, "-m", "picomem.hooks.hook", "--db", str(filled.store), "--user", ASKER, "--wait", "60"]
    bare = [sys.executable, "-c", "pass"]
    both = []
    for number in range(runs + 1):
        question = filled.questions[number % len(filled.questions)]
        event = {"hook_event_name": "UserPromptSubmit", "session_id": f"{number}", "cwd": FOLDER, "prompt": question}
        both.append((run_timed(command, env, json.dumps(event))[0], run_timed(bare, env)[0]))
    warm = both[1:]  # the first opens what the others find open
    ms, bare_ms = (median(run[which] for run in warm) for which in (0, 1))
    return HookSpeed(episodes=filled.episodes, beside=beside, ms=ms, bare_ms=bare_ms, times=ms / bare_ms)


def memory(filled: Filled, embedder: str) -> MemoryUse | None:
    """Weigh a process of its own that has asked all the questions; None where the system does not tell (/proc)."""
    if not _STATUS.exists():
        return None
    env = environment(filled, embedder)
    told = {"store": str(filled.store), "user": ASKER, "embedder": embedder, "questions": filled.questions}
    now, peak = _weighed(_ASKING + _WEIGHING, json.dumps(told), env)
    bare, _ = _weighed(_BARE + _WEIGHING, "", env)
    return MemoryUse(
        episodes=filled.episodes,
        embedder=embedder,
        questions=len(filled.questions),
        mb=now,
        peak_mb=peak,
        bare_mb=bare,
        times=now / bare,
    )


def environment(filled: Filled, embedder: str) -> dict[str, str]:
    """Ours, but that no settings of the machine's user are read and no store of theirs, and that Python may keep what
    it has compiled: a program that is installed is not compiled anew each time."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PICOMEM_")}
    ours.pop("PYTHONDONTWRITEBYTECODE", None)
    return ours | {
        "PICOMEM_DATA_DIR": str(filled.store.parent),
        "PICOMEM_RECALL_EMBEDDER": embedder,
        "PICOMEM_RECALL_TIMEZONE": "UTC",
    }


def _check_found(command: Sequence[str], env: Mapping[str, str], name: str = "hits") -> None:
    """What finds nothing is fast, and would say nothing."""
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    if not json.loads(done.stdout)[name]:
        raise NothingFound()


def run_timed(command: Sequence[str], env: Mapping[str, str], given: str = "") -> tuple[float, float]:
    """Milliseconds that a process took: passed, and of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = perf_counter()
    subprocess.run(command, env=env, check=True, input=given.encode(), stdout=subprocess.DEVNULL)
    passed = perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed * 1000, (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def _weighed(code: str, given: str, env: Mapping[str, str]) -> tuple[float, float]:
    """Megabytes of resident memory that a program has at its end, and had at most."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, check=True, input=given, capture_output=True, text=True)
    now, peak = (int(kilobytes) * 1024 / 1e6 for kilobytes in done.stdout.split())
    return now, peak

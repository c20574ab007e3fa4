"""`python -m benchmarks hooks`: how many answers of a hook are lost on a busy machine, and how long the others take.

The hook runs as a host runs it, alone and beside `picomem mcp`, with the time that it has by itself, while other
processes keep the processors busy. An answer is lost where the hook prints nothing, though memory has something.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, sleep

from picomem.app import open_engine
from picomem.light_dataclass import dataclass
from picomem.settings import Settings

_FOLDER = "/made-up/billing"
_EVENTS = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "which database does the billing service use?"},
}
_MEMORIES = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class HookLoad:
    """Runs of the hook at one event, in milliseconds. `beside` is what answers; `lost` counts the runs without an
    answer."""

    event: str
    beside: str
    busy: int
    runs: int
    lost: int
    median_ms: float
    p99_ms: float
    worst_ms: float


@dataclass(frozen=True, slots=True)
class HookReport:
    loads: list[HookLoad]


def run(busy: int, runs: int, progress: Callable[[str], None] = lambda _: None) -> HookReport:
    """Run the hook `runs` times for each event, alone and beside `picomem mcp`, beside so many busy processes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o700)
        env = _environment(folder)
        with open_engine(folder / "picomem.db", settings=Settings(), embedder="none") as engine:
            for number in range(_MEMORIES):
                engine.remember(f"Service {number} of the harbor runs on port {9_000 + number}", kind="fact")
            engine.remember("The billing service uses PostgreSQL 16", kind="decision")
        loads = []
        with _busy(busy):
            for event in _EVENTS:
                progress(f"{event}, alone")
                loads.append(_load(event, "alone", busy, runs, env))
            with _mcp(folder, env):
                for event in _EVENTS:
                    progress(f"{event}, beside picomem mcp")
                    loads.append(_load(event, "picomem mcp", busy, runs, env))
    return HookReport(loads)


def render(report: HookReport) -> str:
    """The report as a table."""
    rows = [("event", "answered by", "busy", "runs", "lost", "median ms", "p99 ms", "worst ms")]
    for load in report.loads:
        median, p99, worst = (f"{ms:.0f}" for ms in (load.median_ms, load.p99_ms, load.worst_ms))
        rows.append((load.event, load.beside, f"{load.busy}", f"{load.runs}", f"{load.lost}", median, p99, worst))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at < 2 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _load(event: str, beside: str, busy: int, runs: int, env: Mapping[str, str]) -> HookLoad:
    times, lost = [], 0
    for number in range(runs):
        session = f"{beside} {event} {number}"
        told = {"hook_event_name": event, "session_id": session, "cwd": _FOLDER, **_EVENTS[event]}
        started = perf_counter()
        done = subprocess.run(
            [sys.executable, "-m", "picomem.hooks.hook"],
            env=env,
            input=json.dumps(told).encode(),
            capture_output=True,
            check=True,
        )
        times.append((perf_counter() - started) * 1000)
        lost += b"PostgreSQL 16" not in done.stdout
    p99 = quantiles(times, n=100, method="inclusive")[-1] if runs > 1 else times[0]
    return HookLoad(
        event=event,
        beside=beside,
        busy=busy,
        runs=runs,
        lost=lost,
        median_ms=median(times),
        p99_ms=p99,
        worst_ms=max(times),
    )


def _environment(folder: Path) -> dict[str, str]:
    """Ours without the settings and the store of the machine's user; Python may keep what it has compiled."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PICOMEM_")}
    ours.pop("PYTHONDONTWRITEBYTECODE", None)
    return ours | {"PICOMEM_DATA_DIR": str(folder)}


@contextmanager
def _busy(count: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@contextmanager
def _mcp(folder: Path, env: Mapping[str, str]) -> Iterator[None]:
    command = [sys.executable, "-m", "picomem", "mcp"]
    with subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        try:
            while not list(folder.glob("hook-*.sock")):
                sleep(0.05)
            yield
        finally:
            process.communicate()

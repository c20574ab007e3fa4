"""`python -m benchmarks speed --sealed`: what it costs that a store is sealed, beside the same store in plain.

Both are asked in turn in one run, so that whatever else the machine does slows both. Of a question or an ingest the
fastest time counts, of a hook the median.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks import ingest_speed, process_speed, recall_speed
from benchmarks.fill import ASKER, FOLDER, Filled, Model, fill
from benchmarks.madeup import write_claude_code
from picomem.app import open_engine
from picomem.light_dataclass import dataclass, replace
from picomem.models.static_embedder import StaticEmbedder
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.files.copying import copy_store

MOST_TIMES = 1.25  # what issue X12 allows
_KEY = "5ea1" * 16
_VARIABLE = "PICOMEM_STORE_KEY"
_QUESTIONS, _HOOKS, _INGESTS, _BYTES = 100, 15, 3, 6_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedCost:
    """Milliseconds of the same in plain and sealed, and their ratio."""

    what: str
    plain_ms: float
    sealed_ms: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedReport:
    """What was measured over so many episodes."""

    episodes: int
    costs: tuple[SealedCost, ...]


def run(size: int, progress: Callable[[str], None]) -> SealedReport:
    """Measure over a made-up store of so many episodes."""
    with TemporaryDirectory(prefix="picomem-bench-") as folder:
        here = Path(folder).resolve()
        model = Model(name=StaticEmbedder.name, dimensions=StaticEmbedder.dimensions)
        plain = fill(here / "plain", size, 1, _QUESTIONS, model, progress)
        (here / "sealed").mkdir()
        sealed = replace(plain, store=here / "sealed" / "memory.db")
        copy_store(plain.store, sealed.store, _KEY)
        costs = [*_recall(plain, sealed, progress), *_hook(plain, sealed, progress), *_ingest(here, progress)]
    return SealedReport(episodes=size, costs=tuple(costs))


def render(report: SealedReport) -> str:
    """The report as plain text."""
    lines = [f"{report.episodes:,} episodes of one user", f"{'':24}{'plain ms':>12}{'sealed ms':>12}{'times':>8}"]
    lines += [f"{cost.what:24}{cost.plain_ms:12,.2f}{cost.sealed_ms:12,.2f}{cost.times:8.2f}" for cost in report.costs]
    return "\n".join(lines)


@contextmanager
def _key() -> Iterator[None]:
    os.environ[_VARIABLE] = _KEY
    try:
        yield
    finally:
        del os.environ[_VARIABLE]


def _cost(what: str, plain_ms: float, sealed_ms: float) -> SealedCost:
    return SealedCost(what=what, plain_ms=plain_ms, sealed_ms=sealed_ms, times=sealed_ms / plain_ms)


def _recall(plain: Filled, sealed: Filled, progress: Callable[[str], None]) -> Iterator[SealedCost]:
    settings = Settings(recall=RecallSettings(timezone="UTC"))
    for embedder in ("none", "static"):
        progress(f"recall, embedder {embedder}")
        with (
            open_engine(plain.store, user=ASKER, settings=settings, embedder=embedder) as one,
            _key(),
            open_engine(sealed.store, user=ASKER, settings=settings, embedder=embedder) as other,
        ):
            times = recall_speed.raced(plain.questions, (one.recall, other.recall), recall_speed.ROUNDS)
        yield _cost(f"recall, {embedder}", times[0].p50_ms, times[1].p50_ms)
        yield _cost(f"recall, {embedder}, p99", times[0].p99_ms, times[1].p99_ms)


def _hook(plain: Filled, sealed: Filled, progress: Callable[[str], None]) -> Iterator[SealedCost]:
    progress("the prompt hook")
    passed: list[list[float]] = [[], []]
    for number in range(_HOOKS + 1):
        question = plain.questions[number % len(plain.questions)]
        event = {"hook_event_name": "UserPromptSubmit", "session_id": f"{number}", "cwd": FOLDER, "prompt": question}
        for times, filled, given in zip(passed, (plain, sealed), ({}, {_VARIABLE: _KEY}), strict=True):
            env = process_speed.environment(filled, "static") | given
            command = [sys.executable, "-m", "picomem.hooks.hook", "--db", str(filled.store), "--user", ASKER]
            times.append(process_speed.run_timed([*command, "--wait", "60"], env, json.dumps(event))[0])
    yield _cost("hook", *(median(times[1:]) for times in passed))


def _ingest(here: Path, progress: Callable[[str], None]) -> Iterator[SealedCost]:
    files = write_claude_code(here / "claude-code", _BYTES)
    for embedder in ("none", "static"):
        plain, sealed = [], []
        for number in range(_INGESTS):
            progress(f"ingest, embedder {embedder}: {number + 1} of {_INGESTS}")
            plain.append(ingest_speed.ingested(files, embedder).seconds)
            with _key():
                sealed.append(ingest_speed.ingested(files, embedder).seconds)
        yield _cost(f"ingest, {embedder}", min(plain) * 1000, min(sealed) * 1000)

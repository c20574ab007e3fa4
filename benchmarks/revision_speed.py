"""`python -m benchmarks revisions`: what a memory costs that was revised often, beside one that was revised seldom.

Two stores hold the same memories. One memory of each is a state that was stated anew under its key, a few times or many
times. Both are asked in turn, and the fastest time of each verb counts, because other programs only ever add time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.prose import Prose
from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.light_dataclass import dataclass
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings

FEW = 20
_OTHERS = 100  # memories beside it
_ROUNDS = 15
_SEED = 37
_QUESTION = "At which step of the harbour survey are we?"


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionCost:
    """Processor time of a verb, in milliseconds, with few revisions of one key and with many; `times` is the ratio."""

    verb: str
    few_ms: float
    many_ms: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionReport:
    """The verbs with `FEW` and with `many` revisions, and the embedder: "static" or "none"."""

    many: int
    embedder: str
    costs: list[RevisionCost]


def measure(many: int, embedder: str, progress: Callable[[str], None], rounds: int = _ROUNDS) -> RevisionReport:
    """Compare `FEW` with `many` revisions."""
    settings = Settings(recall=RecallSettings(timezone="UTC"))
    with (
        TemporaryDirectory() as folder,
        open_engine(Path(folder) / "few.db", settings=settings, embedder=embedder) as few,
        open_engine(Path(folder) / "many.db", settings=settings, embedder=embedder) as often,
    ):
        for engine, count in ((few, FEW), (often, many)):
            progress(f"filling: {count:,} revisions")
            _fill(engine, count)
        best = {(name, engine is often): float("inf") for name in _VERBS for engine in (few, often)}
        for _ in range(rounds):
            for name, verb in _VERBS.items():
                for engine in (few, often):
                    key = (name, engine is often)
                    best[key] = min(best[key], _timed(verb, engine))
    costs = [_compared(name, best[name, False], best[name, True]) for name in _VERBS]
    return RevisionReport(many=many, embedder=embedder, costs=costs)


def _compared(verb: str, few_ms: float, many_ms: float) -> RevisionCost:
    return RevisionCost(verb=verb, few_ms=few_ms, many_ms=many_ms, times=many_ms / few_ms)


_VERBS: dict[str, Callable[[Engine], object]] = {
    "recall": lambda engine: engine.recall(_QUESTION),
    "remember": lambda engine: engine.remember(f"The harbour survey is at step {process_time()}", key="state"),
    "why": lambda engine: engine.why("state", limit=FEW),
}


def _fill(engine: Engine, revisions: int) -> None:
    prose = Prose(_SEED)
    topic = prose.topic()
    for number in range(_OTHERS):
        engine.remember(prose.text(topic, 20), key=f"memory_{number}")
    for step in range(revisions):
        engine.remember(f"The harbour survey is at step {step}", key="state")


def _timed(verb: Callable[[Engine], object], engine: Engine) -> float:
    used = process_time()
    verb(engine)
    return (process_time() - used) * 1000


def render(report: RevisionReport) -> str:
    """The report as a table for a document."""
    lines = [f"| verb | {FEW} revisions, ms | {report.many:,} revisions, ms | times |", "|---|---|---|---|"]
    lines += [f"| {cost.verb} | {cost.few_ms:.2f} | {cost.many_ms:.2f} | {cost.times:.2f} |" for cost in report.costs]
    return "\n".join(lines)

"""`python -m benchmarks memories`: what storing and recalling cost as the number of a user's memories grows.

There are two kinds of stores: of everyday prose, where most statements have a rare word, and of few words, where none
is rare. The stores of all sizes are asked in turn, because other programs on the machine slow all of them down alike,
and the ratios to the smallest hold. Times are medians of processor time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.fill_memories import SEED, fill_memories
from benchmarks.prose import FewWords, Prose
from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.light_dataclass import dataclass
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.sqlite.connector import SqliteConnector
from question_sets.metrics import median

_ROUNDS = 40
_WORDS = 15  # of a new memory
_KINDS: dict[str, type[Prose]] = {"everyday prose": Prose, "few words": FewWords}


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCost:
    """Processor time of a verb in milliseconds, in a store of some kind with so many `memories`; `times` is the ratio
    to the smallest store of the kind."""

    kind: str
    verb: str
    memories: int
    ms: float
    times: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthReport:
    """The costs by kind, verb and size, and the embedder: "static" or "none"."""

    embedder: str
    costs: list[MemoryCost]


def measure(
    sizes: Sequence[int], embedder: str, progress: Callable[[str], None], rounds: int = _ROUNDS
) -> GrowthReport:
    """Compare stores of these sizes."""
    costs: list[MemoryCost] = []
    for kind in _KINDS:
        with TemporaryDirectory() as folder, ExitStack() as opened:
            engines: dict[int, Engine] = {}
            for size in sorted(sizes):
                file = Path(folder) / f"{size}.db"
                with closing(SqliteConnector(file)) as connector:
                    fill_memories(connector, "local", size, progress=progress, prose=_KINDS[kind](SEED))
                settings = Settings(recall=RecallSettings(timezone="UTC"))
                engines[size] = opened.enter_context(open_engine(file, settings=settings, embedder=embedder))
            costs += _costs(kind, engines, rounds)
    return GrowthReport(embedder=embedder, costs=costs)


def _costs(kind: str, engines: dict[int, Engine], rounds: int) -> list[MemoryCost]:
    prose = _KINDS[kind](SEED)
    topics = [prose.topic() for _ in range(rounds)]
    spent: dict[tuple[str, int], list[float]] = {}
    for number, topic in enumerate([topics[0], *topics]):
        text = prose.text(topic, _WORDS)
        question = prose.question(text)
        for size, engine in engines.items():
            recalled = _timed(lambda engine=engine: engine.recall(question))  # noqa: B023
            stored = _timed(lambda engine=engine: engine.remember(text, key=f"new_{number}"))  # noqa: B023
            if number:  # the first round only warms them
                spent.setdefault(("recall", size), []).append(recalled)
                spent.setdefault(("remember", size), []).append(stored)
    least = min(engines)
    return [
        MemoryCost(
            kind=kind, verb=verb, memories=size, ms=median(times), times=median(times) / median(spent[verb, least])
        )
        for (verb, size), times in sorted(spent.items())
    ]


def _timed(call: Callable[[], object]) -> float:
    used = process_time()
    call()
    return (process_time() - used) * 1000


def render(report: GrowthReport) -> str:
    """The report as a table for a document."""
    lines = ["| texts | verb | memories | ms | times the smallest |", "|---|---|---|---|---|"]
    lines += [
        f"| {cost.kind} | {cost.verb} | {cost.memories:,} | {cost.ms:.1f} | {cost.times:.1f} |" for cost in report.costs
    ]
    return "\n".join(lines)

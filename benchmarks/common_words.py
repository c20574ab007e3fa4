"""`python -m benchmarks common-words`: what a question costs whose words every memory holds, in stores that grow.

A rare word beside them costs what its few memories cost. The fastest of several rounds counts, because other programs
only ever add time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from benchmarks.fill_memories import SEED, fill_memories
from benchmarks.prose import Prose
from picomem.app import open_engine
from picomem.light_dataclass import dataclass
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.sqlite.connector import SqliteConnector

SIZES = (1_000, 10_000, 20_000, 100_000)
_ROUNDS = 5
_COMMON = "bollard quay mooring"
_RARE = "The hawser is in the shed"
QUESTIONS = {
    "a rare word": "hawser",
    "a rare word, and one that all hold": "hawser bollard",
    "a word that all hold": "bollard",
    "three words that all hold": _COMMON,
}


class _CommonProse(Prose):
    """Texts that all end in the same words."""

    def text(self, topic: list[str], words: int | None = None) -> str:
        return f"{super().text(topic, words)} {_COMMON}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionCost:
    """Processor time of a recall, in milliseconds, by the number of memories, in their order."""

    question: str
    cpu_ms: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonWordsReport:
    """The questions in stores of these sizes."""

    memories: list[int]
    costs: list[QuestionCost]


def measure(sizes: Sequence[int], progress: Callable[[str], None]) -> CommonWordsReport:
    """Ask each question in a store of each size."""
    measured = [_measure_in(size, progress) for size in sizes]
    costs = [QuestionCost(question=name, cpu_ms=[of_size[name] for of_size in measured]) for name in QUESTIONS]
    return CommonWordsReport(memories=list(sizes), costs=costs)


def _measure_in(size: int, progress: Callable[[str], None]) -> dict[str, float]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        settings = Settings(recall=RecallSettings(timezone="UTC"))
        with open_engine(path, settings=settings, embedder="none") as engine:
            engine.remember(_RARE)
        with closing(SqliteConnector(path)) as connector:
            fill_memories(connector, "local", size, progress=progress, prose=_CommonProse(SEED))
        with open_engine(path, settings=settings, embedder="none") as engine:
            return {name: _fastest(partial(engine.recall, question)) for name, question in QUESTIONS.items()}


def _fastest(verb: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(_ROUNDS):
        used = process_time()
        verb()
        best = min(best, (process_time() - used) * 1000)
    return best


def render(report: CommonWordsReport) -> str:
    """The report as a table for a document."""
    lines = [
        f"| question | {' | '.join(f'{size:,}' for size in report.memories)} |",
        "|---" * (len(report.memories) + 1) + "|",
    ]
    lines += [f"| {cost.question} | {' | '.join(f'{ms:.1f}' for ms in cost.cpu_ms)} |" for cost in report.costs]
    return "\n".join(lines)

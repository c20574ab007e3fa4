"""How long a question takes in a warm process, compared with the bare FTS5 query for it over the same texts.

The two are asked in turn, question by question, in several rounds (two, if a round takes a minute). The fastest time
of each question counts, because other programs on the machine only ever add time. Then the median and the 99th
percentile over the questions are taken. The report gives both the processor time of the process (all its threads) and
the elapsed time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from math import ceil
from time import perf_counter, process_time

from benchmarks.fill import ASKER, Filled, tell
from picomem.app import open_engine
from picomem.clock import parse_iso
from picomem.light_dataclass import dataclass
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.sqlite.connector import SqliteConnector
from question_sets.fts5_baseline import Fts5
from question_sets.metrics import median

ROUNDS = 5
_LEAST_ROUNDS, _ENOUGH = 2, 60.0  # no round is begun after so many and so many seconds
_NOW = parse_iso("2026-01-01")
_HITS = 10
_RELOADS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Median and 99th percentile (nearest rank) over the questions, in milliseconds."""

    cpu_p50_ms: float
    cpu_p99_ms: float
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallSpeed:
    """Recall for one user, who has `own` of the `episodes` of `users`, with this embedder ("static" or "none").

    `bare` is the FTS5 query for ten; `times_p50` and `times_p99` recall over bare by the time that passed, `cpu_times`
    the medians by processor time. `after_change_ms` is a recall when the store has changed since the last.
    """

    episodes: int
    users: int
    own: int
    embedder: str
    questions: int
    recall: Times
    bare: Times
    times_p50: float
    times_p99: float
    cpu_times: float
    after_change_ms: float


def measure(filled: Filled, embedder: str, rounds: int = ROUNDS) -> RecallSpeed:
    """Ask all the questions of a filled store `rounds` times, with default limits."""
    settings = Settings(recall=RecallSettings(timezone="UTC"))
    plain = Fts5(filled.plain, shared=filled.users > 1)
    with (
        open_engine(filled.store, user=ASKER, settings=settings, embedder=embedder, clock=lambda: _NOW) as engine,
        closing(plain),
    ):
        recall, bare = raced(
            filled.questions, (engine.recall, lambda question: plain.best(question, _HITS, ASKER)), rounds
        )
        reloads = [_after_change(filled, engine.recall, question) for question in filled.questions[:_RELOADS]]
    return RecallSpeed(
        episodes=filled.episodes,
        users=filled.users,
        own=filled.own,
        embedder=embedder,
        questions=len(filled.questions),
        recall=recall,
        bare=bare,
        times_p50=recall.p50_ms / bare.p50_ms,
        times_p99=recall.p99_ms / bare.p99_ms,
        cpu_times=recall.cpu_p50_ms / bare.cpu_p50_ms,
        after_change_ms=median(reloads),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """The nearest-rank percentile: the least value that `share` (0–1) of the values do not exceed."""
    return sorted(values)[max(1, ceil(share * len(values))) - 1]


def raced(questions: Sequence[str], systems: Sequence[Callable[[str], object]], rounds: int) -> list[Times]:
    """The times of each of the systems, which take turns."""
    for ask in systems:
        ask(questions[0])
    best = [{question: (float("inf"), float("inf")) for question in questions} for _ in systems]
    begun = perf_counter()
    for number in range(rounds):
        if number >= _LEAST_ROUNDS and perf_counter() - begun > _ENOUGH:
            break
        for question in questions:
            for ask, least in zip(systems, best, strict=True):
                passed, used = _timed(ask, question)
                least[question] = (min(least[question][0], passed), min(least[question][1], used))
    return [_times(list(least.values())) for least in best]


def _timed(ask: Callable[[str], object], question: str) -> tuple[float, float]:
    started, used = perf_counter(), process_time()
    ask(question)
    return (perf_counter() - started) * 1000, (process_time() - used) * 1000


def _times(timings: Sequence[tuple[float, float]]) -> Times:
    passed, used = [timing[0] for timing in timings], [timing[1] for timing in timings]
    return Times(
        cpu_p50_ms=percentile(used, 0.5),
        cpu_p99_ms=percentile(used, 0.99),
        p50_ms=percentile(passed, 0.5),
        p99_ms=percentile(passed, 0.99),
    )


def _after_change(filled: Filled, ask: Callable[[str], object], question: str) -> float:
    """Milliseconds of an answer when another connection has stored an episode of the asker since the last one."""
    with closing(SqliteConnector(filled.store)) as connector:
        tell(connector, filled.model, question)
    return _timed(ask, question)[0]

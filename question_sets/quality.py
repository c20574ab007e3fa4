"""`python -m benchmarks quality`: measures how well recall finds answers, compared with plain FTS5 on the same text.

For each set, the benchmark reads the cases, tries each one (see trial.py) and averages the metrics (see metrics.py)
over the answerable questions with gold: for sessions and for turns, for all questions and for each type. The ranking
is measured on 50 hits without a token budget; the default call is measured on the hits that it returns. If a set has
unanswerable questions, the report includes the calibration of recall's confidence (confidence_calibration.py).
All figures except the times are the same on every run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import closing
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from picomem.app import open_store
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass
from picomem.store.tables import users
from question_sets import metrics
from question_sets.cases import Case, read_cases, set_name
from question_sets.confidence_calibration import ConfidenceCalibration, measure_calibration, rendered
from question_sets.differences import Difference, claimed, difference_rows, differences
from question_sets.tables import markdown, plain, share
from question_sets.trial import DEFAULT_CALL, SYSTEMS, TRIAL_USERS, UNITS, RecallWay, Trial, TrialOutcome, try_case

ALL_TYPES = "all"
MOST = 1_000  # depths, jobs and parts of a set
_LISTED = (SYSTEMS[0], DEFAULT_CALL, *SYSTEMS[1:])
_AHEAD = 2  # cases that wait for each process: a case is a megabyte, and a set has hundreds


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityProgress:
    """The progress of a run: finished cases and questions of the set `name`."""

    name: str
    cases: int
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityRow:
    """The means of one system over one type of question ("all": over all) and one unit ("session" or "turn").

    `scores` has `n`, `any@k`, `all@k`, `frac@k`, `ndcg@10` and `mrr@10`.
    """

    unit: str
    type: str
    system: str
    scores: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetQuality:
    """One set. Times are medians over its questions, in milliseconds: of recall for 50 hits, of FTS5 for 10 turns.

    `turns_per_hit` is the mean over the first ten hits of every answer; `time_ratio` the one time over the other;
    `ingest_turns_per_second` counts writing to the store, not reading the set. `questions` are those that can be
    answered; `calibration` is None where there are no others. `differences` are recall's to FTS5, over all questions.
    """

    name: str
    cases: int
    questions: int
    turns: int
    turns_per_hit: float
    recall_ms: float
    fts5_ms: float
    time_ratio: float
    ingest_turns_per_second: float
    lines: tuple[QualityRow, ...]
    calibration: ConfidenceCalibration | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityReport:
    """`dataclasses.asdict` of it can be written as JSON. Of the cases of a set, one in `every` was tried. `server` is
    the store on a server in which they were; empty where each had a file."""

    server: str
    embedder: str
    every: int
    ks: tuple[int, ...]
    sets: tuple[SetQuality, ...]

    def line(self, name: str, unit: str, system: str = "picomem", kind: str = ALL_TYPES) -> QualityRow | None:
        """One line of one set; None where it is not there (a set without gold turns has no turn lines)."""
        for quality in self.sets:
            for line in quality.lines:
                if (quality.name, line.unit, line.system, line.type) == (name, unit, system, kind):
                    return line
        return None


def run(
    files: list[Path],
    ks: tuple[int, ...] = (5, 10),
    progress: Callable[[QualityProgress], None] | None = None,
    *,
    jobs: int = 1,
    embedder: str = "static",
    every: int = 1,
    server: str = "",
) -> QualityReport:
    """Measure on these sets (see cases.py), one after the other.

    `ks` are the depths of any, all and frac; `jobs` how many processes share a set's cases; `embedder` is one as
    `recall.embedder` names it. Of each set the first case is tried and then every `every`-th: what would take a day
    can be measured on the same part by anybody. `server` is the address of a store in which each case becomes a user,
    whose rows stay; it may hold nothing else. Raises NotFound or InvalidInput for a file that is no set, and for
    depths, jobs or a part below 1.
    """
    if not ks or min(*ks, jobs, every) < 1:
        raise InvalidInput("The depths, the number of jobs and the part of the cases are whole numbers from 1.")
    if max(*ks, jobs, every) > MOST:
        raise InvalidInput(f"The depths, the number of jobs and the part of the cases are at most {MOST:,}.")
    place = _server_for_trials(server) if server else ""
    ks = tuple(sorted(set(ks)))
    depth = max(*ks, metrics.DEPTH)
    sets = [
        _quality(
            set_name(path),
            tried(islice(read_cases(path), 0, None, every), depth, embedder, jobs, server=server),
            ks,
            progress,
        )
        for path in files
    ]
    return QualityReport(server=place, embedder=embedder, every=every, ks=ks, sets=tuple(sets))


def _server_for_trials(address: str) -> str:
    """The name of a store on a server that holds nothing but trials. Raises InvalidInput for another one."""
    with closing(open_store(address, create=True)) as store, store.read() as tx:
        if any(not user.startswith(TRIAL_USERS) for user in users.ids(tx)):
            raise InvalidInput(f"{store.name} holds the memory of users; name a database that is made for measuring.")
        return store.name


def tried(
    cases: Iterable[Case],
    depth: int,
    embedder: str,
    jobs: int,
    others: Mapping[str, RecallWay] | None = None,
    *,
    server: str = "",
) -> Iterator[Trial]:
    """The trials (see try_case), in the order of the cases, however many processes work on them."""
    if jobs == 1:
        for case in cases:
            yield try_case(case, depth, embedder, others=others, server=server)
        return
    # A fresh interpreter for each process: a forked one would share the parent's database and threads.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting: deque[Future[Trial]] = deque()
        for case in cases:
            waiting.append(pool.submit(try_case, case, depth, embedder, others=others, server=server))
            if len(waiting) > jobs * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _quality(
    name: str, trials: Iterable[Trial], ks: tuple[int, ...], progress: Callable[[QualityProgress], None] | None
) -> SetQuality:
    asked: list[TrialOutcome] = []
    case_of: list[int] = []  # of each question, for questions on one haystack are not independent
    cases = turns = 0
    ingest_seconds = 0.0
    for trial in trials:
        asked += trial.outcomes
        case_of += [cases] * len(trial.outcomes)
        cases += 1
        turns += trial.turns
        ingest_seconds += trial.ingest_seconds
        if progress:
            progress(QualityProgress(name=name, cases=cases, questions=sum(outcome.answerable for outcome in asked)))
    outcomes = [outcome for outcome in asked if outcome.answerable]
    recall, fts5 = (metrics.median([outcome.seconds[system] for outcome in outcomes]) * 1000 for system in SYSTEMS)
    return SetQuality(
        name=name,
        cases=cases,
        questions=len(outcomes),
        turns=turns,
        turns_per_hit=metrics.mean([width for outcome in outcomes for width in outcome.widths]),
        recall_ms=recall,
        fts5_ms=fts5,
        time_ratio=recall / fts5 if fts5 else 0.0,
        ingest_turns_per_second=turns / ingest_seconds if ingest_seconds else 0.0,
        lines=tuple(lines_of(outcomes, ks)),
        calibration=measure_calibration(asked),
        differences=tuple(differences(asked, case_of, ks)),
    )


def lines_of(outcomes: Sequence[TrialOutcome], ks: tuple[int, ...]) -> Iterator[QualityRow]:
    """The table of a set: by unit, over all questions and then by type, each system in turn."""
    kinds = sorted({outcome.type for outcome in outcomes})
    for unit in UNITS:
        for kind in (ALL_TYPES, *(kinds if len(kinds) > 1 else ())):
            for system in _LISTED:
                gold_ranks = [
                    outcome.ranks[unit, system]
                    for outcome in outcomes
                    if kind in (ALL_TYPES, outcome.type) and (unit, system) in outcome.ranks
                ]
                if gold_ranks:
                    yield QualityRow(unit=unit, type=kind, system=system, scores=metrics.scores(gold_ranks, ks))


def render(report: QualityReport) -> str:
    """The report as plain text: a heading and a table for each set."""
    return "\n\n".join(_rendered(quality, report) for quality in report.sets)


def _rendered(quality: SetQuality, report: QualityReport) -> str:
    heading = (
        f"{_part(quality, report)}: {quality.cases} cases, {quality.questions} questions, {quality.turns} turns; "
        f"embedder {report.embedder}{report.server and f'; on {report.server}'}\n"
        f"  {quality.turns_per_hit:.2f} turns per hit; recall {quality.recall_ms:.1f} ms, "
        f"FTS5 {quality.fts5_ms:.2f} ms ({quality.time_ratio:.1f} times); "
        f"ingest {quality.ingest_turns_per_second:.0f} turns/s"
    )
    if not quality.lines:
        return heading
    return "\n".join(
        [
            heading,
            *plain(score_rows(quality), left=3),
            "  picomem less fts5 on the same questions, with what the difference is worth:",
            *plain(difference_rows(quality.differences), left=2),
            *rendered(quality.calibration),
        ]
    )


def _part(quality: SetQuality, report: QualityReport) -> str:
    """Describe the tried part of a set: the whole set, or some of its cases."""
    return quality.name if report.every == 1 else f"{quality.name}, one case in {report.every}"


def score_rows(quality: SetQuality) -> list[list[str]]:
    """The lines of a set as a table, the heading first."""
    names = [name for name in quality.lines[0].scores if name != "n"]
    rows = [["unit", "type", "system", "n", *names]]
    for line in quality.lines:
        values = (f"{line.scores[name]:.3f}" for name in names)
        rows.append([line.unit, line.type, line.system, f"{line.scores['n']:.0f}", *values])
    return rows


def render_markdown(report: QualityReport) -> str:
    """Two tables for a document: the scores over all questions of every set, and what the
    differences that the documents speak of are worth."""
    scores: list[list[str]] = []
    worth: list[list[str]] = []
    for quality in report.sets:
        heading, *rows = score_rows(quality)
        scores = scores or [["set", "unit", *heading[2:]]]
        scores += [
            [_part(quality, report), row[0], row[2], row[3], *(share(float(value)) for value in row[4:])]
            for row in rows
            if row[1] == ALL_TYPES
        ]
        heading, *rows = difference_rows(claimed(quality.differences))
        worth = worth or [["set", *heading]]
        worth += [[_part(quality, report), *row] for row in rows]
    return "\n".join([*markdown(scores), "", *markdown(worth)])

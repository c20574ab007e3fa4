"""The report of `python -m benchmarks own`: figures of each variant, significance of differences, and misses.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from picomem.light_dataclass import dataclass
from question_sets import metrics
from question_sets.own_questions import OwnQuestion
from question_sets.significance import Paired, paired
from question_sets.tables import chance, markdown, plain, share

BARE = "fts5"
DEPTH = 10
_DEPTHS = (1, 5, 10)
_SURE = 5  # what confidence is about: some of the answer among so many
_LONG = 30  # characters of a way's name
_SHORT = 150  # characters of a result that is shown
_MEASURES = (*(f"any@{k}" for k in _DEPTHS), f"mrr@{metrics.DEPTH}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownResult:
    """A result, for a person: where it stands, and its text."""

    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The outcome for a question: the rank of the first result that was wanted (None beyond `DEPTH`), and what came
    first. `confidence` is None where the system has none."""

    rank: metrics.Rank
    seconds: float
    confidence: float | None
    came: tuple[ShownResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedWay:
    """One way of recalling, or plain FTS5. `confidence` is the mean over the questions whose answer was among the first
    five, `unsure` over the others; None where there are none. `ms` is the median; `vectors` were made for it."""

    name: str
    scores: dict[str, float]
    confidence: float | None
    unsure: float | None
    ms: float
    vectors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """`ours` less `theirs` by mrr@10; `worth.won` and `.lost` count the questions that the one answers earlier."""

    ours: str
    theirs: str
    worth: Paired


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredQuestion:
    """One question, with the rank of what was wanted by way. `known` is whether the store has the session at all."""

    line: int
    question: str
    wanted: str
    known: bool
    ranks: dict[str, metrics.Rank]
    confidence: float
    came: tuple[ShownResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnReport:
    """`asdict` of it can be written as JSON. The first of `ways` is the one that `asked` is about; the last is FTS5."""

    store: str
    user: str
    episodes: int
    memories: int
    ways: tuple[ReportedWay, ...]
    compared: tuple[Compared, ...]
    asked: tuple[ScoredQuestion, ...]


class MeasuredStore(NamedTuple):
    """A store and a user of it, with the numbers of what was searched."""

    store: str
    user: str
    episodes: int
    memories: int


def made_report(
    measured: MeasuredStore,
    *,
    ways: Sequence[str],
    made: Mapping[str, int],
    questions: Sequence[OwnQuestion],
    unknown: set[int],
    answered: Mapping[str, Sequence[Answered]],
) -> OwnReport:
    """The report of the answers by way, each to all the questions in their order; `unknown` are the lines whose session
    is not in the store."""
    first = ways[0]
    pairs = [(first, BARE), *((way, first) for way in ways[1:])]
    return OwnReport(
        store=measured.store,
        user=measured.user,
        episodes=measured.episodes,
        memories=measured.memories,
        ways=tuple(_way(name, answered[name], made.get(name, 0)) for name in (*ways, BARE)),
        compared=tuple(_compared(ours, theirs, answered) for ours, theirs in pairs),
        asked=tuple(
            ScoredQuestion(
                line=question.line,
                question=question.text,
                wanted=question.wanted,
                known=question.line not in unknown,
                ranks={name: answered[name][number].rank for name in (*ways, BARE)},
                confidence=answered[first][number].confidence or 0.0,
                came=answered[first][number].came,
            )
            for number, question in enumerate(questions)
        ),
    )


def _way(name: str, answered: Sequence[Answered], made: int) -> ReportedWay:
    scores = metrics.scores([(answer.rank,) for answer in answered], _DEPTHS)
    sure = [answer.confidence for answer in answered if answer.confidence is not None and _is_found(answer)]
    unsure = [answer.confidence for answer in answered if answer.confidence is not None and not _is_found(answer)]
    return ReportedWay(
        name=name,
        scores={measure: scores[measure] for measure in _MEASURES},
        confidence=metrics.mean(sure) if sure else None,
        unsure=metrics.mean(unsure) if unsure else None,
        ms=metrics.median([answer.seconds for answer in answered]) * 1000,
        vectors=made,
    )


def _is_found(answered: Answered) -> bool:
    return bool(metrics.any_at((answered.rank,), _SURE))


def _compared(ours: str, theirs: str, answered: Mapping[str, Sequence[Answered]]) -> Compared:
    mine, others = ([metrics.reciprocal_rank((answer.rank,)) for answer in answered[name]] for name in (ours, theirs))
    # Each question is a case of its own: they share the store, but so does every further question of this user.
    worth = paired(mine, others, range(len(mine)))
    assert worth is not None  # a file without a question is refused
    return Compared(ours=ours, theirs=theirs, worth=worth)


def render(report: OwnReport, *, as_markdown: bool = False) -> str:
    """The report for a person; with `as_markdown`, the table is one for a document."""
    rows = list(_rows(report))
    table = markdown(rows) if as_markdown else plain(rows, left=1)
    heading = (
        f"{_counted(len(report.asked), 'question')} over {_counted(report.episodes, 'episode')} and "
        f"{_counted(report.memories, 'memory', 'memories')} of user "
        f"{report.user} in {report.store}\n(asked of a copy, which is gone again; nothing was written to the store)"
    )
    compared = [_sentence(comparison) for comparison in report.compared]
    return "\n".join([heading, "", *table, "", *compared, *_missed(report)])


def _rows(report: OwnReport) -> Iterator[list[str]]:
    yield ["", *_MEASURES, "confidence: found", "not found", "ms", "vectors made"]
    for way in report.ways:
        sure = ("" if confidence is None else f"{confidence:.2f}" for confidence in (way.confidence, way.unsure))
        made = "" if way.name == BARE else f"{way.vectors:,}"
        yield [_short(way.name), *(share(way.scores[measure]) for measure in _MEASURES), *sure, f"{way.ms:.1f}", made]


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _sentence(compared: Compared) -> str:
    worth = compared.worth
    alike = worth.questions - worth.won - worth.lost
    return (
        f"{_short(compared.ours)} beside {_short(compared.theirs)}: {_counted(worth.won, 'question')} won, "
        f"{worth.lost} lost, {alike} alike; "
        f"mrr@10 {share(worth.difference)}, 95 % {share(worth.low)} to {share(worth.high)}, p {chance(worth.p)}"
    )


def _short(name: str) -> str:
    """A way's name without the folders above a model's own."""
    parts = name.split("/")
    return name if len(name) <= _LONG or len(parts) < 4 else f"{parts[0]}/…/{'/'.join(parts[-2:])}"


def _missed(report: OwnReport) -> Iterator[str]:
    first = report.ways[0].name
    missed = [question for question in report.asked if question.ranks[first] is None]
    if not missed:
        return
    yield f"\nNot among the first {DEPTH} of {_short(first)}:"
    for question in missed:
        others = [f"{_short(name)} finds it at {rank}" for name, rank in question.ranks.items() if rank is not None]
        yield f"\n  line {question.line}: {question.question}"
        yield f"    wanted {question.wanted}" + ("" if question.known else ", which is not in this store")
        yield f"    {'; '.join([f'confidence {question.confidence:.2f}', *others])}; what came instead:"
        for number, came in enumerate(question.came, 1):
            text = " ".join(came.text.split())
            yield f"    {number}. {came.place}: {text[:_SHORT]}{'…' if len(text) > _SHORT else ''}"
        if not question.came:
            yield "    nothing"

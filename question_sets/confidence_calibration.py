"""The calibration of recall's confidence: does it separate answerable questions from unanswerable ones? Pure.

AUROC is the probability that an answerable question gets a higher score than an unanswerable one. Only the order
counts, so BM25 scores can be compared with recall's confidence. The reliability table groups the questions by
confidence, and shows for each group how often an answer was among the first `DEPTH` hits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from picomem.light_dataclass import dataclass
from question_sets import metrics
from question_sets.trial import JUDGES, TrialOutcome

DEPTH = 5
BINS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The `n` questions whose confidence is between `least` and the next bin, `unanswerable` of which have no answer.

    `confidence` is their mean; `found` is the share of them for which recall found an answer. Both are 0 in an empty
    bin."""

    least: float
    n: int
    unanswerable: int
    confidence: float
    found: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceCalibration:
    """`auroc` by judge (see JUDGES), of `answerable` beside `unanswerable` questions."""

    answerable: int
    unanswerable: int
    auroc: dict[str, float]
    reliability: tuple[Bin, ...]


def measure_calibration(asked: Sequence[TrialOutcome]) -> ConfidenceCalibration | None:
    """Measure how well confidence separates answerable questions from others; None if all or none are answerable."""
    known = [outcome for outcome in asked if outcome.answerable]
    unknown = [outcome for outcome in asked if not outcome.answerable]
    if not known or not unknown:
        return None
    return ConfidenceCalibration(
        answerable=len(known),
        unanswerable=len(unknown),
        auroc={
            judge: metrics.auroc(
                [outcome.certainty[judge] for outcome in known], [outcome.certainty[judge] for outcome in unknown]
            )
            for judge in JUDGES
        },
        reliability=tuple(_bins(asked)),
    )


def is_found(outcome: TrialOutcome) -> bool:
    """Return whether some of the gold is among recall's first `DEPTH`: turns, or sessions where no turn is named."""
    ranks = outcome.ranks
    return bool(metrics.any_at(ranks.get(("turn", "picomem")) or ranks.get(("session", "picomem"), ()), DEPTH))


def _bins(asked: Sequence[TrialOutcome]) -> Iterator[Bin]:
    for number in range(BINS):
        members = [outcome for outcome in asked if min(BINS - 1, int(outcome.certainty["picomem"] * BINS)) == number]
        yield Bin(
            least=number / BINS,
            n=len(members),
            unanswerable=sum(not outcome.answerable for outcome in members),
            confidence=metrics.mean([outcome.certainty["picomem"] for outcome in members]),
            found=metrics.mean([float(is_found(outcome)) for outcome in members]),
        )


def rendered(judged: ConfidenceCalibration | None) -> Iterator[str]:
    """The lines that say so; none of nothing."""
    if judged is None:
        return
    told = ", ".join(f"{judge} {value:.3f}" for judge, value in judged.auroc.items())
    yield f"  AUROC, {judged.answerable} questions with an answer beside {judged.unanswerable} without: {told}"
    yield f"  confidence     n  without an answer   mean  some gold in the first {DEPTH}"
    for row in judged.reliability:
        span = f"{row.least:.1f}–{row.least + 1 / BINS:.1f}"
        yield f"  {span}  {row.n:8}  {row.unanswerable:17}  {row.confidence:5.2f}  {row.found:.3f}"

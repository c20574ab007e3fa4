"""How far a system knows when nothing is known: whether its certainty tells questions that a haystack answers from
those that it cannot. Pure.

Two views of the same numbers. AUROC says how often a question with an answer is given the greater certainty than one
without; only the order counts, so a bare BM25 score can stand beside recall's confidence. The reliability table says
whether the confidence means something: among the questions that were given about so much, in how many was some of the
gold among the first `DEPTH` hits?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from picomem.evaluation import metrics
from picomem.evaluation.trial import JUDGES, TrialOutcome
from picomem.light_dataclass import dataclass

DEPTH = 5
BINS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """The questions whose confidence is from `least` up to the next bin: how many, `unanswerable` ones among them,
    their mean confidence, and in what share of them an answer was found (both 0 of none)."""

    least: float
    n: int
    unanswerable: int
    confidence: float
    found: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sureness:
    """`auroc` by judge (see JUDGES), of `answerable` beside `unanswerable` questions."""

    answerable: int
    unanswerable: int
    auroc: dict[str, float]
    reliability: tuple[Bin, ...]


def sureness(asked: Sequence[TrialOutcome]) -> Sureness | None:
    """What the certainties of these questions are worth; None where all of them, or none, have an answer."""
    known = [each for each in asked if each.answerable]
    unknown = [each for each in asked if not each.answerable]
    if not known or not unknown:
        return None
    return Sureness(
        answerable=len(known),
        unanswerable=len(unknown),
        auroc={
            judge: metrics.auroc([each.certainty[judge] for each in known], [each.certainty[judge] for each in unknown])
            for judge in JUDGES
        },
        reliability=tuple(_bins(asked)),
    )


def is_found(outcome: TrialOutcome) -> bool:
    """Whether some of the gold is among recall's first `DEPTH`: turns, or sessions where no turn is named."""
    ranks = outcome.ranks
    return bool(metrics.any_at(ranks.get(("turn", "picomem")) or ranks.get(("session", "picomem"), ()), DEPTH))


def _bins(asked: Sequence[TrialOutcome]) -> Iterator[Bin]:
    for number in range(BINS):
        members = [each for each in asked if min(BINS - 1, int(each.certainty["picomem"] * BINS)) == number]
        yield Bin(
            least=number / BINS,
            n=len(members),
            unanswerable=sum(not each.answerable for each in members),
            confidence=metrics.mean([each.certainty["picomem"] for each in members]),
            found=metrics.mean([float(is_found(each)) for each in members]),
        )


def rendered(found: Sureness | None) -> Iterator[str]:
    """The lines that say so; none of nothing."""
    if found is None:
        return
    told = ", ".join(f"{judge} {value:.3f}" for judge, value in found.auroc.items())
    yield f"  AUROC, {found.answerable} questions with an answer beside {found.unanswerable} without: {told}"
    yield f"  confidence     n  without an answer   mean  some gold in the first {DEPTH}"
    for each in found.reliability:
        span = f"{each.least:.1f}–{each.least + 1 / BINS:.1f}"
        yield f"  {span}  {each.n:8}  {each.unanswerable:17}  {each.confidence:5.2f}  {each.found:.3f}"

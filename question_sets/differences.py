"""The significance of recall's lead over FTS5 on a set, for each measure, question by question (see significance.py).
Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from picomem.light_dataclass import dataclass
from question_sets import metrics
from question_sets.significance import Paired, paired
from question_sets.tables import chance, share
from question_sets.trial import SYSTEMS, UNITS, TrialOutcome

_CLAIMED = ("any@5", "frac@10", "ndcg@10")  # what the documents speak of


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first of SYSTEMS less the second, by one measure over one unit."""

    unit: str
    measure: str
    worth: Paired


def differences(outcomes: Sequence[TrialOutcome], cases: Sequence[int], ks: tuple[int, ...]) -> Iterator[Difference]:
    """The differences by unit and measure, over the questions with gold; `cases` names the case of each outcome."""
    for unit in UNITS:
        asked = [number for number, outcome in enumerate(outcomes) if (unit, SYSTEMS[0]) in outcome.ranks]
        ours, theirs = (
            [metrics.values(outcomes[number].ranks[unit, system], ks) for number in asked] for system in SYSTEMS
        )
        for measure in ours[0] if ours else ():
            worth = paired(
                [values[measure] for values in ours],
                [values[measure] for values in theirs],
                [cases[number] for number in asked],
            )
            if worth is not None:
                yield Difference(unit=unit, measure=measure, worth=worth)


def claimed(rows: Sequence[Difference]) -> list[Difference]:
    """The differences that the documents report."""
    return [row for row in rows if row.measure in _CLAIMED]


def difference_rows(compared: Sequence[Difference]) -> list[list[str]]:
    """As a table, the heading first. Of one case there is no p by cases."""
    rows = [["unit", "measure", "n", "cases", "difference", "95 %", "p", "p by cases", "won", "lost"]]
    for difference in compared:
        worth = difference.worth
        rows.append(
            [
                difference.unit,
                difference.measure,
                f"{worth.questions}",
                f"{worth.cases}",
                share(worth.difference),
                f"{share(worth.low)} to {share(worth.high)}",
                chance(worth.p),
                chance(worth.p_cases) if worth.cases > 1 else "–",
                f"{worth.won}",
                f"{worth.lost}",
            ]
        )
    return rows

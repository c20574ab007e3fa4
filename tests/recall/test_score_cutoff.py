"""How many hits a person is shown at first."""

from __future__ import annotations

from tests.cases import each_case

from picomem.recall.final_scores import count_above_cutoff


@each_case(
    ("scores", "count"),
    [
        ([], 0),
        ([0.02], 1),
        ([1.0, 0.07, 0.06, 0.04], 1),
        ([1.0, 0.99, 0.91, 0.45, 0.4], 3),
        ([0.34, 0.26, 0.25, 0.24, 0.16], 4),
        ([0.4, 0.39, 0.38], 3),
        ([0.0, 0.0], 2),
    ],
)
def test_hits_with_less_than_half_of_the_best_score_do_not_stand_out(scores: list[float], count: int) -> None:
    assert count_above_cutoff(scores) == count

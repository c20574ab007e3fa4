"""Ranking, on signals that are given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.recall.legs import shares
from picomem.recall.lexical_search import WordMatches
from picomem.recall.rank import Signals, fuse, marks_between, nearness
from picomem.recall.vector_search import Distribution


def _scores(words: dict[int, float], *, reads_sentences: bool, **signals: Any) -> dict[int, float]:
    """Of two documents, by how much of the question's one word they have."""
    parts = {doc: {"boat": held} for doc, held in words.items()}
    found_by = Signals(totals=words, words=parts, **signals)
    return fuse([1, 2], found_by, {"boat": 1.0}, reads_sentences=reads_sentences).scores


@each_case("reads_sentences", [False, True])
def test_a_time_that_is_asked_for_is_worth_a_perfect_match_with_any_model(reads_sentences: bool) -> None:
    def scores(within: float) -> dict[int, float]:
        signals = {"meaning": {1: 1.0, 2: 0.1}, "in_window": {2: within}}
        return _scores({1: 0.6, 2: 0.3}, reads_sentences=reads_sentences, **signals)

    certainly, perhaps = scores(1.0), scores(0.3)
    assert certainly[2] > certainly[1]
    assert perhaps[1] > perhaps[2]


@given(st.floats(-0.2, 0.99), st.floats(0.0, 0.5), st.integers(1, 10_000), st.floats(-0.2, 1.0))
def test_marks_stay_in_order_however_cosines_lie(middling: float, spread: float, documents: int, cosine: float) -> None:
    for unrelated in (Distribution(), Distribution(0.8, 0.02, 12)):
        match, *marks = marks_between(Distribution(middling, spread, documents), unrelated)
        assert match <= marks[0] < marks[1] <= 1
        assert 0 <= nearness(cosine, marks) <= 1
        assert nearness(1.0, marks) == 1.0


def test_what_stands_out_as_much_is_as_near_with_any_model_and_of_little_the_model_itself_tells() -> None:
    near = []
    for middling, spread in ((0.06, 0.08), (0.4, 0.05), (0.79, 0.02)):
        _, *marks = marks_between(Distribution(middling, spread, 10_000), Distribution())
        near.append([nearness(middling + spreads * spread, marks) for spreads in (2, 4.5, 6)])
    assert near[0] == pytest.approx(near[1], abs=0.01) and near[1] == pytest.approx(near[2], abs=0.01)
    assert near[0][0] == 0 < near[0][1] < near[0][2]
    unrelated = Distribution(0.76, 0.02, 12)
    _, *alone = marks_between(Distribution(0.9, 0.0, 1), unrelated)
    assert 0.1 < nearness(0.9, alone) < 0.9  # the only text may be the answer
    assert nearness(0.8, marks_between(Distribution(0.8, 0.0, 1), unrelated)[1:]) == 0


def test_the_less_words_leave_open_the_less_a_model_has_to_say() -> None:
    def lead(held: float) -> float:
        """Of a hit that says it in other words, over one that has so much of the question's."""
        scores = _scores({1: held}, reads_sentences=True, meaning={2: 1.0})
        return scores[2] - scores[1]

    assert lead(1.0) < 0 < lead(0.2)


def test_a_time_that_is_asked_for_stands_before_the_asker_s_own_words_from_another_day() -> None:
    scores = _scores({1: 1.0, 2: 0.3}, reads_sentences=False, own={1}, in_window={2: 1.0})
    assert scores[2] > scores[1]


def test_a_question_of_which_the_best_hold_nothing_still_has_scores_that_fall() -> None:
    """Its neighbours lifted each of them, so no word of the question is in the first."""
    matches = WordMatches()
    matches.idf = {"boat": 1.0}
    signals = Signals(totals={}, words={}, context={1: 0.9, 2: 0.6, 3: 0.3})
    ranked = list(shares({1: 0.9, 2: 0.6, 3: 0.3}, signals, matches))
    assert [doc for doc, _ in ranked] == [1, 2, 3]
    assert 1 > ranked[0][1] > ranked[1][1] > ranked[2][1] > 0

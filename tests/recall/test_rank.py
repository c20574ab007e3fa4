"""Ranking, on signals that are given."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.models.embedder import SENTENCE_MARKS
from picomem.recall.legs import shares
from picomem.recall.lexical_search import WordMatches
from picomem.recall.rank import Signals, fuse, marks_here, nearness


def _scores(words: dict[int, float], *, reads_sentences: bool, **signals: Any) -> dict[int, float]:
    """Of two documents, by how much of the question's one word they have."""
    parts = {doc: {"boat": held} for doc, held in words.items()}
    found_by = Signals(totals=words, words=parts, **signals)
    return fuse([1, 2], found_by, {"boat": 1.0}, reads_sentences=reads_sentences).scores


@pytest.mark.parametrize("reads_sentences", [False, True])
def test_a_time_that_is_asked_for_is_worth_a_perfect_match_with_any_model(reads_sentences: bool) -> None:
    def scores(within: float) -> dict[int, float]:
        signals = {"meaning": {1: 1.0, 2: 0.1}, "in_window": {2: within}}
        return _scores({1: 0.6, 2: 0.3}, reads_sentences=reads_sentences, **signals)

    certainly, perhaps = scores(1.0), scores(0.3)
    assert certainly[2] > certainly[1]
    assert perhaps[1] > perhaps[2]


@given(st.floats(0.0, 0.9), st.integers(0, 10_000), st.floats(-0.2, 1.0))
def test_marks_lie_where_the_store_says_and_stay_in_order(middling: float, documents: int, cosine: float) -> None:
    unrelated, same = marks_here(SENTENCE_MARKS, middling, documents)
    assert min(middling, SENTENCE_MARKS[0]) - 1e-9 <= unrelated < same < 1
    assert 0 <= nearness(cosine, (unrelated, same)) <= 1


def test_models_whose_unrelated_texts_differ_say_the_same_of_a_store_and_of_little_their_own_marks_count() -> None:
    for middling in (0.1, 0.4, 0.7):
        halfway = middling + (1 - middling) / 4
        assert nearness(halfway, marks_here(SENTENCE_MARKS, middling, 10_000)) == pytest.approx(0.5, abs=0.01)
    assert marks_here(SENTENCE_MARKS, 0.9, 0) == pytest.approx(SENTENCE_MARKS)


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

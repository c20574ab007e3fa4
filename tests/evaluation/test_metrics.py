from __future__ import annotations

from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from question_sets import metrics

RANKS = st.lists(st.one_of(st.none(), st.integers(1, 30)), min_size=1, max_size=8).map(tuple)


def test_a_units_rank_is_that_of_the_first_group_that_holds_it():
    groups = [["a"], ["b", "c"], ["a", "d"]]
    assert metrics.ranks(["c", "a", "d", "x"], groups) == (2, 1, 3, None)


def test_gold_that_is_named_twice_counts_once():
    assert metrics.ranks(["a", "b", "a"], [["a"]]) == (1, None)


def test_a_session_ranks_by_its_best_hit_among_sessions():
    groups = metrics.distinct(["s2", "s2", "s1", "s2", "s3"])
    assert metrics.ranks(["s1", "s3"], groups) == (2, 3)


@each_case(
    ("ranks", "k", "any_", "all_", "frac"),
    [
        ((1, 3), 1, 1, 0, 0.5),
        ((1, 3), 3, 1, 1, 1.0),
        ((5, None, 6, None), 5, 1, 0, 0.25),
        ((6, None), 5, 0, 0, 0.0),
    ],
)
def test_some_all_and_how_much_of_the_gold_among_the_first_k(ranks, k, any_, all_, frac):
    assert metrics.any_at(ranks, k) == any_
    assert metrics.all_at(ranks, k) == all_
    assert metrics.frac_at(ranks, k) == frac


def test_ndcg_by_hand():
    assert metrics.ndcg((1,)) == 1
    assert metrics.ndcg((2,)) == pytest.approx(1 / log2(3))
    assert metrics.ndcg((3, 1)) == pytest.approx((1 + 1 / 2) / (1 + 1 / log2(3)))
    assert metrics.ndcg((11, None)) == 0
    assert metrics.ndcg(tuple(range(1, 21))) == pytest.approx(1)  # more gold than ranks is no loss


def test_one_wide_hit_does_not_lift_ndcg_above_one():
    assert metrics.ndcg((1, 1, 1)) == 1


def test_the_reciprocal_rank_is_of_the_first_gold_and_ends_with_the_list():
    assert metrics.reciprocal_rank((None, 4, 2)) == 0.5
    assert metrics.reciprocal_rank((11, None)) == 0


def test_scores_are_means_over_the_questions():
    scores = metrics.scores([(1, None), (2,)], (1, 5))
    assert scores["n"] == 2
    assert (scores["any@1"], scores["all@5"], scores["frac@5"]) == (0.5, 0.5, 0.75)
    assert scores["mrr@10"] == 0.75
    assert list(scores)[-2:] == ["ndcg@10", "mrr@10"]


def test_no_question_has_no_score():
    assert metrics.scores([], (5,)) == {"n": 0}


@given(RANKS, st.integers(1, 20))
def test_all_implies_some_and_a_share_lies_between(ranks, k):
    assert metrics.all_at(ranks, k) <= metrics.frac_at(ranks, k) <= metrics.any_at(ranks, k) <= 1


@given(RANKS, st.integers(1, 20))
def test_looking_deeper_never_loses_gold(ranks, k):
    assert metrics.frac_at(ranks, k) <= metrics.frac_at(ranks, k + 1)
    assert 0 <= metrics.ndcg(ranks, k) <= 1
    assert metrics.reciprocal_rank(ranks, k) <= metrics.reciprocal_rank(ranks, k + 1)


def test_the_median_of_an_even_number_is_between_the_two_in_the_middle():
    assert metrics.median([3, 1, 2]) == 2
    assert metrics.median([4, 1, 2, 3]) == 2.5
    assert metrics.median([]) == metrics.mean([]) == 0

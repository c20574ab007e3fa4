from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from question_sets.significance import interval, paired, sign_flip

VALUES = st.sampled_from([0.0, 0.25, 0.5, 1.0])
QUESTIONS = st.lists(st.tuples(VALUES, VALUES, st.integers(0, 3)), min_size=1, max_size=30)


def test_of_no_question_nothing_is_said():
    assert paired([], [], []) is None


def test_what_is_compared_must_be_of_one_length():
    with pytest.raises(ValueError, match="zip"):
        paired([1.0], [1.0, 0.0], ["a", "a"])


def test_a_difference_that_is_always_there_is_sure():
    worth = paired([1.0] * 40, [0.0] * 40, range(40))
    assert worth is not None
    assert (worth.difference, worth.low, worth.high) == (1, 1, 1)
    assert (worth.won, worth.lost, worth.cases) == (40, 0, 40)
    assert worth.p < 0.001


def test_few_cases_are_never_sure_however_many_their_questions():
    worth = paired([1.0] * 400, [0.0] * 400, [number % 4 for number in range(400)])
    assert worth is not None
    assert worth.p < 0.001
    assert worth.p_cases == 2 / 2**4


def test_cases_that_differ_make_the_interval_wide():
    differences = [1.0] * 50 + [0.0] * 50
    apart = paired(differences, [0.0] * 100, range(100))
    together = paired(differences, [0.0] * 100, [number // 50 for number in range(100)])
    assert apart is not None
    assert together is not None
    assert together.high - together.low > 3 * (apart.high - apart.low)


def test_one_case_still_has_an_interval_over_its_questions():
    low, high = interval([[0.0, 1.0] * 20])
    assert 0.25 < low < 0.5 < high < 0.75


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]), min_size=1, max_size=8))
def test_the_p_value_of_few_is_the_share_of_all_their_signs(differences):
    signs = list(product((-1, 1), repeat=len(differences)))
    sums = [abs(sum(sign * difference for sign, difference in zip(way, differences, strict=True))) for way in signs]
    assert sign_flip(differences) == pytest.approx(sum(total >= abs(sum(differences)) for total in sums) / len(signs))


@settings(max_examples=30)  # a bootstrap takes its time
@given(QUESTIONS)
def test_what_is_said_holds_for_any_questions(questions):
    ours, theirs, cases = (list(column) for column in zip(*questions, strict=True))
    straight, turned = paired(ours, theirs, cases), paired(theirs, ours, cases)
    assert straight is not None
    assert turned is not None
    differences = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    assert straight.difference == pytest.approx(sum(differences) / len(differences))
    assert min(differences) - 1e-9 <= straight.low <= straight.high <= max(differences) + 1e-9
    assert 0 < straight.p <= 1
    assert 0 < straight.p_cases <= 1
    assert (turned.difference, turned.p, turned.p_cases) == pytest.approx(
        (-straight.difference, straight.p, straight.p_cases)
    )
    assert (turned.low, turned.high) == pytest.approx((-straight.high, -straight.low))
    assert (turned.won, turned.lost) == (straight.lost, straight.won)
    assert paired(ours, theirs, cases) == straight


@settings(max_examples=30)
@given(st.lists(VALUES, min_size=1, max_size=60))
def test_two_that_are_alike_do_not_differ(values):
    worth = paired(values, values, range(len(values)))
    assert worth is not None
    assert (worth.difference, worth.low, worth.high, worth.p, worth.won, worth.lost) == (0, 0, 0, 1, 0, 0)


@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=13, max_size=40))
def test_the_order_of_the_questions_does_not_decide(differences):
    assert abs(sign_flip(differences) - sign_flip(sorted(differences))) < 0.03

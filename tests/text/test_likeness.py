"""How two statements are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.text.likeness import SAME_SUBJECT, holds_words, say_the_same, subject_likeness
from picomem.text.terms import query_terms


@pytest.mark.requirement("O2", "X20")
@each_case(
    ("one", "other"),
    [
        ("The staging database listens on port 5433", "the staging database listens on port 5433."),
        ("“Deploys” go out on Tuesdays", "Deploys go out on Tuesdays"),
        ("Ｄｅｐｌｏｙ on  Fridays", "deploy on Fridays"),
        ("以后提交说明用中文", "以后提交说明用中文。"),
        ("I prefer tabs, and four of them", "i prefer tabs and four of them."),
    ],
)
def test_blanks_width_the_first_capital_and_stops_change_no_statement(one: str, other: str) -> None:
    assert say_the_same(one, other)


@pytest.mark.requirement("X20")
@each_case(
    ("one", "other"),
    [
        ("I like long commit messages", "I hate long commit messages"),
        ("Always squash before merging", "Never squash before merging"),
        ("We use Jenkins", "We no longer use Jenkins"),
        ("The service is written in C", "The service is written in C++"),
        ("The service is written in C", "The service is written in C#"),
        ("The client bought Pro", "The client bought Pro+"),
        ("Grade A applies", "Grade A+ applies"),
        ("Keep it at -5 degrees", "Keep it at 5 degrees"),
        ("The discount is 5%", "The discount is 5"),
        ("Ann reports to Bob", "Bob reports to Ann"),
        ("Plan A costs ten euros a month", "Plan B costs ten euros a month"),
        ("Use tabs", "Use tabs or spaces"),
        ("不要使用分号", "使用分号"),
        ("The port is 5433", "The port was 5433"),
        ("We release when x = y", "We release when x != y"),
        ("Debug is on if !quiet", "Debug is on if quiet"),
        ("Keep it at –5 degrees", "Keep it at 5 degrees"),
        ("Keep it at - 5 degrees", "Keep it at 5 degrees"),
        ("The limit is 10² bytes", "The limit is 102 bytes"),
        ("The balance is (500) euros", "The balance is 500 euros"),
        ("Keep ~5 backups", "Keep 5 backups"),
        ("The code is in ~/app", "The code is in /app"),
        ("Read .env first", "Read env first"),
        ("Format *.py files", "Format .py files"),
        ("Call __init__ once", "Call init once"),
        ("The cap is 5m", "The cap is 5M"),
        ("We ship to the US team", "We ship to the us team"),
        ("Match a* here", "Match a here"),
        ("The class is [a-z]", "The class is (a-z)"),
        ("The separator is ;", "The separator is :"),
        ("The Who is my favourite band", "Who is my favourite band"),
        ("Die Maße stehen im Plan", "Die Masse stehen im Plan"),
        ("Who reviews it?", "Who reviews it"),
    ],
)
def test_a_sign_a_number_a_name_the_order_or_a_denial_makes_another_statement(one: str, other: str) -> None:
    assert not say_the_same(one, other)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared_and_a_text_is_the_same_as_itself(one: str, other: str) -> None:
    assert say_the_same(one, one)
    assert say_the_same(one, other) == say_the_same(other, one)
    assert say_the_same(one, f" {one} ")


def test_a_text_holds_the_words_of_a_statement_only_one_behind_the_other() -> None:
    assert holds_words("Ann said that the port is 5433, and left", "the port is 5433")
    assert not holds_words("The port of staging is 5433", "the port is 5433")
    assert not holds_words("Anything", "")


def test_statements_of_one_subject_share_what_is_rare() -> None:
    def likeness(one: str, other: str) -> float:
        return subject_likeness(query_terms(one), query_terms(other), lambda _term: 1.0)

    changed = likeness("The staging host moved to shop-staging.example", "The staging host is stage.example")
    assert changed >= SAME_SUBJECT
    assert likeness("Rafael is the product owner", "The lockfile is bun.lock") == 0.0
    assert likeness("", "") == 0.0

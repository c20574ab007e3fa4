"""How two short texts are compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.memory.likeness import Relation, compare, exchange_words


@pytest.mark.requirement("O2")
@pytest.mark.parametrize(
    ("new", "known", "relation"),
    [
        ("The staging database listens on port 5433", "the staging database listens on port 5433.", Relation.SAME),
        ("Deploys go out on Tuesdays", "Deploys now go out on Tuesdays", Relation.SAME),
        (
            "The staging database listens on port 6432",
            "The staging database listens on port 5433",
            Relation.CONTRADICTS,
        ),
        ("The production database listens on port 5433", "The staging database listens on port 5433", Relation.NEAR),
        ("I prefer spaces over tabs", "I prefer tabs over spaces", Relation.CONTRADICTS),
        ("Do not use tabs", "Use tabs", Relation.CONTRADICTS),
        ("Use tabs", "Never use tabs", Relation.CONTRADICTS),
        ("Mia likes strong black coffee from Kenya", "Mia likes black coffee", Relation.EXTENDS),
        ("Mia likes black coffee", "Mia likes strong black coffee from Kenya", Relation.CONTAINED),
        ("I prefer tea", "I prefer Python", Relation.OTHER),
        ("On Tuesdays we deploy the shop", "We deploy the shop on Tuesdays", Relation.SAME),
        ("Omar owns staging and Dana owns production", "Dana owns staging and Omar owns production", Relation.NEAR),
        ("Elena owns the release checklist", "The release checklist is owned by Elena", Relation.SAME),
        ("Elena manages Omar", "Elena is managed by Omar", Relation.NEAR),
        ("We moved from Berlin to Paris", "We moved from Paris to Berlin", Relation.NEAR),
        ("我们用pnpm不用npm", "我们用npm不用pnpm", Relation.NEAR),
        ("以后提交说明用中文", "以后提交说明用中文。", Relation.SAME),
        ("不要使用分号", "使用分号", Relation.CONTRADICTS),
        ("", "anything", Relation.OTHER),
        ("I've stopped drinking milk in my coffee", "I drink my coffee with milk", Relation.NEAR),
        ("We deploy the API by hand", "We used to deploy the API by hand", Relation.NEAR),
        ("Deploys of the API need two approvals", "Deploys of the API needed two approvals until May", Relation.NEAR),
        ("我早上喝咖啡的习惯戒了", "我早上喝咖啡", Relation.OTHER),
        ("Rule 4: every test has one assertion", "Rule 3: every test has one assertion", Relation.OTHER),
        ("4. The staging database listens on 5433", "3. The staging database listens on 5433", Relation.OTHER),
        ("第4条：不要使用分号", "第3条：使用分号", Relation.OTHER),
        ("Rule 3: tests run on port 6432", "Rule 3: tests run on port 5433", Relation.CONTRADICTS),
        ("Service B calls service A", "Service A calls service B", Relation.NEAR),
        ("service b calls service a", "service a calls service b", Relation.NEAR),
        ("Server S mirrors server T", "Server T mirrors server S", Relation.NEAR),
        ("Plan A costs ten euros a month", "Plan B costs ten euros a month", Relation.NEAR),
        ("Phase II ends in the last week of May", "Phase I ends in the last week of May", Relation.NEAR),
        ("We run service A on Tuesdays", "On Tuesdays we run service A", Relation.SAME),
        ("I use a Mac and PC", "I use a Mac and a PC", Relation.SAME),
        ("The deploy begins at 15:30 on Mondays", "The deploy begins at 14:30 on Mondays", Relation.CONTRADICTS),
    ],
)
def test_two_texts_stand_to_each_other_as_a_reader_would_say(new: str, known: str, relation: Relation) -> None:
    assert compare(new, known).relation is relation


def test_a_sentence_about_another_subject_does_not_contradict() -> None:
    assert compare("Lantern runs on Python 3.12", "Harbor runs on Python 3.11").relation is not Relation.CONTRADICTS


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_can_be_compared_and_a_text_is_the_same_as_itself(one: str, other: str) -> None:
    assert 0 <= compare(one, other).share <= 1
    assert compare(one, one).relation is Relation.SAME


@pytest.mark.timeout(30)  # what takes the square of the words takes many minutes
@pytest.mark.parametrize(
    ("new", "relation"),
    [("oak elm " * 20_000 + "ash", Relation.NEAR), ("elm oak " * 20_000, Relation.SAME)],
    ids=["one more word", "the same words in another order"],
)
def test_two_texts_of_the_same_few_words_are_compared_in_linear_time(new: str, relation: Relation) -> None:
    assert compare(new, "oak elm " * 20_000).relation is relation


@pytest.mark.parametrize(
    ("one", "other", "exchanged"),
    [
        ("Ann reports to Bob", "Bob reports to Ann", True),
        ("Omar reviews Dana's code", "Dana reviews Omar's code", True),
        ("New York is older than Los Angeles", "Los Angeles is older than New York", True),
        ("张三向李四汇报", "李四向张三汇报", True),
        ("Prices include VAT", "VAT is included in the prices", False),
        ("The office dog is Balu", "Balu is the dog in the office", False),
        ("Team red deploys on Monday", "Team blue deploys on Monday", False),
        ("Ann reports to Bob", "Ann reports to Bob", False),
    ],
)
def test_words_that_exchange_their_places_are_seen(one: str, other: str, exchanged: bool) -> None:
    assert exchange_words(one, other) is exchanged
    assert exchange_words(other, one) is exchanged

"""The synonyms of a question's words, and the file that lists them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case

from picomem.text.synonyms import FILE, held_terms, synonyms
from picomem.text.terms import query_terms, terms
from training import synonyms as making


def said_in(question: str, text: str) -> set[str]:
    """The terms of a question that a text holds, itself or in other words."""
    asked = tuple(query_terms(question))
    return held_terms(asked, synonyms(question, asked), text)


def test_words_that_may_be_exchanged_stand_for_each_other_both_ways() -> None:
    assert "ditch" in said_in("why did we ditch it", "We dropped it")
    assert "drop" in said_in("why did we drop it", "We ditched it")


def test_a_kind_stands_for_what_is_general_and_not_the_other_way_round() -> None:
    assert "databas" in said_in("which database", "We use Postgres")
    assert said_in("postgres", "The database is full") == set()


def test_phrases_stand_for_words_and_words_for_phrases() -> None:
    assert "deploi" in said_in("when do we deploy", "We roll out on Mondays")
    assert {"roll", "out"} <= said_in("when do we roll out", "We deploy on Mondays")
    assert "deploi" not in said_in("when do we deploy", "a roll of paper")
    assert "deploi" not in said_in("when do we deploy", "Take the roll of paper out")


@each_case(
    ("question", "text"),
    [
        ("数据库备份在哪里", "The database backup is on the NAS"),
        ("where is the backup of the database", "数据库的备份在机房"),
        ("我女儿对什么过敏", "My daughter has an allergy to peanuts"),
    ],
)
def test_a_word_is_found_in_the_other_language(question: str, text: str) -> None:
    assert len(said_in(question, text)) >= 2


def test_a_synonym_holds_more_than_the_question_does() -> None:
    asked = tuple(query_terms("the release notes"))
    assert all(not set(other.terms) <= set(asked) for other in synonyms("the release notes", asked))


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_question_has_what_it_holds_and_nothing_but_its_own_terms(question: str, text: str) -> None:
    asked = tuple(query_terms(question))
    held = held_terms(asked, synonyms(question, asked), text)
    assert set(asked) & set(terms(text)) <= held <= set(asked)


def test_the_package_holds_what_the_lists_make(tmp_path: Path) -> None:
    made = tmp_path / "synonyms.txt"
    assert making.main(["--to", str(made)]) == 0
    assert made.read_bytes() == FILE.read_bytes()


@each_case("line", ["a > ", "> b", "a | b > c"])
def test_a_line_that_is_no_group_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="no group"):
        list(making.groups([line]))


def test_a_phrase_that_loses_all_but_one_of_its_words_is_left_out() -> None:
    assert list(making.groups(["missing, not there, absent"])) == ["miss\tabsent"]
    assert list(making.groups(["# a comment", "", "alone"])) == []


def test_what_is_not_asked_of_a_long_text_is_not_looked_up() -> None:
    question = "数据库备份保留多久"
    asked = tuple(query_terms(question))
    assert synonyms(question * 1_000, asked) == synonyms(question, asked)
    assert synonyms("花生过敏。" + question, asked) == synonyms(question, asked)


def test_every_entry_of_the_lists_finds_its_group() -> None:
    listed = list(making.groups(["deploy, ship | 部署", "database > postgres, mysql", "ship, vessel"]))
    assert making.file_of(listed).splitlines() == [
        "databas\t19",
        "deploi\t0",
        "ship\t0,42",
        "vessel\t42",
        "部署\t0",
        "",
        *listed,
    ]

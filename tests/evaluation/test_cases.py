from __future__ import annotations

import pytest
from tests.cases import each_case

from picomem.clock import parse_iso
from picomem.errors import InvalidInput, NotFound
from question_sets.cases import asked_at, moment, read_cases, set_name


@pytest.mark.parametrize("name", ["talks.jsonl.gz", "talks.jsonl"])
def test_a_set_is_read_gzipped_or_not(haystack, write_set, name):
    path = write_set(haystack, haystack, name=name)
    assert set_name(path) == "talks"
    assert [len(case.sessions) for case in read_cases(path)] == [3, 3]


def test_only_questions_that_have_gold_or_are_said_to_have_no_answer_are_asked(haystack, write_set):
    (case,) = read_cases(write_set(haystack))
    assert [question.text.split()[0] for question in case.questions] == ["Who", "When", "How", "What"]


def test_what_comes_near_an_answer_that_is_not_there_is_no_gold(haystack, write_set):
    (case,) = read_cases(write_set(haystack))
    assert [question.answerable for question in case.questions] == [True, True, True, False]
    assert case.questions[3].gold_sessions == ()


def test_a_turn_id_that_repeats_is_the_one_in_the_gold_session(haystack, write_set):
    (case,) = read_cases(write_set(haystack))
    assert case.questions[0].gold_turns == (("s-kiln", "1"),)
    assert case.questions[2].gold_turns == (("s-sill", "0"), ("s-sill", "1"))


def test_a_gold_turn_is_looked_for_everywhere_where_no_gold_session_has_it(haystack, write_set):
    haystack["questions"][0]["gold_turns"] = ["3", "nowhere"]
    (case,) = read_cases(write_set(haystack))
    assert case.questions[0].gold_turns == (("s-ferry", "3"), ("", "nowhere"))


def test_questions_come_in_the_order_in_which_the_haystack_grows(haystack, write_set):
    for question, visible in zip(haystack["questions"], (3, 2, 99), strict=False):
        question["n_visible"] = visible
    (case,) = read_cases(write_set(haystack))
    assert [question.visible for question in case.questions] == [2, 3, 3, 3]


def test_a_question_without_a_date_is_asked_when_the_last_thing_that_exists_was_said(haystack, write_set):
    haystack["questions"][0] |= {"date": "", "n_visible": 1}
    haystack["questions"][1] |= {"date": ""}
    (case,) = read_cases(write_set(haystack))
    assert [asked_at(question, case.sessions) for question in case.questions[:3]] == [
        parse_iso("2026-02-03T18:30"),
        parse_iso("2026-02-10"),
        parse_iso("2026-03-31T23:59"),
    ]


def test_nothing_says_when(haystack, write_set):
    for session in haystack["sessions"]:
        for turn in session["turns"]:
            turn["ts"] = session["ts"] = ""
    haystack["questions"][0]["date"] = ""
    (case,) = read_cases(write_set(haystack))
    assert asked_at(case.questions[0], case.sessions) is None


@each_case("text", ["", "  ", "2026-13", "some day"])
def test_a_time_that_cannot_be_read_is_none(text):
    assert moment(text) is None


@pytest.mark.parametrize("line", [b"not json", b"[]", b'{"id": "a", "sessions": [{}], "questions": []}', b"\xff"])
def test_a_line_that_is_no_case_is_named(tmp_path, line):
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b'{"id": "a", "sessions": [], "questions": []}\n' + line + b"\n")
    with pytest.raises(InvalidInput, match="Line 2"):
        list(read_cases(path))


def test_a_file_that_is_missing_or_is_not_gzip_is_told(tmp_path):
    with pytest.raises(NotFound):
        list(read_cases(tmp_path / "none.jsonl"))
    (tmp_path / "false.jsonl.gz").write_bytes(b"{}")
    with pytest.raises(InvalidInput):
        list(read_cases(tmp_path / "false.jsonl.gz"))

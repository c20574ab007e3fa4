"""Sessions that a question names by their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.cost import cost

from picomem.clock import HOUR, MINUTE, parse_iso
from picomem.engine.engine import Engine
from picomem.text.temporal.session_references import chosen, read_sessions


@each_case(
    ("question", "first", "last", "from_end", "certain"),
    [
        ("What did we discuss in our ninth session?", 9, 9, False, True),
        ("What was said in the 31st session about jam?", 31, 31, False, True),
        ("our thirty-first session", 31, 31, False, True),
        ("What did we discuss over sessions 1 through 3?", 1, 3, False, True),
        ("between session 3 and session 5", 3, 5, False, True),
        ("sessions three to five", 3, 5, False, True),
        ("in session #4", 4, 4, False, True),
        ("What changed from the first through third sessions?", 1, 3, False, True),
        ("our second to the fourth conversations", 2, 4, False, True),
        ("between the 2nd and the 5th session", 2, 5, False, True),
        ("What did we talk about 20 sessions ago?", 20, 20, True, True),
        ("a conversation ago", 1, 1, True, True),
        ("in our last three chats", 1, 3, True, True),
        ("in our first two sessions", 1, 2, False, True),
        ("in our second-to-last chat", 2, 2, True, True),
        ("What did we talk about in our last session?", 1, 1, True, True),
        ("What did we discuss the last time we spoke?", 1, 1, True, True),
        ("What did we say about Redis in our last session?", 1, 1, True, False),
        ("our first conversation about Redis", 1, 1, False, False),
        ("上次聊天我们聊了什么？", 1, 1, True, True),
        ("上次聊天你推荐了哪家餐厅？", 1, 1, True, False),
        ("第三次对话里说了什么", 3, 3, False, True),
        ("第二到第四次对话", 2, 4, False, True),
        ("两次聊天前", 2, 2, True, True),
        ("倒数第二次会话", 2, 2, True, True),
        ("最近三次对话", 1, 3, True, True),
    ],
)
def test_a_place_among_sessions_is_read(question: str, first: int, last: int, from_end: bool, certain: bool) -> None:
    reading = read_sessions(question)
    assert reading is not None
    assert (reading.first, reading.last, reading.from_end, reading.certain) == (first, last, from_end, certain)
    assert reading.phrase in question


@each_case(
    "question",
    [
        "my third session with the trainer",
        "the second talk of the conference",
        "his first conversation",
        "our previous conversation about the queue",
        "I had a few good talks last month",
        "a session with 3 guests",
        "“our last session” is a song",
        "session zeroth",
        "这次聊天很好",
        "",
    ],
)
def test_what_only_looks_like_a_place_is_left_alone(question: str) -> None:
    assert read_sessions(question) is None


def test_sessions_are_counted_from_either_end_and_what_is_not_there_is_not_chosen() -> None:
    def of(question: str) -> list[str]:
        reading = read_sessions(question)
        return chosen(reading, ["a", "b", "c", "d"]) if reading else ["none read"]

    assert of("our second session") == ["b"]
    assert of("sessions 3 to 9") == ["c", "d"]
    assert of("2 sessions ago") == ["c"]
    assert of("our last two sessions") == ["c", "d"]
    assert of("our last nine sessions") == ["a", "b", "c", "d"]
    assert of("our ninth session") == []
    assert of("9 sessions ago") == []


@pytest.fixture
def four(engine: Engine, tmp_path: Path) -> Engine:
    """Four sessions, a day after the other; read in another order."""
    for day in (3, 1, 4, 2):
        at = f"2026-04-0{day}T09:00:00Z"
        lines = [json.dumps({"role": "user", "content": f"Day {day}: shall we have jam and bread?", "timestamp": at})]
        (tmp_path / f"{day}.jsonl").write_text(lines[0] + "\n", "utf-8")
        engine.ingest([tmp_path / f"{day}.jsonl"])
    return engine


def first_hit(engine: Engine, question: str, now: int) -> str:
    return engine.recall(question, now=now).hits[0].text[:5]


def test_recall_puts_the_named_session_first(four: Engine) -> None:
    now = parse_iso("2026-04-10")
    assert first_hit(four, "What did we talk about in our second session?", now) == "Day 2"
    assert first_hit(four, "What did we discuss 3 sessions ago?", now) == "Day 2"
    assert first_hit(four, "What did we talk about in our last session?", now) == "Day 4"
    assert first_hit(four, "What did we say of jam in our first session?", now) == "Day 1"
    assert {hit.text[:5] for hit in four.recall("What did we discuss in sessions 2 to 3?", now=now, limit=2).hits} == {
        "Day 2",
        "Day 3",
    }


def test_the_conversation_that_goes_on_is_not_the_last_one(four: Engine) -> None:
    ended = parse_iso("2026-04-04T09:00")
    question = "What did we talk about in our last session?"
    assert first_hit(four, question, ended + 5 * MINUTE) == "Day 3"
    assert first_hit(four, question, ended + HOUR) == "Day 4"
    assert first_hit(four, "What did we talk about in session 4?", ended + 5 * MINUTE) == "Day 4"


def test_a_session_that_is_not_there_is_said(four: Engine) -> None:
    answer = four.recall("What did we say of jam in our ninth session?", now=parse_iso("2026-04-10"))
    assert any("ninth session" in warning and "4 sessions" in warning for warning in answer.warnings)
    assert answer.hits


def test_a_withheld_session_is_not_counted(four: Engine) -> None:
    four.withhold("4")
    assert first_hit(four, "What did we talk about in our last session?", parse_iso("2026-04-10")) == "Day 3"


def test_nobody_learns_from_a_count_what_a_withheld_session_says(four: Engine) -> None:
    before = four.recall("jam").legs["episodes by words"]
    for session in "1234":
        four.withhold(session)
    assert before != "0"
    assert four.recall("jam").legs["episodes by words"] == "0"


@each_case("text", ["sessions " + "1 to " * 400, "session ago " * 150, "第一次" * 600, "two-" * 500 + "talk"])
def test_a_long_question_is_read_quickly(text: str) -> None:
    read_sessions("our third session, 上次聊天")
    assert cost(lambda: read_sessions(text), 0.1) < 0.1

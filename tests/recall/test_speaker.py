"""Whose words a question asks for, and what that and the time of a turn do to the order of hits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tests.cases import each_case

from picomem.clock import parse_iso
from picomem.engine.engine import Engine
from picomem.recall.question import called_only, groups, is_of_asker, is_telling, meant, speakers_by_transcript
from picomem.records.hit import Hit

Said = tuple[str, str, str]  # when, by whom, what


def ingest(engine: Engine, path: Path, said: list[Said]) -> None:
    lines = [json.dumps({"role": role, "content": text, "timestamp": at}) for at, role, text in said]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    assert not engine.ingest([path]).problems


@each_case(
    ("text", "of_asker"),
    [
        ("What degree did I graduate with?", True),
        ("How old is my sister?", True),
        ("我上次去哪里吃的火锅？", True),
        ("What did you recommend for my trip?", False),
        ("Can you remind me of the name of that shop?", False),
        ("What did we decide about the queue?", False),
        ("我们决定用什么数据库？", False),
        ("Which port does the gateway listen on?", False),
    ],
)
def test_who_says_i_asks_about_themselves_unless_they_ask_what_they_were_told(text: str, of_asker: bool) -> None:
    assert is_of_asker(text) is of_asker


@each_case(
    ("text", "telling"),
    [
        ("The roadmap is done. The client likes it. What should I do next?", True),
        ("Let's set up the rule loader service.", True),
        ("我们开始吧。下一步做什么？好的。", True),
        ("I feel like baking. Any advice?", False),
        ("what did we say about the queue", False),
        ("redis queue decision", False),
        ("", False),
    ],
)
def test_a_text_of_statements_goes_on_with_something_and_a_search_does_not(text: str, telling: bool) -> None:
    assert is_telling(text) is telling


def test_a_named_speaker_is_meant_and_the_two_sides_of_a_session_are_no_names() -> None:
    roles = ["Caroline", "Mary Ann", "user", "assistant"]
    assert meant(roles, False, ["carolin", "paint"]) == {"Caroline"}
    assert meant(roles, False, ["mari", "paint"]) == set()
    assert meant(roles, False, ["user", "assist"]) == set()
    assert meant(roles, True, ["paint"]) == {"user"}


def _first_episode(hits: Sequence[Hit]) -> Hit:
    return next(hit for hit in hits if hit.source == "episode")


def test_a_speakers_name_is_no_word_where_two_talk() -> None:
    two = {"a": {"Ann", "Ben"}, "b": {"Ann"}}
    assert called_only(two, ["ann", "paint"]) == {"ann"}
    assert called_only(two, ["ann", "ben", "paint"]) == {"ann", "ben"}
    assert called_only(two, ["cleo", "paint"]) == set()
    assert called_only(two, ["ann"]) == set()  # nothing else is asked for
    assert called_only({**two, "a": {"Ann", "Ben", "Cleo"}}, ["ann", "paint"]) == set()  # others speak of her
    assert called_only({"a": {"user", "assistant"}}, ["user", "paint"]) == set()


def test_a_group_is_where_more_than_two_speak() -> None:
    spoken = [("a", "Ann"), ("a", "Ben"), ("b", "sms"), ("b", "call"), ("b", "photo"), ("b", "sms")]
    assert groups(speakers_by_transcript(spoken)) == {"b"}


def test_who_only_calls_the_named_ones_answers_nothing(engine: Engine, tmp_path: Path) -> None:
    at = "2026-03-01T10:00:00Z"
    small_talk = [(at, speaker, f"Well, number {number} then.") for number in range(6) for speaker in ("Ann", "Ben")]
    said = [
        (at, "Ann", "My painting shows the lake at dawn, with the boats of the fishermen and a few birds."),
        *small_talk,
        (at, "Ben", "Ann and Ben, Ben and Ann!"),
    ]
    ingest(engine, tmp_path / "talk.jsonl", said)
    assert "lake" in engine.recall("Which painting did Ann describe to Ben?").hits[0].text
    assert any("Ben and Ann" in hit.text for hit in engine.recall("Ann and Ben").hits)


def test_what_the_asker_said_comes_before_the_agents_longer_answer(engine: Engine, tmp_path: Path) -> None:
    said = [
        ("2026-04-07T09:00:00Z", "user", "By the way, I graduated with a degree in fisheries from Tromsø."),
        ("2026-04-07T09:01:00Z", "assistant", "A degree in fisheries! Which degree did you graduate with before?"),
        ("2026-04-07T09:02:00Z", "user", "None. Let us talk of boats."),
    ]
    ingest(engine, tmp_path / "talk.jsonl", said)
    of_asker = engine.recall("What degree did I graduate with?").hits
    assert of_asker[0].text in said[0][2]
    assert of_asker[0].turns == (0, 0)
    of_agent = engine.recall("Which degree did you say one graduates with?").hits
    assert _first_episode(of_agent).text == said[1][2]


def test_a_question_that_names_a_speaker_is_answered_with_that_ones_words(engine: Engine, tmp_path: Path) -> None:
    said = [
        ("2026-04-07T09:00:00Z", "Melanie", "Caroline, when you paint a sunrise, does it take the whole day?"),
        ("2026-04-07T09:01:00Z", "Caroline", "It does. That sunrise took me eight hours."),
    ]
    ingest(engine, tmp_path / "talk.jsonl", said)
    assert engine.recall("How long did the sunrise take Caroline?").hits[0].text == said[1][2]
    assert engine.recall("What did Melanie ask about the sunrise?").hits[0].text == said[0][2]


def test_what_goes_on_finds_the_latest_first_and_a_question_does_not_care(engine: Engine, tmp_path: Path) -> None:
    old, new = "The rule loader needs a config file.", "The rule loader needs a small config file."
    ingest(engine, tmp_path / "new.jsonl", [("2026-06-30T09:00:00Z", "user", new)])
    ingest(engine, tmp_path / "old.jsonl", [("2026-01-07T09:00:00Z", "user", old)])
    now = parse_iso("2026-07-01")
    going_on = "Good, that works. Let's write the config file of the rule loader."
    assert [hit.text for hit in engine.recall(going_on, now=now).hits] == [new, old]
    assert [hit.text for hit in engine.recall("Does the rule loader need a config file?", now=now).hits] == [old, new]


def test_being_recent_alone_makes_no_hit(engine: Engine, tmp_path: Path) -> None:
    ingest(engine, tmp_path / "new.jsonl", [("2026-06-30T09:00:00Z", "user", "Bread is in the oven.")])
    assert engine.recall("The gateway is up. Zzyzx works.", now=parse_iso("2026-07-01")).hits == ()

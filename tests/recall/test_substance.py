"""What a text says by itself, in three languages, and what becomes in recall of one that says nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.recall.substance import BARE, EMPTY, substance
from picomem.text.terms import query_terms


@pytest.mark.parametrize(
    "text",
    [
        "Yes",
        "continue",
        "ok, go ahead!",
        "Hi Kevin!",
        "Thanks, Anna Lena.",
        "👍",
        "…",
        "Ja, bitte weiter.",
        "Hallo Frau Weber!",
        "Mach weiter",
        "好的，谢谢！",
        "继续",
        "是的，没问题",
    ],
)
def test_a_text_that_only_keeps_a_talk_going_is_empty(text: str) -> None:
    assert substance(text) == EMPTY


@pytest.mark.parametrize(
    "text", ["create the beads", "check again", "did you push?", "Wo ist der Schlüssel?", "提交代码", "你的车呢？"]
)
def test_a_short_question_or_request_weighs_less(text: str) -> None:
    assert substance(text) == BARE


@pytest.mark.parametrize(
    "text",
    [
        "mix phx.server doesnt seem to start",
        "We moved the wiki to BookStack.",
        "Der Server läuft jetzt auf Port 8080.",
        "我昨天买了一辆本田汽车，很便宜。",
        "Did you know that I bought a Honda in Lisbon last year?",
        "Yes, the staging database listens on port 6432.",
        "1. install\n2. run",
    ],
)
def test_what_says_something_has_its_whole_weight(text: str) -> None:
    assert substance(text) == 1.0


@pytest.mark.parametrize(
    "question", ["Which port does the staging database use?", "Welchen Port nutzt Staging?", "预发布数据库用哪个端口？"]
)
def test_the_same_question_asked_before_is_no_answer(question: str) -> None:
    asked = frozenset(query_terms(question))
    assert substance(question, asked) == EMPTY


def test_a_turn_without_words_of_its_own_never_stands_before_what_answers(engine: Engine, tmp_path: Path) -> None:
    turns = [
        ("user", "Set up the linter please, and write down what comes out of it for later."),
        ("assistant", "The linter found that classify_lines is nested too deeply; I split it in two."),
        ("user", "continue"),
        ("assistant", "The linter is silent now, and the function that was nested is short."),
    ]
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in turns), "utf-8")
    engine.ingest([path])
    hits = engine.recall("which function did I see the linter call nested?", include_memories=False).hits
    texts = [hit.text for hit in hits]
    assert texts[-1] == "continue"
    assert hits[-1].score < hits[-2].score / 2

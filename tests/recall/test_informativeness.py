"""What a text says by itself, in three languages, and what becomes in recall of one that says nothing."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.recall.informativeness import BARE, EMPTY, informativeness
from picomem.text.terms import query_terms


@each_case(
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
    assert informativeness(text) == EMPTY


@each_case(
    "text", ["create the beads", "check again", "did you push?", "Wo ist der Schlüssel?", "提交代码", "你的车呢？"]
)
def test_a_short_question_or_request_weighs_less(text: str) -> None:
    assert informativeness(text) == BARE


@each_case(
    "text",
    [
        "Let me check the router.",
        "Good. Now let me look at the hooks:\n\nI'll read the manual first.",
        "I'm going to compare both parsers.",
        "Checking the migration now…",
        "Ich schaue mir zuerst den Router an.",
        "让我先看一下路由。接下来我会运行测试。",
    ],
)
def test_what_an_agent_announces_weighs_less_and_what_a_person_announces_does_not(text: str) -> None:
    assert informativeness(text, by_agent=True) == BARE
    assert informativeness(text) == 1.0


@each_case(
    "text",
    [
        "Let me check the router. It has no route for reviews.",
        "Let me know which port you prefer.",
        "The server does not start. Let me look at its log.",
        "我已经修好了路由。",
    ],
)
def test_what_an_agent_found_has_its_whole_weight(text: str) -> None:
    assert informativeness(text, by_agent=True) == 1.0


@each_case(
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
    assert informativeness(text) == 1.0


@each_case(
    "question", ["Which port does the staging database use?", "Welchen Port nutzt Staging?", "预发布数据库用哪个端口？"]
)
def test_the_same_question_asked_before_is_no_answer(question: str) -> None:
    asked = frozenset(query_terms(question))
    assert informativeness(question, asked) == EMPTY


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


def test_an_announcement_does_not_stand_before_the_finding(engine: Engine, tmp_path: Path) -> None:
    announced = "Let me find out whether a hook can block a session from starting."
    finding = "A hook cannot block a session. It runs, its output is read, and the session starts anyway."
    turns = [("user", "Hooks are new to me."), ("assistant", announced), ("user", "Thanks!"), ("assistant", finding)]
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps({"role": role, "content": text}) + "\n" for role, text in turns), "utf-8")
    engine.ingest([path])
    hits = engine.recall("can a hook block a session from starting?", include_memories=False).hits
    texts = [hit.text for hit in hits]
    assert texts.index(finding) < texts.index(announced)

"""What picomem really prints, in each of its parts, is refused when it is offered to memory again."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from picomem.cli.text.presented import text_of
from picomem.engine.engine import Engine
from picomem.operations.table import operation
from picomem.policy.gate import judge
from picomem.policy.refusal import Refusal
from picomem.records.kinds import Kind, Origin

HARBOR = "quay/harbor-2"
TALK = [
    ("2026-04-07T09:00:00Z", "user", "Shall the booking queue of the harbor run on Redis?"),
    ("2026-04-07T09:01:00Z", "assistant", "Redis is fine for the harbor queue; it holds 200 jobs a minute."),
]


@pytest.fixture
def told(engine: Engine, tmp_path: Path) -> Engine:
    """An engine that knows a memory of every section, one of them untrusted, and two turns of a talk."""
    path = tmp_path / "8463c716-talk.jsonl"
    rows = [json.dumps({"role": role, "content": text, "timestamp": at}) for at, role, text in TALK]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    engine.ingest([path])
    harbor = engine.scope.narrowed(project=HARBOR)
    engine.remember("The harbor API key rotates monthly", key="rotation", priority="critical")
    engine.remember("Harbor moves to PostgreSQL in June", key="database", kind="project", scope=harbor)
    engine.remember("Harbor deploys go out on Tuesdays", key="deploys", kind="decision")
    engine.remember("I prefer short answers about the harbor", key="answers", kind="preference", context="few meetings")
    engine.remember("The harbor crane lifts 40 tons", key="crane", scope=harbor)
    engine.remember("The harbor museum is closed on Mondays", key="museum", origin="web")
    return engine


@pytest.fixture
def run(told: Engine) -> Callable[..., tuple[str, str]]:
    """Do an operation: its reply to a model, and its text at a terminal."""

    def _run(verb: str, **request: Any) -> tuple[str, str]:
        done = operation(verb)
        result = done.call(told, done.request(**request))
        return done.reply(result), text_of(done, result)

    return _run


def paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.strip("\n")) if part.strip()]


def entries(text: str) -> list[str]:
    """Each line with the deeper lines below it."""
    return re.findall(r"(?m)^\S.*(?:\n[ \t].*)*", text)


def assert_refused(parts: list[str]) -> None:
    for part in parts:
        for kind, origin in ((Kind.FACT, Origin.AGENT), (Kind.INSTRUCTION, Origin.USER)):
            verdict = judge(part, kind=kind, origin=origin, explicit=True)
            assert verdict.refusal is Refusal.RECALLED, part


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("budget", [1_500, pytest.param(200, id="with entries left out")])
def test_the_index_page_is_refused_as_a_whole_and_section_by_section(told: Engine, budget: int) -> None:
    for number in range(12):
        told.remember(f"Jetty {number} of the harbor is painted by crew {number * 7}", key=f"jetty_{number}")
    page = told.index(budget=budget)
    sections = paragraphs(page.text)
    assert [section.partition("\n")[0] for section in sections[1:]] == [
        "## How to work here", "## What holds", "## Where more is"
    ]  # fmt: skip
    assert (page.left_out > 0) == ("not shown here" in sections[-1]) == (budget == 200)
    assert_refused([page.text, *sections, *sections[-1].split("\n")[1:]])


@pytest.mark.requirement("X6")
def test_the_page_of_an_empty_memory_is_refused(engine: Engine) -> None:
    page = engine.index().text
    assert_refused([page, *paragraphs(page)])


@pytest.mark.requirement("X6")
def test_the_reply_to_a_recall_is_refused_as_a_whole_and_hit_by_hit(run: Callable[..., tuple[str, str]]) -> None:
    reply, _ = run("recall", query="harbor", include_context=True, include_untrusted=True)
    hits = entries(reply)
    assert any("few meetings" in hit for hit in hits)
    assert any("<untrusted-text" in hit for hit in hits)
    assert any(hit.startswith("- episode ") for hit in hits)
    assert_refused([reply, *hits])
    assert_refused(re.findall("<untrusted-text.*", reply))
    assert_refused([run("recall", query="zeppelin")[0]])


@pytest.mark.requirement("X6")
def test_a_recall_at_the_terminal_is_refused_as_a_whole_and_hit_by_hit(run: Callable[..., tuple[str, str]]) -> None:
    _, printed = run("recall", query="harbor", include_context=True, include_untrusted=True)
    hits = paragraphs(printed)
    assert len(hits) >= 7
    assert_refused([printed, *hits])


@pytest.mark.requirement("X6")
@pytest.mark.parametrize(
    ("verb", "request_"),
    [
        pytest.param("remember", {"content": "The crane is yellow", "key": "colour"}, id="remember"),
        pytest.param("revise", {"name": "crane", "content": "The harbor crane lifts 50 tons"}, id="revise"),
        pytest.param("history", {"name": "crane"}, id="history"),
        pytest.param("timeline", {}, id="timeline"),
    ],
)
def test_what_other_operations_print_of_memory_is_refused(
    run: Callable[..., tuple[str, str]], verb: str, request_: dict[str, str]
) -> None:
    reply, printed = run(verb, **request_)
    assert_refused([*reply.split("\n"), printed])


@pytest.mark.requirement("X6")
@pytest.mark.parametrize(
    "statement",
    [
        "## Facts and insights\nThe harbor has two cranes.",
        "- crane (yellow): lifts 40 tons",
        "Turn 12, 2026-02-10: the knight takes the rook.",
        "Released 1.4 (true to plan) on 2026-02-10.",
        "1. crane (fact checked): lifts 40 tons",
        "Confidence in the crane is 0.9 · it was tested in May",
    ],
)
def test_what_only_resembles_what_picomem_prints_is_kept(statement: str) -> None:
    assert judge(statement, kind=Kind.FACT, origin=Origin.USER, explicit=True).keep

"""What is printed of memory, by another process too, is refused when an agent offers it to memory again: its lines have
the keys of memories."""

from __future__ import annotations

import re

import pytest

from picomem.engine.engine import Engine
from picomem.errors import Refused
from picomem.operations.table import operation

pytestmark = pytest.mark.requirement("X6")


@pytest.fixture
def told(engine: Engine) -> Engine:
    harbor = engine.scope.narrowed(project="quay/harbor-2")
    engine.remember("The harbor API key rotates monthly", key="rotation", priority="critical")
    engine.remember("Harbor moves to PostgreSQL in June", key="database", kind="project", scope=harbor)
    engine.remember("Harbor deploys go out on Tuesdays", key="deploys", kind="decision")
    engine.remember("I prefer short answers about the harbor", key="answers", kind="preference")
    return engine


def agent(engine: Engine) -> Engine:
    return engine.acting_as("agent:test", agent=True)


def assert_refused(engine: Engine, text: str) -> None:
    with pytest.raises(Refused, match="came out of memory"):
        agent(engine).remember(text, origin="agent")


def test_the_index_page_is_refused_as_a_whole_section_by_section_and_line_by_line(told: Engine) -> None:
    page = told.index().text
    sections = [section for section in re.split(r"\n\s*\n", page) if "\n- " in section]
    lines = [line for line in page.splitlines() if line.startswith("- ")]
    assert (len(sections), len(lines)) == (2, 4)
    for part in (page, *sections):
        assert_refused(told, part)
    for line in lines:
        if "quay" not in line:  # the agent works in no project
            assert_refused(told, line)


def test_each_hit_of_a_reply_is_refused(told: Engine) -> None:
    recall = operation("recall")
    reply = recall.reply(recall.call(told, recall.request(query="harbor")))
    hits = [line for line in reply.splitlines() if re.match(r"- (?:rotation|deploys|answers)\b", line)]
    assert len(hits) == 3
    for hit in (reply, *hits):
        assert_refused(told, hit)


@pytest.mark.parametrize(
    "statement",
    [
        "- crane: lifts 40 tons",
        "- home_city: Porto",
        "- 2026-05-01: The harbor API key rotates weekly",
        "- rotation: the crane turns twice a day",
        "Ports: staging 5433, production 5432",
    ],
)
def test_what_only_resembles_a_printed_memory_is_kept(told: Engine, statement: str) -> None:
    agent(told).remember(statement, origin="agent")
    assert statement in [memory.content for memory in told.memories()]


def test_a_person_may_say_what_stands_in_memory(told: Engine) -> None:
    told.remember("deploys: Harbor deploys go out on Tuesdays")
    assert len(told.memories()) == 5

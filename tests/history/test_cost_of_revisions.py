"""What a memory costs that was revised hundreds of times, as an agent's state under one key: functions and rows are
counted, not time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.cost import cost, python_calls

from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.memory.version_history import VersionHistory
from picomem.operations.table import operation
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope

FEW, MANY = 20, 500
QUESTION = "At which step of the harbour survey are we?"


def _revised(open_engine, path: Path, count: int) -> Engine:
    engine = open_engine(path)
    engine.remember("The lanterns of the harbour are kept in the loft", key="lanterns")
    for step in range(count):
        engine.remember(f"The harbour survey is at step {step}", key="state")
    return engine


@pytest.fixture
def engines(open_engine, tmp_path) -> tuple[Engine, Engine]:
    few, many = (_revised(open_engine, tmp_path / f"{count}.db", count) for count in (FEW, MANY))
    return few, many


def test_a_memory_that_was_revised_often_costs_no_more_than_one_that_was_revised_seldom(engines):
    few, many = engines
    asked = operation("remember").request(content="The harbour survey is behind its last step", key="state")
    verbs: dict[str, Callable[[Engine], object]] = {
        "recall": lambda engine: engine.recall(QUESTION),
        "remember": lambda engine: engine.remember("The harbour survey is at its last step", key="state"),
        "remember elsewhere": lambda engine: engine.remember("The harbour pilot is called Solveig", key="pilot"),
        "remember and number": lambda engine: operation("remember").call(engine, asked),
        "why": lambda engine: engine.why("state", limit=FEW),
    }
    for name, verb in verbs.items():
        seldom, often = (python_calls(partial(verb, engine)) for engine in (few, many))
        assert often <= 1.1 * seldom, (name, seldom, often)


def test_an_undo_costs_as_much_more_as_there_are_more_versions(engines):
    few, many = (python_calls(engine.undo) for engine in engines)
    assert many <= 1.1 * MANY / FEW * few


def test_a_history_is_read_in_a_time_that_grows_with_its_versions():
    def read(count: int) -> None:
        history = VersionHistory(*_kept_and_archived(count), {})
        last = history.changes[-1]
        assert (history.built_on(last), history.lacks(last)) == ([], [])

    few, many = (cost(partial(read, count)) for count in (1_000, 10_000))
    assert many <= 25 * few


def _kept_and_archived(count: int) -> tuple[list[Memory], dict[int, str]]:
    """Versions of which each was archived before the next, and the changes that did so."""
    version = Memory(
        id="state", version=0, scope=Scope(), key="state", kind=Kind.FACT, content="", valid_from=0, known_from=0,
        created_at=0, tokens=1, change_id="",
    )  # fmt: skip
    versions = [replace(version, version=number, change_id=f"{number:05}a") for number in range(count)]
    return versions, {number: f"{number:05}b" for number in range(count)}


def test_what_changed_a_memory_that_was_revised_often_costs_no_more_to_list(open_engine, tmp_path):
    costs: dict[str, list[int]] = {"why": [], "audit": []}
    for count in (FEW, MANY):
        engine = open_engine(tmp_path / f"{count}.db")
        engine.remember("The harbour survey is at its first step", key="state")
        for step in range(count):
            engine.revise("state", f"The harbour survey is at step {step}")
        for name, values in {"why": {"id": "state"}, "audit": {}}.items():
            listing = operation(name)
            asked = listing.request(**values, limit=FEW)
            costs[name].append(python_calls(partial(listing.call, engine, asked)))
    for name, (seldom, often) in costs.items():
        assert often <= 1.1 * seldom, (name, seldom, often)


def test_what_was_believed_before_is_found_as_of_then_and_not_now(open_engine, db):
    engine = open_engine(db)
    engine.remember("The harbour survey is led by Ingrid", key="survey")
    then = engine.now()
    engine.remember("The harbour survey is led by Torvald", key="survey")
    assert "Ingrid" not in " ".join(hit.text for hit in engine.recall("Ingrid").hits)
    (hit,) = (answer := engine.recall("who is Ingrid", as_of=then)).hits
    assert hit.text.endswith("led by Ingrid")
    assert answer.legs["memories by vector"].startswith("off")
    engine.undo()
    assert engine.recall("Ingrid").hits[0].text.endswith("led by Ingrid")
    assert engine.doctor().findings == []


def test_why_and_history_of_a_memory_that_was_revised_often_show_the_latest(open_engine, db):
    engine = _revised(open_engine, db, FEW)
    explained = engine.why("state", limit=5)
    assert (len(explained.changes), explained.left_out) == (5, FEW - 5)
    assert explained.numbers[explained.changes[-1].after or 0] == FEW
    history = operation("history")
    shown = history.call(engine, history.request(name="state", limit=5))
    assert (shown.versions[-1].content, set(shown.version_numbers)) == (explained.memory.content, set(range(16, 21)))
    assert shown.left_out == FEW - 5


def test_a_version_has_the_same_number_however_much_of_the_history_is_read(open_engine, db):
    engine = open_engine(db)
    for day, text in ((1, "Ingrid"), (11, "Torvald"), (21, "Solveig"), (6, "Astrid")):  # the last is about the past
        engine.remember(f"The harbour survey is led by {text}", key="survey", since=f"2026-04-{day:02}")
    engine.undo()
    engine.revise("survey", "The harbour survey is led by nobody")
    history = operation("history")
    whole = history.call(engine, history.request(name="survey"))
    numbers = {view.version: number for view, number in zip(whole.versions, whole.version_numbers, strict=True)}
    leaders = [(numbers[view.version], view.content.rsplit(" ", 1)[-1]) for view in whole.versions]
    expected = ["Ingrid", "Torvald", "Solveig", "Astrid", "Torvald", "nobody"]
    assert list(dict.fromkeys(leaders)) == list(enumerate(expected, 1))
    for limit in range(1, len(numbers)):
        explained = engine.why("survey", limit=limit)
        assert explained.numbers.items() <= numbers.items()
        assert {version.version for version in explained.versions} <= explained.numbers.keys()
    assert {engine.version_number(version) for version in engine.history("survey")} == set(numbers.values())

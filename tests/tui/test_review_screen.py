"""What waits for a person's decision, decided at the terminal: each decision is one change, which `u` takes back."""

from __future__ import annotations

import pytest
from tests.memory.test_doubts import NEW, OLD
from tests.tui.driving import LARGE, SMALL, Person, at_the_terminal

from picomem.engine.engine import Engine
from picomem.operations.table import operation
from picomem.tui.entry_list import EntryList


@pytest.fixture
def doubtful(engine: Engine) -> Engine:
    """Two statements that may contradict each other, and a memory from the web."""
    engine.remember(OLD, key="queue_old")
    engine.remember(NEW, key="queue_new")
    engine.remember("The vendor page says that port 5433 is blocked", key="vendor_port", origin="web")
    return engine


def believed(engine: Engine) -> set[str]:
    return {memory.key for memory in engine.memories()}


def waiting(engine: Engine) -> int:
    verb = operation("review")
    return len(verb.call(engine, verb.request(untrusted=True)).waiting)


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "200x60"])
def test_a_pair_is_decided_by_a_key_in_one_change_and_taken_back(doubtful: Engine, size: tuple[int, int]) -> None:
    async def story(person: Person) -> None:
        await person.press("escape", "3")
        for key, gone in (("k", ""), ("m", "queue_old"), ("r", "queue_old"), ("x", "queue_new")):
            assert "2 decisions to make" in person.text and " 3 Review 2" in person.lines[0], key
            assert "newer than queue_old" in person.text, key
            assert "or still: " in person.text, key
            before = len(doubtful.changes(100))
            await person.press(key)
            assert "1 decision to make" in person.text and " 3 Review 1" in person.lines[0], key
            assert person.note.startswith("queue_") and person.note.endswith("u undoes it."), key
            assert len(doubtful.changes(100)) == before + 1, key
            assert believed(doubtful) == {"queue_old", "queue_new", "vendor_port"} - {gone}, key
            await person.press("u")
            assert believed(doubtful) == {"queue_old", "queue_new", "vendor_port"}, key
        assert "2 decisions to make" in person.text

    at_the_terminal(doubtful, story, size)


@pytest.mark.requirement("X3")
def test_what_came_from_others_is_kept_or_discarded_and_neither_merged_nor_superseded(doubtful: Engine) -> None:
    async def story(person: Person) -> None:
        await person.press("escape", "3", "j")
        chosen = person.app.screen.query_one(EntryList).chosen
        assert chosen and chosen.about.startswith("vendor_port")
        assert "m Same" not in person.text and "r Replace" not in person.text
        await person.press("m", "r")
        assert waiting(doubtful) == 2
        await person.press("x")
        assert believed(doubtful) == {"queue_old", "queue_new"}
        await person.press("u", "j", "k")
        assert (waiting(doubtful), believed(doubtful)) == (1, {"queue_old", "queue_new", "vendor_port"})
        await person.press("r")
        assert "Nothing waits for you." in person.text and " 3 Review 4 Timeline" in person.lines[0]

    at_the_terminal(doubtful, story)


@pytest.mark.requirement("X3")
def test_a_group_is_emptied_by_one_key_and_comes_back_by_another(doubtful: Engine) -> None:
    """41 §5."""
    doubtful.remember("The tide chart of Husum hangs at the quay", key="husum_chart", origin="web")

    async def story(person: Person) -> None:
        await person.press("escape", "3", "end")
        assert "3 decisions to make" in person.text
        await person.press("X")
        assert person.note == "2 decisions; u undoes it."
        assert "1 decision to make" in person.text and believed(doubtful) == {"queue_old", "queue_new"}
        await person.press("u")
        assert "3 decisions to make" in person.text and "husum_chart" in believed(doubtful)

    at_the_terminal(doubtful, story)

"""Purge at the terminal interface: a dry run, a question that only y answers, and what was done."""

from __future__ import annotations

import pytest
from tests.tui.driving import Person, at_the_terminal

from picomem.engine.engine import Engine


@pytest.mark.requirement("P10", "X5")
def test_a_purge_shows_what_would_go_and_does_it_for_a_y_alone(engine: Engine) -> None:
    engine.remember("The tide table of Kiel is in docs/tides.md", key="tide_table")
    talk = engine.sessions().create("tui", title="Moving house")

    async def story(person: Person) -> None:
        await person.search("/purge_user")
        assert "/purge_user" in person.text and "erase everything of this user" in person.text
        for refusal in ("n", "escape", "enter"):
            await person.search("/purge_user")
            await person.press("enter")
            assert "This would go for good" in person.text and "tide_table" in person.text
            assert "Confirm purge? (y/n)" in person.text
            await person.press("x", refusal)
            assert person.note == "Nothing was purged."
            assert engine.memories()
        await person.search("/purge_user")
        await person.press("enter", "y")
        assert "Erased for good: 1 session" in person.text and "Scanned" in person.text
        assert not engine.memories()
        await person.press("escape")
        await person.until(lambda: "Nothing is stored yet" in person.text)
        await person.search("/purge_user")
        await person.press("enter")
        assert "There is nothing to erase." in person.text

    assert talk.id
    at_the_terminal(engine, story)


def test_one_conversation_is_erased_from_the_list_of_sessions(engine: Engine) -> None:
    engine.sessions().create("tui", title="Moving house")
    engine.sessions().create("tui", title="Tides")

    async def story(person: Person) -> None:
        await person.press("escape", "5")
        assert "Moving house" in person.text and "Tides" in person.text
        first = person.conversation
        await person.press("D")
        assert first in "".join(person.lines) and "Confirm purge? (y/n)" in person.text
        await person.press("y")
        assert "Erased for good" in person.text
        await person.press("escape")
        await person.until(lambda: "1 conversation" in person.text)

    at_the_terminal(engine, story)


def test_a_command_that_is_none_is_a_sentence_with_the_nearest_one(engine: Engine) -> None:
    async def story(person: Person) -> None:
        await person.search("/purg_user")
        await person.press("enter")
        assert "did you mean /purge_user?" in person.note
        await person.search("/purge_older soon")
        await person.press("enter")
        assert "Say how many days, as in /purge_older 90" in person.note
        await person.search("/purge_session")
        await person.press("enter")
        assert "Nothing of this conversation is stored yet" in person.note

    at_the_terminal(engine, story)

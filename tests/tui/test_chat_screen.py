"""Chat at the terminal interface: the real client of the provider, a scripted server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.model_server import ModelServer, Unended, serving
from tests.tui.driving import Person, at_the_terminal
from textual.widgets import TextArea

from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, ModelSettings, RecallSettings


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer()) as running:
        yield running


@pytest.fixture
def talking(server: ModelServer, db: Path) -> Iterator[Engine]:
    """An engine whose settings name the server's model."""
    model = ModelSettings(provider="openai-compatible", model="script", base_url=f"http://127.0.0.1:{server.port}/v1")
    settings = Settings(
        model=model, memory=MemorySettings(enabled=True), recall=RecallSettings(embedder="none", timezone="UTC")
    )
    with open_engine(db, user="mia", settings=settings) as engine:
        yield engine


@pytest.mark.requirement("P13")
def test_a_conversation_is_stored_on_its_channel_and_goes_on_from_the_list_of_sessions(
    talking: Engine, server: ModelServer
) -> None:
    server.steps = [
        [("memory_store", {"content": "Mia drinks green tea", "key": "tea"})],
        "I will remember it.",
        "绿茶 [b]tea[/b] \x1b[31mred\x1b[0m",
    ]

    async def story(person: Person) -> None:
        await person.press("escape", "6")
        await person.until(lambda: "a new session · script" in person.text)
        await person.type("I drink green tea")
        await person.press("enter")
        assert "I will remember it." in person.text and "→ memory_store" in person.text
        (talk,) = talking.sessions().page().sessions
        assert (talk[0].channel, talk[0].scope.user) == ("tui", "mia")
        assert f"mia · session {talk[0].id} · script" in " ".join(person.lines)
        await person.type("And now")
        await person.press("ctrl+j")
        await person.type("what")
        await person.press("enter")
        assert server.asked[-1]["messages"][-1]["content"] == "And now\nwhat"
        assert "绿茶 [b]tea[/b] \\x1b[31mred" in person.text  # neither markup nor an escape sequence is obeyed
        await person.press("escape", "5", "enter")
        assert "I will remember it." in person.text
        await person.press("escape", "c")
        assert person.conversation == talk[0].id
        await person.until(lambda: "And now" in person.text)
        await person.press("escape", "2")
        assert "Mia drinks green tea" in person.text

    at_the_terminal(talking, story)


def test_an_answer_can_be_stopped_and_what_came_of_it_is_kept(talking: Engine, server: ModelServer) -> None:
    server.steps = [Unended("It began well and"), "Well."]

    async def story(person: Person) -> None:
        await person.press("escape", "6")
        person.app.screen.query_one(TextArea).text = "Tell me a story."
        await person.pilot.press("enter")
        await person.until(lambda: "It began well and" in person.text)
        await person.press("escape")
        assert person.note == "Stopped; what was said until now is kept."
        await person.type("Go on")
        await person.press("enter")
        said = [message["content"] for message in server.asked[-1]["messages"]][1:]
        assert said == ["Tell me a story.", "It began well and", "Go on"]

    at_the_terminal(talking, story)


def test_an_error_of_the_server_is_a_sentence(talking: Engine, server: ModelServer) -> None:
    server.steps = [401]

    async def story(person: Person) -> None:
        await person.press("escape", "6")
        await person.type("hi")
        await person.press("enter")
        assert "refuses the key (401)" in person.note

    at_the_terminal(talking, story)


def test_without_a_model_one_sentence_says_how_to_set_one_up_and_commands_work(engine: Engine) -> None:
    engine.remember("The tide table of Kiel is in docs/tides.md", key="tide_table")

    async def story(person: Person) -> None:
        await person.press("escape", "6")
        assert "No model is set to talk with" in person.text and "ollama pull" in person.text
        await person.type("hello")
        await person.press("enter")
        assert person.note == "There is no model to talk with."
        assert person.app.screen.query_one(TextArea).text == "hello"
        for command, shown in (
            ("/why tide_table", "because"),
            ("/help", "/purge_older DAYS"),
            ("/forget tide_table", "is archived"),
        ):
            person.app.screen.query_one(TextArea).text = command
            await person.press("enter")
            assert shown in person.text
        await person.press("escape", "u", "2")
        assert "tide_table" in person.text

    at_the_terminal(engine, story, no_model="No model is set to talk with: run `ollama pull qwen3:8b`.")

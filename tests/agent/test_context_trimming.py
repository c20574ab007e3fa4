"""What tools say in a run is cut to the room that there is for it, and the log keeps all of it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from tests.agent.conftest import Script, contents
from tests.agent.test_loop import say
from tests.sessions.talks import TEXTS

from picomem.agent import PicoBot
from picomem.agent.context_trimming import cost, fitted
from picomem.engine.engine import Engine
from picomem.records.session import Role
from picomem.records.untrusted_fence import fenced

PAGE = "The harbour <b>of</b> Bergen has nine cranes, 灯塔. " * 25_000


@pytest.mark.requirement("P5", "P6")
def test_a_result_of_a_megabyte_is_cut_for_the_model_and_kept_whole_in_the_log(engine: Engine) -> None:
    script = Script([("fetch", {})], "Cranes.", "Nine.")
    bot = PicoBot(script.model, engine, tools=[_fetch(PAGE)])
    began = time.monotonic()
    say(bot, "Read the page.", "How many cranes?")
    assert time.monotonic() - began < 60
    half = engine.settings.session.context_window // 2
    for messages, _ in script.given:
        assert cost(messages) <= half
    (shown,) = [text for text in contents(script.given[1][0]) if "Bergen" in text]
    assert shown.startswith('<untrusted-text origin="tool"') and shown.endswith("</untrusted-text>")
    assert f"of {len(PAGE):,} characters" in shown and "call the tool for a smaller part" in shown
    assert len(shown) > 3_000
    assert contents(script.given[2][0])[0] == "Read the page."  # the page pushed nothing out
    (kept,) = [
        message.content for message in engine.sessions().load(bot.talk.session).messages if message.role is Role.TOOL
    ]
    assert kept == PAGE


@pytest.mark.requirement("P5")
def test_many_long_results_in_one_turn_stay_within_the_room_in_pairs(engine: Engine) -> None:
    steps = [[("fetch", {"n": at}), ("fetch", {"n": at})] for at in range(9)]
    script = Script(*steps, "Done.")

    def fetch(n: int) -> str:
        """Fetch a page."""
        return f"Page {n}. " + PAGE[:40_000]

    say(PicoBot(script.model, engine, tools=[fetch]), "Read " + "all of the pages, " * 4_000)
    half = engine.settings.session.context_window // 2
    for at, (messages, _) in enumerate(script.given):
        assert cost(messages) <= half
        assert_pairs(messages)
        assert contents(messages)[0].startswith("Read all of the pages")
        if at:
            assert f"Page {at - 1}." in contents(messages)[-1]


def _fetch(text: str):
    def fetch() -> str:
        """Fetch the page."""
        return text

    return fetch


def assert_pairs(messages: list[ModelMessage]) -> None:
    waiting: list[str] = []
    for message in messages:
        answered = [part.tool_call_id for part in message.parts if isinstance(part, ToolReturnPart)]
        assert sorted(answered) == sorted(waiting)
        waiting = [part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)]
    assert waiting == []


@st.composite
def runs(draw: st.DrawFn) -> list[ModelMessage]:
    """Turns, each with rounds of calls and results, the last one waiting for the model."""
    made: list[ModelMessage] = []
    turns = draw(st.integers(1, 4))
    for turn in range(turns):
        made.append(ModelRequest(parts=[UserPromptPart(draw(TEXTS))]))
        for step in range(draw(st.integers(0, 4))):
            ids = [f"{turn}.{step}.{number}" for number in range(draw(st.integers(1, 4)))]
            calls = [ToolCallPart("look", {"at": draw(TEXTS)}, id_) for id_ in ids]
            made.append(ModelResponse(parts=[*([TextPart(draw(TEXTS))] if draw(st.booleans()) else []), *calls]))
            texts = [draw(TEXTS) * draw(st.sampled_from([1, 1, 20])) for _ in ids]
            fence = draw(st.booleans())
            made.append(
                ModelRequest(
                    parts=[
                        ToolReturnPart("look", fenced(text, "tool") if fence else text, id_)
                        for text, id_ in zip(texts, ids)
                    ],
                    run_id="run",
                )
            )
        if turn < turns - 1:
            made.append(ModelResponse(parts=[TextPart(draw(TEXTS))]))
    return made


@pytest.mark.requirement("P5")
@given(runs(), st.integers(400, 3_000), st.integers(600, 4_000))
def test_whatever_was_said_fits_in_pairs_with_the_newest_question(
    messages: list[ModelMessage], earlier: int, turn: int
) -> None:
    made = fitted(messages, "", earlier, turn)
    start = max(at for at, message in enumerate(made) if isinstance(message.parts[0], UserPromptPart))
    assert cost(made[:start]) <= earlier
    assert cost(made[start:]) <= turn or len(made[start:]) == 1
    assert_pairs(made)
    asked = [message for message in messages if isinstance(message.parts[0], UserPromptPart)][-1]
    (shown,) = contents([made[start]])
    assert shown == contents([asked])[0] or "cut here" in shown
    assert type(made[-1]) is type(messages[-1])
    for text in contents(made):
        assert text.count("<untrusted-text") == text.count("</untrusted-text>")
    if cost(messages) <= min(earlier, turn) // 8:
        assert made == messages
    assert fitted(made, "", earlier, turn) == made

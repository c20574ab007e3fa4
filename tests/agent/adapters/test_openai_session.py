"""The Session of the OpenAI Agents SDK over our log: what goes in comes out, in pairs, whatever is taken back."""

from __future__ import annotations

from types import SimpleNamespace

import anyio
import pytest

from picomem.agent.adapters.openai_session import OpenAISession
from picomem.engine.agent_support import window_of
from picomem.engine.engine import Engine
from picomem.sessions.pairs import NO_RESULT

USER = {"role": "user", "content": "What is the weather in Bergen?"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city": "Bergen"}'}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": "rain"}
ANSWER = {"role": "assistant", "content": "It rains."}
# As the SDK sends them, with what its server adds.
SENT = [
    USER,
    {"id": "rs_1", "type": "reasoning", "summary": []},
    {**CALL, "id": "fc_1", "status": "completed"},
    OUTPUT,
    {
        "id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "It rains.", "annotations": [], "logprobs": []}],
    },
]  # fmt: skip


@pytest.fixture
def session(engine: Engine) -> OpenAISession:
    return OpenAISession(engine, "support-42")


def run(call, *arguments):
    return anyio.run(call, *arguments)


def test_items_come_back_whole_and_in_their_order_in_another_process_too(session: OpenAISession, open_engine) -> None:
    assert run(session.get_items) == []
    run(session.add_items, SENT)
    assert run(session.get_items) == SENT
    again = OpenAISession(open_engine(), "support-42")
    assert run(again.get_items) == SENT
    assert run(again.get_items, 2) == SENT[-1:]  # an output without its call is refused by models
    assert run(again.get_items, 3) == SENT[-3:]
    assert run(OpenAISession(open_engine(), "support-43").get_items) == []
    assert run(OpenAISession(open_engine(user="ann"), "support-42").get_items) == []


def test_items_are_taken_back_one_by_one(session: OpenAISession, engine: Engine) -> None:
    run(session.add_items, SENT)
    for count in (4, 3, 2, 1, 0):
        assert run(session.pop_item) == SENT[count]
        items = run(session.get_items)
        if count == 3:  # a call alone is answered when it is read
            assert items == [*SENT[:3], {**OUTPUT, "output": NO_RESULT}]
        else:
            assert items == SENT[:count]
    assert run(session.pop_item) is None
    run(session.add_items, [USER, ANSWER])
    assert run(session.get_items) == [USER, ANSWER]
    page = engine.sessions().page(channel="api")
    assert [count for _, count in page.sessions] == [2]


def test_a_cleared_session_begins_anew_and_its_log_is_archived(session: OpenAISession, engine: Engine) -> None:
    run(session.add_items, SENT)
    run(session.clear_session)
    assert run(session.get_items) == []
    run(session.add_items, [USER])
    assert run(session.get_items) == [USER]
    ((_, count),) = engine.sessions().page(archived=True).sessions
    assert count == 4 + 3  # three have more than their text


def test_a_models_reasoning_and_other_strangers_to_the_log_come_back_whole(session: OpenAISession, engine) -> None:
    strangers = [
        {"type": "reasoning", "id": "rs_2", "summary": [{"type": "summary_text", "text": "Rain?"}], "encrypted_content": "gAAAAA" + "xY7_" * 200},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "Bergen"}},
        {"role": "user", "content": [{"type": "input_text", "text": "Look:"}, {"type": "input_image", "image_url": "https://x.example/a.png"}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAB"},
    ]  # fmt: skip
    run(session.add_items, [USER, *strangers[:2], ANSWER])
    run(session.add_items, strangers[2:])
    assert run(session.get_items) == [USER, *strangers[:2], ANSWER, *strangers[2:]]
    window = window_of(engine, engine.sessions().page().sessions[0][0].id)
    assert [message.content for message in window.messages] == [USER["content"], "It rains.", "Look:\n[image]"]


def test_secrets_are_redacted_and_an_output_without_its_call_is_left_out(session: OpenAISession) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    picture = {"role": "user", "content": [{"type": "input_text", "text": f"key {key}"}, {"type": "input_image"}]}
    orphan = {**OUTPUT, "call_id": "call_9", "id": "fco_9"}
    harmed = {"type": "reasoning", "id": "rs_3", "summary": [], "encrypted_content": f"x {key}"}
    run(session.add_items, [picture, orphan, harmed])
    (item,) = run(session.get_items)
    assert item["content"][0]["text"].startswith("key [redacted:") and key not in str(item)
    run(session.add_items, [])


@pytest.mark.parametrize("settings", [{"limit": 2}, SimpleNamespace(limit=2)], ids=["dict", "object"])
def test_the_settings_of_a_session_limit_its_items_and_an_argument_goes_before_them(engine: Engine, settings) -> None:
    session = OpenAISession(engine, "support-44", session_settings=settings)
    said = [{"role": "user", "content": f"Berth {number}"} for number in range(4)]
    run(session.add_items, said)
    assert run(session.get_items) == said[-2:]
    assert run(session.get_items, 3) == said[-3:]
    assert session.session_settings is settings


@pytest.mark.parametrize(
    "item", [{"role": "user", "content": "x", "extra": object()}, object(), {"type": "x", "a": {1}}]
)
def test_what_is_no_json_is_refused_and_nothing_of_the_call_is_stored(session: OpenAISession, item) -> None:
    with pytest.raises(TypeError):
        run(session.add_items, [USER, item])
    assert run(session.get_items) == []

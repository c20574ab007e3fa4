"""The chat turn as an operation, and its events as JSON."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest
from jsonschema import Draft202012Validator as Validator
from tests.cases import each_case
from tests.cli.model_server import ModelServer, serving
from tests.engine_parts import change_settings, connector_of

from picomem.agent.events import (
    EVENTS,
    Event,
    Notice,
    SessionBegun,
    TextDelta,
    Thinking,
    ToolCallEvent,
    ToolResultEvent,
    event_json,
    event_of,
)
from picomem.agent.turns import OPERATIONS
from picomem.app import operations
from picomem.engine.engine import Engine
from picomem.errors import Forbidden, InvalidInput
from picomem.light_dataclass import replace
from picomem.operations.schemas import PlainParameters, event_schema, request_schema
from picomem.records.caller import Caller
from picomem.records.session import Role
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, ModelSettings

*_, CHAT = OPERATIONS
SAMPLES: list[Event] = [
    SessionBegun("01a20090-6145-7000-8000-000000000001"),
    TextDelta("Grüß Gott\n"),
    Thinking(),
    ToolCallEvent("c1", "memory_store", '{"key": "tea"}'),
    ToolResultEvent("c1", "memory_store", "Memory stored: tea", failed=False),
    Notice("Memory is off."),
]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer()) as running:
        yield running


@each_case("event", SAMPLES, ids=lambda event: type(event).__name__)
def test_an_event_survives_its_json_form_and_fits_its_schema(event: Event) -> None:
    document = event_json(event)
    assert event_of(document) == event
    Validator.check_schema(event_schema(CHAT))
    Validator(event_schema(CHAT)).validate(document)


def test_every_kind_of_event_has_a_type_and_a_sample() -> None:
    assert [event_json(event)["type"] for event in SAMPLES] == list(EVENTS)
    assert event_json(TextDelta("Hello")) == {"type": "text_delta", "text": "Hello"}


@each_case("document", [{}, {"type": "no"}, {"type": "notice"}, {"type": "thinking", "text": "x"}])
def test_what_is_no_event_is_refused(document: dict) -> None:
    with pytest.raises(InvalidInput, match="text_delta, thinking, tool_call"):
        event_of(document)
    assert not Validator(event_schema(CHAT)).is_valid(document)


def test_a_turn_is_an_operation_that_streams_its_events_and_goes_on(engine: Engine, server: ModelServer) -> None:
    model = ModelSettings(provider="openai-compatible", model="script", base_url=f"http://127.0.0.1:{server.port}/v1")
    memory = MemorySettings(enabled=True)
    change_settings(engine, replace(engine.settings, model=model, memory=memory))
    server.steps = [[("memory_store", {"content": "Ann drinks green tea", "key": "tea"})], "Noted.", "Green tea."]
    documents = []

    async def tell(event: Event) -> None:
        documents.append(event_json(event))

    request = PlainParameters(CHAT).request({"message": "I am Ann and I drink green tea."})
    turn = anyio.run(CHAT.stream, engine, request, tell)
    assert (
        turn.answer,
        "".join(document.get("text", "") for document in documents if document["type"] == "text_delta"),
    ) == (
        "Noted.",
        "Noted.",
    )
    assert [document["type"] for document in documents if document["type"] != "text_delta"] == [
        "session_begun",
        "tool_call",
        "tool_result",
    ]
    assert documents[0]["session"] == turn.session
    again = CHAT.call(engine, CHAT.request(message="What do I drink?", session=turn.session[:18]))
    assert (again.answer, again.session) == ("Green tea.", turn.session)
    roles = [message.role for message in engine.sessions().load(turn.session).messages]
    assert roles == [Role.USER, Role.ASSISTANT, Role.TOOL, Role.ASSISTANT, Role.USER, Role.ASSISTANT]


def test_a_turn_needs_a_model_and_the_permission(engine: Engine) -> None:
    with pytest.raises(InvalidInput, match="No model is set"):
        CHAT.call(engine, CHAT.request(message="Hello"))
    reader = Caller(permissions=frozenset({"memory:read:user"}))
    guest = Runtime(connector_of(engine), Settings()).engine(reader)
    with pytest.raises(Forbidden, match="“chat” needs the permission memory:write:session"):
        anyio.run(CHAT.stream, guest, CHAT.request(message="Hello"))


def test_the_table_of_all_operations_has_the_turn_and_its_plain_schema() -> None:
    assert operations()[-1] is CHAT
    assert len({operation.name for operation in operations()}) == len(operations())
    assert request_schema(CHAT)["required"] == ["message"]

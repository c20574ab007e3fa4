"""A language model behind a real server, and everything that goes wrong with one (R17).

Whatever it answers, or does not: the conversation goes on, nothing of it is lost or taken up twice, nothing half is
kept, and what it cost is on the books.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from tests.cases import each_case
from tests.consolidation.conftest import TALK, begun, consolidate, said, settings
from tests.consolidation.server import GOOD, Server, answer, completion, fails, running, says

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.models.generator import Generator
from picomem.models.provider import open_chat_model
from picomem.models.selection import generator_of
from picomem.records.session import Session, ToolCall
from picomem.records.spend import Spend
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, ModelSettings, RecallSettings, SessionSettings

pytestmark = pytest.mark.reliability("R17")

KEY = "sk-local-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as state:
        yield state


def configured(url: str, provider: str = "openai-compatible", **more: Any) -> Settings:
    return Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"),
        session=SessionSettings(),
        memory=MemorySettings(
            enabled=True, consolidation_provider=provider, consolidation_model="tiny", consolidation_base_url=url,
            consolidation_key=KEY, consolidation_model_secs=more.pop("timeout_secs", 1),
        ),
    )  # fmt: skip


@pytest.fixture
def generator(server: Server) -> Generator:
    return generator_of(configured(server.url))


@pytest.mark.requirement("A8", "A13")
@pytest.mark.parametrize("provider", ["openai", "ollama", "lmstudio", "vllm", "openai-compatible"])
def test_a_server_that_speaks_openais_protocol_consolidates(memory, talk, server: Server, provider: str) -> None:
    done = consolidate(memory, generator_of(configured(server.url, provider)), talk.id)
    assert (done.state, done.warnings) == ("done", [])
    assert done.runs[0].generator == f"{provider}:tiny"
    assert [stored.key for stored in memory.memories()] == ["staging_db_port"]
    (request,) = server.requests
    assert request["model"] == "tiny"
    assert "tools" not in request
    assert request["response_format"]["type"] == "json_schema"
    assert request["max_completion_tokens" if provider == "openai" else "max_tokens"] == 2_000
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (done.spend.calls, done.spend.input_tokens, done.spend.output_tokens) == (1, 700, 60)
    assert memory.status().spent_today == 760


def test_a_server_without_schemas_is_asked_in_weaker_modes_and_the_mode_is_remembered(memory, talk, server, generator):
    def old(handler, request) -> bool:
        if request.get("response_format"):
            answer(handler, b'{"error": {"message": "response_format is not supported"}}', 400)
            return False
        return True

    server.behave = old
    assert consolidate(memory, generator, talk.id).state == "done"
    asked = [request.get("response_format", {}).get("type") for request in server.requests]
    assert asked == ["json_schema", "json_object", None]
    assert '"additionalProperties"' in server.requests[-1]["messages"][0]["content"]
    memory.sessions().append(talk.id, *TALK)
    consolidate(memory, generator, talk.id)
    assert len(server.requests) == 4


def test_an_answer_that_cannot_be_read_is_asked_for_again_with_what_is_wrong(memory, talk, server, generator) -> None:
    answers = iter(["Sure! Here are the facts: the port is 5433.", f"```json\n{json.dumps(GOOD)}\n```"])
    server.behave = lambda handler, _request: answer(handler, completion(next(answers)))
    done = consolidate(memory, generator, talk.id)
    assert (done.state, done.spend.calls) == ("done", 2)
    again = server.requests[1]["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert "no whole JSON object" in again[-1]["content"]


@pytest.mark.parametrize("settled", [settings(daily_token_limit=3_500)])
def test_an_answer_is_not_asked_for_again_over_the_limit(memory, talk, server, generator) -> None:
    server.behave = says("no JSON at all")
    done = consolidate(memory, generator, talk.id)
    assert (done.state, len(server.requests)) == ("failed", 1)
    assert "leaves no room for a call" in done.warnings[0]
    assert memory.status().spent_today == 760


def test_an_answer_that_was_cut_off_is_asked_for_once_more_without_the_schema(memory, talk, server, generator) -> None:
    """A small model that is held to a schema may say the same until it is cut off."""
    server.behave = lambda handler, request: says(
        json.dumps(GOOD), finish="length" if request["response_format"]["type"] == "json_schema" else "stop"
    )(handler, request)
    done = consolidate(memory, generator, talk.id)
    assert (done.state, done.spend.calls) == ("done", 2)
    asked = [request["response_format"]["type"] for request in server.requests]
    assert asked == ["json_schema", "json_object"]
    assert len(server.requests[1]["messages"]) == 2  # what was cut off is not shown again


def slow(handler, _request) -> None:
    handler.server_stop.wait(5)


def trickle(handler, _request) -> None:
    """A byte now and then: each arrives in time, and the answer never does."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        if handler.server_stop.wait(0.1):
            return


def cut(handler, _request) -> None:
    """The connection breaks within the body."""
    body = completion(json.dumps(GOOD))
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[: len(body) // 2])
    handler.close_connection = True


FAULTS = {
    "time-out": (slow, "within 1 seconds; raise memory.consolidation_model_secs", 1),
    "trickle": (trickle, "within 1 seconds", 1),
    "429": (fails(429), "429", 1),
    "500": (fails(500), "500", 1),
    "502 page": (fails(502, b"<html>Bad Gateway</html>"), "502", 1),
    "401": (fails(401, b'{"error": {"message": "Incorrect API key: ' + KEY.encode() + b'"}}'), "401", 1),
    "404": (fails(404), "404", 3),
    "no body": (lambda handler, _: answer(handler, b""), "", None),
    "no json": (lambda handler, _: answer(handler, b"<html>hello</html>", kind="text/html"), "", None),
    "null": (lambda handler, _: answer(handler, b"null"), "", None),
    "no choices": (lambda handler, _: answer(handler, b'{"choices": []}'), "", None),
    "empty": (says(""), "empty", 3),
    "nothing": (says(None), "empty", 3),
    "words": (says("The user wants a port."), "no whole JSON object", 3),
    "refusal": (says("I'm sorry, I can't help with that."), "no whole JSON object", 3),
    "refusal in form": (says(json.dumps({**GOOD, "timeline": "I cannot assist with that request."})), "refused", 1),
    "filtered": (says("", finish="content_filter"), "filter", 1),
    "cut off": (says(json.dumps(GOOD)[:150], finish="length"), "cut off", 2),
    "cut off whole": (says(json.dumps(GOOD), finish="length"), "cut off", 2),
    "broken off": (cut, "", None),
    "half": (says(json.dumps(GOOD)[:-40]), "no whole JSON object", 3),
    "100 KB": (says("blah " * 20_000), "characters", 3),
    "100 KB in form": (says(json.dumps({**GOOD, "timeline": "blah " * 20_000})), "characters", 3),
    "no timeline": (says(json.dumps({**GOOD, "timeline": " "})), "no words", 1),
    "empty object": (says("{}"), "has no “timeline”", 3),
    "a list": (says("[1, 2]"), "no whole JSON object", 3),
}  # fmt: skip


@pytest.mark.requirement("A11")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.replace(" ", "_"))
def test_a_model_that_fails_blocks_nothing_and_nothing_is_lost(memory: Engine, talk: Session, server, generator, fault):
    behave, told, calls = FAULTS[fault]

    def behaving(handler, request) -> Any:
        handler.server_stop = server.stop
        return behave(handler, request)

    server.behave = behaving
    memory.remember("The staging pool asks port 6432", key="staging_pool_port")
    before = memory.memories()
    began = time.monotonic()
    done = consolidate(memory, generator, talk.id)
    assert time.monotonic() - began < 5
    assert (done.state, done.failures) == ("failed", 1)
    assert told in done.warnings[0]
    assert KEY not in repr(done)
    if calls:
        assert len(server.requests) == done.spend.calls == calls
    assert memory.memories() == before
    assert memory.timeline() == []
    now = memory.sessions().get(talk.id)
    assert (now.last_consolidated_seq, now.consolidation_failures) == (0, 1)
    assert memory.status().models[generator.name]["calls"] == done.spend.calls
    memory.sessions().append(talk.id, *TALK[:2])  # the conversation goes on

    server.behave = None
    done = consolidate(memory, generator, talk.id)
    assert (done.state, done.runs[0].first, done.runs[0].last) == ("done", 1, 8)
    assert len(memory.timeline()) == 1
    assert memory.sessions().get(talk.id).consolidation_failures == 0


@pytest.mark.requirement("A11")
def test_a_model_that_is_gone_is_done_without_after_three_times(memory: Engine, talk: Session) -> None:
    with running() as gone:
        generator = generator_of(configured(gone.url))
    states = [consolidate(memory, generator, talk.id) for _ in range(3)]
    assert [outcome.state for outcome in states] == ["failed", "failed", "done"]
    assert "is the server running?" in states[0].warnings[0]
    assert states[0].spend == Spend()  # nothing was sent
    assert states[-1].runs[0].generator == "extractive"
    assert memory.sessions().get(talk.id).last_consolidated_seq == 6


def test_the_key_is_in_no_output(server: Server) -> None:
    chosen = configured(server.url)
    generator = generator_of(chosen)
    shown = repr(chosen), str(chosen.memory), repr(chosen.model), repr(vars(generator)["_choice"])
    assert not any(KEY in text for text in shown)


def test_a_key_in_the_environment_does_not_go_to_a_server_of_ones_own(memory, talk, server, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    base = configured(server.url)
    chosen = Settings(
        memory=MemorySettings(
            consolidation_provider="openai", consolidation_model="tiny", consolidation_base_url=server.url
        ),
        model=base.model,
    )
    consolidate(memory, generator_of(chosen), talk.id)
    assert server.headers[0]["authorization"] == "Bearer none"


@pytest.mark.requirement("A13")
def test_the_consolidating_model_is_another_than_the_chats(server: Server) -> None:
    chosen = Settings(
        memory=MemorySettings(consolidation_model="small"),
        model=ModelSettings(provider="ollama", model="large", base_url=server.url),
    )
    assert generator_of(chosen).name == "ollama:small"
    assert open_chat_model(chosen).model_name == "large"
    assert generator_of(Settings()).name == "extractive"


@pytest.mark.parametrize(
    ("memory_settings", "model", "told"),
    [
        (MemorySettings(consolidation_model="m"), ModelSettings(), "consolidation_provider is not"),
        (MemorySettings(consolidation_model="m", consolidation_provider="openia"), ModelSettings(), "no provider"),
        (MemorySettings(consolidation_model="m", consolidation_provider="openai"), ModelSettings(), "no API key"),
        (MemorySettings(consolidation_model="m", consolidation_provider="anthropic"), ModelSettings(), "no API key"),
        (MemorySettings(consolidation_model="m", consolidation_provider="google"), ModelSettings(), "no API key"),
        (MemorySettings(consolidation_model="m", consolidation_provider="openrouter"), ModelSettings(), "no API key"),
        (
            MemorySettings(consolidation_model="m", consolidation_provider="openrouter", consolidation_key="k"),
            ModelSettings(),
            "must be prefixed",
        ),
        (
            MemorySettings(consolidation_model="m", consolidation_provider="openai-compatible"),
            ModelSettings(),
            "needs a base_url",
        ),
        (
            MemorySettings(
                consolidation_model="m", consolidation_provider="ollama", consolidation_base_url="http://me:pw@host"
            ),
            ModelSettings(),
            "is no address",
        ),
        (
            MemorySettings(consolidation_model="m", consolidation_provider="ollama", consolidation_key="sk-…"),
            ModelSettings(),
            "no key has",
        ),
    ],
)
def test_what_is_set_wrong_is_said_in_one_sentence(memory_settings, model, told, monkeypatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidInput, match=told):
        generator_of(Settings(memory=memory_settings, model=model))
    with pytest.raises(InvalidInput, match="No model is set"):
        open_chat_model(Settings())


@each_case("provider", ["anthropic", "google", "openrouter"])
def test_other_providers_models_are_made_without_being_asked(provider: str) -> None:
    chosen = ModelSettings(provider=provider, model="some/model", key="k" * 20)
    assert open_chat_model(Settings(model=chosen)).model_name == "some/model"


def test_a_session_with_nothing_but_tools_asks_no_model(memory: Engine, server: Server, generator) -> None:
    session = begun(
        memory, said("assistant", "", None, ToolCall("c1", "look", "{}")), said("tool", "a page", answers="c1")
    )
    done = consolidate(memory, generator, session.id, force=True)
    assert (done.runs[0].first, done.runs[0].last, done.spend.calls) == (1, 2, 0)
    assert server.requests == []

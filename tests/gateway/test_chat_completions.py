"""Any client of OpenAI's chat API talks with PicoBot: the official client, a real server, a scripted model."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletion
from tests.cli.model_server import ModelServer, Unended
from tests.cli.model_server import serving as model_serving
from tests.databases import open_memory
from tests.engine_parts import resources_of

from picomem.app import operations
from picomem.engine.authorization import grant, make_token
from picomem.engine.engine import Engine
from picomem.gateway.http_api import application
from picomem.runtime import Runtime

from .serving import TIMEOUT, Served, serving

Said = list[dict[str, Any]]


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_serving(ModelServer()) as running:
        yield running


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Served]:
    db: Path = tmp_path_factory.mktemp("chatting") / "memory.db"
    with serving(db, **model.env, PICOMEM_MEMORY_ENABLED="true") as running:
        yield running


@pytest.fixture(autouse=True)
def _nothing_left_to_say(model: ModelServer) -> None:
    model.steps, model.asked = [], []


def client_of(served: Served, user: str, *scopes: str, **headers: str) -> openai.OpenAI:
    with open_memory(served.db, user=user) as engine:
        _, shown = make_token(engine, frozenset(scopes), "", None)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return openai.OpenAI(
        api_key=shown, base_url=f"{served.url}/v1", timeout=TIMEOUT, max_retries=0, default_headers=named
    )


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def ask(client: openai.OpenAI, messages: Said, **further: Any) -> ChatCompletion:
    return client.chat.completions.create(model="picobot", messages=messages, **further)  # type: ignore[arg-type]


def session_of(completion: ChatCompletion) -> str:
    assert completion.model_extra is not None
    return str(completion.model_extra["picomem"]["session"])


def stored(served: Served, client: openai.OpenAI, session: str) -> list[tuple[str, str]]:
    """What a session holds: role and text."""
    shown = served.post(client.api_key, "messages", {"session": session}).json()
    return [(message["role"], message["text"]) for message in shown["messages"]]


def sessions(served: Served, client: openai.OpenAI) -> list[dict[str, Any]]:
    return served.post(client.api_key, "sessions").json()["sessions"]


@pytest.mark.requirement("P13")
def test_the_history_that_a_client_sends_is_stored_once(chatting: Served, model: ModelServer) -> None:
    ann = client_of(chatting, "ann")
    model.steps = ["Hello Ann.", "At seven."]
    first = ask(ann, [user("Hello, I am Ann.")])
    answer = first.choices[0].message.content
    assert (answer, first.choices[0].finish_reason, first.model) == ("Hello Ann.", "stop", "picobot")
    assert (first.usage.prompt_tokens, first.usage.completion_tokens, first.usage.total_tokens) == (7, 3, 10)
    second = ask(ann, [user("Hello, I am Ann."), assistant("Hello Ann."), user("When does the ferry leave?")])
    assert session_of(second) == session_of(first)
    assert stored(chatting, ann, session_of(first)) == [
        ("user", "Hello, I am Ann."),
        ("assistant", "Hello Ann."),
        ("user", "When does the ferry leave?"),
        ("assistant", "At seven."),
    ]
    (listed,) = sessions(chatting, ann)
    assert listed["session"]["channel"] == "api"


def test_a_streamed_answer_comes_in_chunks_and_its_history_is_known(chatting: Served, model: ModelServer) -> None:
    bea = client_of(chatting, "bea")
    model.steps = [[("memory_recall", {"query": "ferry"})], "It leaves at seven.", "Yes."]
    asked = {"model": "picobot", "messages": [user("When does the ferry leave?")], "stream": True}
    chunks = list(bea.chat.completions.create(**asked, stream_options={"include_usage": True}))  # type: ignore[call-overload]
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "It leaves at seven."
    assert len([text for text in texts if text]) > 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage.total_tokens == 20
    assert len({chunk.id for chunk in chunks}) == 1
    ask(bea, [user("When does the ferry leave?"), assistant("It leaves at seven."), user("Every day?")])
    assert [listed["messages"] for listed in sessions(chatting, bea)] == [6]


def test_memory_from_one_conversation_is_used_in_the_next(chatting: Served, model: ModelServer) -> None:
    cleo = client_of(chatting, "cleo")
    model.steps = [[("memory_store", {"content": "Cleo drinks green tea", "key": "tea"})], "Noted.", "Green tea."]
    ask(cleo, [user("I am Cleo and I drink green tea.")])
    ask(cleo, [user("What do I drink?")])
    assert "Cleo drinks green tea" in model.prompt()
    assert len(sessions(chatting, cleo)) == 2


def test_a_system_message_is_an_instruction_for_its_conversation_and_never_memory(
    chatting: Served, model: ModelServer
) -> None:
    dan = client_of(chatting, "dan")
    system = {"role": "system", "content": "Remember: the gatekeeper is called Quintus. Answer in rhyme."}
    first = ask(dan, [system, user("Hello.")])
    assert "Answer in rhyme." in model.prompt()
    assert [role for role, _ in stored(chatting, dan, session_of(first))] == ["user", "assistant"]
    again = ask(dan, [{**system, "content": "Answer in prose."}, user("Hello."), assistant("Well."), user("And now?")])
    assert session_of(again) == session_of(first)
    assert "rhyme" not in model.prompt()
    ask(dan, [user("Who keeps the gate?")])
    assert "Quintus" not in model.prompt()
    assert "Quintus" not in chatting.post(dan.api_key, "memories").text


def test_an_edited_history_forks_the_conversation(chatting: Served, model: ModelServer) -> None:
    eve = client_of(chatting, "eve")
    model.steps = ["One.", "Two.", "Two again.", "Three."]
    first = ask(eve, [user("First?")])
    ask(eve, [user("First?"), assistant("One."), user("Second?")])
    regenerated = ask(eve, [user("First?"), assistant("One."), user("Second?")])
    assert session_of(regenerated) != session_of(first)
    edited = ask(eve, [user("First?"), assistant("One."), user("Another second?"), assistant("Zwei."), user("Third?")])
    assert [text for _, text in stored(chatting, eve, session_of(first))] == ["First?", "One.", "Second?", "Two."]
    fork = stored(chatting, eve, session_of(regenerated))
    assert [text for _, text in fork] == ["First?", "One.", "Second?", "Two again."]
    texts = [text for _, text in stored(chatting, eve, session_of(edited))]
    assert texts == ["First?", "One.", "Another second?", "Zwei.", "Third?", "Three."]


def test_a_session_is_named_by_header_or_metadata(chatting: Served, model: ModelServer) -> None:
    fay = client_of(chatting, "fay")
    first = session_of(ask(fay, [user("One.")]))
    named = session_of(ask(fay, [user("Two.")], metadata={"session": first}))
    also = session_of(ask(fay, [user("Three.")], extra_headers={"Picomem-Session": first[:20]}))
    assert named == also == first
    texts = [text for role, text in stored(chatting, fay, first) if role == "user"]
    assert texts == ["One.", "Two.", "Three."]
    with pytest.raises(openai.NotFoundError) as unknown:
        ask(fay, [user("Four.")], metadata={"session": "nowhere"})
    assert unknown.value.code == "not_found"


def test_a_request_that_failed_is_sent_again_and_its_message_is_stored_once(
    chatting: Served, model: ModelServer
) -> None:
    gil = client_of(chatting, "gil")
    model.steps = [500, 500, 500, "Here I am."]
    with pytest.raises(openai.APIStatusError) as failed:
        ask(gil, [user("Are you there?")])
    assert (failed.value.status_code, failed.value.type, failed.value.code) == (502, "api_error", "generator_failed")
    model.steps = ["Here I am."]
    answered = ask(gil, [user("Are you there?")])
    assert stored(chatting, gil, session_of(answered)) == [("user", "Are you there?"), ("assistant", "Here I am.")]
    assert len(sessions(chatting, gil)) == 1


def test_a_client_that_goes_away_stops_the_answer_and_what_was_said_is_kept(
    chatting: Served, model: ModelServer
) -> None:
    hal = client_of(chatting, "hal")
    model.steps = [Unended("The ferry leaves at seven and"), "At eight."]
    with hal.chat.completions.create(model="picobot", messages=[user("When?")], stream=True) as stream:  # type: ignore[list-item]
        heard = ""
        for chunk in stream:
            heard += chunk.choices[0].delta.content or ""
            if heard.endswith("seven"):
                break
    continued = ask(hal, [user("When?"), assistant(heard), user("When really?")])
    texts = [text for _, text in stored(chatting, hal, session_of(continued))]
    assert texts[0] == "When?"
    assert texts[1].startswith("The ferry leaves at seven")
    assert texts[2:] == ["When really?", "At eight."]
    assert len(sessions(chatting, hal)) == 1


@pytest.mark.requirement("P8")
def test_another_user_is_reached_with_a_global_grant_alone(chatting: Served, model: ModelServer) -> None:
    ida = client_of(chatting, "ida")
    for asked in ({"user": "ann"}, {"extra_headers": {"Picomem-User": "ann"}}):
        with pytest.raises(openai.PermissionDeniedError) as refused:
            ask(ida, [user("Hello.")], **asked)
        assert (refused.value.code, refused.value.type) == ("forbidden", "permission_error")
    assert ask(ida, [user("Hello.")], user="ida").choices[0].message.content == "Well."
    permissions = ("memory:read:global", "memory:write:global")
    with open_memory(chatting.db, user="proxy") as engine:
        grant(engine, frozenset(permissions))
    proxy = client_of(chatting, "proxy", *permissions)
    answered = ask(proxy, [user("Greetings.")], user="ines")
    assert [text for _, text in stored(chatting, client_of(chatting, "ines"), session_of(answered))] == [
        "Greetings.",
        "Well.",
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "Hello"}, "messages"),
        ({"messages": [assistant("Hello.")]}, "last message"),
        ({"messages": [user("")]}, "empty"),
        ({"messages": [user("x")], "tools": [{"type": "function"}]}, "tools"),
        ({"messages": [user("x")], "n": 2}, "n"),
        ({"messages": [user("x")], "response_format": {"type": "json_object"}}, "response_format"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]}, "text"),
        ({"messages": [{"role": "wizard", "content": "x"}]}, "role"),
        ({"messages": [user("x")], "stream": "yes"}, "stream"),
        ({"messages": [user("x")], "metadata": {"session": 1}}, "session"),
        ({}, "messages"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_openais_shape(
    chatting: Served, body: dict[str, Any], field: str
) -> None:
    with chatting.client(client_of(chatting, "jo").api_key) as client:
        answer = client.post("/v1/chat/completions", json={"model": "picobot", **body})
    error = answer.json()["error"]
    assert (answer.status_code, error["type"]) == (400, "invalid_request_error")
    assert field in error["message"]


def test_a_turn_over_plain_http_is_a_conversation_of_the_api(chatting: Served, model: ModelServer) -> None:
    lea = client_of(chatting, "lea")
    chatting.post(lea.api_key, "chat", {"message": "Hello."})
    assert [listed["session"]["channel"] for listed in sessions(chatting, lea)] == ["api"]


def test_errors_before_any_message_have_openais_shape_too(chatting: Served) -> None:
    stranger = openai.OpenAI(api_key="pico_x.y", base_url=f"{chatting.url}/v1", max_retries=0)
    with pytest.raises(openai.AuthenticationError) as refused:
        ask(stranger, [user("Hello.")])
    assert (refused.value.code, refused.value.type) == ("unauthorized", "authentication_error")


def test_agent_libraries_are_loaded_when_a_turn_begins_and_named_where_they_are_missing(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the process itself, so that a library can be missing."""
    program = (
        "import sys, picomem.gateway.web_server; sys.exit('pydantic_ai' in sys.modules or 'openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=TIMEOUT, check=False).returncode == 0
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    resources = resources_of(engine)
    runtime = Runtime(resources.connector, resources.settings, clock=resources.clock)
    _, shown = make_token(engine, frozenset(), "", None)
    server = application(runtime, operations(), hosts=["server"], origins=[])

    async def asked() -> dict[str, Any]:
        transport, headers = httpx2.ASGITransport(server), {"Authorization": f"Bearer {shown}"}
        async with httpx2.AsyncClient(transport=transport, base_url="http://server", headers=headers) as client:
            return (
                await client.post("/v1/chat/completions", json={"model": "picobot", "messages": [user("Hello.")]})
            ).json()["error"]

    assert "install picomem[agent]" in anyio.run(asked)["message"]
    assert engine.sessions().page().sessions == ()


def test_parts_of_text_are_one_message_and_the_models_are_listed(chatting: Served, model: ModelServer) -> None:
    kim = client_of(chatting, "kim")
    parts = [{"type": "text", "text": "Hello "}, {"type": "text", "text": "there."}]
    answered = ask(kim, [{"role": "user", "content": parts}])
    assert stored(chatting, kim, session_of(answered))[0] == ("user", "Hello there.")
    assert [listed.id for listed in kim.models.list()] == ["picobot"]
    assert kim.models.retrieve("picobot").owned_by == "picomem"
    with pytest.raises(openai.NotFoundError):
        kim.models.retrieve("gpt-4o")


@pytest.mark.requirement("X5")
def test_a_client_that_still_shows_a_purged_conversation_does_not_bring_it_back(
    chatting: Served, model: ModelServer
) -> None:
    client = client_of(chatting, "piotr")
    said = [user("The walnut smugglers meet behind the old quarry on Tuesdays")]
    model.steps = ["I noted where the smugglers meet, and their hour.", "The ferry leaves at noon.", "At two."]
    first = session_of(ask(client, said))
    with open_memory(chatting.db, user="piotr") as engine:
        engine.purge(session=first)
    said += [assistant("I noted where the smugglers meet, and their hour."), user("When does the ferry leave?")]
    second = session_of(ask(client, said))
    assert stored(chatting, client, second) == [
        ("user", "When does the ferry leave?"),
        ("assistant", "The ferry leaves at noon."),
    ]
    said += [assistant("The ferry leaves at noon."), user("And on Sundays, when does it leave?")]
    assert session_of(ask(client, said)) == second
    assert [role for role, _ in stored(chatting, client, second)] == ["user", "assistant"] * 2
    assert "smuggler" not in str(model.asked[-2:])


def test_a_request_without_a_model_is_refused_and_the_model_has_one_age(chatting: Served) -> None:
    client = client_of(chatting, "nora")
    refused = chatting.client(client.api_key).post("/v1/chat/completions", json={"messages": [user("Hello")]})
    assert refused.status_code == 400
    assert refused.json()["error"]["message"] == "The request names no model; send “model”: “picobot”."
    (listed,) = client.models.list().data
    assert listed.created == client.models.retrieve("picobot").created == 1_793_491_200


@pytest.mark.parametrize("is_streamed", [False, True])
def test_an_unknown_session_is_refused_with_the_operation_that_lists_them(chatting: Served, is_streamed: bool) -> None:
    client = client_of(chatting, "nora", Picomem_Session="01a20090")
    with pytest.raises(openai.NotFoundError) as refused:
        ask(client, [user("Are you there?")], stream=is_streamed)
    assert "the operation `sessions` lists them" in refused.value.message


@pytest.mark.reliability("S10")
@pytest.mark.parametrize("shape", [" ", "SELECT a from b;\n", "I use red, not blue. "])
def test_the_server_answers_others_while_it_reads_a_hostile_message(chatting: Served, shape: str) -> None:
    message = f"I live in Bergen.{shape * (900_000 // len(shape))}z"
    waits: list[float] = []
    with chatting.client() as stranger, ThreadPoolExecutor(1) as pool:
        asked = pool.submit(ask, client_of(chatting, f"hal{len(shape)}"), [user(message)])
        while not waits or not asked.done():
            begun = time.monotonic()
            assert stranger.get("/health").status_code == 200
            waits.append(time.monotonic() - begun)
        assert asked.result().choices[0].finish_reason == "stop"
    assert max(waits) < 5, waits  # issue 37 measured 57 seconds for 16,000 blanks

"""JSON-RPC over a web socket, by a real client of a real server."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cases import each_case
from tests.cli.model_server import ModelServer, Unended
from tests.cli.model_server import serving as model_serving
from tests.waiting import wait_until
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.typing import Subprotocol

from picomem.gateway.calls import TOKEN_ENDED

from .serving import TIMEOUT, Served, made_token, picomem, serving, token


def _address(served: Served) -> str:
    return f"{served.url.replace('http', 'ws', 1)}/ws"


def talk(served: Served, shown: str, conversation: Callable[[ClientConnection], Awaitable[Any]]) -> Any:
    async def held() -> Any:
        async with (
            asyncio.timeout(TIMEOUT),
            connect(_address(served), additional_headers={"Authorization": f"Bearer {shown}"}, proxy=None) as client,
        ):
            return await conversation(client)

    return asyncio.run(held())


async def _asked(client: ClientConnection, message: Any) -> Any:
    """Send a message; the next answer, notifications passed over."""
    await client.send(message if isinstance(message, str | bytes) else json.dumps(message))
    while True:
        answer = json.loads(await client.recv())
        if isinstance(answer, list) or "method" not in answer:
            return answer


def _request(method: str, request_id: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


@pytest.mark.requirement("O14")
def test_the_methods_of_the_design_list_search_create_update_and_archive(served: Served) -> None:
    ines = token(served.db, "--user", "ines")

    async def conversation(client: ClientConnection) -> None:
        made = await _asked(client, _request("memory.create", content="The ferry leaves at seven", key="ferry"))
        assert made["result"]["decision"] == "add"
        await _asked(client, _request("memory.create", content="Tea is in the blue tin", key="tea", kind="preference"))
        answer = await _asked(client, _request("memory.search", query="when does the ferry leave"))
        assert [hit["key"] for hit in answer["result"]["hits"]] == ["ferry"]
        listed = await _asked(client, _request("memory.list", kind="preference"))
        assert [memory["key"] for memory in listed["result"]["memories"]] == ["tea"]
        updated = await _asked(client, _request("memory.update", name="ferry", content="The ferry leaves at eight"))
        assert updated["result"]["memory"]["content"] == "The ferry leaves at eight"
        assert (await _asked(client, _request("memory.delete", name="tea")))["result"]
        left = await _asked(client, _request("memory.list"))
        assert [memory["key"] for memory in left["result"]["memories"]] == ["ferry"]

    talk(served, ines, conversation)
    history = json.loads(picomem(served.db, "history", "tea", "--user", "ines", "--json").stdout)
    assert history["versions"], "what was deleted is archived"


def test_every_operation_is_a_method_by_its_name(served: Served, anns: str) -> None:
    async def conversation(client: ClientConnection) -> None:
        for method in ("recall", "memories", "status", "changes", "review", "timeline", "sessions"):
            arguments = {"query": "anything"} if method == "recall" else {}
            assert "result" in await _asked(client, _request(method, **arguments)), method

    talk(served, anns, conversation)


@pytest.mark.reliability("S8")
@each_case(
    ("message", "code"),
    [
        ("{", -32700),
        ("", -32700),
        (b"\xff\xfe", -32700),
        ('{"jsonrpc": "2.0", "id": 1, "method": "recall", "params": {"query": NaN}}', -32700),
        ("[]", -32600),
        ("null", -32600),
        ("1", -32600),
        ({"id": 1, "method": "recall"}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": {}, "method": "recall"}, -32600),
        ({"jsonrpc": "2.0", "id": True, "method": "recall"}, -32600),
        ({"jsonrpc": "2.0", "id": 1, "method": "recall", "params": "x"}, -32600),
        (_request("no-such-method"), -32601),
        (_request("token-make"), -32601),
        (_request("ingest"), -32601),
        ({"jsonrpc": "2.0", "id": 1, "method": "recall", "params": ["x"]}, -32602),
        (_request("recall"), -32602),
        (_request("recall", query=1, limit="many"), -32602),
        (_request("recall", query="x", user=3), -32602),
        (_request("memories", user=[]), -32602),
        (_request("memories", user=None), -32602),
        (_request("memories", user=False), -32602),
        (_request("forget", name="nobody_has_this"), -32000),
    ],
)
def test_what_is_wrong_has_the_standards_code_and_the_socket_goes_on(
    served: Served, anns: str, message: Any, code: int
) -> None:
    async def conversation(client: ClientConnection) -> None:
        answer = await _asked(client, message)
        assert (answer["jsonrpc"], answer["error"]["code"]) == ("2.0", code)
        assert "Traceback" not in answer["error"]["message"]
        assert "result" in await _asked(client, _request("memories", "next"))

    talk(served, anns, conversation)


def test_a_conversation_that_begins_over_the_network_is_of_that_channel(served: Served, anns: str) -> None:
    async def begun(client: ClientConnection) -> Any:
        return [await _asked(client, _request("begin-session", **params)) for params in ({}, {"channel": "api"})]

    over_socket = [answer["result"]["session"]["channel"] for answer in talk(served, anns, begun)]
    assert over_socket == ["websocket", "api"]
    assert served.post(anns, "begin-session").json()["session"]["channel"] == "api"
    assert served.post(anns, "begin-session", {"channel": "tui"}).json()["session"]["channel"] == "tui"
    with served.client(anns) as client:
        paths = client.get("/api/v1/openapi.json").json()["paths"]
    for name in ("begin-session", "chat"):
        fields = paths[f"/api/v1/{name}"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
        assert fields["channel"]["default"] == "api"


def test_a_batch_is_answered_as_one_and_a_notification_not_at_all(served: Served, anns: str) -> None:
    async def conversation(client: ClientConnection) -> None:
        silent = {"jsonrpc": "2.0", "method": "memories"}
        batch = [_request("memories", 1), silent, 1, _request("nothing", "b")]
        answers = await _asked(client, batch)
        assert [(answer["id"], "result" in answer) for answer in answers] == [(1, True), (None, False), ("b", False)]
        await client.send(json.dumps(silent))
        assert (await _asked(client, _request("memories", "after")))["id"] == "after"

    talk(served, anns, conversation)


def test_a_socket_hears_of_what_another_process_changes(served: Served) -> None:
    jons = token(served.db, "--user", "jon")

    async def conversation(client: ClientConnection) -> None:
        await _asked(client, _request("memories"))
        for number in range(20):  # until the server has looked for the first time, nothing has changed for it
            content = f"Jon keeps the number {number} in the drawer"
            await asyncio.to_thread(
                picomem, served.db, "remember", content, "--user", "jon", "--key", f"drawer_{number}"
            )
            try:
                said = json.loads(await asyncio.wait_for(client.recv(), 3))
            except TimeoutError:
                continue
            assert (said["method"], bool(said["params"]["change"])) == ("memory.changed", True)
            return
        raise AssertionError("nothing was heard")

    talk(served, jons, conversation)


def test_a_client_that_reads_nothing_keeps_no_change_from_others(served: Served) -> None:
    eves, kens = token(served.db, "--user", "eve"), token(served.db, "--user", "ken")
    for number in range(30):
        served.post(
            eves, "remember", {"content": f"Crate {number} holds " + "rope and tar " * 580, "key": f"c_{number}"}
        )

    async def conversation(client: ClientConnection) -> None:
        small = socket.socket()
        small.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        small.connect(("127.0.0.1", int(served.url.rpartition(":")[2])))
        headers = {"Authorization": f"Bearer {eves}"}
        deaf = await connect(
            _address(served), sock=small, additional_headers=headers, max_queue=1, compression=None, proxy=None
        )
        for number in range(60):
            await deaf.send(json.dumps(_request("memories", number, limit=30)))
        heard = 0
        for number in range(10):  # the answers to the client that does not read fill its connection meanwhile
            await asyncio.to_thread(served.post, eves, "remember", {"content": "Crate is empty", "key": f"d_{number}"})
            content = {"content": f"Ken keeps the number {number} in the drawer", "key": f"drawer_{number}"}
            await asyncio.to_thread(served.post, kens, "remember", content)
            with suppress(TimeoutError):
                heard += json.loads(await asyncio.wait_for(client.recv(), 3))["method"] == "memory.changed"
        assert heard >= 8
        deaf.transport.abort()

    talk(served, kens, conversation)


@pytest.mark.requirement("P8")
@pytest.mark.reliability("S6")
def test_a_socket_needs_a_token_and_a_page_of_ours(served: Served, anns: str) -> None:
    async def status(**settings: Any) -> int:
        try:
            async with connect(_address(served), proxy=None, **settings) as client:
                await _asked(client, _request("memories"))
                return 101
        except InvalidStatus as refused:
            return refused.response.status_code

    async def all_of_them() -> list[int]:
        bearer = {"Authorization": f"Bearer {anns}"}
        return [
            await status(),
            await status(additional_headers={"Authorization": "Bearer pico_YW5u.wrong"}),
            await status(additional_headers=bearer, origin="http://evil.example"),
            await status(additional_headers={**bearer, "Sec-Fetch-Site": "cross-site"}),
            await status(subprotocols=[Subprotocol("picomem.v1"), Subprotocol("bearer.wrong")]),
            await status(subprotocols=[Subprotocol("picomem.v1"), Subprotocol(f"bearer.{anns}")]),
            await status(additional_headers=bearer, origin=served.url),
        ]

    assert asyncio.run(all_of_them()) == [401, 401, 403, 403, 401, 101, 101]


@pytest.mark.requirement("P8")
@pytest.mark.reliability("S6")
def test_an_open_socket_ends_with_its_token(served: Served) -> None:
    async def conversation(client: ClientConnection) -> tuple[int, int]:
        assert "result" in await _asked(client, _request("memories"))
        listed = json.loads(picomem(served.db, "token", "list", "--json", "--user", "mallory").stdout)["tokens"]
        assert picomem(served.db, "token", "revoke", listed[0]["id"], "--user", "mallory").returncode == 0
        with pytest.raises(ConnectionClosed) as closed:
            await _asked(client, _request("remember", content="The amber harbour keeps its ledgers dry"))
        assert closed.value.rcvd is not None
        return len(listed), closed.value.rcvd.code

    assert talk(served, token(served.db, "--user", "mallory"), conversation) == (1, 4401)
    assert served.post(token(served.db, "--user", "mallory"), "memories").json()["memories"] == []


@pytest.mark.reliability("S6")
def test_a_frame_that_is_too_large_closes_the_socket_and_nothing_else(served: Served, anns: str) -> None:
    async def conversation(client: ClientConnection) -> int | None:
        await client.send("x" * (1 << 19))
        with pytest.raises(ConnectionClosed) as closed:
            await client.recv()
        return closed.value.rcvd.code if closed.value.rcvd else None

    assert talk(served, anns, conversation) == 1009
    assert served.post(anns, "memories").status_code == 200


@pytest.mark.reliability("S6")
def test_a_token_has_so_many_sockets_and_no_more(served: Served) -> None:
    kits = token(served.db, "--user", "kit")

    async def opened() -> int:
        sockets = []
        try:
            for _ in range(70):
                sockets.append(
                    await connect(
                        _address(served), additional_headers={"Authorization": f"Bearer {kits}"}, proxy=None
                    ).__aenter__()
                )
        except InvalidStatus as refused:
            assert refused.response.status_code == 429
        count = len(sockets)
        await asyncio.gather(*(client.close() for client in sockets))
        return count

    assert asyncio.run(opened()) == 64


def test_sockets_are_told_when_the_server_ends(tmp_path) -> None:
    lous = token(tmp_path / "memory.db", "--user", "lou")
    with serving(tmp_path / "memory.db") as running:

        async def conversation(client: ClientConnection) -> int | None:
            await _asked(client, _request("memories"))
            await asyncio.to_thread(running.stop)
            assert json.loads(await client.recv())["method"] == "server.ending"
            with pytest.raises(ConnectionClosed) as closed:
                await client.recv()
            return closed.value.rcvd.code if closed.value.rcvd else None

        assert talk(running, lous, conversation) == 1012


@pytest.fixture(scope="module")
def model() -> Iterator[ModelServer]:
    with model_serving(ModelServer()) as running:
        yield running


@pytest.fixture(scope="module")
def chatting(tmp_path_factory: pytest.TempPathFactory, model: ModelServer) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("chatting") / "memory.db", **model.env) as running:
        yield running


@pytest.mark.requirement("P13")
def test_a_socket_keeps_its_session_and_another_socket_joins_it(chatting: Served, model: ModelServer) -> None:
    model.steps = ["One.", "Two.", "Three.", "Four."]
    nora = token(chatting.db, "--user", "nora")

    async def conversation(client: ClientConnection) -> None:
        first = (await _asked(client, _request("chat", message="First?")))["result"]
        for request_id in (1, 2):  # at once; a session has its turns one after another
            await client.send(json.dumps(_request("chat", request_id, message=f"At once {request_id}")))
        answers = [await _answer(client), await _answer(client)]
        assert {answer["result"]["session"] for answer in answers} == {first["session"]}
        headers = {"Authorization": f"Bearer {nora}"}
        async with connect(_address(chatting), additional_headers=headers, proxy=None) as other:
            joined = await _asked(other, _request("chat", message="Another socket?", session=first["session"]))
            assert joined["result"]["answer"] == "Four."
        shown = (await _asked(client, _request("messages", session=first["session"])))["result"]
        assert shown["session"]["channel"] == "websocket"
        assert [message["text"] for message in shown["messages"]] == [
            *("First?", "One.", "At once 1", "Two.", "At once 2", "Three.", "Another socket?", "Four.")
        ]

    talk(chatting, nora, conversation)


def test_a_turn_that_is_cancelled_keeps_what_was_said_in_the_sockets_session(
    chatting: Served, model: ModelServer
) -> None:
    model.steps = [Unended("The ferry leaves at"), "At seven."]
    otto = token(chatting.db, "--user", "otto")

    async def conversation(client: ClientConnection) -> None:
        await client.send(json.dumps(_request("chat", "turn", message="When?")))
        while json.loads(await client.recv())["params"].get("text") != " at":
            pass
        assert (await _asked(client, _request("cancel", id="turn")))["result"] == {"cancelled": True}
        assert (await _answer(client))["error"]["data"]["code"] == "cancelled"
        turn = (await _asked(client, _request("chat", message="When really?")))["result"]
        shown = (await _asked(client, _request("messages", session=turn["session"])))["result"]
        texts = [message["text"] for message in shown["messages"]]
        assert texts == ["When?", "The ferry leaves at", "When really?", "At seven."]

    talk(chatting, otto, conversation)


@pytest.mark.requirement("P8")
@pytest.mark.reliability("S6")
@pytest.mark.parametrize("asks", ["socket", "events", "completions", "whole"])
def test_a_turn_ends_with_the_token_that_asked_for_it(chatting: Served, model: ModelServer, asks: str) -> None:
    model.steps, model.asked = [Unended("The ferry leaves at")], []
    made = made_token(chatting.db, "--user", f"quentin_{asks}")

    def revoke() -> None:
        done = picomem(chatting.db, "token", "revoke", made["id"], "--user", f"quentin_{asks}")
        assert done.returncode == 0, done.stderr

    async def conversation(client: ClientConnection) -> str:
        await client.send(json.dumps(_request("chat", "turn", message="When?")))
        while json.loads(await client.recv())["params"].get("text") != " at":
            pass
        await asyncio.to_thread(revoke)
        return json.dumps(await _answer(client))

    def streamed(path: str, asked: dict[str, Any]) -> str:
        with (
            chatting.client(made["token"], Accept="text/event-stream") as client,
            client.stream("POST", path, json=asked) as answer,
        ):
            lines = []
            for line in answer.iter_lines():
                lines.append(line)
                if " at" in line and not any("no longer" in earlier for earlier in lines):
                    revoke()
            return "\n".join(lines[-4:])

    if asks == "socket":
        said = talk(chatting, made["token"], conversation)
    elif asks == "events":
        said = streamed("/api/v1/chat", {"message": "When?"})
    elif asks == "completions":
        messages = [{"role": "user", "content": "When?"}]
        said = streamed("/v1/chat/completions", {"model": "picobot", "messages": messages, "stream": True})
    else:
        with ThreadPoolExecutor(1) as threads:
            answer = threads.submit(chatting.post, made["token"], "chat", {"message": "When?"})
            wait_until(lambda: model.asked)
            revoke()
            said = answer.result(TIMEOUT).text
    assert "The token is no longer valid" in said


def test_a_socket_on_which_nothing_happens_ends_with_its_token(served: Served) -> None:
    async def conversation(client: ClientConnection) -> tuple[int, str] | None:
        assert "result" in await _asked(client, _request("memories"))
        listed = json.loads(picomem(served.db, "token", "list", "--json", "--user", "idle").stdout)["tokens"]
        assert picomem(served.db, "token", "revoke", listed[0]["id"], "--user", "idle").returncode == 0
        with pytest.raises(ConnectionClosed) as closed:
            await client.recv()
        told = closed.value.rcvd
        return (told.code, told.reason) if told else None

    assert talk(served, token(served.db, "--user", "idle"), conversation) == (4401, TOKEN_ENDED)


@pytest.mark.parametrize("asks", ["socket", "http"])
@pytest.mark.parametrize(
    ("scopes", "settings", "message", "problem"),
    [
        ((), {}, "When?", "No model is set"),
        (("memory:write:session", "memory:read:session"), {"model": True}, "When?", "memory:read:user"),
        (("memory:read:session", "memory:read:user"), {"model": True}, "When?", "memory:write:session"),
        ((), {"model": True}, " ", "The message is empty"),
        ((), {"PICOMEM_MODEL_PROVIDER": "nobody", "PICOMEM_MODEL_MODEL": "none"}, "When?", "nobody"),
    ],
    ids=["no model", "may not read", "may not write", "empty", "unknown provider"],
)
def test_a_chat_that_is_refused_leaves_no_conversation_behind(
    tmp_path: Path,
    model: ModelServer,
    asks: str,
    scopes: tuple[str, ...],
    settings: dict[str, Any],
    message: str,
    problem: str,
) -> None:
    env = {**settings}
    if env.pop("model", False):
        env |= model.env
    db = tmp_path / "memory.db"
    shown = token(db, "--user", "ann", *(part for scope in scopes for part in ("--scope", scope)))

    async def conversation(client: ClientConnection) -> str:
        return (await _asked(client, _request("chat", message=message)))["error"]["message"]

    with serving(db, "--no-watch", **env) as running:
        if asks == "socket":
            assert problem in talk(running, shown, conversation)
        else:
            assert problem in running.post(shown, "chat", {"message": message}).json()["error"]["message"]
        sessions = json.loads(picomem(db, "sessions", "--user", "ann", "--json").stdout)["sessions"]
    assert sessions == []


def test_events_of_a_turn_bear_the_id_of_their_request(chatting: Served, model: ModelServer) -> None:
    model.steps = [[("memory_recall", {"query": "ferry"})], "Nothing is known."]
    paula = token(chatting.db, "--user", "paula")

    async def conversation(client: ClientConnection) -> None:
        await client.send(json.dumps(_request("chat", "turn", message="When does the ferry leave?")))
        events = []
        while "method" in (message := json.loads(await client.recv())):
            events += [message["params"]] if message["method"] == "event" else []
        assert {event["id"] for event in events} == {"turn"}
        (called,) = [event for event in events if event["type"] == "tool_call"]
        (answered,) = [event for event in events if event["type"] == "tool_result"]
        assert called["call"] == answered["call"] != "turn"

    talk(chatting, paula, conversation)


async def _answer(client: ClientConnection) -> Any:
    """The next answer, notifications passed over."""
    while "method" in (answer := json.loads(await client.recv())):
        pass
    return answer

"""MCP over HTTP, by the SDK's own client in both protocol eras against a real server."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from .serving import TIMEOUT, Served, made_token, picomem, token

ERAS = ["legacy", "auto"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


def talk(
    served: Served, shown: str, mode: str, conversation: Callable[[Client], Awaitable[Any]], **further: str
) -> Any:
    async def held() -> Any:
        headers = {
            "Authorization": f"Bearer {shown}",
            **{name.replace("_", "-"): text for name, text in further.items()},
        }
        with anyio.fail_after(TIMEOUT):
            async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT, trust_env=False, verify=False) as http:
                transport = streamable_http_client(f"{served.url}/mcp", http_client=http)
                async with Client(transport, mode=mode) as client:
                    return await conversation(client)

    return anyio.run(held)


@pytest.mark.parametrize("mode", ERAS)
def test_users_of_one_server_have_memories_of_their_own(served: Served, mode: str) -> None:
    mias, neds = (token(served.db, "--user", f"{name}_{mode}") for name in ("mia", "ned"))

    async def store(client: Client) -> None:
        offered = {tool.name for tool in (await client.list_tools()).tools}
        assert {"memory_store", "memory_recall"} <= offered
        stored = await client.call_tool(
            "memory_store", {"content": "The deploy key lives in the vault", "key": "deploy"}
        )
        assert not stored.is_error

    async def recall(client: Client) -> str:
        answer = await client.call_tool("memory_recall", {"query": "where does the deploy key live"})
        return str(answer.structured_content)

    talk(served, mias, mode, store)
    assert "vault" in talk(served, mias, mode, recall)
    assert "vault" not in talk(served, neds, mode, recall)


def test_a_session_belongs_to_the_token_that_opened_it(served: Served, anns: str, bobs: str) -> None:
    with served.client(anns) as client:
        opened = client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-11-25"}
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with served.client(bobs) as client:
        assert client.post("/mcp", json=listing, headers={**HEADERS, **session}).status_code == 404
    with served.client(anns) as client:
        assert client.post("/mcp", json=listing, headers={**HEADERS, **session}).status_code == 200


@pytest.mark.requirement("P4")
@pytest.mark.parametrize("mode", ERAS)
def test_the_header_that_names_another_user_holds_for_tools_too(served: Served, mode: str) -> None:
    user, root = f"quinn_{mode}", f"root_{mode}"
    made = made_token(served.db, "--user", user)
    assert picomem(served.db, "grant", "memory:read:global", "--user", root).returncode == 0
    scopes = ("memory:read:user", "memory:write:user", "memory:read:global")
    roots = token(served.db, "--user", root, *(part for scope in scopes for part in ("--scope", scope)))
    stored = served.post(made["token"], "remember", {"content": "The quinine is in the saddle bag", "key": "quinine"})
    assert stored.status_code == 200
    listed = json.loads(picomem(served.db, "token", "list", "--user", user, "--json").stdout)["tokens"]

    async def conversation(client: Client) -> tuple[bool, bool]:
        recalled = await client.call_tool("memory_recall", {"query": "where is the quinine"})
        refused = await client.call_tool("memory_store", {"content": "The mule is called Berta", "key": "mule"})
        return "saddle bag" in str(recalled.structured_content), refused.is_error

    for name in (user, listed[0]["alias"]):
        assert talk(served, roots, mode, conversation, Picomem_User=name) == (True, True)
    assert talk(served, roots, mode, conversation) == (False, False)
    with served.client(made["token"], Picomem_User=root, Content_Type="application/json") as client:
        refused = client.post("/mcp", json=INITIALIZE, headers=HEADERS)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
        assert client.post("/mcp", json=INITIALIZE, headers={**HEADERS, "Picomem-User": user}).status_code == 200


def test_a_session_of_one_user_is_none_of_another(served: Served) -> None:
    assert picomem(served.db, "grant", "memory:read:global", "--user", "rita").returncode == 0
    ritas = token(served.db, "--user", "rita", "--scope", "memory:read:user", "--scope", "memory:read:global")
    with served.client(ritas) as client:
        opened = client.post("/mcp", json=INITIALIZE, headers={**HEADERS, "Picomem-User": "ann"})
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-11-25"}
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        for user, status in (("ann", 200), ("bob", 404), ("rita", 404)):
            headers = {**HEADERS, **session, "Picomem-User": user}
            assert client.post("/mcp", json=listing, headers=headers).status_code == status, user


def test_a_reader_may_not_store(served: Served) -> None:
    readers = token(served.db, "--user", "ola", "--scope", "memory:read:user")

    async def conversation(client: Client) -> None:
        stored = await client.call_tool("memory_store", {"content": "The deploy key lives in the vault"})
        assert stored.is_error
        assert "memory:write:user" in str(stored.content)
        assert not (await client.call_tool("memory_recall", {"query": "deploy"})).is_error

    talk(served, readers, "auto", conversation)


@pytest.mark.parametrize(
    ("first", "request_id", "said"),
    [
        ({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}, 7, "A session begins with “initialize”"),
        ({"jsonrpc": "2.0", "method": "notifications/initialized"}, None, "A session begins with “initialize”"),
        ([INITIALIZE, {"jsonrpc": "2.0", "id": 2, "method": "ping"}], None, "A batch is not taken"),
        ({}, None, "This is no JSON-RPC 2.0 request"),
    ],
)
def test_a_first_message_that_opens_no_session_is_refused_in_one_sentence(
    served: Served, anns: str, first: Any, request_id: int | None, said: str
) -> None:
    with served.client(anns) as client:
        answer = client.post("/mcp", json=first, headers=HEADERS)
        error = answer.json()["error"]
        assert (answer.status_code, answer.json()["id"], error["code"]) == (400, request_id, -32600)
        assert error["message"].startswith(said)
        assert "mcp-session-id" not in answer.headers
        assert client.get("/mcp", headers=HEADERS).status_code == 400


def test_a_protocol_that_nobody_knows_is_answered_with_one_that_the_server_speaks(served: Served, anns: str) -> None:
    first = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": "1999-01-01"}}
    with served.client(anns) as client:
        answer = client.post("/mcp", json=first, headers=HEADERS)
        assert '"protocolVersion":"2025-11-25"' in answer.text
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        unknown = {**HEADERS, "MCP-Protocol-Version": "1999-01-01"}
        assert client.post("/mcp", json=ping, headers=unknown).status_code == 400


def test_a_remote_agent_is_told_who_can_run_a_command(served: Served, anns: str) -> None:
    async def read(client: Client) -> Any:
        return await client.call_tool("memory_forget", {"key": "nothing_of_the_sort"})

    said = talk(served, anns, "auto", read).content[0].text
    assert "memory_recall" in said
    assert "terminal" not in said

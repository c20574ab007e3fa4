"""No user, and no address without a token, keeps the others out of a server (S6): raw sockets against a real process."""

from __future__ import annotations

import base64
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from picomem.gateway.guard import Limits

from .raw_requests import connected, head, received, statuses
from .serving import Served, serving, token_made_here
from .test_mcp_over_http import HEADERS, INITIALIZE
from .whatsapp_api import WhatsAppApi

pytestmark = [
    pytest.mark.reliability("S6"),
]

CONNECTIONS = 40
SHARE = CONNECTIONS // 4  # of a user, and of an address without a token
VERSION = "Mcp-Protocol-Version: 2025-11-25"


@pytest.fixture
def small(tmp_path) -> Iterator[Served]:
    """A server with few connections."""
    env = {**WhatsAppApi().env, "PICOMEM_SERVER_CONNECTIONS": str(CONNECTIONS)}
    with serving(tmp_path / "memory.db", "--no-watch", **env) as running:
        yield running


def open_session(served: Served, shown: str) -> Any:
    """Open a session of MCP; the response."""
    with served.client(shown) as client:
        return client.post("/mcp", json=INITIALIZE, headers=HEADERS)


def stream(served: Served, shown: str) -> bytes:
    """A request for the stream of a new session."""
    session = open_session(served, shown).headers["mcp-session-id"]
    accepted = "Accept: application/json, text/event-stream"
    return head(served, shown, "GET /mcp HTTP/1.1", accepted, f"Mcp-Session-Id: {session}", VERSION)


def upgrade(served: Served, shown: str) -> bytes:
    key = base64.b64encode(os.urandom(16)).decode()
    more = ("Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13")
    return head(served, shown, "GET /ws HTTP/1.1", *more)


def slow_body(served: Served, shown: str) -> bytes:
    return head(served, shown, "POST /api/v1/memories HTTP/1.1", "Content-Length: 1000") + b"{"


def slow_webhook(served: Served) -> bytes:
    more = ("Content-Length: 1000", f"X-Hub-Signature-256: sha256={'0' * 64}")
    return head(served, "none", "POST /channels/whatsapp/main HTTP/1.1", *more) + b"{"


def first_status(client: socket.socket, seconds: float = 0.3) -> int:
    """The status of the answer that has come; 0 where none has, as while the server waits for a body."""
    client.settimeout(seconds)
    try:
        return statuses(client.recv(1 << 16))[0]
    except TimeoutError:
        return 0


def health(served: Served) -> list[int]:
    with served.client() as client:
        return [client.get(path).status_code for path in ("/health", "/ready")]


@pytest.mark.parametrize("request_of", [stream, upgrade, slow_body], ids=["stream", "socket", "body"])
def test_a_user_holds_no_more_than_a_share_of_the_connections(
    small: Served, request_of: Callable[[Served, str], bytes]
) -> None:
    manys = [token_made_here(small.db, "many") for _ in range(2)]
    ann = token_made_here(small.db, "ann")
    with ExitStack() as stack:
        outcomes = []
        for number in range(SHARE + 5):
            asked = request_of(small, manys[number % 2]) if number < SHARE else upgrade(small, manys[0])
            client = stack.enter_context(connected(small))
            client.sendall(asked)
            outcomes.append(first_status(client))
        assert set(outcomes[:SHARE]) <= {0, 101, 200}
        assert outcomes[SHARE:] == [429] * 5
        refused = small.post(manys[1], "memories")
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "too_many_requests")
        assert refused.headers["Retry-After"] == "1"
        assert small.post(ann, "memories").status_code == 200
        assert health(small) == [200, 200]
    for _ in range(200):  # the server sees that they have gone
        if small.post(manys[0], "memories").status_code == 200:
            return
    pytest.fail("a connection that has gone still counts")


def test_an_address_without_a_token_holds_no_more_than_a_share(small: Served) -> None:
    ann = token_made_here(small.db, "ann")
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(small)) for _ in range(SHARE + 5)]
        for client in clients:
            client.sendall(slow_webhook(small))
        assert [first_status(client) for client in clients].count(429) == 5
        assert small.post(ann, "memories").status_code == 200
        assert health(small) == [200, 200]


def test_a_connection_without_a_request_gives_way_to_a_new_one(small: Served) -> None:
    ann = token_made_here(small.db, "ann")
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(small)) for _ in range(CONNECTIONS)]
        for client in clients[::2]:
            client.sendall(b"POST /api")
        assert small.post(ann, "memories").status_code == 200
        assert health(small) == [200, 200]
        assert statuses(received(clients[0])) == [503]
        assert first_status(clients[-1]) == 0


def test_health_is_answered_while_every_connection_is_in_use(small: Served) -> None:
    with ExitStack() as stack:
        for number in range(CONNECTIONS // SHARE):
            shown = token_made_here(small.db, f"user_{number}")
            for _ in range(SHARE):
                client = stack.enter_context(connected(small))
                client.sendall(upgrade(small, shown))
                assert first_status(client, 5.0) == 101
        late = token_made_here(small.db, "late")
        refused = small.post(late, "memories")
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "too_many_connections")
        with connected(small) as client:
            client.sendall(upgrade(small, late))
            assert statuses(received(client)) == [503]
        for _ in range(3):
            assert health(small) == [200, 200]
        idle = [stack.enter_context(connected(small)) for _ in range(CONNECTIONS)]
        assert idle
        assert health(small) == [200, 200]


def test_the_sessions_of_a_user_beyond_a_bound_end_the_one_that_was_unused_longest(tmp_path) -> None:
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    with serving(tmp_path / "memory.db", "--no-watch") as served:
        many, ann = (served.client(token_made_here(served.db, name)) for name in ("many", "ann"))

        def asked(client: Any, method: str, session: str = "") -> Any:
            headers = {**HEADERS, "Mcp-Session-Id": session} if session else HEADERS
            body = listing if session else INITIALIZE
            answer = client.request(method, "/mcp", json=None if method == "DELETE" else body, headers=headers)
            while answer.status_code == 429:  # the bound of requests a second is another one
                answer = client.request(method, "/mcp", json=None if method == "DELETE" else body, headers=headers)
            return answer

        with many, ann:
            anns = asked(ann, "POST").headers["mcp-session-id"]
            sessions = [asked(many, "POST").headers["mcp-session-id"] for _ in range(Limits().sessions)]
            assert asked(many, "POST", sessions[0]).status_code == 200, "the first is used after the second"
            assert asked(ann, "DELETE", sessions[1]).status_code == 404
            assert asked(many, "DELETE", sessions[-1]).status_code == 200
            assert [asked(many, "POST").status_code for _ in range(3)] == [200] * 3
            assert [asked(many, "POST", session).status_code for session in sessions[:4]] == [200, 404, 404, 200]
            assert asked(ann, "POST", anns).status_code == 200

"""MCP over streamable HTTP, for the users of a server: the stateless protocol of today, and sessions of older clients.

One MCP server answers all; whose engine a request has is read from its token, or from the header `Picomem-User` where
the token may name others. A session belongs to the token that opened it and to the user, which the SDK checks.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken as McpToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import JSONResponse

from picomem.engine.engine import Engine
from picomem.gateway.calls import Calls
from picomem.gateway.guard import Message, ReceiveMessage
from picomem.gateway.mcp import build_server
from picomem.gateway.openapi import USER_HEADER

# The person whom an agent tells of a command may have no terminal where the store is.
ASK_SERVER = "(`picomem` is a command on the server's machine: tell the person, who can ask the server's operator.)"
_NO_SESSION = (
    "A session begins with “initialize”, whose answer has the header Mcp-Session-Id; send that with each request. "
    "A request of the protocol of 2026-07-28 needs no session, and names it in the header MCP-Protocol-Version."
)
_MOST_SESSIONS = 10_000


class McpOverHttp:
    """An ASGI application that offers `operations`; `running` has to be entered first."""

    def __init__(self, calls: Calls, most_bytes: int) -> None:
        self._calls = calls
        self._runtime = runtime = calls.runtime
        operations = [remote.operation for remote in calls.operations.values()]
        server = build_server(self._engine_of, operations, runtime.settings.mcp.facades, calls.places, ASK_SERVER)
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=most_bytes, max_sessions=_MOST_SESSIONS
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve until the end of the block."""
        async with self._manager.run():
            yield

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        caller = await self._calls.caller_as(request.state.caller, request.headers.get(USER_HEADER, ""))
        request.state.acting = caller
        token = McpToken(token="", client_id=caller.signature, scopes=sorted(caller.permissions), subject=caller.user)
        scope["user"] = AuthenticatedUser(token)
        body = b""
        if scope["method"] == "POST":
            # The SDK would log a client that hangs up in the middle of its body as a mistake.
            body = await request.body()
            receive = _again(body, receive)
        if not request.headers.get(MCP_SESSION_ID_HEADER) and not _names_its_protocol(request.headers):
            refused = _not_an_opening(body) if scope["method"] == "POST" else _without_session(scope["method"])
            if refused is not None:
                error = {"code": INVALID_REQUEST, "message": refused[1]}
                response = JSONResponse({"jsonrpc": "2.0", "id": refused[0], "error": error}, 400)
                await response(scope, receive, send)
                return
        await self._manager.asgi_app(scope, receive, send)

    def _engine_of(self, context: ServerRequestContext[Any]) -> Engine:
        assert context.request is not None
        return self._runtime.engine(context.request.state.acting)


def _names_its_protocol(headers: Mapping[str, str]) -> bool:
    """Return whether a request names a protocol without sessions, or one that the SDK does not know and refuses."""
    named = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    return named is not None and named not in HANDSHAKE_PROTOCOL_VERSIONS


def _without_session(method: str) -> tuple[None, str] | None:
    return (None, _NO_SESSION) if method in ("GET", "DELETE") else None


def _not_an_opening(body: bytes) -> tuple[str | int | None, str] | None:
    """The id of a request that opens no session, and the sentence that says so; None where the SDK answers.

    The SDK would make a session for whatever comes first, and answer a batch with the errors of its parser."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if isinstance(message, list):
        return None, "A batch is not taken; send each message in a request of its own."
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return None, "This is no JSON-RPC 2.0 request; send “jsonrpc”: “2.0”, an id, a method and params."
    if message["method"] == "initialize":
        return None
    known = message.get("id")
    return (known if isinstance(known, str | int) and not isinstance(known, bool) else None), _NO_SESSION


def _again(body: bytes, receive: ReceiveMessage) -> ReceiveMessage:
    """The messages of a request whose body has been read."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received

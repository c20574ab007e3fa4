"""MCP over streamable HTTP, for the users of a server: the stateless protocol of today, and sessions of older clients.

One MCP server answers all; whose engine a request has is read from its token, or from the header `Picomem-User` where
the token may name others. A session belongs to the token that opened it and to the user, which the SDK checks.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken as McpToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request

from picomem.engine.engine import Engine
from picomem.gateway.calls import Calls
from picomem.gateway.guard import Message, ReceiveMessage
from picomem.gateway.mcp import build_server
from picomem.gateway.openapi import USER_HEADER

# The person whom an agent tells of a command may have no terminal where the store is.
ASK_SERVER = "(`picomem` is a command on the server's machine: tell the person, who can ask the server's operator.)"
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
        if scope["method"] == "POST":
            # The SDK would log a client that hangs up in the middle of its body as a mistake.
            receive = _again(await request.body(), receive)
        await self._manager.asgi_app(scope, receive, send)

    def _engine_of(self, context: ServerRequestContext[Any]) -> Engine:
        assert context.request is not None
        return self._runtime.engine(context.request.state.acting)


def _again(body: bytes, receive: ReceiveMessage) -> ReceiveMessage:
    """The messages of a request whose body has been read."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received

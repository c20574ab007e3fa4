"""MCP over streamable HTTP, for the users of a server: the stateless protocol of today, and sessions of older clients.

One MCP server answers all; whose engine a request has is read from its token, or from the header `Picomem-User` where
the token may name others. A session belongs to the token that opened it and to the user, which the SDK checks.

The SDK bounds the sessions of all users together, so one user could keep the others from opening any. Here a user who
opens one too many loses the one that was unused longest: many clients never end theirs, and each begins a new session
when it is told that its own is gone.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken as McpToken
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp_types import INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse

from picomem.engine.engine import Engine
from picomem.gateway.calls import Calls
from picomem.gateway.guard import Limits, Message, ReceiveMessage, SendMessage
from picomem.gateway.mcp import build_server
from picomem.gateway.openapi import USER_HEADER
from picomem.light_dataclass import dataclass

# The person whom an agent tells of a command may have no terminal where the store is.
ASK_SERVER = "(`picomem` is a command on the server's machine: tell the person, who can ask the server's operator.)"
_NO_SESSION = (
    "A session begins with “initialize”, whose answer has the header Mcp-Session-Id; send that with each request. "
    "A request of the protocol of 2026-07-28 needs no session, and names it in the header MCP-Protocol-Version."
)
_MOST_SESSIONS = 10_000  # of all users


class McpOverHttp:
    """An ASGI application that offers `operations`; `running` has to be entered first."""

    def __init__(self, calls: Calls, limits: Limits) -> None:
        self._calls = calls
        self._runtime = runtime = calls.runtime
        operations = [remote.operation for remote in calls.operations.values()]
        server = build_server(self._engine_of, operations, runtime.settings.mcp.facades, calls.places, ASK_SERVER)
        self._manager = StreamableHTTPSessionManager(
            server, max_request_body_size=limits.body, max_sessions=_MOST_SESSIONS
        )
        self._sessions = OpenSessions(limits.sessions)

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
        owner, session = request.state.caller.user, request.headers.get(MCP_SESSION_ID_HEADER)
        if not session and not _names_its_protocol(request.headers):
            refused = _not_an_opening(body) if scope["method"] == "POST" else _without_session(scope["method"])
            if refused is not None:
                error = {"code": INVALID_REQUEST, "message": refused[1]}
                response = JSONResponse({"jsonrpc": "2.0", "id": refused[0], "error": error}, 400)
                await response(scope, receive, send)
                return
            while (unused := self._sessions.beyond_most(owner)) is not None:
                await self._end(unused, scope, receive)
        with self._sessions.in_use(owner, session):
            await self._manager.asgi_app(scope, receive, self._noting_sessions(scope, owner, session, send))

    def _noting_sessions(
        self, scope: MutableMapping[str, Any], owner: str, session: str | None, send: SendMessage
    ) -> SendMessage:
        """The same function, which notes the session that an answer begins or ends."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                begun = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                if session is None and begun is not None:
                    self._sessions.begin(owner, OpenSession(begun, scope["user"]))
                elif session is not None and scope["method"] == "DELETE":
                    self._sessions.forget(owner, session)
            await send(message)

        return sent

    async def _end(self, ended: OpenSession, scope: MutableMapping[str, Any], receive: ReceiveMessage) -> None:
        """End a session as its client would."""

        async def ignore(_message: Message) -> None:
            pass

        headers = [(MCP_SESSION_ID_HEADER.encode(), ended.session.encode())]
        delete = {**scope, "method": "DELETE", "headers": headers, "user": ended.authenticated}
        await self._manager.asgi_app(delete, _again(b"", receive), ignore)

    def _engine_of(self, context: ServerRequestContext[Any]) -> Engine:
        assert context.request is not None
        return self._runtime.engine(context.request.state.acting)


@dataclass(slots=True)
class OpenSession:
    """A session, who opened it, and the number of its requests that run."""

    session: str
    authenticated: AuthenticatedUser
    running: int = 0


class OpenSessions:
    """The sessions of each user. Not for threads: it lives in the event loop.

    One that the SDK has ended because it was unused is still listed, and among the first to go."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[str, dict[str, OpenSession]] = {}  # by user; the one that was unused longest comes first

    def begin(self, owner: str, opened: OpenSession) -> None:
        """Note that a user has opened a session."""
        self._open.setdefault(owner, {})[opened.session] = opened

    @contextmanager
    def in_use(self, owner: str, session: str | None) -> Iterator[None]:
        """Keep a session until the end of the block, if the user has it."""
        used = self._open.get(owner, {}).get(session or "")
        if used is None:
            yield
            return
        used.running += 1
        try:
            yield
        finally:
            used.running -= 1
            if self._open.get(owner, {}).pop(used.session, None) is not None:
                self.begin(owner, used)

    def forget(self, owner: str, session: str) -> None:
        """Note that a session has ended."""
        self._open.get(owner, {}).pop(session, None)

    def beyond_most(self, owner: str) -> OpenSession | None:
        """Take out the session that was unused longest, if the user has no room for another."""
        sessions = self._open.get(owner, {})
        if len(sessions) < self._most:
            return None
        unused = next((name for name, opened in sessions.items() if not opened.running), None)
        return None if unused is None else sessions.pop(unused)


def _again(body: bytes, receive: ReceiveMessage) -> ReceiveMessage:
    """The messages of a request whose body has been read."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received


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

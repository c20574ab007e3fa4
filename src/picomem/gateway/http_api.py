"""The server: every operation over HTTP, beside it JSON-RPC over a socket, and MCP. One Starlette application.

POST /api/v1/OPERATION      one JSON object in, the result out; with `Accept: text/event-stream` the progress of a
                            long operation and the events of a chat turn come first, and the result last
GET  /api/v1/openapi.json   what there is
GET  /ws                    JSON-RPC 2.0 (json_rpc.py)
POST /v1/chat/completions   OpenAI's chat API (chat_completions.py), beside it GET /v1/models
*    /channels/…            channels.py
GET  /, /search, …          the web page (web_pages.py)
*    /mcp                   MCP, streamable HTTP (mcp.py)
GET  /metrics               what Prometheus reads
GET  /health, /ready        the process answers; the store answers
GET  /proof                 this process wrote the file that says where the server is (server_address.py)
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from picomem.blake2b import blake2b
from picomem.engine.authorization import last_change, log_key
from picomem.engine.stored_memories import store_size
from picomem.errors import NotFound, PicomemError
from picomem.gateway.calls import Calls
from picomem.gateway.channels import Channels
from picomem.gateway.chat_completions import ChatCompletions
from picomem.gateway.error_replies import FAULT_SENTENCE, encoded, error_value, http_error, operation_error, parsed
from picomem.gateway.guard import MCP, SOCKET, Application, Guard, Limits
from picomem.gateway.json_rpc import RpcServer
from picomem.gateway.limits import RequestRates
from picomem.gateway.mcp_over_http import McpOverHttp
from picomem.gateway.openapi import API, USER_HEADER, document
from picomem.gateway.server_address import PROOF, ServerAddress
from picomem.gateway.server_log import CHANNEL, CONTENT_TYPE, GONE, PAGE, Metrics, RequestLog
from picomem.gateway.shutdown import Shutdown
from picomem.gateway.web_pages import WebPages, wants_page
from picomem.light_dataclass import asdict
from picomem.operations.operation import Operation
from picomem.records.access_token import Credential
from picomem.records.caller import METRICS, Caller
from picomem.records.session import Channel
from picomem.runtime import Runtime

# What requests that are no operations count as.
_FURTHER = ("health", "ready", "proof", "metrics", "ws", "mcp", "openapi.json", "completions", "models", CHANNEL, PAGE)
_HTTP_CODES = {404: "not_found", 405: "wrong_method"}
_REFUSED_SECONDS = 1.0  # within which a call that is refused has said so; then the stream begins
_MOST_EVENTS = 1_000  # that wait for a slow reader; of progress the next one says more anyway


_Told = ServerSentEvent | PicomemError


def application(
    runtime: Runtime,
    operations: Iterable[Operation],
    *,
    hosts: Iterable[str],
    origins: Iterable[str],
    limits: Limits | None = None,
    ending: Shutdown | None = None,
    address: ServerAddress | None = None,
) -> Application:
    """The whole server on an open runtime, which it does not close; see `Guard` for `hosts` and `origins`, and
    `shutdown.py` for `ending`. `address` is where other processes find it."""
    limits = limits or Limits()
    calls = Calls(runtime, operations)
    served = frozenset(calls.operations)
    metrics = Metrics([*served, *_FURTHER], lambda: store_size(runtime.engine()))
    rates = RequestRates(limits.rate, limits.burst, limits.strangers_burst)
    chats = ChatCompletions(calls)
    channels = Channels(runtime, rates)
    mcp = McpOverHttp(calls, limits)

    async def call(request: Request) -> Response:
        return await _answer(calls, request)

    async def describe(_request: Request) -> Response:
        return JSONResponse(await to_thread.run_sync(document, calls.operations.values()))

    async def ready(_request: Request) -> Response:
        await to_thread.run_sync(_look, runtime)
        return JSONResponse({"ready": True})

    async def prove(request: Request) -> Response:
        if address is None:
            raise NotFound("No file says where this server is; `picomem serve` writes one when it starts.")
        return JSONResponse({"proof": address.proof(request.query_params.get("challenge", ""))})

    async def measure(request: Request) -> Response:
        request.state.caller.require(METRICS, "metrics")
        return Response(await to_thread.run_sync(metrics.exposition), media_type=CONTENT_TYPE)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with mcp.running(), rpc.running(), channels.running():
            yield

    of_programs = [
        Route("/health", lambda _: JSONResponse({"ok": True}), methods=["GET"]),
        Route("/ready", ready, methods=["GET"]),
        Route(PROOF, prove, methods=["GET"]),
        Route("/metrics", measure, methods=["GET"]),
        Route(f"{API}/openapi.json", describe, methods=["GET"]),
        Route(f"{API}/{{operation}}", call, methods=["POST"]),
        Route("/v1/chat/completions", chats.complete, methods=["POST"]),
        Route("/v1/models", chats.models, methods=["GET"]),
        Route("/v1/models/{model}", chats.model, methods=["GET"]),
        Route(MCP, mcp),
        *channels.routes(),
    ]
    pages = WebPages(calls, [route.path for route in of_programs])
    notes = RequestLog(metrics, served, pages.names, _labelling(runtime))
    rpc = RpcServer(calls, ending or Shutdown(), rates, notes.note_call)

    inner = Starlette(
        routes=[*of_programs, WebSocketRoute(SOCKET, rpc.serve), *pages.routes()],
        lifespan=lifespan,
        exception_handlers=_error_handlers(calls, pages),
    )
    guard = Guard(inner, calls.find_caller, hosts=hosts, origins=origins, limits=limits, rates=rates, pages=pages)
    return notes.around(guard)


def _error_handlers(calls: Calls, pages: WebPages) -> dict[Any, Callable[[Request, Exception], Any]]:
    async def on_error(_request: Request, error: Exception) -> Response:
        assert isinstance(error, PicomemError)
        return operation_error(calls.explained(error))

    async def on_http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if wants_page(request.headers):
            return pages.refusal(
                request.scope,
                error.status_code,
                _HTTP_CODES.get(error.status_code, "error"),
                "There is no such page; the first page leads to all of them.",
                error.headers or {},
            )
        return _http_error(error)

    async def on_fault(request: Request, _error: Exception) -> Response:
        if wants_page(request.headers):
            return pages.refusal(request.scope, 500, "fault", FAULT_SENTENCE, {})
        return http_error(500, "fault", FAULT_SENTENCE)

    return {PicomemError: on_error, ClientDisconnect: _on_disconnect, HTTPException: on_http_error, Exception: on_fault}


def _labelling(runtime: Runtime) -> Callable[[str], str]:
    key = log_key(runtime.engine())
    return lambda user: blake2b(user.encode(), key=key, digest_size=8).hexdigest()


async def _answer(calls: Calls, request: Request) -> Response:
    caller: Caller = request.state.caller
    name, user = request.path_params["operation"], request.headers.get(USER_HEADER, "")
    operation = calls.named(name).operation
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json":
        return http_error(415, "not_json", "The body is JSON: send “Content-Type: application/json”.")
    arguments = parsed(await request.body())
    if operation.begins or operation.converses:
        arguments = {"channel": Channel.API.value, **arguments}
    if "text/event-stream" in request.headers.get("accept", ""):
        return _EventResponse(calls, request, name, arguments, user)
    result = await calls.call(caller, name, arguments, user=user, credential=request.state.credential)
    return _ResultResponse(result, headers={"Cache-Control": "no-store"})


class _ResultResponse(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encoded(content)


class _EventResponse(Response):
    """The progress and the events of a call, and its result or its error as the last.

    A call that is refused before it tells anything is answered with the status of its error, like any other."""

    def __init__(self, calls: Calls, request: Request, name: str, arguments: Mapping[str, Any], user: str) -> None:
        super().__init__()
        self._calls = calls
        self._caller: Caller = request.state.caller
        self._credential: Credential = request.state.credential
        self._name = name
        self._arguments = arguments
        self._user = user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writer, reader = anyio.create_memory_object_stream[_Told](_MOST_EVENTS)
        async with anyio.create_task_group() as tasks, reader:
            tasks.start_soon(self._work, writer)
            first = None
            with anyio.move_on_after(_REFUSED_SECONDS):
                first = await reader.receive()
            if isinstance(first, PicomemError):
                response: Response = operation_error(first)
            else:
                response = EventSourceResponse(self._events(first, reader), headers={"Cache-Control": "no-store"})
            await response(scope, receive, send)
            tasks.cancel_scope.cancel()

    async def _work(self, writer: MemoryObjectSendStream[_Told]) -> None:
        def progress(done: int, total: int, text: str) -> None:
            if writer.statistics().current_buffer_used < _MOST_EVENTS // 2:
                writer.send_nowait(_event("progress", {"done": done, "total": total, "text": text}))

        types = {kind: type_name for type_name, kind in self._calls.named(self._name).operation.events.items()}

        async def tell(event: Any) -> None:
            await writer.send(_event("event", {"type": types[type(event)], **asdict(event)}))

        async with writer:
            try:
                result = await self._calls.call(
                    self._caller,
                    self._name,
                    self._arguments,
                    user=self._user,
                    progress=progress,
                    tell=tell,
                    credential=self._credential,
                )
            except PicomemError as error:
                await writer.send(error)
            else:
                await writer.send(_event("result", result))

    async def _events(
        self, first: ServerSentEvent | None, reader: MemoryObjectReceiveStream[_Told]
    ) -> AsyncIterator[ServerSentEvent]:
        if first is not None:
            yield first
        async for told in reader:
            yield _event("error", error_value(told)) if isinstance(told, PicomemError) else told


def _event(kind: str, value: Any) -> ServerSentEvent:
    return ServerSentEvent(encoded(value).decode(), event=kind)


def _look(runtime: Runtime) -> None:
    """Raise StoreError where the store cannot be read."""
    last_change(runtime.engine())


async def _on_disconnect(_request: Request, _error: Exception) -> Response:
    """The client hung up before its request was whole. Nobody reads the answer; its status is for the log."""
    return Response(status_code=GONE)


def _http_error(error: HTTPException) -> Response:
    said = {
        404: "There is no such address; /api/v1/openapi.json lists what there is.",
        405: "The address takes another method; the header Allow names it.",
    }
    status = error.status_code
    return http_error(status, _HTTP_CODES.get(status, "error"), said.get(status, error.detail), headers=error.headers)

"""The log of the server on stderr: one line for each request, socket or failure, without any text of a user.

Every line, of picomem and of the libraries, passes the same processors and picomem's redaction. Only the request's
number, the level and the time are added afterwards. Of libraries only warnings and errors are logged, because other
lines show addresses with their queries. Of an exception the log shows the kind and the places in the code, never the
text, which may quote stored text.
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from picomem.gateway.guard import OPEN, OPEN_CHANNELS, Application, Message, ReceiveMessage, SendMessage
from picomem.gateway.openapi import API
from picomem.loaded_once import cached_if_short
from picomem.records.caller import Caller
from picomem.records.ids import new_id

_OWN = ("picomem", "picomem.server")
_MOST_FRAMES = 20  # of an exception, the innermost
_SHORT = 100  # characters of a text whose redaction is remembered: routes, methods and digests of users return
_REMEMBERED = 4_096

_request_number: ContextVar[str] = ContextVar("request_number", default="")


def set_up(log_format: str, redact: Callable[[str], str]) -> None:
    """Let everything that this process logs go to stderr, a line each."""
    render = structlog.processors.JSONRenderer() if log_format == "json" else structlog.processors.LogfmtRenderer()
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(())],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                _places,
                _redaction(redact),
                _number,
                structlog.stdlib.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True, key="time"),
                render,
            ],
            use_get_message=True,
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(_OWN[0]).setLevel(logging.INFO)
    structlog.configure(
        processors=[structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


@contextmanager
def numbered(number: str) -> Iterator[None]:
    """Let each line that is logged in the block have the number of a request."""
    token = _request_number.set(number)
    try:
        yield
    finally:
        _request_number.reset(token)


def server_logger() -> structlog.stdlib.BoundLogger:
    """The logger of the server's own lines."""
    return structlog.stdlib.get_logger(_OWN[1])


def _places(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The kind of an exception, and where in the code it came from."""
    given = event.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()
    error = given if isinstance(given, BaseException) else given[1] if isinstance(given, tuple) else None
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    event.pop("stack_info", None)
    if error is not None:
        frames = traceback.extract_tb(error.__traceback__)[-_MOST_FRAMES:]
        event["error"] = type(error).__name__
        event["places"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return event


def _number(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The number of the request in which something was logged."""
    if number := _request_number.get():
        event["request"] = number
    return event


def _redaction(redact: Callable[[str], str]) -> structlog.typing.Processor:
    safe = cached_if_short(_SHORT, _REMEMBERED)(redact)

    def redacted(_logger: Any, _name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        for name, value in event.items():
            if isinstance(value, str):
                event[name] = safe(value)
            elif isinstance(value, list):
                event[name] = [safe(part) if isinstance(part, str) else part for part in value]
        return event

    return redacted


# Records the outcome of each request: a line in the log, a count in the metrics, and a number for the client.
#
# It runs before the guard, so that refused requests are recorded as well. The log identifies the user by a digest
# under a key of the store: the lines of one user can be grouped, but nobody can read the name from them.

# The metrics of the server, for Prometheus. No label names a user; the possible operations and statuses are few.

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
OTHER = "other"  # an address or a method that there is not
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The counters of one server."""

    def __init__(self, operations: Iterable[str], store_size: Callable[[], float]) -> None:
        """`operations` are all names that requests are counted under; `store_size` gives bytes when it is asked."""
        self._known = frozenset(operations)
        self._registry = registry = CollectorRegistry()
        self._requests = Counter("picomem_requests", "Requests", ("operation", "status"), registry=registry)
        self._seconds = Histogram(
            "picomem_request_seconds",
            "Seconds to the end of an answer",
            ("operation",),
            buckets=_SECONDS,
            registry=registry,
        )
        self._sockets = Gauge("picomem_sockets_open", "Web sockets that are open", registry=registry)
        Gauge("picomem_store_bytes", "Size of the store with its log", registry=registry).set_function(store_size)

    def count(self, operation: str, status: int, seconds: float | None = None) -> None:
        """A request was answered; the time of a socket, which stays open, is none to compare."""
        name = operation if operation in self._known else OTHER
        self._requests.labels(name, str(status)).inc()
        if seconds is not None:
            self._seconds.labels(name).observe(seconds)

    def socket_opened(self) -> None:
        self._sockets.inc()

    def socket_closed(self) -> None:
        self._sockets.dec()

    def exposition(self) -> bytes:
        """All of it as Prometheus reads it."""
        return generate_latest(self._registry)


REQUEST_HEADER = b"picomem-request"
CHANNEL = "whatsapp"  # as which the webhooks of all its accounts are counted
PAGE = "page"  # as which every address of the web page is counted
GONE = 499  # the client went before it was answered
_FAULT = 500
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_MODELS = "/v1/models"
_ROUTES = frozenset({*OPEN, "/metrics", "/ws", "/mcp", f"{API}/openapi.json", "/v1/chat/completions", _MODELS})
_CHANNELS = {beginning: beginning.rstrip("/") for beginning in OPEN_CHANNELS}  # without the account, which may be any
_STARTS = ("http.response.start", "websocket.http.response.start")


class RequestLog:
    """Makes an ASGI application around another, and takes notes of what does not come by HTTP alone."""

    def __init__(
        self, metrics: Metrics, operations: frozenset[str], pages: frozenset[str], label: Callable[[str], str]
    ) -> None:
        """`operations` are those that are served, `pages` the first parts of the web page's addresses; `label` makes of
        a user's id what stands in the log."""
        self._pages = pages
        self._metrics = metrics
        self._operations = operations
        self._label = label
        self._log = server_logger()

    def around(self, application: Application) -> Application:
        """The application, with each of its requests noted."""

        async def noting(scope: MutableMapping[str, Any], receive: ReceiveMessage, send: SendMessage) -> None:
            if scope["type"] in ("http", "websocket"):
                await self._noted(application, scope, receive, send)
            else:
                await application(scope, receive, send)

        return noting

    async def _noted(
        self, application: Application, scope: MutableMapping[str, Any], receive: ReceiveMessage, send: SendMessage
    ) -> None:
        request_id, began, status = new_id(), time.perf_counter(), 0
        state = scope.setdefault("state", {})

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] in _STARTS:
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
                self._metrics.socket_opened()
            if message["type"] in (*_STARTS, "websocket.accept"):
                message["headers"] = [*message.get("headers", ()), (REQUEST_HEADER, request_id.encode())]
            await send(message)

        with numbered(request_id):
            try:
                await application(scope, receive, noted)
            except Exception:
                status = status or _FAULT
                raise
            finally:
                route = self._route(scope["path"])
                seconds = time.perf_counter() - began
                if status == 101:
                    self._metrics.socket_closed()
                is_socket = scope["type"] == "websocket"
                counted = PAGE if self._is_page(route) else _last_part(route)
                self._metrics.count(counted, status or GONE, None if is_socket else seconds)
                caller, method = state.get("caller"), scope.get("method", "GET")
                self._log.info(
                    "socket" if is_socket else "request",
                    method=method if method in _METHODS else OTHER,
                    route=route,
                    status=status or GONE,
                    ms=_milliseconds(seconds),
                    user=self._label(caller.user) if caller else "",
                )

    def _route(self, path: str) -> str:
        """The address, where it is one that there is: another may hold anything."""
        named = path.startswith(f"{API}/") and path.removeprefix(f"{API}/") in self._operations
        if path in _ROUTES or named:
            return path
        if path.startswith(f"{_MODELS}/"):
            return _MODELS
        for beginning, route in _CHANNELS.items():
            if path.startswith(beginning):
                return route
        page = f"/{path.split('/')[1]}" if path.startswith("/") else ""
        return page if self._is_page(page) else OTHER

    def _is_page(self, route: str) -> bool:
        return route == "/" or route.removeprefix("/") in self._pages

    def note_call(self, caller: Caller, name: str, status: int, seconds: float) -> None:
        """Note a request on a socket."""
        name = name if name in self._operations else OTHER
        self._metrics.count(name, status, seconds)
        self._log.info("call", operation=name, status=status, ms=_milliseconds(seconds), user=self._label(caller.user))


def _last_part(route: str) -> str:
    """The name under which a request is counted: an operation, or the end of another address."""
    return route.rpartition("/")[2]


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 1)

"""Runs the server: a bound socket, uvicorn on it, until a signal stops it.

At the signal the server refuses new requests, notifies the sockets and finishes running requests (shutdown.py), within
a time limit. Requests that are not finished then are cut off; a write of a thread is complete or absent, as in any
process that ends. A second signal ends the server at once.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from functools import partial
from itertools import count
from threading import Timer
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from picomem.app import operations
from picomem.errors import InvalidInput
from picomem.gateway.error_replies import READS_NOTHING, UNREAD
from picomem.gateway.guard import (
    LOOPBACK_NAMES,
    OPEN,
    Application,
    Limits,
    Message,
    ReceiveMessage,
    SendMessage,
    host_name,
    refuse,
)
from picomem.gateway.http_api import application
from picomem.gateway.server_address import ServerAddress
from picomem.gateway.shutdown import Shutdown, ShutdownApplication
from picomem.runtime import Runtime
from picomem.settings import LAST_PORT

# Limits the connections of the server below HTTP: their number, and the time until a request is complete.
#
# uvicorn waits for the head of a request without a limit, so a client that sends a byte a minute would hold a
# connection for ever, and enough of them would use up all that the process may open. Here the head must be complete
# within a time limit. When all connections are taken, the one that has waited longest for a request gives way to a new
# one, so clients that send nothing keep nobody out; the guard bounds what a user has in use. If all are in use, a few
# more are taken on which only health and readiness are answered, because a supervisor would restart a server that does
# not answer them.
#
# A client that reads nothing of what waits for it is cut off after a time limit, as asyncio would keep that for ever.

_FOR_HEALTH = 16  # connections beyond the maximum
_FULL = "too_many_connections", "The server has too many connections; try again later."
_TURNS = count()
_PHRASES = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}


class _WatchedReading(asyncio.Protocol):
    """What a connection of either kind does about a client that reads nothing."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport

    def __init__(self, limits: Limits, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._limits = limits
        self._reading_timer: asyncio.TimerHandle | None = None

    def pause_writing(self) -> None:
        super().pause_writing()
        self._await_reading()

    def resume_writing(self) -> None:
        self._stop_awaiting_reading()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_awaiting_reading()
        super().connection_lost(exc)

    def _await_reading(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._reading_timer = self.loop.call_later(self._limits.read_seconds, self._look_at_reading, unread)

    def _stop_awaiting_reading(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None

    def _look_at_reading(self, before: int) -> None:
        if self.transport.get_write_buffer_size() < before:
            self._await_reading()
        else:
            self._cut_off()

    def _cut_off(self) -> None:
        self.transport.abort()


class GuardedSocket(_WatchedReading, WebSocketsSansIOProtocol):
    """A web socket on a connection; uvicorn makes it with the keywords that it knows."""

    async def send(self, message: Any) -> None:
        """Send a message when the client has read enough of those before; but close the socket at once."""
        if message["type"] == "websocket.close" and not self.writable.is_set():
            self._close_behind(message.get("code", 1000), message.get("reason") or "")
            return
        await self.writable.wait()
        if self.close_sent and not self.disconnected:
            raise ClientDisconnected
        await super().send(message)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._abort_later()

    def _cut_off(self) -> None:
        """Say why behind what is unread, for a client that reads on after all."""
        self._close_behind(UNREAD, READS_NOTHING)

    def _close_behind(self, code: int, reason: str) -> None:
        if not (self.close_sent or self.transport.is_closing()):
            self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
            self.conn.send_close(code, reason)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.transport.close()  # it sends what is unread first
        self._abort_later()

    def _abort_later(self) -> None:
        self.loop.call_later(self._limits.read_seconds, self.transport.abort)


class GuardedConnection(_WatchedReading, H11Protocol):
    """One connection; uvicorn makes it with the keywords that it knows."""

    def __init__(self, limits: Limits, **of_uvicorn: Any) -> None:
        super().__init__(limits, **of_uvicorn)
        self._head_timer: asyncio.TimerHandle | None = None
        self._turn = 0  # the smaller it is, the longer the connection has waited for a request
        self._is_for_health = False

    @property
    def _is_idle(self) -> bool:
        """Whether no request is complete and unanswered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._turn = next(_TURNS)
        beyond = len(self.connections) - self._limits.connections
        if beyond > 0 and not self._displace_idle():
            if beyond > _FOR_HEALTH:
                self._refuse(503, *_FULL)
                return
            self.app = _health_alone(self.app)
            self._is_for_health = True
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._await_head()
        else:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._turn = next(_TURNS)
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._stop_waiting()
        self._stop_awaiting_reading()
        if self._is_for_health:
            self._refuse(503, *_FULL)
            return
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn calls it
        self._refuse(
            400, "bad_request", "That is no request of HTTP/1.1; over TLS, ask the proxy in front of the server."
        )

    def _displace_idle(self) -> bool:
        """Close the connection that has waited longest for a request; False where each has one."""
        others = (other for other in self.connections if isinstance(other, GuardedConnection) and other is not self)
        idle = [other for other in others if other._is_idle]
        if not idle:
            return False
        longest = min(idle, key=lambda other: other._turn)
        longest._refuse(503, *_FULL)
        if longest.transport.get_write_buffer_size():
            longest.transport.abort()  # its client reads nothing, so it would stay open until the client closes it
        longest.connections.discard(longest)
        return True

    def _await_head(self) -> None:
        """From the first byte of a head, or from the beginning, until the head is whole; further bytes gain no time."""
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(self._limits.head_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _give_up(self) -> None:
        self._head_timer = None
        self._refuse(
            408, "too_slow", f"The head of a request is whole within {self._limits.head_seconds:.0f} s; send it again."
        )

    def _refuse(self, status: int, code: str, message: str) -> None:
        if self.transport.is_closing():
            return
        body = json.dumps({"error": {"code": code, "message": message}}).encode()
        head = (
            f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write(head.encode("ascii") + body)
        self.transport.close()


def _health_alone(application: Application) -> Application:
    """The same application, of which only health and readiness are answered, and then the connection is closed."""

    async def answered(scope: MutableMapping[str, Any], receive: ReceiveMessage, send: SendMessage) -> None:
        async def last(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], (b"connection", b"close")]}
            await send(message)

        if scope["path"] in OPEN:
            await application(scope, receive, last)
        else:
            await refuse(scope, receive, last, 503, *_FULL, {})

    return answered


_CLOSING_SECONDS = 1  # for streams that never end
_LEAVING_SECONDS = 5.0  # until the process is gone, whatever a thread still waits for
_LONGEST_HEAD = 1 << 16  # bytes of a request's line and headers
_IDLE_SECONDS = 30  # that a connection is kept for a next request
_BACKLOG = 2_048


def is_loopback(host: str) -> bool:
    """Return whether an address is this machine's own, which no other machine reaches."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bound(host: str, *ports: int) -> socket.socket:
    """A socket that listens on the first of these ports that can be had; port 0 takes a free one. Raises InvalidInput
    where none can."""
    for port in ports[:-1]:
        with suppress(InvalidInput):
            return _bound(host, port)
    return _bound(host, ports[-1])


def _bound(host: str, port: int) -> socket.socket:
    if not host.strip():  # the system would listen on every address
        raise InvalidInput("The host is empty; name the address to listen on, as in --host 127.0.0.1.")
    if not 0 <= port <= LAST_PORT:
        raise InvalidInput(f"There is no port {port}; choose one from 0 to {LAST_PORT} with --port.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        # Connections inherit it. asyncio sets it only on sockets that were made as TCP's by number, and without it the
        # body of an answer waits 40 ms for the client to acknowledge the head.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except OSError as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidInput(
            f"{host}:{port} cannot be listened on: {reason}. Choose another with --port or --host."
        ) from error


def address_of(listening: socket.socket) -> str:
    """Return where a socket listens, as a URL."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def names_of(listening: socket.socket, further: Iterable[str]) -> tuple[list[str], list[str]]:
    """The names by which clients may call the server, and the origins of its own pages. A further name may have a port,
    which clients use instead of the server's."""
    host, port = listening.getsockname()[:2]
    further = [name.lower() for name in further]
    own = [*LOOPBACK_NAMES, f"[{host}]" if ":" in host else host]
    names = list(dict.fromkeys([*own, *map(host_name, further)]))
    return names, [f"http://{name}:{port}" for name in names] + [
        origin for name in further for origin in _origins(name)
    ]


def _origins(name: str) -> list[str]:
    """The origins of pages at a further name. Browsers leave out the port that is usual for TLS, and for plain HTTP."""
    host = host_name(name)
    if name == f"{host}:80":
        return [f"http://{host}"]
    if name in (host, f"{host}:443"):
        return [f"https://{host}"]
    return [f"http://{name}", f"https://{name}"]


def serve(
    runtime: Runtime,
    listening: socket.socket,
    address: ServerAddress,
    hosts: Iterable[str],
    ready: Callable[[], None],
    ending: Callable[[], None],
) -> None:
    """Serve on a bound socket, whose address other processes find, until SIGTERM or SIGINT; `ready` is called when
    requests are taken, and `ending` at the signal. Neither may wait for anything.

    To be called in the main thread.
    """
    end = Shutdown()
    chosen = runtime.settings.server
    limits = Limits(
        sockets=chosen.sockets,
        connections=chosen.connections,
        head_seconds=chosen.head_secs,
        body_seconds=chosen.body_secs,
        read_seconds=chosen.read_secs,
    )
    names, origins = names_of(listening, hosts)
    served = application(
        runtime, operations(), hosts=names, origins=origins, limits=limits, ending=end, address=address
    )
    config = uvicorn.Config(
        ShutdownApplication(served, end),
        http=partial(GuardedConnection, limits),  # type: ignore[arg-type] - it makes one of these with its keywords
        ws=partial(GuardedSocket, limits),  # type: ignore[arg-type] - likewise
        ws_max_size=limits.frame,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_CLOSING_SECONDS,
        server_header=False,
        proxy_headers=False,
        access_log=False,
        log_config=None,
        lifespan="on",
    )
    _Server(config, end, chosen.farewell_secs, ready, ending).run(sockets=[listening])


class _Server(uvicorn.Server):
    def __init__(
        self,
        config: uvicorn.Config,
        end: Shutdown,
        farewell_seconds: float,
        ready: Callable[[], None],
        ending: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._end = end
        self._farewell_seconds = farewell_seconds
        self._ready = ready
        self._ending = ending
        self._ends_at: float | None = None  # of the monotonic clock

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._ends_at is not None:
            super().handle_exit(sig, frame)
            return
        if sig != signal.SIGTERM:  # to be told to stop is how a server ends; an interrupt is raised again when it has
            self._captured_signals.append(sig)
        self._ends_at = time.monotonic() + self._farewell_seconds
        leave = Timer(self._farewell_seconds + _LEAVING_SECONDS, os._exit, (0,))
        leave.daemon = True
        leave.start()

    async def on_tick(self, counter: int) -> bool:
        if self._ends_at is not None and not self._end.is_begun:
            self._ending()
            await self._end.begin()
        if self._end.is_finished or (self._ends_at is not None and time.monotonic() >= self._ends_at):
            self.should_exit = True
        return await super().on_tick(counter)

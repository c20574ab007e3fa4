"""Limits the connections of the server below HTTP: their number, and the time until a request is complete.

uvicorn waits for the head of a request without a limit, so a client that sends a byte a minute would hold a connection
for ever, and enough of them would use up all that the process may open. Here the head must be complete within a time
limit. When all connections are taken, the one that has waited longest for a request gives way to a new one, so clients
that send nothing keep nobody out; the guard bounds what a user has in use. If all are in use, a few more are taken on
which only health and readiness are answered, because a supervisor would restart a server that does not answer them.

A client that reads nothing of what waits for it is cut off after a time limit, as asyncio would keep that for ever.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from itertools import count
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from picomem.gateway.guard import OPEN, Application, Limits, Message, ReceiveMessage, SendMessage, refuse
from picomem.gateway.json_bodies import READS_NOTHING, UNREAD

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

"""Limits the connections of the server below HTTP: their number, and the time until a request is complete.

uvicorn waits for the head of a request without a limit, so a client that sends a byte a minute would hold a connection
for ever, and enough of them would use up all that the process may open. Here the head must be complete within a time
limit, and a connection beyond the maximum is answered and closed before anything is read from it.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from picomem.gateway.guard import Limits

_PHRASES = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}


class GuardedConnection(H11Protocol):
    """One connection; uvicorn makes it with the keywords that it knows."""

    def __init__(self, limits: Limits, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._limits = limits
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._refuse(503, "too_many_connections", "The server has too many connections; try again later.")
            return
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

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn calls it
        self._refuse(
            400, "bad_request", "That is no request of HTTP/1.1; over TLS, ask the proxy in front of the server."
        )

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

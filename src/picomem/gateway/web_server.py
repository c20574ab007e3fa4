"""Runs the server: a bound socket, uvicorn on it, until a signal stops it.

At the signal the server refuses new requests, notifies the sockets and finishes running requests (shutdown.py), within
a time limit. Requests that are not finished then are cut off; a write of a thread is complete or absent, as in any
process that ends. A second signal ends the server at once.
"""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from threading import Timer
from types import FrameType

import uvicorn

from picomem.app import operations
from picomem.errors import InvalidInput
from picomem.gateway.connections import GuardedConnection, GuardedSocket
from picomem.gateway.guard import LOOPBACK_NAMES, Limits, host_name
from picomem.gateway.http_api import application
from picomem.gateway.server_address import ServerAddress
from picomem.gateway.shutdown import Shutdown, ShutdownApplication
from picomem.runtime import Runtime
from picomem.settings import LAST_PORT

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

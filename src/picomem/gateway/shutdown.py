"""Shuts down the server: refuses new requests, finishes running ones, and notifies the sockets.

Pure ASGI, around the whole application: after the shutdown has begun, a request is answered 503 and a socket is not
opened. Running requests are counted, so that the process knows when none is left. An open stream without a request,
such as that of a listening MCP client, does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import anyio

from picomem.gateway.guard import Application, ReceiveMessage, SendMessage, refuse

CODE = "server_ending"
MESSAGE = "The server is ending and takes nothing new; try again in a few seconds."
_TELL_SECONDS = 1.0  # that telling the sockets may take: a client may not read

Listener = Callable[[], Coroutine[Any, Any, None]]


class Shutdown:
    """The state of a shutdown: whether it has begun, and the number of running requests. It lives in the event loop."""

    def __init__(self) -> None:
        self.is_begun = False
        self._unfinished = 0
        self._listeners: list[Listener] = []

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to finish."""
        return self.is_begun and not self._unfinished

    def listen(self, listener: Listener) -> None:
        """Await a function when the end begins."""
        self._listeners.append(listener)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Mark the block as work that a shutdown waits for."""
        self._unfinished += 1
        try:
            yield
        finally:
            self._unfinished -= 1

    async def begin(self) -> None:
        """Refuse new requests from now on, and notify the listeners."""
        self.is_begun = True
        with anyio.move_on_after(_TELL_SECONDS):
            async with anyio.create_task_group() as tasks:
                for listener in self._listeners:
                    tasks.start_soon(listener)


class ShutdownApplication:
    """An ASGI application around another, which refuses what comes after the end has begun."""

    def __init__(self, application: Application, ending: Shutdown) -> None:
        self._application = application
        self._ending = ending

    async def __call__(self, scope: MutableMapping[str, Any], receive: ReceiveMessage, send: SendMessage) -> None:
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
        elif self._ending.is_begun:
            headers = {"Retry-After": "5", "Connection": "close"}
            await refuse(scope, receive, send, 503, CODE, MESSAGE, headers)
        elif scope["type"] == "http" and scope["method"] != "GET":
            with self._ending.working():
                await self._application(scope, receive, send)
        else:
            await self._application(scope, receive, send)

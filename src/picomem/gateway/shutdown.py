"""Shuts down the server: refuses new requests, finishes running ones, and notifies the sockets.

Pure ASGI, around the whole application: after the shutdown has begun, a request is answered 503 and a socket is not
opened. Running requests are counted, so that the process knows when none is left. A request runs from when its body has
arrived; one whose body has not is answered 503 as well, because its client may never send the rest. An open stream
without a request, such as that of a listening MCP client, does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
from anyio import CancelScope

from picomem.errors import ServerEnding
from picomem.gateway.error_replies import error_headers
from picomem.gateway.guard import Application, Message, ReceiveMessage, SendMessage, refuse

_TELL_SECONDS = 1.0  # that telling the sockets may take: a client may not read

Listener = Callable[[], Coroutine[Any, Any, None]]


class Shutdown:
    """The state of a shutdown: whether it has begun, and the number of running requests. It lives in the event loop."""

    def __init__(self) -> None:
        self.is_begun = False
        self._unfinished = 0
        self._listeners: list[Listener] = []
        self._arriving: set[CancelScope] = set()  # of the requests whose bodies have not arrived

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

    async def part_of_body(self, receive: ReceiveMessage) -> Message:
        """Wait for the next part of a body. Raises ServerEnding if the shutdown has begun before it comes."""
        with CancelScope() as arriving:
            self._arriving.add(arriving)
            try:
                if not self.is_begun:
                    return await receive()
            finally:
                self._arriving.discard(arriving)
        raise ServerEnding

    async def begin(self) -> None:
        """Refuse new requests from now on, and notify the listeners."""
        self.is_begun = True
        for arriving in self._arriving:
            arriving.cancel()
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
            error = ServerEnding()
            await refuse(scope, receive, send, error.status, error.code, str(error), error_headers(error))
        elif scope["type"] == "http" and scope["method"] != "GET":
            with ExitStack() as work:
                await self._application(scope, self._beginning_with_body(receive, work), send)
        else:
            await self._application(scope, receive, send)

    def _beginning_with_body(self, receive: ReceiveMessage, work: ExitStack) -> ReceiveMessage:
        """The same messages; with the last part of the body the request is `work` that the shutdown waits for."""
        is_whole = False

        async def received() -> Message:
            nonlocal is_whole
            if is_whole:
                return await receive()
            message = await self._ending.part_of_body(receive)
            if not message.get("more_body", False):
                is_whole = True
                work.enter_context(self._ending.working())
            return message

        return received

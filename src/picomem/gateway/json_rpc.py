"""JSON-RPC 2.0 (jsonrpc.org/specification) over a web socket: every operation is a method.

A request's `params` are the operation's arguments by name. While it runs, the server sends notifications:

    progress        {"id", "done", "total", "text"}     of a long operation
    event           {"id", "type", …}                   of a chat turn; the id of a tool's call is its "call"
    memory.changed  {"change"}                          memory of the socket's user changed, by whatever program
    server.ending   {}                                  no request is taken any more; the socket closes with code 1012
                                                        when those that run are answered

A chat turn without a `session` goes on with the socket's own, which begins with the first turn (the event
`session_begun`); such turns run one after another.

`cancel` with {"id"} stops a request: a chat turn at once, a long operation where it reports; its answer is an error.
The names of the first design (`memory.list`, …) are served as well. Requests of a socket run side by side, so answers
may come in another order.

Each request counts towards the rate of its token, as one over HTTP does; the error of one too many says in
`data.retry_after` how many seconds to wait.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from itertools import count
from typing import Any

import anyio
from anyio import CancelScope, to_thread
from anyio.abc import TaskGroup
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from picomem.agent.events import SessionBegun
from picomem.engine.authorization import last_change
from picomem.errors import (
    Forbidden,
    InvalidInput,
    NotFound,
    PicomemError,
    ServerEnding,
    StoreError,
    TooLarge,
    TooManyRequests,
)
from picomem.gateway.calls import TOKEN_ENDED, Calls
from picomem.gateway.error_replies import (
    FAULT_SENTENCE,
    MOST_ANSWER_BYTES,
    READS_NOTHING,
    UNREAD,
    encoded,
    error_value,
    parsed,
    remote_sentence,
)
from picomem.gateway.guard import SUBPROTOCOL
from picomem.gateway.limits import RequestRates
from picomem.gateway.server_log import server_logger
from picomem.gateway.shutdown import Shutdown
from picomem.light_dataclass import asdict
from picomem.operations.operation import Operation
from picomem.records.access_token import Credential
from picomem.records.caller import Caller
from picomem.records.session import Channel
from picomem.side_tasks import side_tasks

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, FAULT, FAILED = -32700, -32600, -32601, -32602, -32603, -32000
PROTOCOL = "picomem.v1"
_CANCELLED = 499  # as the status of a request that its client no longer waits for
_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 3.0  # with a client that does not read what it is told
_MOST_WAITING = 8 << 20  # bytes of answers that wait for a client to read
_LOOKS_BETWEEN_TOKENS = 10  # after so many, a socket on which nothing happens is closed if its token has ended
_SIGNED_OUT = 4401  # why a socket closes; 4000 to 4999 are an application's own
_MOST_AT_ONCE = 32  # requests of a socket
_MOST_IN_BATCH = 50


NoteCall = Callable[[Caller, str, int, float], None]  # who, which operation, the status, the seconds


class RpcServer:
    """Serves sockets; one for each server."""

    def __init__(self, calls: Calls, ending: Shutdown, rates: RequestRates, note_call: NoteCall) -> None:
        self._calls = calls
        self._ending = ending
        self._rates = rates
        self._note_call = note_call
        ending.listen(self._tell_of_end)
        calls.session_listeners.append(self._close_signed_out)
        remotes = calls.operations.values()
        self._names = {remote.operation.rpc_method: remote.name for remote in remotes if remote.operation.rpc_method}
        self._sockets: dict[str, set[_Socket]] = {}  # by user
        self._seen: dict[str, str] = {}  # the last change that the sockets of a user know of

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Watch for changes of memory until the end of the block, and tell every socket that it ends."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, tasks)
            yield
            tasks.cancel_scope.cancel()

    async def serve(self, web_socket: WebSocket) -> None:
        """Answer one socket until it closes."""
        offered = [name for name in web_socket.scope.get("subprotocols", ()) if not name.startswith(SUBPROTOCOL)]
        caller: Caller = web_socket.state.caller
        if caller.user not in self._sockets:  # changes from here on are reported
            with suppress(StoreError):  # the next look tries again
                self._seen[caller.user] = await self._last_change(caller.user)
        await web_socket.accept(PROTOCOL if PROTOCOL in offered else None)
        socket = _Socket(
            web_socket,
            caller,
            web_socket.state.credential,
            self._calls,
            self._names,
            self._ending,
            self._rates,
            self._note_call,
        )
        self._sockets.setdefault(caller.user, set()).add(socket)
        try:
            await socket.run()
        finally:
            left = self._sockets[caller.user]
            left.discard(socket)
            if not left:
                del self._sockets[caller.user]

    async def _tell_of_end(self) -> None:
        async with anyio.create_task_group() as tasks:
            for sockets in self._sockets.values():
                for socket in sockets:
                    tasks.start_soon(socket.notify, "server.ending", {})

    async def _close_signed_out(self, user: str) -> None:
        """Close the sockets of a user whose session has ended."""
        async with anyio.create_task_group() as tasks:
            for socket in self._sockets.get(user, ()):
                tasks.start_soon(_look_up, socket)

    async def _watch(self, tasks: TaskGroup) -> None:
        for looks in count(1):
            await anyio.sleep(_LOOK_SECONDS)
            if looks % _LOOKS_BETWEEN_TOKENS == 0:
                for user in list(self._sockets):
                    await self._close_signed_out(user)
            self._seen = {user: change for user, change in self._seen.items() if user in self._sockets}
            for user in list(self._sockets):
                try:
                    change = await self._last_change(user)
                except StoreError:
                    continue  # the next look tries again, and the caller gets the error
                before = self._seen.setdefault(user, change)
                if change != before:
                    self._seen[user] = change
                    for socket in self._sockets.get(user, ()):
                        tasks.start_soon(_tell, socket, change)

    async def _last_change(self, user: str) -> str:
        return await to_thread.run_sync(last_change, self._calls.runtime.engine(Caller(user)))


async def _look_up(socket: _Socket) -> None:
    with suppress(PicomemError):  # Forbidden, once it is closed, or a store that cannot say
        await socket.look_up_caller()


async def _tell(socket: _Socket, change: str) -> None:
    """Tell a socket of a change. One that reads nothing misses it, and nobody else waits for it."""
    with anyio.move_on_after(_PATIENCE_SECONDS), suppress(PicomemError):
        await socket.look_up_caller()
        await socket.notify("memory.changed", {"change": change})


class _Socket:
    """One client's socket."""

    def __init__(
        self,
        web_socket: WebSocket,
        caller: Caller,
        credential: Credential,
        calls: Calls,
        names: Mapping[str, str],
        ending: Shutdown,
        rates: RequestRates,
        note_call: NoteCall,
    ) -> None:
        """`names` are the operations by the designs' methods."""
        self._ending = ending
        self._rates = rates
        self._note_call = note_call
        self._web_socket = web_socket
        self._caller = caller
        self._credential = credential
        self._calls = calls
        self._names = names
        self._sending = anyio.Lock()
        self._waiting = 0  # bytes of what is to be sent
        self._running: dict[str, CancelScope] = {}  # by the JSON text of the request's id
        self._places = anyio.Semaphore(_MOST_AT_ONCE)
        self._sessions: dict[str, str] = {}  # the socket's own conversation, by user
        self._talking = anyio.Lock()
        self._looking_up = anyio.Lock()
        self._answering: CancelScope | None = None

    async def run(self) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                self._answering = tasks.cancel_scope
                while True:
                    message = await self._web_socket.receive()
                    if message["type"] == "websocket.disconnect":
                        tasks.cancel_scope.cancel()
                        return
                    text = message.get("text")
                    if text is None:
                        text = (message.get("bytes") or b"").decode("utf-8", "replace")
                    await self._take(text, tasks)
        except* WebSocketDisconnect:
            pass  # it closed while an answer was on its way

    async def look_up_caller(self) -> None:
        """Learn what the token allows by now. Raises Forbidden, and closes the socket, where it is no longer valid."""
        caller = await self._calls.find_caller(self._credential)
        if caller is None:
            await self._close(_SIGNED_OUT, TOKEN_ENDED)
            raise Forbidden(TOKEN_ENDED)
        self._caller = caller

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, unless the socket has closed."""
        with suppress(WebSocketDisconnect):  # it closed just now
            await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def _take(self, text: str, tasks: TaskGroup) -> None:
        try:
            message = parsed(text.encode("utf-8", "replace"), of_any_kind=True)
        except InvalidInput as error:
            await self._send(self._too_often(None) or _failure(None, PARSE_ERROR, str(error)))
            return
        if isinstance(message, list):
            if not 0 < len(message) <= _MOST_IN_BATCH:
                said = f"A batch has between 1 and {_MOST_IN_BATCH} requests; send several batches."
                await self._send(self._too_often(None) or _failure(None, INVALID_REQUEST, said))
                return
            await self._places.acquire()
            tasks.start_soon(self._answer_batch, message)
            return
        # A cancellation must not wait for the place of what it cancels.
        if not (isinstance(message, dict) and message.get("method") == "cancel"):
            await self._places.acquire()
            tasks.start_soon(self._answer_one, message)
        elif (answer := await self._answer(message)) is not None:
            await self._send_text(answer)

    async def _answer_one(self, message: Any) -> None:
        with self._ending.working():
            try:  # the place is held until the answer is sent, so answers wait for as many requests at most
                answer = await self._answer(message)
                if answer is not None:
                    await self._send_text(answer)
            finally:
                self._places.release()

    async def _answer_batch(self, messages: list[Any]) -> None:
        with self._ending.working():
            try:
                answers: list[bytes] = []
                size = 0
                for message in messages:
                    is_begun = size < MOST_ANSWER_BYTES or not (_is_request(message) and "id" in message)
                    answer = await self._answer(message) if is_begun else encoded(_beyond_batch(message))
                    if answer is not None:
                        answers.append(answer)
                        size += len(answer)
                if answers:
                    await self._send_text(b"[" + b",".join(answers) + b"]")
            finally:
                self._places.release()

    async def _answer(self, message: Any) -> bytes | None:
        """The answer to one request, as JSON; None for a notification."""
        answer = await self._answer_value(message)
        return None if answer is None else encoded(answer)

    async def _answer_value(self, message: Any) -> dict[str, Any] | None:
        request_id = message.get("id") if isinstance(message, dict) else None
        if not _is_request(message):
            known = request_id if isinstance(request_id, str | int) and not isinstance(request_id, bool) else None
            return self._too_often(known) or _failure(
                known, INVALID_REQUEST, "This is no JSON-RPC 2.0 request; send “jsonrpc”: “2.0”, a method and params."
            )
        has_answer = "id" in message
        if refused := self._too_often(request_id, message["method"]):
            return refused if has_answer else None
        name = json.dumps(request_id)
        if has_answer and name in self._running:
            return _failure(request_id, INVALID_REQUEST, "A request with this id is running; use another id.")
        answer = _failure(
            request_id, FAILED, "The request was cancelled; send it again if it is still wanted.", {"code": "cancelled"}
        )
        with CancelScope() as scope:
            if has_answer:
                self._running[name] = scope
            try:
                answer = await self._called(message, request_id)
            finally:
                if has_answer:
                    del self._running[name]
        return answer if has_answer else None

    def _too_often(self, request_id: Any, method: str = "") -> dict[str, Any] | None:
        """Count a request of this token; the answer where it makes too many."""
        try:
            self._rates.count(self._caller)
        except TooManyRequests as error:
            self._note_call(self._caller, self._names.get(method, method), error.status, 0.0)
            return _failure(request_id, FAILED, str(error), error_value(error))
        return None

    async def _called(self, message: dict[str, Any], request_id: Any) -> dict[str, Any]:
        method, params = message["method"], message.get("params", {})
        if not isinstance(params, dict):
            return _failure(request_id, INVALID_PARAMS, "The params are an object: arguments have names here.")
        if method == "cancel":
            running = self._running.get(json.dumps(params.get("id")))
            if running is not None:
                running.cancel()
            return _success(request_id, {"cancelled": running is not None})
        if self._ending.is_begun:
            error = ServerEnding()
            return _failure(request_id, FAILED, str(error), error_value(error))
        try:
            async with self._looking_up:  # in turn, so that requests stay in the order in which they came
                await self.look_up_caller()
            return _success(request_id, await self._noted_result(method, params, request_id))
        except NotFound as error:
            is_method = self._names.get(method, method) not in self._calls.operations
            return _failure(request_id, NO_METHOD if is_method else FAILED, remote_sentence(error), error_value(error))
        except InvalidInput as error:
            return _failure(request_id, INVALID_PARAMS, str(error), error_value(error))
        except PicomemError as error:
            return _failure(request_id, FAILED, remote_sentence(error), error_value(error))
        except Exception:  # noqa: BLE001 - a mistake in one request must not end the others of its socket
            server_logger().exception("fault")
            return _failure(request_id, FAULT, FAULT_SENTENCE, {"code": "fault"})

    async def _noted_result(self, method: str, params: dict[str, Any], request_id: Any) -> dict[str, Any]:
        began, status = time.perf_counter(), _CANCELLED
        try:
            result = await self._result(method, params, request_id)
            status = 200
        except PicomemError as error:
            status = error.status
            raise
        except Exception:
            status = 500
            raise
        finally:
            name = self._names.get(method, method)
            self._note_call(self._caller, name, status, time.perf_counter() - began)
        return result

    async def _result(self, method: str, params: dict[str, Any], request_id: Any) -> dict[str, Any]:
        name = self._names.get(method, method)
        arguments = {key: value for key, value in params.items() if key != "user"}
        user = params.get("user", "")
        if not isinstance(user, str):
            raise InvalidInput("user is another user's id, a text.")
        operation = self._calls.named(name).operation
        if operation.begins:
            arguments = {"channel": Channel.WEBSOCKET.value, **arguments}
        if not (operation.long or operation.events):
            return await self._calls.call(self._caller, name, arguments, user=user)
        if operation.converses and not arguments.get("session"):
            async with self._talking:
                own = {"session": self._sessions.get(user, ""), "channel": Channel.WEBSOCKET.value}
                return await self._told_result(operation, {**arguments, **own}, user, request_id)
        return await self._told_result(operation, arguments, user, request_id)

    async def _told_result(
        self, operation: Operation, arguments: dict[str, Any], user: str, request_id: Any
    ) -> dict[str, Any]:
        """The result of an operation that says how far it is, or tells events."""
        types = {kind: type_name for type_name, kind in operation.events.items()}
        waiting: list[tuple[int, int, str]] = []
        is_waiting = anyio.Event()

        def progress(done: int, total: int, text: str) -> None:
            waiting[:] = [(done, total, text)]  # what was not sent yet is old news
            is_waiting.set()

        async def tell_progress() -> None:
            nonlocal is_waiting
            while True:
                await is_waiting.wait()
                is_waiting = anyio.Event()
                for done, total, text in waiting[:]:
                    params = {"id": request_id, "done": done, "total": total, "text": text}
                    await self.notify("progress", params)

        async def tell(event: Any) -> None:
            if isinstance(event, SessionBegun):  # only where none was named
                self._sessions[user] = event.session
            told = asdict(event)
            called = {"call": told.pop("id")} if "id" in told else {}  # `id` is the request's
            await self.notify("event", {"id": request_id, "type": types[type(event)], **called, **told})

        async with side_tasks() as tasks:
            tasks.start_soon(tell_progress)
            return await self._calls.call(
                self._caller,
                operation.name,
                arguments,
                user=user,
                progress=progress,
                tell=tell if types else None,
                credential=self._credential,
            )
        return {}  # only a task that ends the block leads here, and there is none

    async def _close(self, code: int, reason: str) -> None:
        """Close it behind what its client has not read yet; what waits is given up."""
        with suppress(WebSocketDisconnect):
            if self._web_socket.application_state is WebSocketState.CONNECTED:
                await self._web_socket.close(code, reason)
        if self._answering is not None:
            self._answering.cancel()

    async def _send(self, value: Any) -> None:
        await self._send_text(encoded(value))

    async def _send_text(self, text: bytes) -> None:
        """Send a JSON text; close the socket where too much waits for its client to read."""
        if self._waiting > _MOST_WAITING:
            await self._close(UNREAD, READS_NOTHING)
            return
        self._waiting += len(text)
        try:
            async with self._sending:
                if self._web_socket.application_state is WebSocketState.CONNECTED:
                    await self._web_socket.send_text(text.decode())
        finally:
            self._waiting -= len(text)


def _beyond_batch(message: dict[str, Any]) -> dict[str, Any]:
    said = "It was not begun, because the requests before it filled the batch's answer; send it again in another batch."
    return _failure(message["id"], FAILED, said, {"code": TooLarge.code})


def _is_request(message: Any) -> bool:
    if not isinstance(message, dict):
        return False
    request_id = message.get("id")
    is_named = request_id is None or (isinstance(request_id, str | int | float) and not isinstance(request_id, bool))
    return (
        message.get("jsonrpc") == "2.0"
        and isinstance(message.get("method"), str)
        and is_named
        and isinstance(message.get("params", {}), dict | list)
    )


def _success(request_id: Any, result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "result": result}


def _failure(request_id: Any, code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message, **({"data": data} if data else {})}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}

"""`POST /v1/chat/completions` and `GET /v1/models`: lets any client of OpenAI's chat API talk with PicoBot.

The API key is one of our tokens. The header `Picomem-Session` or `metadata.session` names the conversation that a
request continues; otherwise the history that the client sends identifies it (sessions/client_history.py). New messages
in the history are stored. If the client disconnects, the turn stops, and its messages until then are kept.

A failure before the first words is a status. A later one is the last event of the stream.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from picomem.agent import turns
from picomem.agent.events import Event, Notice, TextDelta, ToolCallEvent, TurnResult
from picomem.channels.completion_format import MODEL, ChatRequest, Reply, model, models, request_of
from picomem.clock import SECOND
from picomem.engine.client_conversations import store_new
from picomem.engine.engine import Engine
from picomem.errors import Forbidden, NotFound, PicomemError
from picomem.gateway.calls import Calls
from picomem.gateway.error_replies import operation_error, operation_error_value
from picomem.gateway.json_bodies import parsed
from picomem.gateway.openapi import USER_HEADER
from picomem.records.access_token import Credential
from picomem.records.caller import Caller
from picomem.records.ids import new_id
from picomem.records.session import Message
from picomem.side_tasks import side_tasks

if TYPE_CHECKING:
    from picomem.agent.loop import PicoBot

SESSION_HEADER = "Picomem-Session"
_MOST_EVENTS = 100  # that wait for a slow reader
_OPERATION = "chat"
_Said = str | TurnResult | PicomemError


class ChatCompletions:
    """The routes."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._answering = _Answering()

    async def models(self, _request: Request) -> Response:
        """The list of models."""
        return JSONResponse(models())

    async def model(self, request: Request) -> Response:
        """One of them."""
        if request.path_params["model"] != MODEL:
            raise NotFound(f"There is no such model; the only one is {MODEL}.")
        return JSONResponse(model())

    async def complete(self, request: Request) -> Response:
        """Answer a message."""
        chat = request_of(parsed(await request.body()), request.headers.get(SESSION_HEADER, ""))
        user = request.headers.get(USER_HEADER, "")
        if user and chat.user not in ("", user):
            raise Forbidden(f"The header {USER_HEADER} and “user” name different users; name one.")
        caller: Caller = request.state.caller
        turn = self._calls.named(_OPERATION)
        engine = self._calls.engine_for(caller, turn, await self._calls.user_named(caller, turn, user or chat.user))
        return _Answer(self._calls, request, engine, chat, self._answering)

    def _now(self) -> int:
        return self._calls.runtime.engine().now() // SECOND


class _Answering:
    """The messages that are being answered, by their ids; `lock` is held while one is stored and joins them."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.messages: set[str] = set()


class _Answer(Response):
    """The answer to a message, while its turn runs."""

    def __init__(
        self, calls: Calls, request: Request, engine: Engine, chat: ChatRequest, answering: _Answering
    ) -> None:
        super().__init__()
        self._caller: Caller = request.state.caller
        self._credential: Credential = request.state.credential
        self._calls = calls
        self._engine = engine
        self._chat = chat
        self._answering = answering
        self._session = ""
        self._notices: list[str] = []
        self._answered: PicoBot | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        writer, reader = anyio.create_memory_object_stream[_Said](_MOST_EVENTS)
        async with anyio.create_task_group() as tasks, reader:
            tasks.start_soon(self._work, writer)
            response = await self._response(receive, reader)
            if response is not None:
                await response(scope, receive, send)
            tasks.cancel_scope.cancel()
        if self._answered is not None:
            await turns.settle(self._answered)

    async def _response(self, receive: Receive, reader: MemoryObjectReceiveStream[_Said]) -> Response | None:
        """The response, once it is known to be one; None if the client has gone before."""
        async with side_tasks() as tasks:

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                tasks.cancel_scope.cancel()

            tasks.start_soon(watch)
            return await self._begun(reader)
        return None

    async def _begun(self, reader: MemoryObjectReceiveStream[_Said]) -> Response:
        said = [await reader.receive()]
        if not self._chat.is_streamed:
            said += [more async for more in reader]
        last = said[-1]
        if isinstance(last, PicomemError):
            return operation_error(last)
        reply = Reply(new_id(), self._engine.now() // SECOND, self._session)
        headers = {"Cache-Control": "no-store", SESSION_HEADER: self._session}
        if self._chat.is_streamed:
            return EventSourceResponse(self._events(said[0], reader, reply), headers=headers, sep="\n")
        assert isinstance(last, TurnResult)
        text = "".join(words for words in said if isinstance(words, str)) or last.answer
        whole = reply.whole(text, (last.input_tokens, last.output_tokens), self._notices)
        return JSONResponse(whole, headers=headers)

    async def _events(
        self, first: _Said, reader: MemoryObjectReceiveStream[_Said], reply: Reply
    ) -> AsyncIterator[ServerSentEvent]:
        yield _event(reply.first())
        said, is_silent = first, True
        while True:
            if isinstance(said, PicomemError):
                yield _event(operation_error_value(said))
                return
            if isinstance(said, TurnResult):
                break
            is_silent = False
            yield _event(reply.words(said))
            said = await reader.receive()
        if is_silent and said.answer:
            yield _event(reply.words(said.answer))
        usage = (said.input_tokens, said.output_tokens) if self._chat.with_usage else None
        for chunk in reply.last(usage, self._notices):
            yield _event(chunk)
        yield ServerSentEvent("[DONE]")

    async def _work(self, writer: MemoryObjectSendStream[_Said]) -> None:
        async with writer, self._calls.turn_place(self._engine.scope.user):
            try:
                async with self._calls.while_valid(self._caller, self._credential):
                    result = await self._turn(writer)
            except PicomemError as error:
                await writer.send(self._calls.explained(error))
            else:
                await writer.send(result)

    async def _turn(self, writer: MemoryObjectSendStream[_Said]) -> TurnResult:
        chat, has_called, has_said = self._chat, False, False

        async def tell(event: Event) -> None:
            nonlocal has_called, has_said
            match event:
                case TextDelta(text=words):
                    await writer.send(f"\n\n{words}" if has_called and has_said else words)
                    has_called, has_said = False, True
                case ToolCallEvent():
                    has_called = True
                case Notice(text=notice):
                    self._notices.append(notice)

        model = await turns.open_model(self._engine)
        message = await self._stored()
        try:
            bot = await turns.open_bot(self._engine, message.session_id, model)
            result = await bot.turn(message.content, tell, stored=message, instructions=chat.instructions)
        finally:
            self._answering.messages.discard(message.id)
        self._answered = bot
        return result

    async def _stored(self) -> Message:
        """The person's message, stored in the conversation that it continues."""
        chat, answering = self._chat, self._answering
        async with answering.lock:
            message = await to_thread.run_sync(
                store_new, self._engine, chat.history, chat.asked, chat.session, frozenset(answering.messages)
            )
            answering.messages.add(message.id)
        self._session = message.session_id
        return message


def _event(document: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(json.dumps(document, ensure_ascii=False))

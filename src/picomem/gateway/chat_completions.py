"""`POST /v1/chat/completions` and `GET /v1/models`: lets any client of OpenAI's chat API talk with PicoBot.

The API key is one of our tokens. The header `Picomem-Session` or `metadata.session` names the conversation that a
request continues; otherwise the history that the client sends identifies it (engine/client_conversations.py). New
messages in the history are stored. If the client disconnects, the turn stops, and its messages until then are kept.

A failure before the first words is a status. A later one is the last event of the stream.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
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
from picomem.clock import SECOND
from picomem.engine.client_conversations import store_new
from picomem.engine.engine import Engine
from picomem.errors import Forbidden, InvalidInput, NotFound, PicomemError
from picomem.gateway.calls import Calls
from picomem.gateway.error_replies import operation_error, operation_error_value, parsed
from picomem.gateway.openapi import USER_HEADER
from picomem.light_dataclass import dataclass
from picomem.records.access_token import Credential
from picomem.records.caller import Caller
from picomem.records.ids import new_id
from picomem.records.session import Message, NewMessage, Role
from picomem.side_tasks import side_tasks

if TYPE_CHECKING:
    from picomem.agent.loop import PicoBot

# The format of OpenAI's chat completions: requests of clients, and the documents that they receive. Pure.
#
# Unsupported features are refused with a sentence: tools of the client, several answers, JSON, pictures. The settings
# decide the sampling of answers (`temperature`, `max_tokens`, …) and the model, so these parameters are ignored.

MODEL = "picobot"
_INSTRUCTING = ("system", "developer")
_CREATED = 1_793_491_200  # 1 November 2026: a client may keep a model by it, so it is the same each time
_PASSED_OVER = ("tool", "function")  # the results of a client's own tools, in the history of another model
_TEXT_PARTS = ("text", "input_text", "output_text")
_REFUSED = {
    "tools": "PicoBot has tools of its own; send none.",
    "functions": "PicoBot has tools of its own; send none.",
    "logprobs": "PicoBot gives no probabilities.",
    "audio": "PicoBot answers in text alone.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A request: the new message, the history before it, and the instructions of the client."""

    asked: str
    history: tuple[NewMessage, ...] = ()
    instructions: str = ""
    session: str = ""
    user: str = ""
    is_streamed: bool = False
    with_usage: bool = False


def request_of(body: Mapping[str, Any], session: str = "") -> ChatRequest:
    """The request that a body is; `session` is the one that a header names. Raises InvalidInput."""
    if not _text(body.get("model") or "", "model"):
        raise InvalidInput(f"The request names no model; send “model”: “{MODEL}”.")
    for name, sentence in _REFUSED.items():
        if body.get(name):
            raise InvalidInput(f"“{name}” is not supported: {sentence}")
    if body.get("n") not in (None, 1):
        raise InvalidInput("“n” is not supported: PicoBot gives one answer.")
    kind = _object(body, "response_format").get("type", "text")
    if kind != "text":
        raise InvalidInput("“response_format” is not supported: PicoBot answers in text.")
    said, instructions = _messages(body.get("messages"))
    if not said or said[-1].role is not Role.USER:
        raise InvalidInput("The last message must be the user's: it is the one that PicoBot answers.")
    if not said[-1].content.strip():
        raise InvalidInput("The last message is empty; write something.")
    named = _object(body, "metadata").get("session", "")
    return ChatRequest(
        asked=said[-1].content,
        history=tuple(message for message in said[:-1] if message.content.strip()),
        instructions="\n\n".join(instructions),
        session=session or _text(named, "metadata.session"),
        user=_text(body.get("user") or "", "user"),
        is_streamed=_switch(body, "stream"),
        with_usage=_switch(_object(body, "stream_options"), "include_usage"),
    )


def models() -> dict[str, Any]:
    """The list of models."""
    return {"object": "list", "data": [model()]}


def model() -> dict[str, Any]:
    """The one model."""
    return {"id": MODEL, "object": "model", "created": _CREATED, "owned_by": "picomem"}


class Reply:
    """The documents of one answer."""

    def __init__(self, reply_id: str, created: int, session: str) -> None:
        self._head = {"id": f"chatcmpl-{reply_id}", "created": created, "model": MODEL}
        self._session = session

    def whole(self, text: str, usage: tuple[int, int], notices: Sequence[str]) -> dict[str, Any]:
        """The answer as one document; `usage` are the tokens of the prompts and of the answers."""
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        further = {"usage": _usage(usage), "picomem": self._about(notices)}
        return {**self._head, "object": "chat.completion", "choices": [choice], **further}

    def first(self) -> dict[str, Any]:
        """The chunk before the first words."""
        return self._chunk({"role": "assistant", "content": ""})

    def words(self, text: str) -> dict[str, Any]:
        """The next words."""
        return self._chunk({"content": text})

    def last(self, usage: tuple[int, int] | None, notices: Sequence[str]) -> list[dict[str, Any]]:
        """The chunks behind the last words, with the usage if the client wants it."""
        end = {**self._chunk({}, "stop"), "picomem": self._about(notices)}
        return [end] if usage is None else [end, {**self._chunk({}), "choices": [], "usage": _usage(usage)}]

    def _about(self, notices: Sequence[str]) -> dict[str, Any]:
        return {"session": self._session, "notices": list(notices)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self._head, "object": "chat.completion.chunk", "choices": [choice]}


def _usage(usage: tuple[int, int]) -> dict[str, int]:
    prompt, completion = usage
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _messages(given: Any) -> tuple[list[NewMessage], list[str]]:
    """Return the messages and the instructions."""
    if not isinstance(given, list) or not given:
        raise InvalidInput("“messages” is a list of at least one message.")
    said: list[NewMessage] = []
    instructions: list[str] = []
    for place, message in enumerate(given):
        if not isinstance(message, dict):
            raise InvalidInput(f"messages[{place}] is an object with role and content.")
        role = message.get("role")
        if role in _PASSED_OVER:
            continue
        text = _content(message.get("content"), f"messages[{place}].content")
        if role in _INSTRUCTING:
            instructions.append(text)
        elif role in (Role.USER, Role.ASSISTANT):
            said.append(NewMessage(role=Role(role), content=text))
        else:
            raise InvalidInput(f"The role of messages[{place}] is one of system, developer, user, assistant and tool.")
    return said, instructions


def _content(content: Any, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise InvalidInput(f"{where} is a text, or a list of parts.")
    texts = []
    for part in content:
        if not isinstance(part, dict) or part.get("type") not in _TEXT_PARTS:
            raise InvalidInput(f"{where} has a part that is no text; PicoBot reads text alone.")
        texts.append(_text(part.get("text"), f"{where} of a part"))
    return "".join(texts)


def _object(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = body.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"“{name}” is an object.")
    return value


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"“{name}” is a text.")
    return value


def _switch(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise InvalidInput(f"“{name}” is true or false.")
    return bool(value)


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

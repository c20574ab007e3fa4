"""Converts our messages to pydantic-ai's, and back. Pure.

The conversion keeps the person's text, the assistant's text, its calls and their results, in order and in pairs. It
drops a model's thinking, the work of a provider's own tools, instructions (they are rebuilt for each turn), and the
framework's messages to the model. A picture or another file becomes a placeholder.

A result carries the origin of its text in its metadata, which `fence_capability.py` uses to mark it as data.

Arguments that are not a JSON object cannot be passed to every provider, but models write them; they are sent as the
single argument `unreadable`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from picomem.agent.attribution import ORIGIN, origin_of, prompts_of, results_of, text_of
from picomem.clock import Micros, to_datetime
from picomem.records.kinds import Origin
from picomem.records.session import Message, NewMessage, Role, ToolCall
from picomem.records.untrusted_fence import fenced
from picomem.sessions.new_messages import id_like

UNREADABLE = "unreadable"


def to_model(messages: Iterable[Message]) -> list[ModelMessage]:
    """A window's messages for a model. They come in whole groups, so each result stands behind its call."""
    made: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    at: Micros = 0
    names: dict[str, str] = {}  # of the calls so far, by id
    for message in messages:
        if message.role is Role.ASSISTANT:
            names |= {call.id: call.name for call in message.tool_calls}
            if asked:
                made.append(ModelRequest(parts=asked, timestamp=to_datetime(at)))
            made.append(ModelResponse(parts=_response_parts(message), timestamp=to_datetime(message.created_at)))
            asked = []
        elif message.role is not Role.SYSTEM:
            asked.append(_request_part(message, names))
        at = message.created_at
    return [*made, ModelRequest(parts=asked, timestamp=to_datetime(at))] if asked else made


def to_said(messages: Iterable[ModelMessage], asked: str = "") -> list[NewMessage]:
    """The content of a model's messages, as it is stored; `asked` is the person's message, wherever it is."""
    said: list[NewMessage] = []
    ids = Ids()
    for message in messages:
        if isinstance(message, ModelResponse):
            said += response_said(message, ids)
        else:
            said += results_said(results_of(message, asked), ids)
            prompts = [text_of(part.content) for part in prompts_of(message, asked)]
            said += [NewMessage(role=Role.USER, content=text) for text in prompts if text.strip()]
    return said


class Ids:
    """The ids of calls as the log takes them, by the ids that a model gave: each call is answered once."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[str]] = {}
        self._given = 0

    def call(self, given: str, taken: Collection[str]) -> str:
        """An id for a call, other than those that the same message has taken."""
        self._given += 1
        id_ = id_like(given) or f"call.{self._given}"
        if id_ in taken:
            id_ = f"{id_[:200]}.{self._given}"
        self._waiting.setdefault(given, []).append(id_)
        return id_

    def answer(self, given: str) -> str:
        """The id of the call that is answered; empty where none waits."""
        waiting = self._waiting.get(given)
        return waiting.pop(0) if waiting else ""


def response_said(response: ModelResponse, ids: Ids) -> list[NewMessage]:
    """An assistant's message with its calls; nothing where it has neither text nor calls."""
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls: list[ToolCall] = []
    for part in response.parts:
        if isinstance(part, ToolCallPart):
            id_ = ids.call(part.tool_call_id, {call.id for call in calls})
            calls.append(ToolCall(id_, id_like(part.tool_name) or "unnamed", _arguments(part)))
    if not text.strip() and not calls:
        return []
    return [NewMessage(role=Role.ASSISTANT, content=text, tool_calls=tuple(calls))]


def results_said(parts: Iterable[ToolReturnPart], ids: Ids) -> list[NewMessage]:
    """The results of calls that still wait for one; what answers no call is left out."""
    said = []
    for part in parts:
        id_ = ids.answer(part.tool_call_id)
        if id_:
            text = part.model_response_str(wrap_if_error=False)
            origin = origin_of(part)
            origin = Origin.TOOL if origin.trusted else origin
            said.append(NewMessage(role=Role.TOOL, content=text, tool_call_id=id_, origin=origin))
    return said


def _response_parts(message: Message) -> list[ModelResponsePart]:
    parts: list[ModelResponsePart] = [TextPart(message.content)] if message.content else []
    parts += [ToolCallPart(call.name, _object(call.arguments), call.id) for call in message.tool_calls]
    return parts


def _request_part(message: Message, names: dict[str, str]) -> ModelRequestPart:
    at = to_datetime(message.created_at)
    if message.role is Role.USER:
        # In a group, others speak as well.
        is_persons = message.origin.trusted
        return UserPromptPart(message.content if is_persons else fenced(message.content, message.origin), timestamp=at)
    name = names.get(message.tool_call_id, "unnamed")
    origin = {ORIGIN: message.origin.value}
    return ToolReturnPart(name, message.content, message.tool_call_id, metadata=origin, timestamp=at)


def _arguments(part: ToolCallPart) -> str:
    if isinstance(part.args, str):
        return part.args
    return json.dumps(part.args or {}, ensure_ascii=False)


def _object(arguments: str) -> str:
    """The arguments as they were written where they are a JSON object, which every provider takes."""
    try:
        given = json.loads(arguments)
    except (ValueError, RecursionError):
        given = None
    return arguments if isinstance(given, dict) else json.dumps({UNREADABLE: arguments}, ensure_ascii=False)

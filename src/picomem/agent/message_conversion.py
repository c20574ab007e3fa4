"""Converts messages between picomem and pydantic-ai, and tool calls that a model wrote as text."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.tools import RunContext, ToolDefinition
from typing_extensions import override

from picomem.agent.attribution import ORIGIN, origin_of, prompts_of, results_of, text_of
from picomem.clock import Micros, to_datetime
from picomem.records.kinds import Origin
from picomem.records.session import Message, NewMessage, Role, ToolCall
from picomem.records.untrusted_fence import fenced
from picomem.sessions.pairs import id_like

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


# Recognises a tool call that a model writes as text: `{"name": "memory_store", "arguments": {…}}`.
#
# Small models do this. The whole answer must be exactly one such object. It must name a tool that was offered in this
# request, with all required arguments and no unknown ones; any other answer is an answer. The usual checks of a call
# apply (tools.py, attribution.py).
#
# Answers are streamed, and nobody wants to read a call, so text that may still turn out to be one is held back.

_DRESSINGS = (  # in which models write a call
    r"(?s)\s*(\{.*\})\s*",
    r"(?s)\s*```(?:json|tool_call|tool_code)?\s*(\{.*\})\s*```\s*",
    r"(?s)\s*<tool_call>\s*(\{.*\})\s*(?:</tool_call>)?\s*",
)
_BEGINNINGS = [
    f'{dressing}{{"{name}"'
    for dressing in ("", "```", "```json", "```tool_call", "```tool_code", "<tool_call>")
    for name in ("name", "arguments", "parameters")
]
_LONGEST = 100_000  # characters of an answer that is parsed


class PlainCalls(AbstractCapability[Any]):
    """Takes an answer that is one call, written down, as that call. Stands behind what records answers."""

    def __init__(self, *, id: str = "picomem_plain_calls") -> None:  # noqa: A002
        self.id = id

    @override
    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        if not all(isinstance(part, (TextPart, ThinkingPart)) for part in response.parts):
            return response
        text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
        call = call_in(text, request_context.model_request_parameters.function_tools)
        if call is None:
            return response
        made = copy(response)
        made.parts = [*(part for part in response.parts if isinstance(part, ThinkingPart)), call]
        made.finish_reason = "tool_call"
        return made


def call_in(text: str, tools: Sequence[ToolDefinition]) -> ToolCallPart | None:
    """The call that a text is, or None. Pure."""
    matched = next((match for pattern in _DRESSINGS if (match := re.fullmatch(pattern, text[:_LONGEST]))), None)
    try:
        given = json.loads(matched[1]) if matched else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(given, dict) or set(given) not in ({"name", "arguments"}, {"name", "parameters"}):
        return None
    arguments = given.get("arguments", given.get("parameters"))
    schema = next((tool.parameters_json_schema for tool in tools if tool.name == given["name"]), None)
    if schema is None or not isinstance(arguments, dict) or not _fits(arguments, schema):
        return None
    return ToolCallPart(str(given["name"]), json.dumps(arguments, ensure_ascii=False))


def _fits(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> bool:
    return set(schema.get("required", ())) <= set(arguments) <= set(schema.get("properties", ()))


class BufferedText:
    """The words of an answer on their way to a person. `of` gives what of an event can be shown now."""

    def __init__(self) -> None:
        self._held: str | None = None  # None where the answer is no call for sure

    def of(self, event: object) -> str:
        match event:
            case PartStartEvent(part=TextPart(content=text)):
                return self._begin(text)
            case PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                return self._more(text)
            case PartStartEvent() | AgentRunResultEvent():
                return self.rest()
            case FunctionToolCallEvent():
                self._held = None  # it was the call
        return ""

    def rest(self) -> str:
        """The text that was held back, once it is complete and not a call."""
        held, self._held = self._held, None
        return held or ""

    def _begin(self, text: str) -> str:
        before = self.rest()
        self._held = ""
        return before + self._more(text)

    def _more(self, text: str) -> str:
        if self._held is None:
            return text
        self._held += text
        return "" if may_be_call(self._held) else self.rest()


def may_be_call(text: str) -> bool:
    """Return whether an answer that begins so can still become a call. Pure."""
    begun = re.sub(r"\s+", "", text[:200])
    return any(begun.startswith(beginning) or beginning.startswith(begun) for beginning in _BEGINNINGS)

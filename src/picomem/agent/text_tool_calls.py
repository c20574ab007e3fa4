"""Recognises a tool call that a model writes as text: `{"name": "memory_store", "arguments": {…}}`.

Small models do this. The whole answer must be exactly one such object. It must name a tool that was offered in this
request, with all required arguments and no unknown ones; any other answer is an answer. The usual checks of a call
apply (tools.py, attribution.py).

Answers are streamed, and nobody wants to read a call, so text that may still turn out to be one is held back.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    ModelResponse,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.tools import RunContext, ToolDefinition
from typing_extensions import override

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

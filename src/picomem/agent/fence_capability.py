"""A capability that fences tool output as data, with the same bytes in the current turn and in later ones (X7).

    Agent(model, tools=[fetch], capabilities=[Fence(), MemoryCapability(engine)])

Memory's own tools are left alone: they fence their quotes themselves. Content that a tool returns beside its result,
which a provider gets in the user's place, is fenced where the tool returns it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    TextContent,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserContent,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext, ToolDefinition
from typing_extensions import override

from picomem.agent.attribution import origin_of
from picomem.agent.tools import MEMORY, TOOLS
from picomem.operations.fenced_results import fenced
from picomem.operations.table import operation
from picomem.records.kinds import Origin


class Fence(AbstractCapability[Any]):
    """Fences the results of all tools but those named in `but`, by default memory's own."""

    def __init__(self, but: Collection[str] | None = None, *, id: str = "picomem_fence") -> None:  # noqa: A002
        self.id = id
        self._but = memory_tools() if but is None else frozenset(but)

    @override
    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        request_context.messages = [self._fenced(message) for message in request_context.messages]
        return request_context

    @override
    async def after_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], result: Any
    ) -> Any:
        if isinstance(result, ToolReturn) and result.content and call.tool_name not in self._but:
            result = copy(result)
            result.content = _beside(result.content)
        return result

    def _fenced(self, message: ModelMessage) -> ModelMessage:
        if not isinstance(message, ModelRequest) or not any(map(self._is_foreign, message.parts)):
            return message
        made = copy(message)
        made.parts = [_quoted(part) if self._is_foreign(part) else part for part in message.parts]
        return made

    def _is_foreign(self, part: object) -> bool:
        return isinstance(part, ToolReturnPart) and part.tool_name not in self._but


def memory_tools() -> frozenset[str]:
    """The names of memory's own tools."""
    return frozenset({MEMORY, *(operation(name).tool for name in TOOLS)})


def _quoted(part: Any) -> ToolReturnPart:
    made = copy(part)
    made.content = fenced(part.model_response_str(wrap_if_error=False), origin_of(part))
    return made


def _beside(content: str | Sequence[UserContent]) -> str | list[UserContent]:
    """The content beside a result, with its texts fenced."""
    if isinstance(content, str):
        return fenced(content, Origin.TOOL)
    return [_fenced_item(item) for item in content]


def _fenced_item(item: UserContent) -> UserContent:
    if isinstance(item, TextContent):
        return fenced(item.content, Origin.TOOL)
    return fenced(item, Origin.TOOL) if isinstance(item, str) else item

"""What tools say is data: a capability that fences it, in the current turn as in later ones, with the same bytes (X7).

    Agent(model, tools=[fetch], capabilities=[Fence(), Memory(engine)])

Memory's own tools are left alone: they fence what they quote themselves.
"""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessage, ModelRequest, ToolReturnPart
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext
from typing_extensions import override

from picomem.agent.tools import MEMORY, TOOLS
from picomem.operations.fence import fenced
from picomem.operations.table import operation
from picomem.records.kinds import Origin

ORIGIN = "origin"  # in a result's metadata, which no provider gets: where its text came from


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

    def _fenced(self, message: ModelMessage) -> ModelMessage:
        if not isinstance(message, ModelRequest) or not any(map(self._is_foreign, message.parts)):
            return message
        made = copy(message)
        made.parts = [_quoted(part) if self._is_foreign(part) else part for part in message.parts]
        return made

    def _is_foreign(self, part: object) -> bool:
        return isinstance(part, ToolReturnPart) and part.tool_name not in self._but


def memory_tools() -> frozenset[str]:
    """What memory's own tools are called."""
    return frozenset({MEMORY, *(operation(name).tool for name in TOOLS)})


def _quoted(part: Any) -> ToolReturnPart:
    made = copy(part)
    origin = part.metadata.get(ORIGIN) if isinstance(part.metadata, dict) else None
    made.content = fenced(part.model_response_str(wrap_if_error=False), str(origin or Origin.TOOL))
    return made

"""Agents on a scripted model: a FunctionModel gets exactly what a provider would get."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel
from tests.engine_parts import change_settings

from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.settings_tables import MemorySettings

Step = str | list[tuple[str, dict[str, Any]]]  # a text, or calls: names with their arguments


class Script:
    """A model that says its steps one after another, and keeps what it was given for each."""

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.given: list[tuple[list[ModelMessage], AgentInfo]] = []
        self.model = FunctionModel(self._answer, stream_function=self._stream, model_name="script")

    def say(self, *steps: Step) -> None:
        self.steps += steps

    def prompts(self) -> list[str]:
        """The instructions of each request."""
        return [info.instructions or "" for _, info in self.given]

    def stable(self) -> list[str]:
        """Of each request the instructions that a provider caches: those before the first that may change."""
        prompts = []
        for _, info in self.given:
            parts = info.model_request_parameters.instruction_parts or []
            fixed = [part.content for part in parts if not part.dynamic]
            assert [part.content for part in parts][: len(fixed)] == fixed
            prompts.append("\n\n".join(fixed))
        return prompts

    def _next(self, messages: list[ModelMessage], info: AgentInfo) -> Step:
        self.given.append((list(messages), info))
        return self.steps.pop(0) if self.steps else "Well."

    def _answer(self, messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        step = self._next(messages, info)
        if isinstance(step, str):
            return ModelResponse(parts=[TextPart(step)])
        return ModelResponse(parts=[ToolCallPart(name, arguments) for name, arguments in step])

    async def _stream(self, messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        import json

        step = self._next(messages, info)
        if isinstance(step, str):
            for word in step.split(" "):
                yield word if word == step.split(" ")[0] else f" {word}"
        else:
            for place, (name, arguments) in enumerate(step):
                yield {
                    place: DeltaToolCall(name=name, json_args=json.dumps(arguments), tool_call_id=f"{id(step)}.{place}")
                }


def contents(messages: Iterable[ModelMessage]) -> list[str]:
    """Every text that stands in messages."""
    return [str(getattr(part, "content", "")) for message in messages for part in message.parts]


@pytest.fixture
def engine(open_engine) -> Engine:
    """An engine whose settings have PicoBot use memory."""
    made = open_engine()
    change_settings(made, replace(made.settings, memory=MemorySettings(enabled=True)))
    return made

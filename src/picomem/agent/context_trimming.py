"""Trims the messages of a running turn to their budgets (P5, P6). `fitted` is pure except for the tokenizer.

The window (sessions/context_window.py) selects the messages at the start of a turn. Then tools answer, at any length.
So before each request the messages are trimmed again, in the fenced form in which they are sent:

- A single result gets at most a quarter of its budget, and the results of one step together three eighths.
- If that is still too much, the oldest content is dropped first: results become a line that describes them, then calls
  are dropped with their results, as whole pairs. A long question of the person is cut to half of the budget. Last, the
  newest results and calls are dropped, and then more of the question.

So calls and results stay in pairs, the person's newest message is always included, and whatever was shown once has the
same bytes in the next request as long as there is room. Only the model's input is trimmed: the log keeps everything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from anyio import to_thread
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.tools import RunContext
from typing_extensions import override

from picomem.agent.attribution import prompts_of, text_of
from picomem.records.session import ToolCall
from picomem.sessions.context_window import SHARE, cut_result, is_longer, left_out
from picomem.sessions.pairs import message_tokens
from picomem.text.tokens import count_tokens

_FENCE = re.compile(r"(?s)(<untrusted-text [^>]*>)(.*)(</untrusted-text>)")
_LEFT_OUT = "left_out"  # the one argument of a call whose own have no room


class ContextTrimming(AbstractCapability[Any]):
    """Keeps what goes to the model within `earlier` tokens before the person's newest message and `turn` from it on.
    Stands behind `Fence`, whose marks count as well."""

    def __init__(self, earlier: int, turn: int, *, id: str = "picomem_room") -> None:  # noqa: A002
        self.id = id
        self._earlier = earlier
        self._turn = turn

    @override
    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        messages, asked = list(request_context.messages), text_of(ctx.prompt) if ctx.prompt else ""
        request_context.messages = await to_thread.run_sync(fitted, messages, asked, self._earlier, self._turn)
        return request_context


def fitted(messages: Sequence[ModelMessage], asked: str, earlier: int, turn: int) -> list[ModelMessage]:
    """The messages within these tokens; `asked` is what the person says now."""
    places = [place for place, message in enumerate(messages) if prompts_of(message, asked)]
    newest = places[-1] if places else 0
    return [*_earlier(messages[:newest], earlier), *_turn(messages[newest:], turn)]


def cost(messages: Sequence[ModelMessage]) -> int:
    """Tokens of what was said in messages, calls and results."""
    return sum(map(_cost, messages))


def _earlier(messages: Sequence[ModelMessage], room: int) -> list[ModelMessage]:
    made = _gave_way([_capped(message, room) for message in messages], room, 0)
    while made and cost(made) > room:
        made = _without(made, 0)
    return made


def _turn(messages: Sequence[ModelMessage], room: int) -> list[ModelMessage]:
    made = [_capped(message, room) for message in messages]
    if cost(made) > room and len(made) > 1:
        made[0] = _with_parts(made[0], UserPromptPart, lambda part: _prompt_cut(part, room // 2))
    made = [*_gave_way(made[:-1], room - cost(made[-1:]), 1), *made[-1:]]
    while cost(made) > room and len(made) > 3:
        made = _without(made, 1)
    if cost(made) > room and len(made) > 1:
        bare = [_bare(message) for message in made[1:]]
        left = room - cost(bare)
        made = [_with_parts(made[0], UserPromptPart, lambda part: _prompt_cut(part, left)), *bare]
    return made


def _gave_way(messages: list[ModelMessage], room: int, first: int) -> list[ModelMessage]:
    """With lines in place of results, the oldest first, as far as is needed."""
    over = cost(messages) - room
    made = []
    for place, message in enumerate(messages):
        if place >= first and over > 0:
            short = _with_parts(message, ToolReturnPart, _line_of)
            over -= _cost(message) - _cost(short)
            message = short
        made.append(message)
    return made


def _without(messages: list[ModelMessage], place: int) -> list[ModelMessage]:
    """Without the message at that place, and the results of its calls."""
    rest = messages[place + 1 :]
    if isinstance(messages[place], ModelResponse) and rest and isinstance(rest[0], ModelRequest):
        kept = [part for part in rest[0].parts if not isinstance(part, ToolReturnPart)]
        rest = [_copied(rest[0], kept), *rest[1:]] if kept else rest[1:]
    return [*messages[:place], *rest]


def _capped(message: ModelMessage, room: int) -> ModelMessage:
    """With results of at most their share of the room."""
    count = sum(isinstance(part, ToolReturnPart) for part in message.parts)
    most = 3 * room // max(3 * SHARE, 8 * count)
    return _with_parts(message, ToolReturnPart, lambda part: _result_cut(part, most)) if count else message


def _bare(message: ModelMessage) -> ModelMessage:
    """With lines in place of results and arguments, and without further words."""
    if isinstance(message, ModelRequest):
        return _with_parts(message, ToolReturnPart, _line_of)
    parts = [_without_arguments(part) for part in message.parts if isinstance(part, ToolCallPart)]
    return _copied(message, parts or [TextPart("…")])


def _result_cut(part: Any, most: int) -> Any:
    text = part.model_response_str(wrap_if_error=False)
    if not is_longer(text, most - message_tokens("")):
        return part
    return _saying(part, lambda inner, room: cut_result(inner, room), most - message_tokens(""))


def _line_of(part: Any) -> Any:
    text = part.model_response_str(wrap_if_error=False)
    line = left_out(text)
    return _saying(part, lambda inner, _: left_out(inner), 0) if len(text) > len(line) else part


def _saying(part: Any, shorter: Callable[[str, int], str], most: int) -> ToolReturnPart:
    """A result with a shorter text; a fence stays whole around it."""
    text = part.model_response_str(wrap_if_error=False)
    fence = _FENCE.fullmatch(text)
    opening, inner, closing = fence.groups() if fence else ("", text, "")
    room = most - count_tokens(opening + closing) - 1 if fence else most
    said = f"{opening}{shorter(inner, max(room, 0))}{closing}"
    return ToolReturnPart(
        part.tool_name, said, part.tool_call_id, metadata=part.metadata, timestamp=part.timestamp, outcome=part.outcome
    )


def _prompt_cut(part: Any, most: int) -> UserPromptPart:
    text = text_of(part.content)
    if not is_longer(text, most - message_tokens("")):
        return part
    return UserPromptPart(cut_result(text, most - message_tokens("")), timestamp=part.timestamp)


def _without_arguments(call: ToolCallPart) -> ToolCallPart:
    given = call.args_as_json_str()
    line = json.dumps({_LEFT_OUT: f"{len(given):,} characters"})
    return ToolCallPart(call.tool_name, line, call.tool_call_id) if len(given) > len(line) else call


def _cost(message: ModelMessage) -> int:
    if isinstance(message, ModelResponse):
        calls = [
            ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ]
        return message_tokens("".join(part.content for part in message.parts if isinstance(part, TextPart)), calls)
    said = [text_of(part.content) for part in message.parts if isinstance(part, UserPromptPart)]
    said += [part.model_response_str(wrap_if_error=False) for part in message.parts if isinstance(part, ToolReturnPart)]
    return sum(map(message_tokens, said))


def _with_parts(message: ModelMessage, kind: type, change: Callable[[Any], Any]) -> ModelMessage:
    return _copied(message, [change(part) if isinstance(part, kind) else part for part in message.parts])


def _copied(message: Any, parts: Sequence[Any]) -> ModelMessage:
    made = copy(message)
    made.parts = list(parts)
    return made

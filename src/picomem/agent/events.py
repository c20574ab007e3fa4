"""The events of a turn of PicoBot, and their JSON form for a terminal, a web socket or a page.

In JSON, an event is one object with its `type` and its fields.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from picomem.errors import InvalidInput
from picomem.light_dataclass import asdict, dataclass


@dataclass(frozen=True, slots=True)
class SessionBegun:
    """A new conversation has begun with the user's message, under this id."""

    session: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """The model thinks before it answers; its thoughts are not kept."""


@dataclass(frozen=True, slots=True)
class ToolCallEvent:
    """The model calls a tool; `arguments` is JSON. The result has the same `id`."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolResultEvent:
    """A tool has answered."""

    id: str
    name: str
    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the user should know: that memory is off, or does not work."""

    text: str


Event = SessionBegun | TextDelta | Thinking | ToolCallEvent | ToolResultEvent | Notice
Tell = Callable[[Event], Awaitable[None]]
EVENTS: Mapping[str, type] = {
    "session_begun": SessionBegun,
    "text_delta": TextDelta,
    "thinking": Thinking,
    "tool_call": ToolCallEvent,
    "tool_result": ToolResultEvent,
    "notice": Notice,
}  # by their type in JSON
_TYPES = {kind: name for name, kind in EVENTS.items()}


@dataclass(frozen=True, slots=True)
class TurnResult:
    """An answer. `session` is empty where there is no store; the tokens are the provider's count."""

    answer: str
    session: str
    input_tokens: int
    output_tokens: int


def event_json(event: Event) -> dict[str, Any]:
    """An event as JSON."""
    return {"type": _TYPES[type(event)], **asdict(event)}


def event_of(document: Mapping[str, Any]) -> Event:
    """The event that a JSON document is. Raises InvalidInput."""
    values = dict(document)
    kind = EVENTS.get(values.pop("type", None) or "")
    try:
        return kind(**values)  # type: ignore[misc]
    except TypeError:
        raise InvalidInput(f"That is not an event of a turn; the type must be one of {', '.join(EVENTS)}.") from None

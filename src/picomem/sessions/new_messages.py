"""Prepares new messages for storage: checks, redacts and counts them. Pure; a redactor is passed in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.light_dataclass import replace
from picomem.policy.redact import Redact, redact_json
from picomem.provenance.context_origins import ContextOrigins
from picomem.records.ids import new_id
from picomem.records.kinds import Origin
from picomem.records.session import Message, NewMessage, Role, ToolCall
from picomem.sessions.pairs import message_tokens
from picomem.text.storable import plain

_LONGEST_TITLE = 60
_LONGEST_NAME = 256
_NAME = re.compile(rf"[\w.:/|=+-]{{1,{_LONGEST_NAME}}}")  # of a call or a tool
_ORIGINS = {Role.USER: Origin.USER, Role.ASSISTANT: Origin.AGENT, Role.TOOL: Origin.TOOL, Role.SYSTEM: Origin.AGENT}

_Choice = TypeVar("_Choice", bound=StrEnum)


def safe_said(message: NewMessage, redact: Redact) -> NewMessage:
    """A message as it may be stored. Raises InvalidInput for an unknown role or origin, and for what is no id."""
    calls = tuple(
        ToolCall(_name(call.id, redact), _name(call.name, redact), redact_json(call.arguments, redact))
        for call in message.tool_calls
    )
    return NewMessage(
        role=one_of(Role, message.role, "role"),
        content=redact(message.content),
        tool_calls=calls,
        tool_call_id=_name(message.tool_call_id, redact) if message.tool_call_id else "",
        origin=None if message.origin is None else one_of(Origin, message.origin, "origin"),
    )


def safe_message(message: Message, redact: Redact) -> Message:
    """Return a stored message, redacted by the current rules."""
    said = NewMessage(
        role=message.role, content=message.content, tool_calls=message.tool_calls, tool_call_id=message.tool_call_id
    )
    safe = safe_said(said, redact)
    return replace(message, content=safe.content, tool_calls=safe.tool_calls, tool_call_id=safe.tool_call_id)


def stored_message(session_id: str, seq: int, said: NewMessage, at: Micros) -> Message:
    """The message under its number."""
    return Message(
        session_id=session_id,
        seq=seq,
        id=new_id(),
        role=said.role,
        content=said.content,
        tool_calls=said.tool_calls,
        tool_call_id=said.tool_call_id,
        origin=said.origin or _ORIGINS[said.role],
        tokens=message_tokens(said.content, said.tool_calls),
        created_at=at,
    )


def with_origins(said: Sequence[NewMessage], earlier: Sequence[Message], summary: Origin) -> list[NewMessage]:
    """These messages, the assistant's with whose words they are (`provenance/context_origins.py`) where nobody said it.
    `earlier` are the messages before, `summary` is the origin of what stands for those before them."""
    origins = ContextOrigins()
    origins.text(summary)
    for message in earlier:
        _seen(origins, message, message.origin)
    judged = []
    for message in said:
        if message.role is Role.ASSISTANT and message.origin is None:
            message = replace(message, origin=origins.origin_of(message.content))
        _seen(origins, message, message.origin or _ORIGINS[message.role])
        judged.append(message)
    return judged


def _seen(origins: ContextOrigins, message: NewMessage | Message, origin: Origin) -> None:
    origins.calls((call.id, call.name) for call in message.tool_calls)
    if message.role is Role.TOOL:
        origins.result(message.tool_call_id, message.content, origin)
    elif message.role is Role.USER and origin is Origin.USER:
        origins.person(message.content)
    else:
        origins.text(origin)


def title_of(messages: Sequence[Message]) -> str:
    """A title from the first thing that the user said."""
    said = next((message.content for message in messages if message.role is Role.USER), "")
    return one_line(said)


def one_line(text: str) -> str:
    """A text as a title: one line, not too long."""
    line = " ".join(text.split())
    if len(line) <= _LONGEST_TITLE:
        return line
    head = line[:_LONGEST_TITLE]
    return (head.rpartition(" ")[0] or head[:-1]) + "…"


def one_of(choices: type[_Choice], name: str, what: str) -> _Choice:
    """The member of that name. Raises InvalidInput that names them all."""
    try:
        return choices(name)
    except ValueError:
        raise InvalidInput(f"“{name}” is no {what}; it is one of {', '.join(choices)}.") from None


def id_like(text: str) -> str:
    """An id of elsewhere as one of ours may be: what cannot stand in it becomes `_`."""
    return re.sub(r"[^\w.:/|=+-]", "_", text)[:256]


def safe_name(text: str, redact: Redact) -> str:
    """The id or the name of a call without secrets: a placeholder in it has only what may stand in a name.

    Equal names stay equal, so a call keeps its result.
    """
    redacted = redact(text)
    return text if redacted == text else re.sub(r"[^\w-]+", "-", redacted).strip("-")[:_LONGEST_NAME]


def _name(text: str, redact: Redact) -> str:
    if not _NAME.fullmatch(text):
        raise InvalidInput(
            f"“{plain(text[:80])}” is no id or name of a tool call; it has letters, digits and . : / | = + -."
        )
    return safe_name(text, redact)

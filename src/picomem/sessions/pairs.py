"""Keeps tool calls and their results complete and in pairs. Pure.

A model's provider refuses a call without its result and a result without its call. So messages are cut and passed on in
groups: an assistant's message with the results of its calls, or any other message alone. Gaps that a crash or a damaged
row leaves are handled here, and nothing is stored for them:

- a call without a result gets a result that says so (`NO_RESULT`), made when the messages are read;
- a result without a call belongs to no group and is reported separately (`orphans`).

A late result, after other messages (another process wrote meanwhile), still belongs to its call. If an id occurs twice,
because some models restart their numbering, it means the latest call without a result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.light_dataclass import dataclass, replace
from picomem.policy.redact import Redact, redact_json
from picomem.provenance.context_origins import ContextOrigins
from picomem.records.ids import new_id
from picomem.records.kinds import Origin
from picomem.records.session import Message, NewMessage, Role, ToolCall
from picomem.text.storable import plain
from picomem.text.tokens import count_tokens

NO_RESULT = "(no result: the program stopped before this call was answered)"
_FRAME = 4  # what a provider adds to each message and each call: the role, and where it begins and ends


def message_tokens(content: str, calls: Iterable[ToolCall] = ()) -> int:
    """The size of a message in a prompt, in tokens."""
    asked = sum(_FRAME + count_tokens(call.name) + count_tokens(call.arguments) for call in calls)
    return _FRAME + count_tokens(content) + asked


@dataclass(frozen=True, slots=True)
class Group:
    """Messages that are only passed on together. `waits` is how many of its calls have no stored result."""

    messages: tuple[Message, ...]
    first: int  # the number of its first and of its last stored message
    last: int
    waits: int = 0

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.messages)

    @property
    def role(self) -> Role:
        return self.messages[0].role


def grouped(messages: Sequence[Message]) -> tuple[list[Group], list[Message]]:
    """The messages (in order) as groups in the order of their first messages, and the results without a call."""
    members: list[list[Message]] = []
    waiting = OpenCalls()
    orphans: list[Message] = []
    for message in messages:
        if message.role is Role.TOOL:
            place = waiting.answer(message.tool_call_id)
            if place is None:
                orphans.append(message)
            else:
                members[place].append(message)
            continue
        waiting.call([call.id for call in message.tool_calls], len(members))
        members.append([message])
    return [_group(group) for group in members], orphans


def last_of(groups: Sequence[Group], place: int) -> int:
    """The number of the last message of the groups up to and with that place; 0 for the place -1."""
    return max((group.last for group in groups[: place + 1]), default=0)


def may_cut_behind(groups: Sequence[Group], place: int) -> bool:
    """Return whether a cut behind that group separates no call from a result that came late."""
    return place + 1 == len(groups) or last_of(groups, place) < groups[place + 1].first


def check_said(said: Sequence[NewMessage], waiting: OpenCalls) -> None:
    """Refuse messages that no conversation can hold. `waiting`, the calls without a result so far, is used up.

    Raises InvalidInput that names the message by its place, from 1.
    """
    if not said:
        raise InvalidInput("There is no message to append.")
    for place, message in enumerate(said, 1):
        calls = [call.id for call in message.tool_calls]
        if calls and message.role is not Role.ASSISTANT:
            raise InvalidInput(f"Message {place} calls a tool, and only the assistant's can.")
        if len(set(calls)) < len(calls) or not all(call.id and call.name for call in message.tool_calls):
            raise InvalidInput(f"Each tool call of message {place} needs a name and an id of its own.")
        if (message.role is Role.TOOL) != bool(message.tool_call_id):
            raise InvalidInput(f"Message {place} must name the call that it answers if it is a tool's, and only then.")
        if message.role is Role.TOOL and waiting.answer(message.tool_call_id) is None:
            raise InvalidInput(
                f"Message {place} answers the call “{message.tool_call_id[:80]}”, and no such call waits for a result."
            )
        if message.role is not Role.TOOL and not message.content.strip() and not calls:
            raise InvalidInput(f"Message {place} is empty.")
        if message.role is Role.TOOL and message.origin in (Origin.USER, Origin.AGENT):
            raise InvalidInput(f"Message {place} is a tool's result; its origin is tool, web or other.")
        waiting.call(calls, 0)


def answers_earlier(said: Sequence[NewMessage]) -> bool:
    """Return whether one of the messages is the result of a call that is not among them."""
    waiting = OpenCalls()
    for message in said:
        if message.role is Role.TOOL and waiting.answer(message.tool_call_id) is None:
            return True
        waiting.call([call.id for call in message.tool_calls], 0)
    return False


class OpenCalls:
    """Calls that have no result yet: the place of each, by its id."""

    def __init__(self, entries: Iterable[tuple[Sequence[str], str]] = ()) -> None:
        """`entries`: of messages in order, the ids that one calls and the id that it answers."""
        self._places: dict[str, list[int]] = {}
        for place, (calls, answers) in enumerate(entries):
            if answers:
                self.answer(answers)
            self.call(calls, place)

    def call(self, ids: Iterable[str], place: int) -> None:
        for call in ids:
            self._places.setdefault(call, []).append(place)

    def answer(self, call: str) -> int | None:
        """Take the latest call of that id; its place, or None where none waits."""
        places = self._places.get(call)
        return places.pop() if places else None


def _group(members: list[Message]) -> Group:
    head = members[0]
    answered = {member.tool_call_id for member in members[1:]}
    absent = [
        Message(
            session_id=head.session_id,
            seq=0,  # it is not stored
            id="",
            role=Role.TOOL,
            content=NO_RESULT,
            tool_call_id=call.id,
            origin=Origin.TOOL,
            tokens=message_tokens(NO_RESULT),
            created_at=head.created_at,
        )
        for call in head.tool_calls
        if call.id not in answered
    ]
    return Group((*members, *absent), head.seq, max(member.seq for member in members), len(absent))


# Prepares new messages for storage: checks, redacts and counts them. Pure; a redactor is passed in.

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

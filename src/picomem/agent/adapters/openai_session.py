"""picomem as the `Session` of the OpenAI Agents SDK: the store keeps the conversation, so memory can find it.

    from picomem.agent.adapters.openai_session import OpenAISession

    Runner.run(agent, "Hello", session=OpenAISession(picomem.open(), "support-42"))

An item becomes a message: text of the user or the assistant, a tool call, or its output. Memory reads these messages.
Items come back unchanged: a system message before each one holds its other fields (the server's ids, annotations, a
picture), and items of any other kind as a whole (a model's reasoning, the work of a provider's tool). Only this module
reads these system messages; prompts and consolidation leave them out. All of it is redacted. Encrypted reasoning that
is no longer complete is dropped, because servers refuse it.

The log only grows. Taking an item back continues in a fork without the item; clearing a session begins a new one under
its name. The old messages stay in the archive until they are purged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any, TypeVar

from anyio import to_thread

from picomem.engine.engine import Engine
from picomem.light_dataclass import replace
from picomem.records.session import Channel, Message, NewMessage, Role, Session, ToolCall
from picomem.sessions.log import Sessions
from picomem.sessions.pairs import NO_RESULT, OpenCalls, grouped, id_like

Item = dict[str, Any]

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM, "developer": Role.SYSTEM}
_ITEM = "openai item: "  # begins the message that holds what an item has besides its text
_TEXTS = ("content", "arguments", "output")  # of an item: what its message holds
_Done = TypeVar("_Done")


class OpenAISession:
    """A `Session` on an open engine, which it does not close. `session_id` is any name; the same name goes on.

    `session_settings` are the SDK's `SessionSettings`, or a dict of their fields: `limit` is how many of the last items
    a turn gets.
    """

    _ignore_ids_for_matching = True  # the SDK's own switch for stores that do not keep its ids

    def __init__(self, engine: Engine, session_id: str, *, session_settings: Any = None) -> None:
        self.session_id = session_id
        self.session_settings = _settings(session_settings)
        self._log: Sessions = engine.sessions()

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """The items of the conversation, or the last of them, by default as many as the settings say. An output is
        never without its call, nor a call without an output."""
        most = _limit_of(self.session_settings) if limit is None else limit
        return await _run(lambda: self._items(most))

    async def add_items(self, items: list[Any]) -> None:
        """Store items at the end, all or none. Raises TypeError for an item that is no JSON."""
        await _run(lambda: self._add(items))

    async def pop_item(self) -> Item | None:
        """Take the last item back."""
        return await _run(self._pop)

    async def clear_session(self) -> None:
        """Begin anew under this name."""
        await _run(lambda: self._log.archive(self._session().id))

    def _session(self) -> Session:
        return self._log.named(Channel.API, self.session_id)

    def _items(self, limit: int | None) -> list[Item]:
        if limit is not None and limit <= 0:
            return []
        items = items_of(self._log.load(self._session().id).messages)
        if limit is None:
            return items
        last = items[-limit:]
        calls = {item["call_id"] for item in last if item.get("type") == "function_call"}
        return [item for item in last if item.get("type") != "function_call_output" or item["call_id"] in calls]

    def _add(self, items: Sequence[Any]) -> None:
        said = said_of(items)
        if not said:
            return
        session = self._session().id
        waiting = OpenCalls(_calls(self._log.load(session).messages))
        said = list(_answering(said, waiting))  # an output without its call is refused by models too
        if said:
            self._log.append(session, *said)

    def _pop(self) -> Item | None:
        session = self._session()
        messages = self._log.load(session.id).messages
        if not messages:
            return None
        *kept, last = messages
        about = kept.pop() if kept and _is_about(kept[-1]) else None
        item = _whole(about, _items(last)[-1]) if _given(last) is None else _given(last)
        # A fork begins with whole groups; what is left of the group that is cut is said again.
        cut = _cut(kept)
        again = [_again(message) for message in kept[cut:]] + _shortened(last)
        if cut:
            target = self._log.fork(session.id, kept[cut - 1].seq).id
            self._log.archive(session.id)
        else:
            self._log.archive(session.id)
            target = self._session().id
        if again:
            self._log.append(target, *again)
        return item


def said_of(items: Iterable[Any]) -> list[NewMessage]:
    """Items as they are stored: a message each, before it what else it has."""
    said: list[NewMessage] = []
    for given_item in items:
        item = _as_json(given_item)
        message = _said(item)
        rest = item if message is None else _rest(item, message)
        if rest is not None:
            said.append(NewMessage(role=Role.SYSTEM, content=_ITEM + json.dumps(rest, ensure_ascii=False)))
        said += [message] if message else []
    return said


def _as_json(given: Any) -> Item:
    """An item as a JSON object. Raises TypeError for anything else: what is stored otherwise comes back as another."""
    if isinstance(given, dict):
        json.dumps(given)
        return given
    if not hasattr(given, "model_dump"):
        raise TypeError(f"an item is a JSON object or a model of the SDK, not {type(given).__name__}")
    return given.model_dump(mode="json", exclude_unset=True)


def _settings(given: Any) -> Any:
    """The settings as the SDK's class, where the SDK is installed. Raises TypeError for a field that there is not."""
    try:
        theirs = import_module("agents.memory.session_settings")
    except ImportError:
        return given
    return theirs.SessionSettings() if given is None else theirs.coerce_session_settings(given)


def _limit_of(settings: Any) -> int | None:
    limit = settings.get("limit") if isinstance(settings, Mapping) else getattr(settings, "limit", None)
    return limit if isinstance(limit, int) else None


def items_of(messages: Sequence[Message]) -> list[Item]:
    """Messages as items: an assistant's with calls is several. A call whose output never came gets one that says so."""
    answered = {message.tool_call_id for message in messages if message.role is Role.TOOL}
    items: list[Item] = []
    about: Message | None = None
    for message in messages:
        given = _given(message)
        if given is not None:
            about = message if _is_about(message) else None
            items += [given] if about is None and _is_unharmed(given) else []
            continue
        *before, last = _items(message)
        items += [*before, _whole(about, last)]
        about = None
        for call in message.tool_calls:
            if call.id not in answered:
                items.append({"type": "function_call_output", "call_id": call.id, "output": NO_RESULT})
    return items


def _rest(item: Item, said: NewMessage) -> Item | None:
    """Return the fields of an item that its message does not hold; None without any."""
    plain = _items_of_said(said)
    if item == plain:
        return None
    rest = {name: None if name in _TEXTS and plain.get(name) == value else value for name, value in item.items()}
    parts = item.get("content")
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], dict):
        rest["content"] = [{**parts[0], "text": None}] if parts[0].get("text") == said.content else parts
    return rest


def _whole(about: Message | None, plain: Item) -> Item:
    """An item as it was given: what its message says, put back where it was left open."""
    rest = _given(about) if about is not None else None
    if rest is None or (rest.get("type") or "message") != (plain.get("type") or "message"):
        return plain
    item = {name: plain.get(name) if value is None and name in _TEXTS else value for name, value in rest.items()}
    parts = rest.get("content")
    if isinstance(parts, list) and len(parts) == 1 and isinstance(parts[0], dict) and parts[0].get("text", "") is None:
        item["content"] = [{**parts[0], "text": plain["content"]}]
    return item


def _given(message: Message) -> Item | None:
    """Return the item in a message of the system; None if it holds none."""
    if message.role is not Role.SYSTEM or not message.content.startswith(_ITEM):
        return None
    try:
        item = json.loads(message.content.removeprefix(_ITEM))
    except ValueError:
        item = None  # a secret was taken out in the middle of its marks
    return item if isinstance(item, dict) else {}


def _is_about(message: Message) -> bool:
    """Return whether it holds what the item behind it has besides."""
    given = _given(message)
    return bool(given) and _said({**given, "content": given.get("content") or "x"}) is not None


def _is_unharmed(item: Item) -> bool:
    return bool(item) and "[redacted:" not in str(item.get("encrypted_content") or "")


def _items(message: Message) -> list[Item]:
    if message.role is Role.TOOL:
        return [{"type": "function_call_output", "call_id": message.tool_call_id, "output": message.content}]
    said: list[Item] = [{"role": message.role.value, "content": message.content}] if message.content else []
    return said + [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
        for call in message.tool_calls
    ]


def _items_of_said(said: NewMessage) -> Item:
    if said.role is Role.TOOL:
        return {"type": "function_call_output", "call_id": said.tool_call_id, "output": said.content}
    if said.tool_calls:
        (call,) = said.tool_calls
        return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments}
    return {"role": said.role.value, "content": said.content}


def _said(item: Item) -> NewMessage | None:
    kind = item.get("type") or "message"
    if kind == "function_call":
        call = ToolCall(id_like(str(item["call_id"])), id_like(str(item["name"])), str(item.get("arguments") or "{}"))
        return NewMessage(role=Role.ASSISTANT, tool_calls=(call,))
    if kind == "function_call_output":
        return NewMessage(role=Role.TOOL, content=_text(item.get("output")), tool_call_id=id_like(str(item["call_id"])))
    role = _ROLES.get(str(item.get("role")))
    text = _text(item.get("content"))
    return NewMessage(role=role, content=text) if kind == "message" and role is not None and text.strip() else None


def _text(content: Any) -> str:
    """The text of a content, with a mark for each picture or file."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return "" if content is None else json.dumps(content, ensure_ascii=False, default=str)
    return "\n".join(_part(part) for part in content)


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return str(part)
    text = part.get("text") or part.get("refusal")
    return str(text) if text else f"[{str(part.get('type', 'file')).removeprefix('input_')}]"


def _calls(messages: Iterable[Message]) -> list[tuple[list[str], str]]:
    return [([call.id for call in message.tool_calls], message.tool_call_id) for message in messages]


def _answering(said: Iterable[NewMessage], waiting: OpenCalls) -> Iterable[NewMessage]:
    """All but outputs that answer no call, and what such have besides."""
    before: list[NewMessage] = []
    for message in said:
        if message.role is Role.SYSTEM:
            yield from before
            before = [message]
            continue
        if message.role is not Role.TOOL or waiting.answer(message.tool_call_id) is not None:
            waiting.call([call.id for call in message.tool_calls], 0)
            yield from (*before, message)
        before = []
    yield from before


def _cut(kept: Sequence[Message]) -> int:
    """Return how many of the messages a fork may take: the most that part no call from its output."""
    for count in range(len(kept), 0, -1):
        groups, _ = grouped(kept[:count])
        if not any(group.waits for group in groups):
            return count
    return 0


def _shortened(message: Message) -> list[NewMessage]:
    """A message without its last item."""
    if not message.tool_calls or len(_items(message)) == 1:
        return []
    return [_again(replace(message, tool_calls=message.tool_calls[:-1]))]


def _again(message: Message) -> NewMessage:
    return NewMessage(
        role=message.role,
        content=message.content,
        tool_calls=message.tool_calls,
        tool_call_id=message.tool_call_id,
        origin=message.origin,
    )


async def _run(work: Callable[[], _Done]) -> _Done:
    return await to_thread.run_sync(work)

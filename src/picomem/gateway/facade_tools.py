"""A tool of another memory server, offered by ours on the same store: its name, its arguments and its answers.

The rules of our tools apply to these as well: the caller needs a permission, the gate judges what is stored, text of
untrusted origin is fenced, and a text that an agent stores after reading such text has that origin
(`UntrustedQuotes`). If a rule prevents the effect that the tool has on its own server, the answer says so: as an
error with one sentence, or in another block of text after the usual answer.

The schemas use the part of JSON Schema that `_problem_in` checks. Unknown fields are ignored, as those servers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Lock
from typing import Any

import mcp_types as types

from picomem.emulation.agent_store import OriginOf
from picomem.engine.agent_texts import answered, keep_quotes, quotes_in_context, statements
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, PicomemError
from picomem.gateway.limits import ThreadUse
from picomem.light_dataclass import asdict, dataclass
from picomem.operations.command_names import ASK_PERSON, error_data, for_agents
from picomem.operations.list_arguments import json_meant, list_meant
from picomem.operations.offer_origins import SpokenTexts, origin_of_text, vouched
from picomem.operations.operation import Progressing
from picomem.records.kinds import Origin, worst
from picomem.records.untrusted_fence import quoted_in
from picomem.text.terms import terms

# The untrusted text that a server quoted to its clients, recognised when a client stores it.

_MOST_USERS = 256
_MOST_KEPT = 256  # quotes whose words are compared; some are always kept


class UntrustedQuotes:
    """The untrusted text that a server quoted to its client, or that another server quoted to the same user recently.

    The store keeps recent quotes (memory/untrusted_handouts.py), because a client may outlive a restart of its server.
    Safe to share between threads.
    """

    def __init__(self) -> None:
        self._texts: dict[tuple[Origin, str], None] = {}
        self._unkept: dict[tuple[Origin, str], None] = {}  # what the store could not be told yet
        self._lock = Lock()

    def note(self, engine: Engine, told: Any, own: Iterable[str] = ()) -> None:
        """Record the quotes of a result. `own` are the client's own texts, which the result may repeat."""
        sent = {term for text in own for term in terms(text)}
        quotes = (quote for text in texts_in(told) for quote in quoted_in(text))
        quoted = [quote for quote in quotes if not sent.issuperset(_words(quote[1]))]
        with self._lock:
            self._texts |= dict.fromkeys(quoted)
            for oldest in list(self._texts)[:-_MOST_KEPT]:
                del self._texts[oldest]
            unkept = list(dict.fromkeys((*self._unkept, *quoted)))[-_MOST_KEPT:]
            self._unkept = {}
        if not keep_quotes(engine, unkept):
            with self._lock:
                self._unkept = dict.fromkeys(unkept) | self._unkept

    def spoken(self, engine: Engine, arguments: Any) -> SpokenTexts | None:
        """Return the untrusted text that the client may have read before it stores these arguments, if any."""
        with self._lock:
            texts = list(self._texts)
        others = [(origin, frozenset(terms(text))) for origin, text in texts]
        others += quotes_in_context(engine, " ".join(texts_in(arguments)))
        return SpokenTexts((statements(engine),), tuple(others)) if others else None

    def vouched(self, engine: Engine, request: Any) -> tuple[Any, str]:
        """Return the request with the origin of its text, and a remark about that origin for the client."""
        return vouched(request, self.spoken(engine, asdict(request)), engine)


class UntrustedQuotesByUser:
    """`UntrustedQuotes` for each user of a server.

    Only users who asked recently are in memory; the store keeps the quotes of the others. Not safe for threads.
    """

    def __init__(self) -> None:
        self._users: dict[str, UntrustedQuotes] = {}

    def of(self, user: str) -> UntrustedQuotes:
        """The texts that were returned to this user's clients."""
        quotes = self._users.pop(user, None) or UntrustedQuotes()
        self._users[user] = quotes
        if len(self._users) > _MOST_USERS:
            del self._users[next(iter(self._users))]
        return quotes


def _words(quote: str) -> Iterable[str]:
    """The terms of a quote; of a key those of its parts, as a key is made of words that stand in the content."""
    return terms(quote.replace("_", " "))


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, but for the names of fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for member in value.values():
            yield from texts_in(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from texts_in(member)


READING, WRITING = "memory:read:user", "memory:write:user"
_PLACEHOLDER = "[redacted:"
_KINDS: dict[str, tuple[type, str]] = {
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
    "array": (list, "a list"),
    "object": (dict, "an object"),
}

JsonSchema = dict[str, Any]
ERROR_META = "picomem/error"


@dataclass(frozen=True, slots=True)
class FacadeReply:
    """The answer of a tool: its text, and its data where the tool has an output schema. `notes` are further blocks."""

    text: str
    data: dict[str, Any] | None = None
    notes: tuple[str, ...] = ()


Handler = Callable[[Engine, Mapping[str, Any], OriginOf], FacadeReply]


@dataclass(frozen=True, slots=True)
class FacadeTool:
    """One tool. `permissions` are what a call with these arguments needs; `handle` does it for arguments that fit.
    `ask` says who can run the commands that an error names."""

    name: str
    title: str
    description: str
    takes: JsonSchema
    gives: JsonSchema | None
    permissions: Callable[[Mapping[str, Any]], tuple[str, ...]]
    handle: Handler
    destructive: bool = False
    idempotent: bool = False
    read_only: bool = False
    ask: str = ASK_PERSON

    @property
    def thread_use(self) -> ThreadUse:
        """Return the kind of thread that a call uses."""
        return ThreadUse.READ if self.read_only else ThreadUse.WRITE

    def listed(self) -> types.Tool:
        """The description for a client."""
        return types.Tool(
            name=self.name,
            title=self.title,
            description=self.description,
            input_schema=self.takes,
            output_schema=self.gives,
            annotations=types.ToolAnnotations(
                read_only_hint=self.read_only,
                destructive_hint=self.destructive,
                idempotent_hint=self.idempotent,
                open_world_hint=False,
            ),
        )

    def answer(
        self, engine: Engine, arguments: dict[str, Any], _progress: Progressing, quotes: UntrustedQuotes
    ) -> types.CallToolResult:
        """Do it: the answer, or the sentence of the error."""
        arguments = {name: value for name, value in arguments.items() if value is not None}
        try:
            permissions = self.permissions(arguments)
            for permission in permissions:
                engine.caller.require(permission, self.name)
            arguments = checked_arguments(self.name, self.takes, arguments)
            stores = WRITING in permissions
            origins = _Origins(quotes, engine, arguments if stores else {})
            reply = self.handle(engine, arguments, origins)
        except PicomemError as error:
            return failed_call(error, for_agents(error.message, {}, ask=self.ask))
        answered(engine, reply.text, [], reply.data)
        quotes.note(engine, [reply.text, reply.data], texts_in(arguments) if stores else ())
        blocks = [reply.text, *reply.notes, *(_notes(reply, arguments, origins) if stores else ())]
        content: list[Any] = [types.TextContent(text=block) for block in blocks]
        return types.CallToolResult(content=content, structured_content=reply.data)


def failed_call(error: PicomemError, sentence: str) -> types.CallToolResult:
    """The answer of a call that failed: a sentence, and its codes for programs."""
    content: list[Any] = [types.TextContent(text=sentence)]
    return types.CallToolResult(content=content, is_error=True, _meta={ERROR_META: error_data(error)})


class _Origins:
    """The origins of what one call stores, by what its client has read. `given` are those that it has told."""

    def __init__(self, quotes: UntrustedQuotes, engine: Engine, arguments: Mapping[str, Any]) -> None:
        # Before a transaction begins: it reads the store.
        self._spoken = quotes.spoken(engine, arguments) if arguments else None
        self.told: set[Origin] = set()

    def __call__(self, text: str, names: Any, known: str) -> Origin:
        origin = origin_of_text(self._spoken, text, names, known)
        self.told.add(origin)
        return origin


def _notes(reply: FacadeReply, arguments: Mapping[str, Any], origins: _Origins) -> Iterator[str]:
    """Return where what was stored is not what was given."""
    came_so = any(_PLACEHOLDER in text for text in texts_in(arguments))
    if not came_so and any(_PLACEHOLDER in text for text in texts_in([reply.text, reply.data])):
        yield "A secret was left out: a placeholder stands in its place."
    if origins.told and not (worse := worst(origins.told)).trusted:
        yield f"Untrusted text was read, and the user has not stated all of this, so its origin is {worse}."


def checked_arguments(tool: str, schema: JsonSchema, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, as they are meant. Raises InvalidInput with one sentence where they do not fit."""
    read = _as_meant(dict(arguments), schema)
    problem = _problem_in(read, schema, "")
    if problem:
        raise InvalidInput(f"Invalid arguments for {tool}: {problem}.")
    return read


def _as_meant(value: Any, schema: JsonSchema) -> Any:
    """A value as a model means it, where it wrote a list, an object or a number as text, or one element for a list
    (list_arguments.py)."""
    kind = schema["type"]
    if kind == "array":
        items = schema["items"]
        read = list_meant(value, is_of_names=isinstance(schema, _NameList) or items["type"] != "string")
        elements = read if isinstance(read, list) else [read]
        return None if read is None else [_as_meant(element, items) for element in elements]
    if kind == "string":
        return value
    read = json_meant(value, (_KINDS[kind][0],))
    if kind == "object" and isinstance(read, dict):
        parts = schema["properties"]
        meant = {name: _as_meant(inner, parts[name]) if name in parts else inner for name, inner in read.items()}
        return {name: inner for name, inner in meant.items() if inner is not None}
    return read


def _problem_in(value: Any, schema: JsonSchema, where: str) -> str:
    """Describe the problem of a value, if it has one."""
    kind, called = _KINDS[schema["type"]]
    if not isinstance(value, kind) or isinstance(value, bool):
        return f"{where or 'they'} must be {called}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} must be one of {', '.join(schema['enum'])}"
    if isinstance(value, list):
        parts = ((element, schema["items"], f"{where}[{number}]") for number, element in enumerate(value))
        return next(filter(None, (_problem_in(*part) for part in parts)), "")
    if isinstance(value, dict):
        missing = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            return f"{_inside(where, missing[0])} is missing"
        known = (
            (value[name], part, _inside(where, name)) for name, part in schema["properties"].items() if name in value
        )
        return next(filter(None, (_problem_in(*part) for part in known)), "")
    return ""


def _inside(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def object_schema(*optional: str, **properties: JsonSchema) -> JsonSchema:
    """An object of these properties, which are required but for the `optional` ones."""
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties} | ({"required": required} if required else {})


def text_schema(description: str = "") -> JsonSchema:
    """A text."""
    return {"type": "string"} | ({"description": description} if description else {})


def list_schema(items: JsonSchema, description: str = "") -> JsonSchema:
    """A list."""
    return {"type": "array", "items": items} | ({"description": description} if description else {})


def names_schema(description: str) -> JsonSchema:
    """A list of names, which hold no commas."""
    return _NameList(list_schema(text_schema(), description))


class _NameList(dict[str, Any]):
    """The schema of a list of names."""


def closed(schema: Any) -> Any:
    """A schema of what is given: its objects have no further properties."""
    if isinstance(schema, list):
        return [closed(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    members = {name: closed(member) for name, member in schema.items()}
    return members | ({"additionalProperties": False} if members.get("type") == "object" else {})

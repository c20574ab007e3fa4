"""The type of an operation: a verb, declared once, from which every surface is rendered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from typing import Any, Literal, TypedDict, Unpack

from picomem.engine.engine import Engine
from picomem.engine.past_sessions import stored_project
from picomem.errors import InvalidInput
from picomem.light_dataclass import MISSING, dataclass, field, fields, replace
from picomem.operations.inert_results import inert
from picomem.operations.presentation import Presentation
from picomem.operations.recall_views import jsonable

MOST_ROWS = 1_000_000  # that one call lists
MOST_ROWS_ANSWERED = 1_000  # in one answer to a program or a model
LARGEST = 2**53  # what JSON, and every database, holds exactly
Group = Literal["use", "look", "correct", "erase", "serve", "maintain"]
GROUPS: tuple[Group, ...] = ("use", "look", "correct", "erase", "serve", "maintain")
Progressing = Callable[[int, int, str], None]  # done, total, what is being worked on
Telling = Callable[[Any], Awaitable[None]]  # takes an event of an operation that runs


def _always_zero(_result: Any) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The confirmation that a surface requests before an operation that cannot be undone.

    `is_needed(request)` says whether to ask. `preview(request)` makes the request that shows what would happen, and
    `is_empty(result)` says that its result leaves nothing to ask about. `answer` is the field of the request that says
    yes; remote callers do not have it, since they confirm with a code. `shown` is the field that gets the preview, so
    that the operation does nothing else. After a no, the surface says `declined`.
    """

    is_needed: Callable[[Any], bool]
    preview: Callable[[Any], Any]
    is_empty: Callable[[Any], bool]
    answer: str
    shown: str
    question: str
    declined: str

    def granted(self, request: Any, preview: Any) -> Any:
        """The request after a yes to a preview."""
        return replace(request, **{self.answer: True, self.shown: preview})


@dataclass(frozen=True, slots=True)
class ChatCommand:
    """An operation as a command in a conversation with PicoBot: a line `/name`, or `/name WORDS` with an argument.

    `help` explains it. `argument` is the field of the request that the words fill, `placeholder` what the help calls
    them, and `example` what they may be; `missing` begins the sentence where they are missing. `session` is the field
    that gets the id of the conversation itself; `values` fills further fields. `continues_in` says which conversation
    goes on afterwards: the same one, a new one, or the one in the result. `not_found` is the sentence where there is
    nothing of that name (`{}`).
    """

    name: str
    help: str
    argument: str = ""
    placeholder: str = ""
    example: str = ""
    missing: str = "Say which"
    session: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    continues_in: Literal["same", "new", "result"] = "same"
    not_found: str = ""


@dataclass(frozen=True, slots=True)
class ToolWording:
    """The differences between a parameter of a tool and the field of the request that it fills.

    `help` and `default` replace the field's own where they are not empty; `aliases` maps further values to choices;
    `refused` maps choices that are not offered to the sentence that says why.
    """

    help: str = ""
    default: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)


AS_DECLARED = ToolWording()


@dataclass(frozen=True, slots=True)
class Operation:
    """One verb.

    `group` is what people come for: a help text lists the verb there. `run(engine, request)` does it. Its annotations
    name the request, a frozen dataclass whose fields were made by `option`, and the result, a dataclass of JSON-able
    values. It is `run(engine, request, progress)` where `long` says so; `asynchronous` says that it waits on a network
    and is a coroutine. With `events` (their classes, by their types in JSON) it is `run(engine, request, tell)`, and
    awaits `tell(event)` for each event while it runs. `present(result)` describes how people see the result; surfaces
    call `presentation`, which makes the result inert first. `reply` says the result in words, for a model or a log.
    `tool` is its name as an MCP tool; an operation without one is not offered to models. `creates` says that it makes a
    store where there is none: what only reads or changes what is stored must not leave an empty one where a path was
    mistyped. `permission` is what a caller must hold (records/caller.py), and so are `answer_permissions`, where a verb
    that writes shows what is stored in its answer; `call` checks all of them.

    What surfaces need to know, so that none of them has to know an operation by its name:

    - `lines(engine, request)`: the result as lines, which a surface prints as they are read; None where this request
      has a result like any other
    - `confirmation`: how to ask before it runs; None where it needs no asking
    - `exit_code(result)`: the exit code for a result that says itself that something is wrong
    - `reads_local_files`: it reads files that the request names on this machine, so it is not for remote callers
    - `opens_store`: the store is open before it runs; one that works on the file opens it itself, if it can
    - `examines_machine`: at the terminal, the settings of this machine's agents are examined with it
    - `operator`: it is for the operator, at the machine; neither remote callers nor agents are offered it
    - `follow`: what it does when it is followed, in words; empty where it cannot be. A followed operation runs again
      whenever the files that it reads change
    - `pages`: the request and the result have a `cursor`; the result's is empty on the last page
    - `progress_unit`: what a long operation counts, bytes or rows
    - `stores_request`: the texts of the request become memory, so their origin is weighed (offer_origins.py)
    - `default_tool`: an agent is offered its tool without asking for it; each tool costs tokens of every request
    - `of_notes`: the same where notes are configured
    - `has_answer(result)`: at the terminal, the project of the folder is asked first, and all if it has no answer;
      None where no folder matters. The request has `project` and `all_projects`, the result `warnings`
    - `in_groups`: the tool is offered in a group too, where others read the answers
    - `memory_action`: its action in an agent's tool `memory`
    - `rpc_method`: what the designs call it in JSON-RPC, where it is not the operation's name
    - `resource`: the name of the MCP resource that holds its page
    - `chat_commands`: what it is called in a conversation with PicoBot
    - `begins`: it begins a conversation; its request has a `channel`
    - `converses`: it is a turn of a conversation; its request has a `session` and a `channel`
    """

    name: str
    group: Group
    run: Callable[..., Any]
    present: Callable[[Any], Presentation]
    reply: Callable[[Any], str]
    permission: str
    example: str
    answer_permissions: tuple[str, ...] = ()
    tool: str = ""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    long: bool = False
    creates: bool = False
    asynchronous: bool = False
    events: Mapping[str, type] = field(default_factory=dict)
    lines: Callable[[Any, Any], Generator[str] | None] | None = None
    confirmation: Confirmation | None = None
    exit_code: Callable[[Any], int] = _always_zero
    reads_local_files: bool = False
    opens_store: bool = True
    examines_machine: bool = False
    operator: bool = False
    follow: str = ""
    pages: bool = False
    progress_unit: str = "rows"
    stores_request: bool = False
    default_tool: bool = False
    of_notes: bool = False
    in_groups: bool = False
    has_answer: Callable[[Any], bool] | None = None
    memory_action: str = ""
    rpc_method: str = ""
    resource: str = ""
    chat_commands: tuple[ChatCommand, ...] = ()
    begins: bool = False
    converses: bool = False

    def __hash__(self) -> int:
        return hash(self.name)  # `events` has no hash

    @property
    def request(self) -> type:
        """The type of the request, by the annotation of `run`."""
        return self._annotated(1)

    @property
    def result(self) -> type:
        """The type of the result, by the annotation of `run`."""
        return self._annotated(-1)

    def _annotated(self, place: int) -> type:
        hints = list(self.run.__annotations__.values())  # as they are written, the result's last
        return self.run.__globals__[hints[place]]

    def presentation(self, result: Any) -> Presentation:
        """Return the presentation of the result for people, for every surface. Its texts are made inert first."""
        return self.present(inert(result))

    @property
    def doc(self) -> str:
        """The first paragraph of the function's docstring, as one line."""
        return self.paragraphs[0]

    @property
    def paragraphs(self) -> list[str]:
        """The function's docstring, each paragraph as one line."""
        return [" ".join(text.split()) for text in (self.run.__doc__ or "").strip().split("\n\n")]

    @property
    def permissions(self) -> tuple[str, ...]:
        """All that a caller must hold."""
        return (self.permission, *self.answer_permissions)

    def check_permission(self, engine: Engine) -> None:
        """Raise Forbidden where the caller of the engine may not do this."""
        for permission in self.permissions:
            engine.caller.require(permission, self.name, *self.permissions)

    def call(self, engine: Engine, request: Any, progress: Progressing | None = None) -> Any:
        """Check the permission of the engine's caller and the request, and run it: the one way to an operation.

        One that waits on a network gets an event loop of its own. Raises Forbidden before anything is read, and
        InvalidInput for a value outside of its bounds.
        """
        self.check_permission(engine)
        request = _ready(engine, request)
        if self.asynchronous:
            import anyio  # noqa: PLC0415 - only an asynchronous operation needs it

            return anyio.run(self._awaited, engine, request, progress, None)
        result = self.run(engine, request, progress) if self.long else self.run(engine, request)
        self._record_answer(engine, result)
        return result

    def printed_lines(self, engine: Engine, request: Any) -> Generator[str] | None:
        """The lines to print in place of a result, if there are any; close them before the engine. Raises as `call`."""
        if self.lines is None:
            return None
        self.check_permission(engine)
        return self.lines(engine, _ready(engine, request))

    async def stream(
        self, engine: Engine, request: Any, tell: Telling | None = None, progress: Progressing | None = None
    ) -> Any:
        """Do the same as `call` for an asynchronous operation in a running event loop; `tell` gets its events.

        Raises what `call` raises. To stop it, cancel the task; what was stored until then is kept.
        """
        assert self.asynchronous
        self.check_permission(engine)
        return await self._awaited(engine, _ready(engine, request), progress, tell)

    async def _awaited(self, engine: Engine, request: Any, progress: Progressing | None, tell: Telling | None) -> Any:
        further: list[Any] = [tell or _unheard] if self.events else [progress] if self.long else []
        result = await self.run(engine, request, *further)
        self._record_answer(engine, result)
        return result

    def _record_answer(self, engine: Engine, result: Any) -> None:
        """Record the result as data, in words and as it is presented to people: the echo guard recognises it when an
        agent offers it as its own words."""
        if not engine.caller.is_agent:
            return
        from picomem.engine.agent_texts import answered  # noqa: PLC0415 - only an agent's answer needs it
        from picomem.operations.command_names import result_for_agents  # noqa: PLC0415 - only an agent's answer needs it

        safe = result_for_agents(result, {})
        data = jsonable(safe)
        answered(engine, self.reply(safe), _texts(self.presentation(result)), data)
        if engine.settings.audit.reads:
            from picomem.engine.record_chain import note_handed_out  # noqa: PLC0415 - few have it on

            note_handed_out(engine, self.name, dict.fromkeys(_ids(data)))


def _texts(presented: Any) -> Iterator[str]:
    """Every text of a presentation."""
    if isinstance(presented, str):
        yield presented
    elif isinstance(presented, tuple):
        for part in presented:
            yield from _texts(part)
    elif hasattr(type(presented), "__match_args__"):
        for named in fields(presented):
            yield from _texts(getattr(presented, named.name))


def _ids(data: Any) -> Iterator[str]:
    """The ids of the memories, episodes and other entries in a result, in their order."""
    if isinstance(data, Mapping):
        if isinstance(data.get("id"), str):
            yield data["id"]
        data = list(data.values())
    if isinstance(data, list):
        for part in data:
            yield from _ids(part)


def _ready(engine: Engine, request: Any) -> Any:
    """A checked request, with the project by the name that the store holds for it."""
    request = checked(request)
    named = getattr(request, "project", "")
    if not named:
        return request
    project = stored_project(engine, named)
    return request if project == named else replace(request, project=project)


async def _unheard(_event: Any) -> None:
    """Drop an event: nobody listens."""


class AboutOption(TypedDict, total=False):
    """What a field of a request may have said about it; see `option`."""

    positional: bool
    choices: tuple[str, ...]
    short: str
    tool: str | None
    also: tuple[str, ...]
    many: bool
    least: float | None
    most: float | None
    rows: bool
    path: bool
    free_text: bool
    tool_wording: ToolWording


_PLAIN_OPTION = AboutOption(
    positional=False,
    choices=(),
    short="",
    tool="",
    also=(),
    many=False,
    least=None,
    most=None,
    rows=False,
    path=False,
    free_text=False,
    tool_wording=AS_DECLARED,
)


def option(text: str, default: Any = MISSING, **about: Unpack[AboutOption]) -> Any:
    """A field of a request.

    `text` explains it; `positional` and `short` are for the command line; `tool` is its name as a tool's parameter
    where the designs call it otherwise, and None keeps it from tools; `also` are further names that programs may use
    for it; `many` says that it can be given repeatedly.
    `least` and `most` bound a number; `rows` says that it is the number of rows of a list, which surfaces bound.
    `path` says that it names a file, whose name may be no UTF-8. `free_text` is for
    the last positional field: all the words that follow belong to it, so a person needs no quotes. `tool_wording` says
    where a tool's parameter differs from the field.
    """
    metadata = {**_PLAIN_OPTION, **about, "help": text}
    assert len(metadata) == len(_PLAIN_OPTION) + 1, about
    if metadata["many"]:
        return field(default_factory=tuple, metadata=metadata)
    if default is MISSING:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


def checked(request: Any, most_rows: int = MOST_ROWS) -> Any:
    """A request whose numbers are within bounds, whose texts are Unicode, and which chooses what there is. It lists
    `most_rows` at most. Raises InvalidInput."""
    changes: dict[str, Any] = {}
    for name, _, about in options(type(request)):
        value = getattr(request, name)
        if isinstance(value, int | float):
            _check_number(about["tool"] or name, value, about["least"], most_of(about, most_rows))
        elif isinstance(value, str | tuple) and not about["path"]:
            # Arguments that were no UTF-8, and JSON such as "\ud800", hold what no database does.
            text = _unicode(value) if isinstance(value, str) else tuple(map(_unicode, value))
            changes |= {name: text} if text != value else {}
            _check_choice(about["tool"] or name, text, about["choices"])
    return replace(request, **changes) if changes else request


def _check_choice(name: str, chosen: str | tuple[str, ...], choices: tuple[str, ...]) -> None:
    unknown = [text for text in ((chosen,) if isinstance(chosen, str) else chosen) if choices and text not in choices]
    if unknown:
        raise InvalidInput(f"“{unknown[0][:40]}” is no {name}; choose one of {', '.join(choices)}.")


def most_of(about: Mapping[str, Any], most_rows: int) -> float | None:
    """The upper bound of an option, which is `most_rows` where it is a number of rows."""
    return most_rows if about["rows"] else about["most"]


def _check_number(name: str, value: float, least: float | None, most: float | None) -> None:
    least = -LARGEST if least is None else least
    most = LARGEST if most is None else most
    if least <= value <= most:
        return
    shown = value if abs(value) <= LARGEST else "a number with too many digits"
    if value < least:
        raise InvalidInput(f"{name} is {shown}; it must be at least {least:,}.")
    if value > most:
        raise InvalidInput(f"{name} is {shown}; it must be at most {most:,}.")
    raise InvalidInput(f"{name} is not a number.")


def _unicode(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def given_filters(request: object, names: Iterable[str]) -> list[str]:
    """The filters among the options of a request that were given, as on the command line: `kind fact`, `archived`."""
    given = ((name.replace("_", "-"), getattr(request, name)) for name in names)
    single = ((name, value) for name, values in given for value in (values if isinstance(values, tuple) else [values]))
    return [name if value is True else f"{name} {value}" for name, value in single if value]


def options(request: type) -> list[tuple[str, Any, dict[str, Any]]]:
    """The fields of a request that `option` made: name, default (MISSING where required), metadata."""
    declared = []
    for named in fields(request):
        if not named.metadata:
            continue
        default = named.default if named.default_factory is MISSING else ()
        declared.append((named.name, default, dict(named.metadata)))
    return declared


def option_flag(name: str, about: Mapping[str, Any]) -> str:
    """The option of the command line that fills a field: `--dry-run`. One that can be repeated is in the singular."""
    return "--" + name.replace("_", "-").removesuffix("s" if about["many"] else "\0")

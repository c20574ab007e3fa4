"""Memory as tools of an agent on pydantic-ai, rendered from the table of operations.

`TOOLS` are the operations that an agent is offered (`default_tool`): the three of the memory plan (`memory_store`,
`memory_recall`, `memory_forget`), the two that describe the store (`memory_index_status`, `memory_audit`), and show and
why. Each costs tokens of every request, so `memory_revise` is left out: storing under a known key makes a new version
too. Reading a person's files (`memory_ingest`) is for the person to start. One more tool, `memory`, saves, lists and
deletes what the user asks to be remembered; it calls the same operations. In a group, where others read the answers, an
agent has `GROUP_TOOLS`: those that store a statement and answer a question, and none that lists or opens what is there.
PicoBot has `NOTE_TOOLS` too where notes are configured.

While texts of other tools are in the model's context (`voices`), what it stores is trusted only if the person stated
it, and it can archive only memories that the person mentioned. So orders on a page have no effect here. The model can
archive or change what the person stated or pinned only if they ask for that.

A call runs in a worker thread and is not abandoned once it has begun. An error that picomem raises on purpose becomes a
failed result with the one sentence of the error, which the model can read; it does not use up the run's retries.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

from anyio import CapacityLimiter, to_thread
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.tools import RunContext, ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema
from typing_extensions import override

from picomem.agent.attribution import ContextTexts
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound, PicomemError, Refused, StoreError
from picomem.light_dataclass import replace
from picomem.operations.command_names import for_agents, result_for_agents
from picomem.operations.offer_origins import vouched
from picomem.operations.operation import Operation
from picomem.operations.remembering import ForgetRequest, RememberRequest, ReviseRequest
from picomem.operations.schemas import Parameters, described, tool_parameters
from picomem.operations.table import operation, operations

TOOLS = tuple(verb.name for verb in operations() if verb.default_tool)
NOTE_TOOLS = tuple(verb.name for verb in operations() if verb.of_notes)
GROUP_TOOLS = tuple(verb.name for verb in operations() if verb.in_groups)
MEMORY = "memory"  # the name of the tool of three actions
SAVE = "save"
_NEEDED = {SAVE: ("key", "content"), "list": (), "delete": ("key",)}  # parameters of each action of `memory`
_ACTIONS = {verb.memory_action: verb.name for verb in operations() if verb.memory_action}
SAVING = _ACTIONS[SAVE]  # the operation that stores
_CALLS_AT_ONCE = 4  # a reading thread holds a database connection of its own
_MOST_TRIES = 3  # of arguments that are no JSON object: small models write such
_ANY_OBJECT = SchemaValidator(core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema()))

_MEMORY_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {"type": "string", "enum": list(_NEEDED), "description": "what to do"},
        "key": {
            "type": "string",
            "description": "save and delete: the memory's name: lower-case letters, digits, underscores",
        },
        "content": {"type": "string", "description": "save: what to remember, one statement"},
    },
    "required": ["action"],
    "additionalProperties": False,
}
_MEMORY_DOC = (
    "Save, list or delete what the user explicitly asks you to remember or forget: save needs key and content, delete "
    "needs key."
)


class MemoryTools(AbstractToolset[Any]):
    """The tools on an open engine, which they do not close."""

    def __init__(self, engine: Engine, names: Iterable[str] = TOOLS, *, id: str = "picomem") -> None:  # noqa: A002
        """`names` are operations' names. Raises InvalidInput for one that is no tool."""
        self.engine = engine
        self.voices: ContextTexts | None = None  # where other tools have spoken in the run
        self.hides_trouble = True  # a store that fails is a failed result; otherwise the run ends with it
        self._id = id
        self._limiter = CapacityLimiter(_CALLS_AT_ONCE)
        self._operations: dict[str, tuple[Operation, Parameters]] = {}
        for name in names:
            verb = _operation(name)
            self._operations[verb.tool] = (verb, tool_parameters(verb))
        self._tools = {offered.name: tool for tool, (offered, _) in self._operations.items()}

    @property
    @override
    def id(self) -> str:
        return self._id

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools."""
        return tuple(definition.name for definition in self._definitions)

    @override
    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        return {
            definition.name: ToolsetTool(
                toolset=self, tool_def=definition, max_retries=_MOST_TRIES, args_validator=_ANY_OBJECT
            )
            for definition in self._definitions
        }

    @override
    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> str:
        return await to_thread.run_sync(self._answer, name, tool_args, limiter=self._limiter)

    def _answer(self, name: str, arguments: Mapping[str, Any]) -> str:
        try:
            if name == MEMORY:
                verb, request = _of_three(arguments)
            else:
                verb, parameters = self._operations[name]
                request = parameters.request(arguments)
            verb.check_permission(self.engine)  # before the memory to forget is read
            request = _weighed_once(request)
            if isinstance(request, ForgetRequest) and self.voices is not None:
                self._check_mentioned(request, self.voices)
            note = ""
            if verb.stores_request:
                request, note = vouched(request, self.voices.spoken if self.voices else None, self.engine)
            result = verb.call(self.engine, request)
        except PicomemError as error:
            if isinstance(error, StoreError) and not self.hides_trouble:
                raise
            raise ToolFailed(for_agents(error.message, self._tools)) from error
        return verb.reply(result_for_agents(result, self._tools)) + note

    def _check_mentioned(self, request: ForgetRequest, voices: ContextTexts) -> None:
        with suppress(NotFound):
            scope = self.engine.scope.narrowed(project=request.project)
            memory = self.engine.history(request.name, scope=scope)[-1]
            if memory.origin.trusted and not voices.mentioned(f"{memory.key} {memory.content}"):
                raise Refused(
                    f"Not forgotten: a tool's text was read, and the user has not mentioned “{memory.key}”; ask them."
                )

    @cached_property
    def _definitions(self) -> list[ToolDefinition]:
        made = [
            ToolDefinition(
                name=verb.tool,
                description=described(verb),
                parameters_json_schema=parameters.schema(),
                # What changes memory runs alone and in the order that the model wrote.
                sequential=not verb.read_only,
            )
            for verb, parameters in self._operations.values()
        ]
        if all(_ACTIONS[action] in self._tools for action, needed in _NEEDED.items() if needed):
            made.append(
                ToolDefinition(
                    name=MEMORY, description=_MEMORY_DOC, parameters_json_schema=_MEMORY_SCHEMA, sequential=True
                )
            )
        return made


def _weighed_once(request: Any) -> Any:
    """Importance and priority are one number, and small models fill in both: the number counts."""
    both = (
        isinstance(request, (RememberRequest, ReviseRequest))
        and request.importance is not None
        and request.priority is not None
    )
    return replace(request, priority=None) if both else request


def _operation(name: str) -> Operation:
    try:
        verb = operation(name)
    except KeyError:
        verb = None
    if verb is None or not verb.tool:
        raise InvalidInput(f"“{name}” is not an operation with a tool; use one of {', '.join(TOOLS)}.")
    return verb


def _of_three(arguments: Mapping[str, Any]) -> tuple[Operation, Any]:
    """The request of the tool with three actions: the same as the operations' own tools make."""
    action = arguments.get("action")
    if action not in _NEEDED:
        raise InvalidInput(f"action is {action!r}; it must be one of {', '.join(_NEEDED)}.")
    given = {name: value for name, value in arguments.items() if name != "action" and value is not None}
    unknown = sorted(given.keys() - {"key", "content"})
    if unknown:
        raise InvalidInput(f"{MEMORY} has no parameter “{unknown[0][:40]}”; it takes action, key and content.")
    needed = _NEEDED[str(action)]
    for name in needed:
        if not given.get(name):
            raise InvalidInput(f"{MEMORY} needs “{name}” to {action}.")
    verb = operation(_ACTIONS[str(action)])
    return verb, tool_parameters(verb).request({name: given[name] for name in needed})

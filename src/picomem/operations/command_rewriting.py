"""Rewrites errors and warnings for agents and remote callers, who may not have the terminal commands that these name.

An agent reads the name of the tool that does the same. A caller over a network reads the operation and the fields of
its request: `picomem history billing_db` becomes the operation `history` with `{"name": "billing_db"}`. Of a command
that the surface does not offer, both read who can run it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from picomem.coded_text import CodedText, Command, with_commands
from picomem.light_dataclass import fields, replace
from picomem.operations.inert_results import inert
from picomem.operations.operation import option_flag, options
from picomem.text.inert_text import one_line

LONGEST_SENTENCE = 2_000  # characters of an error or a warning, which may quote a long text
ASK_PERSON = CodedText("advice.ask_person")
ASK_OPERATOR = CodedText("advice.ask_operator")
OPENAPI = "/api/v1/openapi.json"
_COMMAND = re.compile(r"`picomem ([a-z-]+)([^`]{0,200})`")
_OPTION = re.compile(r"`[^`]*`|“[^”]*”|(?<![\w-])--(?P<name>[a-z][a-z-]*)(?![\w-])")
# The fields of results, and of the views in them, that may name commands.
_ADVICE = frozenset(
    {"warnings", "explanation", "unfinished", "problem", "last_error", "job_errors", "embedder_trouble"}
)


def for_agents(text: str, tools: Mapping[str, str], *, ask: str = ASK_PERSON) -> str:
    """A sentence with commands replaced by the tools that do the same; `ask` says who can run those without a tool.

    `tools` are the tools' names by command.
    """
    if isinstance(text, CodedText):
        return _coded(text, lambda command: _tool_for(command, tools), ask)
    told = _COMMAND.sub(lambda match: _tool(match, tools), one_line(text, LONGEST_SENTENCE))
    return f"{told} {ask}" if _COMMAND.search(told) else told


def for_remote_callers(text: str, offered: Mapping[str, type], *, ask: str = ASK_OPERATOR) -> str:
    """A sentence for a caller over a network: commands that the server offers are named as its operations; `ask` says
    who can run any other. `offered` are the requests of the operations by name. A sentence that was rewritten before
    stays the same."""

    if isinstance(text, CodedText):
        return _coded(text, lambda command: _operation_for(command, offered), ask)

    def operation(match: re.Match[str]) -> str:
        name, rest = match.groups()
        if name in offered and rest.strip() == "--help":
            return f"the description of `{name}` in {OPENAPI}"
        given = _fields(offered[name], rest) if name in offered else None
        if given is None:
            return match.group()
        return f"the operation `{name}`" + (f" with `{json.dumps(given, ensure_ascii=False)}`" if given else "")

    if "`picomem " not in text and "--" not in text:
        return text
    told = _OPTION.sub(lambda match: _field(match, offered), _COMMAND.sub(operation, text))
    return f"{told} {ask}" if not told.endswith(ask) and _COMMAND.search(told) else told


def _coded(text: CodedText, named: Callable[[Command], str], ask: str) -> str:
    """A text with its commands as a surface names them. `named` gives nothing for one that the surface does not
    offer."""
    left: list[Command] = []

    def shown(command: Command) -> str:
        other = named(command)
        left.extend([] if other else [command])
        return other or str(command)

    told = with_commands(text, shown)
    return CodedText("advice.after", text=told, advice=ask) if left and ask else told


def _tool_for(command: Command, tools: Mapping[str, str]) -> str:
    has_tool = command.name in tools and not command.options
    return f"`{' '.join((tools[command.name], *command.words))}`" if has_tool else ""


def _operation_for(command: Command, offered: Mapping[str, type]) -> str:
    """The operation and the fields of its request that a command fills; nothing where the request has no such field."""
    name = command.name
    if name not in offered:
        return ""
    declared = options(offered[name])
    positional = [field for field, _, about in declared if about["positional"]]
    given = {**dict(zip(positional, command.words, strict=False)), **command.options}
    if len(command.words) > len(positional) or not given.keys() <= {field for field, *_ in declared}:
        return ""
    if not given:
        return CodedText("remote_command.operation", name=name)
    return CodedText("remote_command.operation_with_fields", name=name, given=json.dumps(given, ensure_ascii=False))


def result_for_remote_callers(result: Any, offered: Mapping[str, type]) -> Any:
    """A result with advice that a caller over a network can follow."""
    return advised(result, lambda text: for_remote_callers(text, offered))


def result_for_agents(result: Any, tools: Mapping[str, str], *, ask: str = ASK_PERSON) -> Any:
    """A result as an agent reads it: made inert, with warnings that it can follow. What was stored or said says what it
    said."""
    return advised(inert(result), lambda text: for_agents(text, tools, ask=ask))


def advised(result: Any, told: Callable[[str], str]) -> Any:
    """A result whose warnings and explanations were rewritten by `told`, and those of the views that it lists."""
    changes: dict[str, Any] = {}
    for named in fields(result):
        value = getattr(result, named.name)
        if named.name in _ADVICE:
            changes[named.name] = _rewritten(value, told)
        elif isinstance(value, list) and value and _has_advice(type(value[0])):
            changes[named.name] = [advised(view, told) for view in value]
    return replace(result, **changes) if changes else result


def _rewritten(value: Any, told: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {name: told(sentence) for name, sentence in value.items()}
    return told(value) if isinstance(value, str) else [told(sentence) for sentence in value]


@cache
def _has_advice(kind: type) -> bool:
    return hasattr(kind, "__dataclass_fields__") and any(named.name in _ADVICE for named in fields(kind))


def _tool(match: re.Match[str], tools: Mapping[str, str]) -> str:
    name, rest = match.groups()
    return f"`{tools[name]}{rest}`" if name in tools and "--" not in rest else match.group()


def _fields(request: type, words: str) -> dict[str, Any] | None:
    """The fields of a request that the words of a command fill; None where the command has more than the request, such
    as `--user`. `--json` is about the terminal alone."""
    import shlex

    declared = options(request)
    hints = request.__annotations__
    positional = [(name, about) for name, _, about in declared if about["positional"]]
    flags = {option_flag(name, about): (name, about) for name, _, about in declared if not about["positional"]}
    given: dict[str, Any] = {}
    try:
        waiting = [word for word in shlex.split(words) if word != "--json"]
    except ValueError:  # a quoted text that has no end
        return None
    while waiting:
        word = waiting.pop(0)
        name, about = flags.get(word) or next(iter(positional), ("", {}))
        is_option = word in flags
        if (
            not name
            or (word.startswith("-") and not is_option)
            or (is_option and hints[name] != "bool" and not waiting)
        ):
            return None
        value = word if not is_option else True if hints[name] == "bool" else waiting.pop(0)
        if about["many"]:
            given[name] = [*given.get(name, ()), value]
        elif about["free_text"] and name in given:
            given[name] += f" {value}"
        else:
            given[name] = value
        if not (is_option or about["many"] or about["free_text"]):
            positional.pop(0)
    return given


def _field(match: re.Match[str], offered: Mapping[str, type]) -> str:
    """The field that an option in a sentence stands for, as in “give the id, or --project”."""
    name = match["name"] and _fields_by_option(tuple(offered.values())).get(match["name"])
    return f"`{name}`" if name else match.group()


@cache
def _fields_by_option(requests: tuple[type, ...]) -> dict[str, str]:
    return {
        option_flag(name, about).removeprefix("--"): name
        for request in requests
        for name, _, about in options(request)
        if not about["positional"]
    }

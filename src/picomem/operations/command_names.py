"""Names the commands of errors and warnings for agents and remote callers, who may not have a terminal.

An agent reads the name of the tool that does the same. A caller over a network reads the operation and the fields of
its request: `picomem history billing_db` becomes the operation `history` with `{"name": "billing_db"}`. Of a command
that the surface does not offer, both read who can run it. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from picomem.coded_text import CodedText, Command, code_of, data_of, rewritten, value_of, with_commands
from picomem.errors import PicomemError
from picomem.light_dataclass import fields
from picomem.operations.inert_results import inert, with_texts
from picomem.text.inert_text import one_line

LONGEST_SENTENCE = 2_000  # characters of an error or a warning, which may quote a long text
ASK_PERSON = CodedText("advice.ask_person")
ASK_OPERATOR = CodedText("advice.ask_operator")
_AFTER = "advice.after"
_TERMINAL_ALONE = frozenset({"json", "help"})  # options that change how the terminal shows a result


def for_agents(text: str, tools: Mapping[str, str], *, ask: str = ASK_PERSON) -> str:
    """A text in one line, whose commands are named as the tools that do the same; `ask` says who can run those without
    a tool. `tools` are the tools' names by command."""
    safe = rewritten(text, lambda part: one_line(part, LONGEST_SENTENCE))
    return _named(safe, lambda command: _tool_for(command, tools), ask)


def for_remote_callers(text: str, offered: Mapping[str, type], *, ask: str = ASK_OPERATOR) -> str:
    """A text for a caller over a network: commands that the server offers are named as its operations; `ask` says who
    can run any other. `offered` are the requests of the operations by name."""
    return _named(text, lambda command: _operation_for(command, offered), ask)


def result_for_agents(result: Any, tools: Mapping[str, str], *, ask: str = ASK_PERSON) -> Any:
    """A result as an agent reads it: made inert, with warnings that it can follow."""
    return with_texts(inert(result), lambda text, _: for_agents(text, tools, ask=ask) if code_of(text) else text)


def result_for_remote_callers(result: Any, offered: Mapping[str, type]) -> Any:
    """A result with warnings that a caller over a network can follow."""
    return with_texts(result, lambda text, _: for_remote_callers(text, offered))


def error_data(error: PicomemError) -> dict[str, Any]:
    """The codes of an error, for programs: the kind of error, and the code and the values of its sentence."""
    text = value_of(error.message, "text") if code_of(error.message) == _AFTER else error.message
    said = {"reason": text.code, "values": data_of(dict(text.values))} if isinstance(text, CodedText) else {}
    return {"code": error.code, **said}


def _named(text: str, named: Callable[[Command], str], ask: str) -> str:
    """A text with its commands as a surface names them. `named` gives nothing for one that the surface does not
    offer."""
    if not code_of(text) or code_of(text) == _AFTER:
        return text
    left: list[Command] = []

    def shown(command: Command) -> str:
        other = named(command)
        left.extend([] if other else [command])
        return other or command

    told = with_commands(text, shown)
    return CodedText(_AFTER, text=told, advice=ask) if left else told


def _tool_for(command: Command, tools: Mapping[str, str]) -> str:
    has_tool = command.name in tools and command.options.keys() <= _TERMINAL_ALONE
    return f"`{' '.join((tools[command.name], *command.words))}`" if has_tool else ""


def _operation_for(command: Command, offered: Mapping[str, type]) -> str:
    """The operation and the fields of its request that a command fills; nothing where the request has no such field."""
    name = command.name
    if name not in offered:
        return ""
    declared = {field.name: field.metadata for field in fields(offered[name]) if field.metadata}
    positional = [field for field, about in declared.items() if about["positional"]]
    options = {field: given for field, given in command.options.items() if field not in _TERMINAL_ALONE}
    given = {**dict(zip(positional, command.words, strict=False)), **options}
    if len(command.words) > len(positional) or not given.keys() <= declared.keys():
        return ""
    if not given:
        return CodedText("remote_command.operation", name=name)
    return CodedText("remote_command.operation_with_fields", name=name, given=json.dumps(given, ensure_ascii=False))

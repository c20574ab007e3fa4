"""Names the commands of errors and warnings for agents and remote callers, who may not have a terminal.

An agent reads the name of the tool that does the same. A caller over a network reads the operation and the fields of
its request: `picomem history billing_db` becomes the operation `history` with `{"name": "billing_db"}`. Of a command
that the surface does not offer, both read who can run it. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import Any

from picomem.coded_text import CodedText, Command, code_of, data_of, rewritten, value_of, with_commands
from picomem.errors import InvalidInput, NotFound, PicomemError, did_you_mean
from picomem.light_dataclass import fields, replace
from picomem.operations.inert_results import inert, with_texts
from picomem.operations.operation import ChatCommand, Operation
from picomem.operations.table import operations
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


# Operations as commands of a conversation (`ChatCommand`): a line that begins with a slash is for picomem, not for the
# model.
#
# A surface adds commands of its own, such as the one that ends the conversation.

_MOST_NAME = 40  # characters of a name in an error


@cache
def chat_commands() -> tuple[tuple[ChatCommand, Operation], ...]:
    """Every command and its operation: those that only read first, those that erase last."""
    ordered = sorted(operations(), key=lambda operation: (operation.destructive, not operation.read_only))
    return tuple((command, operation) for operation in ordered for command in operation.chat_commands)


def command_helps() -> dict[str, str]:
    """The usage of each command, and what it does."""
    return {f"/{command.name} {command.placeholder}".rstrip(): command.help for command, _ in chat_commands()}


def find_command(name: str, words: str, others: Collection[str] = ()) -> tuple[ChatCommand, Operation]:
    """The command of that name; where there are two, words choose the one that takes them. `others` are the surface's
    own commands, for the error. Raises InvalidInput."""
    same_name = [pair for pair in chat_commands() if pair[0].name == name]
    if not same_name:
        known = list(dict.fromkeys([*(command.name for command, _ in chat_commands()), *others]))
        remedy = did_you_mean(name, known, "/help lists them.", shown="/{}")
        raise InvalidInput(f"There is no command /{name[:_MOST_NAME]}; {remedy}")
    return next((pair for pair in same_name if bool(pair[0].argument) == bool(words)), same_name[0])


def command_request(command: ChatCommand, operation: Operation, words: str, session: str) -> Any:
    """The request of a command with these words, in the conversation of that id. Raises InvalidInput for what is
    missing."""
    values = dict(command.values)
    if command.argument:
        values[command.argument] = _argument(command, operation, words)
    if command.session:
        if not session:
            raise InvalidInput("Nothing of this conversation is stored yet.")
        values[command.session] = session
    return operation.request(**values)


def _argument(command: ChatCommand, operation: Operation, words: str) -> str | int:
    is_number = operation.request.__annotations__[command.argument].startswith("int")
    if not words or (is_number and not (words.isascii() and words.isdigit())):
        raise InvalidInput(f"{command.missing}, as in /{command.name} {command.example}.")
    return int(words) if is_number else words


def not_found(command: ChatCommand, words: str, error: NotFound) -> NotFound:
    """The error of a command whose operation did not find what the words name."""
    return NotFound(command.not_found.format(words[:80])) if command.not_found else error


# Removes the folders of the server's machine from results, for callers over a network. Pure.
#
# A field whose metadata has `is_path` holds a path, a mapping of paths, or sentences that name some. A caller over a
# network gets the names of the files: they tell two transcripts apart, and say nothing of the machine.

_IN_SENTENCE = re.compile(r"(?<![\w/.])(?:/|[A-Za-z]:\\)[^\s:;,“”]+")
_SEPARATOR = re.compile(r"[/\\]")


def without_folders(result: Any) -> Any:
    """A result with the names of files in place of their paths."""
    kind = type(result)
    if not hasattr(kind, "__dataclass_fields__"):
        return result
    changes: dict[str, Any] = {}
    for name, is_path in _field_kinds(kind):
        value = getattr(result, name)
        shown = _file_names(value) if is_path else _nested(value)
        if shown is not value:
            changes[name] = shown
    return replace(result, **changes) if changes else result


@cache
def _field_kinds(kind: type) -> tuple[tuple[str, bool], ...]:
    return tuple((declared.name, bool(declared.metadata.get("is_path"))) for declared in fields(kind))


def _nested(value: Any) -> Any:
    if not isinstance(value, list):
        return without_folders(value)
    if not value or not hasattr(type(value[0]), "__dataclass_fields__"):
        return value
    return [without_folders(member) for member in value]


def _file_names(value: Any) -> Any:
    if isinstance(value, str):
        return _file_name(value)
    if isinstance(value, dict):
        return {_file_name(path): count for path, count in value.items()}
    return [_IN_SENTENCE.sub(lambda match: _file_name(match.group()), sentence) for sentence in value]


def _file_name(path: str) -> str:
    return _SEPARATOR.split(path.rstrip("/\\"))[-1]

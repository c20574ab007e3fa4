"""Operations as commands of a conversation (`ChatCommand`): a line that begins with a slash is for picomem, not for the
model.

A surface adds commands of its own, such as the one that ends the conversation.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

from picomem.errors import InvalidInput, NotFound, did_you_mean
from picomem.operations.operation import ChatCommand, Operation
from picomem.operations.table import operations

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

"""The commands of the chat: a line that begins with a slash is for picomem and not for the model.

They are the operations of the table, said shorter (`ChatCommand`); beside them stand those that only a chat has. What
cannot be undone is asked for again before it is done, and no tool does it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from picomem.cli.text.presented import text_of
from picomem.errors import InvalidInput, NotFound, did_you_mean
from picomem.operations.operation import ChatCommand, Operation
from picomem.operations.table import operations

if TYPE_CHECKING:
    from picomem.cli.chat import Chat

_COMMANDS: tuple[tuple[ChatCommand, Operation], ...] = tuple(
    (command, operation)
    for operation in sorted(operations(), key=lambda operation: (operation.destructive, not operation.read_only))
    for command in operation.chat_commands
)
_OWN_HELP = {
    "/new": "begin another conversation",
    "/session ID": "go on with one of them",
    "/help": "this",
    "/quit": "end",
}


def help_text() -> str:
    """Every command, a line each."""
    helps = {f"/{command.name} {command.placeholder}".rstrip(): command.help for command, _ in _COMMANDS}
    return "\n".join(f"{usage:<20} {text}" for usage, text in {**helps, **_OWN_HELP}.items())


def command_names() -> list[str]:
    """The names of the slash commands."""
    own = [usage[1:].split()[0] for usage in _OWN_HELP]
    return list(dict.fromkeys([*(command.name for command, _ in _COMMANDS), *own]))


def obey(chat: Chat, line: str) -> bool:
    """Do what the line says; whether the chat goes on. Raises InvalidInput for what is no command, and what the
    operations raise."""
    name, _, rest = line[1:].partition(" ")
    words = rest.strip()
    if name in ("quit", "exit"):
        return False
    if name in _OWN:
        _OWN[name](chat, words)
        return True
    command, operation = _command(name, words)
    _run(chat, command, operation, words)
    return True


def _command(name: str, words: str) -> tuple[ChatCommand, Operation]:
    """The command of that name; where there are two, words choose the one that takes them."""
    same_name = [pair for pair in _COMMANDS if pair[0].name == name]
    if not same_name:
        remedy = did_you_mean(name, command_names(), "/help lists them.", shown="/{}")
        raise InvalidInput(f"There is no command /{name[:40]}; {remedy}")
    return next((pair for pair in same_name if bool(pair[0].argument) == bool(words)), same_name[0])


def _run(chat: Chat, command: ChatCommand, operation: Operation, words: str) -> None:
    if chat.engine is None:
        raise InvalidInput("Memory cannot be used, so there is nothing to look at.")
    request = operation.request(**_values(chat, command, operation, words))
    confirmation = operation.confirmation
    if confirmation and confirmation.is_needed(request):
        preview = operation.call(chat.engine, confirmation.preview(request))
        print(text_of(operation, preview), file=sys.stderr)
        if confirmation.is_empty(preview):
            return
        if (chat.ask(confirmation.question) or "").lower() not in ("y", "yes"):
            print(f"{confirmation.declined}.", file=sys.stderr)
            return
        request = confirmation.granted(request)
    try:
        result = operation.call(chat.engine, request)
    except NotFound:
        if not command.not_found:
            raise
        raise NotFound(command.not_found.format(words[:80])) from None
    print(text_of(operation, result))
    if command.continues_in != "same":
        chat.begin(result.session.id if command.continues_in == "result" else "")


def _values(chat: Chat, command: ChatCommand, operation: Operation, words: str) -> dict[str, Any]:
    """The fields of the request. Raises InvalidInput for what is missing."""
    values = dict(command.values)
    if command.argument:
        values[command.argument] = _argument(command, operation, words)
    if command.session:
        session = chat.bot.talk.session
        if not session:
            raise InvalidInput("Nothing of this conversation is stored yet.")
        values[command.session] = session
    return values


def _argument(command: ChatCommand, operation: Operation, words: str) -> str | int:
    is_number = operation.request.__annotations__[command.argument].startswith("int")
    if not words or (is_number and not (words.isascii() and words.isdigit())):
        raise InvalidInput(f"{command.missing}, as in /{command.name} {command.example}.")
    return int(words) if is_number else words


def _new(chat: Chat, _words: str) -> None:
    chat.begin()
    print("A new conversation.", file=sys.stderr)


def _session(chat: Chat, name: str) -> None:
    if not name:
        raise InvalidInput("Say which, as in /session 01a20090-6145.")
    try:
        chat.begin(name)
    except NotFound:
        raise NotFound(f"There is no conversation “{name[:80]}”; /sessions lists them.") from None
    print(f"Going on with: {chat.title()}", file=sys.stderr)


def _help(_chat: Chat, _words: str) -> None:
    print(help_text())


_OWN: dict[str, Callable[[Chat, str], None]] = {"new": _new, "session": _session, "help": _help}

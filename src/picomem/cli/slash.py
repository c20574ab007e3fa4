"""Slash commands of the chat: a line that begins with a slash is for picomem, not for the model.

Most are operations of the table under a shorter name (`ChatCommand`); a few exist only in a chat. A command that cannot
be undone asks for confirmation, and no tool offers it to the model.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from picomem.cli.presented_text import text_of
from picomem.errors import InvalidInput, NotFound
from picomem.operations.chat_commands import chat_commands, command_helps, command_request, find_command, not_found
from picomem.operations.operation import ChatCommand, Operation

if TYPE_CHECKING:
    from picomem.cli.chat import Chat

_OWN_HELP = {
    "/new": "begin another conversation",
    "/session ID": "go on with one of them",
    "/help": "this",
    "/quit": "end",
}


def help_text() -> str:
    """Every command, a line each."""
    return "\n".join(f"{usage:<20} {text}" for usage, text in {**command_helps(), **_OWN_HELP}.items())


def command_names() -> list[str]:
    """The names of the slash commands."""
    return list(dict.fromkeys([*(command.name for command, _ in chat_commands()), *_own_names()]))


def _own_names() -> list[str]:
    return [usage[1:].split()[0] for usage in _OWN_HELP]


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
    command, operation = find_command(name, words, _own_names())
    _run(chat, command, operation, words)
    return True


def _run(chat: Chat, command: ChatCommand, operation: Operation, words: str) -> None:
    if chat.engine is None:
        raise InvalidInput("Memory cannot be used, so there is nothing to look at.")
    request = command_request(command, operation, words, chat.bot.talk.session)
    confirmation = operation.confirmation
    if confirmation and confirmation.is_needed(request):
        preview = operation.call(chat.engine, confirmation.preview(request))
        print(text_of(operation, preview), file=sys.stderr)
        if confirmation.is_empty(preview):
            return
        if (chat.ask(confirmation.question) or "").lower() not in ("y", "yes"):
            print(f"{confirmation.declined}.", file=sys.stderr)
            return
        request = confirmation.granted(request, preview)
    try:
        result = operation.call(chat.engine, request)
    except NotFound as error:
        raise not_found(command, words, error) from None
    print(text_of(operation, result))
    if command.continues_in != "same":
        chat.begin(result.session.id if command.continues_in == "result" else "")


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

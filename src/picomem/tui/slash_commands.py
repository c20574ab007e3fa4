"""Lines that begin with a slash: the commands of a conversation, on every screen where a person can type.

The commands are the operations' own (operations/command_names.py); those here are the interface's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from picomem.errors import NotFound
from picomem.light_dataclass import dataclass
from picomem.operations.command_names import command_helps, command_request, find_command, not_found
from picomem.operations.operation import ChatCommand
from picomem.operations.presentation import Fields, Presentation
from picomem.tui.dialogs import ConfirmDialog

if TYPE_CHECKING:
    from picomem.tui.base_screen import BaseScreen

OWN_HELP = {
    "/new": "begin another conversation",
    "/session ID": "go on with one of them",
    "/help": "list the commands",
    "/quit": "end",
}
_OWN_NAMES = tuple(usage[1:].split()[0] for usage in OWN_HELP)


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What the command in `line` came to. `conversation` is the one that goes on: None for the same, empty for a new
    one."""

    line: str
    presentation: Presentation
    conversation: str | None = None


def usages() -> dict[str, str]:
    """The usage of every command, and what it does."""
    return {**command_helps(), **OWN_HELP}


def command_help() -> Presentation:
    """Every command, and what it does."""
    return Presentation("Commands", (Fields(tuple(usages().items())),))


async def run_command(screen: BaseScreen, line: str, session: str) -> CommandResult | None:
    """Do what a line says; `session` is the conversation that it is about. None where the person said no.

    What cannot be undone is shown first, and asked about. Raises InvalidInput for what is no command, and what the
    operation raises.
    """
    name, _, rest = line[1:].partition(" ")
    words = rest.strip()
    if name in ("help", ""):
        return CommandResult(line, command_help())
    if name == "new":
        return CommandResult(line, Presentation(), "")
    if name == "session":
        talk = await screen.runner.call("messages", session=words, last=1)
        return CommandResult(line, Presentation(), talk.session.id)
    command, operation = find_command(name, words, _OWN_NAMES)
    request = command_request(command, operation, words, session)
    confirmation = operation.confirmation
    if confirmation and confirmation.is_needed(request):
        preview = await screen.runner.run(operation, confirmation.preview(request))
        presented = operation.presentation(preview)
        if confirmation.is_empty(preview):
            return CommandResult(line, presented)
        if not await screen.app.push_screen_wait(ConfirmDialog(presented, confirmation.question)):
            screen.note(f"{confirmation.declined}.")
            return None
        screen.note("Working …")
        request = confirmation.granted(request, preview)
    try:
        result = await screen.runner.run(operation, request)
    except NotFound as error:
        raise not_found(command, words, error) from None
    if not operation.read_only:
        screen.workspace.note_change(result)
        screen.note("Done.")
    return CommandResult(line, operation.presentation(result), _conversation(command, result))


def _conversation(command: ChatCommand, result: Any) -> str | None:
    """The conversation that goes on after a command."""
    if command.continues_in == "same":
        return None
    return result.session.id if command.continues_in == "result" else ""

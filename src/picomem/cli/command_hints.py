"""Repeats in the hints of the command line the store and the user that the person named, so that a hint can be copied.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from shlex import quote

from picomem.light_dataclass import dataclass, replace
from picomem.operations.presentation import Block, Fields, Presentation, Sentence
from picomem.paths import is_server, without_password

_HINT = r"`picomem (?!help\b|install\b|uninstall\b|completion\b|demo\b)([a-z][^`]{0,300})`"
_OPTIONS = ("--db", "--user")


@dataclass(frozen=True, slots=True)
class CommandHints:
    """The options that a person gave, as they stand in a command; empty where they gave none."""

    db: str = ""
    user: str = ""

    def shown(self, text: str) -> str:
        """A text whose commands act on the same store and user as this one."""
        return re.sub(_HINT, self._command, text) if self.db or self.user else text

    def presented(self, presentation: Presentation) -> Presentation:
        """A presentation with such hints. What was stored or said stays as it is."""
        return replace(
            presentation,
            blocks=tuple(map(self._block, presentation.blocks)),
            warnings=tuple(map(self.shown, presentation.warnings)),
            next_steps=tuple(map(self.shown, presentation.next_steps)),
        )

    def _command(self, hint: re.Match[str]) -> str:
        command = hint[1]
        if command.endswith(" --help"):
            return hint[0]
        names_user = " --user" in command or command.partition(" ")[0] == "serve"  # it serves every user
        given = ["" if names_user else self.user, "" if " --db" in command else self.db]
        return f"`{' '.join(filter(None, ['picomem', command, *given]))}`"

    def _block(self, block: Block) -> Block:
        match block:
            case Sentence(text):
                return Sentence(self.shown(text))
            case Fields(pairs):
                return Fields(tuple((name, self.shown(value)) for name, value in pairs))
            case _:
                return block


NO_HINTS = CommandHints()


def hints_for(arguments: Sequence[str]) -> CommandHints:
    """The hints of a command that was called with these arguments."""
    given = dict.fromkeys(_OPTIONS, "")
    for number, argument in enumerate(arguments):
        name, equals, value = argument.partition("=")
        if name in given:
            following = arguments[number + 1] if number + 1 < len(arguments) else ""
            given[name] = value if equals else following
    db = without_password(given["--db"]) if is_server(given["--db"]) else given["--db"]
    return CommandHints(db and f"--db {quote(db)}", given["--user"] and f"--user {quote(given['--user'])}")

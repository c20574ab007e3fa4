"""Rewrites errors and warnings for agents and remote callers, who may not have the terminal commands that these name.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from picomem.light_dataclass import fields, replace
from picomem.operations.inert_results import inert
from picomem.text.inert_text import one_line

LONGEST_SENTENCE = 2_000  # characters of an error or a warning, which may quote a long text
_COMMAND = re.compile(r"`picomem ([a-z-]+)([^`]{0,200})`")
_ADVICE = ("warnings", "explanation")  # the fields of results that may name commands
_ASK = "(`picomem` is a command for the person's terminal: tell them.)"
_ASK_OPERATOR = "(`picomem` is a command on the server's machine: ask its operator.)"


def for_agents(text: str, tools: Mapping[str, str]) -> str:
    """A sentence with commands replaced by the tools that do the same; what has no tool is for the person to run.

    `tools` are the tools' names by command.
    """
    told = _COMMAND.sub(lambda match: _tool(match, tools), one_line(text, LONGEST_SENTENCE))
    return f"{told} {_ASK}" if _COMMAND.search(told) else told


def for_remote_callers(text: str, offered: Collection[str]) -> str:
    """A sentence for a caller over a network: commands that the server offers are named as its operations; of any other
    it says who can run it."""

    def operation(match: re.Match[str]) -> str:
        name, rest = match.groups()
        return f"the operation `{name}`" if name in offered and not rest.strip() else match.group()

    if not _COMMAND.search(text):
        return text
    told = _COMMAND.sub(operation, text)
    return f"{told} {_ASK_OPERATOR}" if _COMMAND.search(told) else told


def result_for_remote_callers(result: Any, offered: Collection[str]) -> Any:
    """A result with advice that a caller over a network can follow."""
    return advised(result, lambda text: for_remote_callers(text, offered))


def _tool(match: re.Match[str], tools: Mapping[str, str]) -> str:
    name, rest = match.groups()
    return f"`{tools[name]}{rest}`" if name in tools and "--" not in rest else match.group()


def result_for_agents(result: Any, tools: Mapping[str, str]) -> Any:
    """A result as an agent reads it: made inert, with warnings that it can follow. What was stored or said says what it
    said."""
    return advised(inert(result), lambda text: for_agents(text, tools))


def advised(result: Any, told: Callable[[str], str]) -> Any:
    """A result whose warnings and explanations were rewritten by `told`."""
    advice = {named.name: getattr(result, named.name) for named in fields(result) if named.name in _ADVICE}
    changes = {
        name: told(value) if isinstance(value, str) else [told(sentence) for sentence in value]
        for name, value in advice.items()
    }
    return replace(result, **changes) if changes else result

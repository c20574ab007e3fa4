"""Advice as an agent can follow it: errors and warnings name commands of a terminal, which it may not have. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from picomem.light_dataclass import fields, replace
from picomem.operations.inert_results import inert
from picomem.text.inert_text import one_line

LONGEST_SENTENCE = 2_000  # characters of an error or a warning, which may quote a long text
_COMMAND = re.compile(r"`picomem ([a-z-]+)([^`]{0,200})`")
_ADVICE = ("warnings", "explanation")  # the fields of results that may name commands
_ASK = "(`picomem` is a command for the person's terminal: tell them.)"


def for_agents(text: str, tools: Mapping[str, str]) -> str:
    """A sentence with commands replaced by the tools that do the same; what has no tool is for the person to run.

    `tools` are the tools' names by command.
    """
    told = _COMMAND.sub(lambda match: _tool(match, tools), one_line(text, LONGEST_SENTENCE))
    return f"{told} {_ASK}" if _COMMAND.search(told) else told


def _tool(match: re.Match[str], tools: Mapping[str, str]) -> str:
    name, rest = match.groups()
    return f"`{tools[name]}{rest}`" if name in tools and "--" not in rest else match.group()


def result_for_agents(result: Any, tools: Mapping[str, str]) -> Any:
    """A result as an agent reads it: made inert, with warnings that it can follow. What was stored or said says what it
    said."""
    result = inert(result)
    advice = {named.name: getattr(result, named.name) for named in fields(result) if named.name in _ADVICE}
    changes = {
        name: for_agents(value, tools)
        if isinstance(value, str)
        else [for_agents(sentence, tools) for sentence in value]
        for name, value in advice.items()
    }
    return replace(result, **changes) if changes else result

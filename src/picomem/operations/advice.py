"""Advice as an agent can follow it: errors and notes name commands of a terminal, which it may not have. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from picomem.values import fields, replace

_COMMAND = re.compile(r"`picomem ([a-z-]+)([^`]{0,200})`")
_ASK = "(`picomem` is a command for the person's terminal: tell them.)"


def for_agents(text: str, tools: Mapping[str, str]) -> str:
    """A sentence with commands replaced by the tools that do the same; what has no tool is for the person to run.

    `tools` are the tools' names by command.
    """
    told = _COMMAND.sub(lambda found: _tool(found, tools), text)
    return f"{told} {_ASK}" if _COMMAND.search(told) else told


def _tool(found: re.Match[str], tools: Mapping[str, str]) -> str:
    name, rest = found.groups()
    return f"`{tools[name]}{rest}`" if name in tools and "--" not in rest else found.group()


def with_notes_for_agents(result: Any, tools: Mapping[str, str]) -> Any:
    """A result whose notes an agent can follow. What was stored or said is left as it is, whatever it says."""
    noted = {each.name: getattr(result, each.name) for each in fields(result) if each.name in ("note", "notes")}
    changes = {
        name: for_agents(value, tools) if isinstance(value, str) else [for_agents(each, tools) for each in value]
        for name, value in noted.items()
    }
    return replace(result, **changes) if changes else result

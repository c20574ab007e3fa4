"""The facades: other memory servers whose tools ours offers, by their names in the setting `mcp.facades`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from picomem.gateway.claude_memory_tool import claude_memory_tools
from picomem.gateway.facade_tools import FacadeTool
from picomem.gateway.graph_tools import graph_tools
from picomem.light_dataclass import replace
from picomem.operations.command_rewriting import ASK_PERSON

_TOOLS: dict[str, Callable[[], list[FacadeTool]]] = {
    "server-memory": graph_tools,
    "anthropic-memory": claude_memory_tools,
}


def tools_of_facades(facades: Iterable[str], ask: str = ASK_PERSON) -> list[FacadeTool]:
    """The tools of these facades. `ask` says who can run the commands that their errors name."""
    return [replace(tool, ask=ask) for facade in dict.fromkeys(facades) for tool in _TOOLS[facade]()]

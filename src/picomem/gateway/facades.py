"""The facades: other memory servers whose tools ours offers, by their names in the setting `mcp.facades`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from picomem.gateway.claude_memory_tool import claude_memory_tools
from picomem.gateway.facade_tools import FacadeTool
from picomem.gateway.graph_tools import graph_tools

_TOOLS: dict[str, Callable[[], list[FacadeTool]]] = {
    "server-memory": graph_tools,
    "anthropic-memory": claude_memory_tools,
}


def tools_of_facades(facades: Iterable[str]) -> list[FacadeTool]:
    """The tools of these facades."""
    return [tool for facade in dict.fromkeys(facades) for tool in _TOOLS[facade]()]

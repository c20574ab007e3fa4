"""Cursor: MCP servers in `mcp.json`."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.hosts.host import Host, Reach, SettingsFile, typed_server
from picomem.hosts.machine import Machine


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    root = machine.folder if reach == "project" else machine.home
    return (SettingsFile(root / ".cursor" / "mcp.json", "json5", servers=("mcpServers",)),)


CURSOR = Host(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    folders=lambda machine: (machine.home / ".cursor",),
    files=_files,
    server=typed_server,
)

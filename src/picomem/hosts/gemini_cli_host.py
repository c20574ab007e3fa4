"""Gemini CLI: MCP servers in `settings.json`, which may hold comments but no trailing commas."""

from __future__ import annotations

from collections.abc import Sequence

from picomem.hosts.host import Host, Reach, SettingsFile, plain_server
from picomem.hosts.machine import Machine


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    root = machine.folder if reach == "project" else machine.home
    return (SettingsFile(root / ".gemini" / "settings.json", "json5", servers=("mcpServers",)),)


GEMINI_CLI = Host(
    name="gemini-cli",
    title="Gemini CLI",
    programs=("gemini",),
    folders=lambda machine: (machine.home / ".gemini",),
    files=_files,
    server=plain_server,
    remarks=lambda _: ("Gemini CLI starts servers only in folders that you trust.",),
)

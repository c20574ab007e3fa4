"""OpenCode: MCP servers in `opencode.json` or `opencode.jsonc`, whose command is a list with the arguments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from picomem.hosts.host import Host, Reach, SettingsFile
from picomem.hosts.machine import Machine
from picomem.hosts.program import Program


def _user_folder(machine: Machine) -> Path:
    return machine.named("XDG_CONFIG_HOME", machine.home / ".config") / "opencode"


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    folder = machine.folder if reach == "project" else _user_folder(machine)
    commented = folder / "opencode.jsonc"
    path = commented if commented.is_file() else folder / "opencode.json"
    return (SettingsFile(path, "json5", servers=("mcp",)),)


def _server(program: Program) -> dict[str, Any]:
    entry = {"type": "local", "command": [program.path, *program.mcp_arguments()], "enabled": True}
    return {**entry, "environment": dict(program.env)} if program.env else entry


OPENCODE = Host(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    folders=lambda machine: (_user_folder(machine),),
    files=_files,
    server=_server,
)

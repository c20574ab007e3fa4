"""VS Code: MCP servers in `mcp.json`, under `servers`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from picomem.hosts.host import Host, Reach, SettingsFile, typed_server
from picomem.hosts.machine import Machine


def _user_folder(machine: Machine) -> Path:
    if machine.system == "darwin":
        base = machine.home / "Library" / "Application Support"
    elif machine.system == "win32":
        base = machine.named("APPDATA", machine.home / "AppData" / "Roaming")
    else:
        base = machine.named("XDG_CONFIG_HOME", machine.home / ".config")
    return base / "Code" / "User"


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    folder = machine.folder / ".vscode" if reach == "project" else _user_folder(machine)
    return (SettingsFile(folder / "mcp.json", "json5", servers=("servers",)),)


VSCODE = Host(
    name="vscode",
    title="VS Code",
    programs=("code",),
    folders=lambda machine: (_user_folder(machine),),
    files=_files,
    server=typed_server,
)

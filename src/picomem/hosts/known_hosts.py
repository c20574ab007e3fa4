"""The hosts in which picomem can be installed, in the order of the list that users see.

Those that only name MCP servers are described here; the others have hooks too, and a module each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, did_you_mean
from picomem.hosts.claude_code_host import CLAUDE_CODE
from picomem.hosts.codex_host import CODEX
from picomem.hosts.host import HOST_NAMES, Host, Reach, SettingsFile, plain_server, typed_server
from picomem.hosts.machine import Machine
from picomem.hosts.program import Program


def _file_in(folder: str, name: str) -> Callable[[Machine, Reach], Sequence[SettingsFile]]:
    """A file in a folder of that name, in the project or in the home folder."""

    def files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
        root = machine.folder if reach == "project" else machine.home
        return (SettingsFile(root / folder / name, "json5", servers=("mcpServers",)),)

    return files


def _openclaw_folder(machine: Machine) -> Path:
    return machine.named("OPENCLAW_STATE_DIR", machine.home / ".openclaw")


def _openclaw_files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    if reach == "project":
        return ()
    path = machine.named("OPENCLAW_CONFIG_PATH", _openclaw_folder(machine) / "openclaw.json")
    return (SettingsFile(path, "json5", servers=("mcp", "servers")),)


def _vscode_folder(machine: Machine) -> Path:
    if machine.system == "darwin":
        base = machine.home / "Library" / "Application Support"
    elif machine.system == "win32":
        base = machine.named("APPDATA", machine.home / "AppData" / "Roaming")
    else:
        base = machine.named("XDG_CONFIG_HOME", machine.home / ".config")
    return base / "Code" / "User"


def _vscode_files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    folder = machine.folder / ".vscode" if reach == "project" else _vscode_folder(machine)
    return (SettingsFile(folder / "mcp.json", "json5", servers=("servers",)),)


def _opencode_folder(machine: Machine) -> Path:
    return machine.named("XDG_CONFIG_HOME", machine.home / ".config") / "opencode"


def _opencode_files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    folder = machine.folder if reach == "project" else _opencode_folder(machine)
    commented = folder / "opencode.jsonc"
    path = commented if commented.is_file() else folder / "opencode.json"
    return (SettingsFile(path, "json5", servers=("mcp",)),)


def _opencode_server(program: Program) -> dict[str, Any]:
    """An MCP server whose command is a list with the arguments."""
    entry = {"type": "local", "command": [program.path, *program.mcp_arguments()], "enabled": True}
    return {**entry, "environment": dict(program.env)} if program.env else entry


OPENCLAW = Host(
    name="openclaw",
    title="OpenClaw",
    programs=("openclaw",),
    folders=lambda machine: (_openclaw_folder(machine),),
    files=_openclaw_files,
    server=plain_server,
)
CURSOR = Host(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    folders=lambda machine: (machine.home / ".cursor",),
    files=_file_in(".cursor", "mcp.json"),
    server=typed_server,
)
VSCODE = Host(
    name="vscode",
    title="VS Code",
    programs=("code",),
    folders=lambda machine: (_vscode_folder(machine),),
    files=_vscode_files,
    server=typed_server,
)
GEMINI_CLI = Host(
    name="gemini-cli",
    title="Gemini CLI",
    programs=("gemini",),
    folders=lambda machine: (machine.home / ".gemini",),
    files=_file_in(".gemini", "settings.json"),
    server=plain_server,
    remarks=lambda _: ("Gemini CLI starts servers only in folders that you trust.",),
)
OPENCODE = Host(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    folders=lambda machine: (_opencode_folder(machine),),
    files=_opencode_files,
    server=_opencode_server,
)

HOSTS: tuple[Host, ...] = (CLAUDE_CODE, CODEX, OPENCLAW, CURSOR, VSCODE, GEMINI_CLI, OPENCODE)


def host_named(name: str) -> Host:
    """The host of that name. Raises InvalidInput with the nearest."""
    for host in HOSTS:
        if host.name == name:
            return host
    raise InvalidInput(
        f"There is no host “{name[:40]}”; {did_you_mean(name, HOST_NAMES, 'choose ' + ', '.join(HOST_NAMES))}"
    )

"""OpenClaw: MCP servers in `openclaw.json`, which is JSON5. It has no settings of a project."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from picomem.hosts.host import Host, Reach, SettingsFile, plain_server
from picomem.hosts.machine import Machine


def _folder(machine: Machine) -> Path:
    return machine.named("OPENCLAW_STATE_DIR", machine.home / ".openclaw")


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    if reach == "project":
        return ()
    path = machine.named("OPENCLAW_CONFIG_PATH", _folder(machine) / "openclaw.json")
    return (SettingsFile(path, "json5", servers=("mcp", "servers")),)


OPENCLAW = Host(
    name="openclaw",
    title="OpenClaw",
    programs=("openclaw",),
    folders=lambda machine: (_folder(machine),),
    files=_files,
    server=plain_server,
)

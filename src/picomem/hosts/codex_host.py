"""Codex: MCP servers in `config.toml`, hooks in `hooks.json` beside it.

`codex mcp add` is not used: it replaces CRLF line ends, so an uninstall could not restore them. Codex runs a hook only
after the user has trusted it; its settings say which ones are (`hooks.state`), by file, event and place.
"""

from __future__ import annotations

from collections.abc import Sequence

from picomem.hosts.host import HookEntry, Host, Reach, SettingsFile, plain_server
from picomem.hosts.machine import Machine


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    folder = machine.folder / ".codex" if reach == "project" else machine.named("CODEX_HOME", machine.home / ".codex")
    return (
        SettingsFile(folder / "config.toml", "toml", servers=("mcp_servers",)),
        SettingsFile(folder / "hooks.json", "json", has_hooks=True),
    )


def _remarks(reach: Reach) -> Sequence[str]:
    trust = "Codex skips these hooks, without a word, until you trust them: open Codex and type /hooks."
    if reach == "user":
        return (trust,)
    return (
        trust,
        "Codex reads .codex only in a project that you trust.",
        ".codex names a path of this machine, so leave it out of commits.",
    )


CODEX = Host(
    name="codex",
    title="Codex",
    programs=("codex",),
    folders=lambda machine: (machine.named("CODEX_HOME", machine.home / ".codex"),),
    files=_files,
    server=plain_server,
    hooks=(
        HookEntry("SessionStart"),
        HookEntry("UserPromptSubmit"),
        HookEntry("PreCompact"),
        HookEntry("PostCompact"),
        HookEntry("Stop"),
        HookEntry("SessionEnd", seconds=3),  # the most that Codex takes
    ),
    remarks=_remarks,
)

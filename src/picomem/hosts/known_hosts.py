"""The hosts in which picomem can be installed, in the order of the list that users see.

Claude Code and Codex have hooks too; the others only name MCP servers.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from picomem.errors import InvalidInput, did_you_mean
from picomem.hosts.host import HOST_NAMES, HookEntry, Host, Reach, SettingsFile, plain_server, typed_server
from picomem.hosts.host_entries import HookCommand
from picomem.hosts.program import Machine, Program
from picomem.hosts.toml_edit import parse_toml, table_at

# Claude Code: MCP servers in `.claude.json`, or in `.mcp.json` of a project; hooks in `settings.json`.
#
# `claude mcp add` is not used: it writes the whole file anew, in its own layout, so an uninstall could not restore it.
# Claude Code takes none of these files when it holds a comment.


def _claude_code_files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    if reach == "project":
        return (
            SettingsFile(machine.folder / ".mcp.json", "json", servers=("mcpServers",)),
            # Not settings.json, which a team shares: the hook is at an absolute path of this machine.
            SettingsFile(machine.folder / ".claude" / "settings.local.json", "json", has_hooks=True),
        )
    folder = machine.named("CLAUDE_CONFIG_DIR", machine.home / ".claude")
    state = (folder if machine.env.get("CLAUDE_CONFIG_DIR") else machine.home) / ".claude.json"
    old_state = folder / ".config.json"  # where it is, Claude Code reads no other
    return (
        SettingsFile(old_state if old_state.is_file() else state, "json", servers=("mcpServers",)),
        SettingsFile(folder / "settings.json", "json", has_hooks=True),
    )


def _claude_code_remarks(reach: Reach) -> Sequence[str]:
    if reach == "user":
        return ()
    return (
        "Claude Code asks once whether it may start the server of .mcp.json; say yes.",
        ".mcp.json names a path of this machine, so leave it out of commits.",
    )


CLAUDE_CODE = Host(
    name="claude-code",
    title="Claude Code",
    programs=("claude",),
    folders=lambda machine: (machine.named("CLAUDE_CONFIG_DIR", machine.home / ".claude"),),
    files=_claude_code_files,
    server=typed_server,
    hooks=(
        HookEntry("SessionStart", seconds=10),
        HookEntry("UserPromptSubmit"),
        HookEntry("PreCompact", is_async=True),
        HookEntry("PostCompact"),
        HookEntry("Stop", is_async=True),
        HookEntry("SessionEnd", is_async=True),
    ),
    distilling=(
        *("-p", "--model", "haiku", "--safe-mode", "--tools", "", "--no-session-persistence"),
        *("--system-prompt", "You keep the memory of an assistant. Answer with one JSON object."),
    ),
    distilling_price="its small model, about 3,000 tokens a session",
    remarks=_claude_code_remarks,
)


# Codex: MCP servers in `config.toml`, hooks in `hooks.json` beside it.
#
# `codex mcp add` is not used: it replaces CRLF line ends, so an uninstall could not restore them.
#
# Codex runs a hook only after the user has trusted it: `hooks.state` in `config.toml` holds a hash of each trusted
# hook, by its file, event and place.

_HASHED = frozenset(("type", "command", "timeout", "async"))  # of a hook, if it has no more than these


def _codex_files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    folder = machine.folder / ".codex" if reach == "project" else machine.named("CODEX_HOME", machine.home / ".codex")
    return (
        SettingsFile(folder / "config.toml", "toml", servers=("mcp_servers",)),
        SettingsFile(folder / "hooks.json", "json", has_hooks=True),
    )


def _codex_remarks(reach: Reach) -> Sequence[str]:
    trust = (
        "Codex runs these hooks once you trust them: start Codex, which asks, or type /hooks in it. `codex exec` does "
        "not ask, and skips them."
    )
    if reach == "user":
        return (trust,)
    return (
        trust,
        "Codex reads .codex only in a project that you trust.",
        ".codex names a path of this machine, so leave it out of commits.",
    )


def _untrusted(texts: Mapping[Path, str], hooks: Sequence[tuple[Path, HookCommand]]) -> int:
    """The hooks that the user has not trusted, or that changed since."""
    config = next((text for path, text in texts.items() if path.name == "config.toml"), "")
    trusted = table_at(parse_toml(config.removeprefix("\ufeff")), ("hooks", "state"))
    return sum(not _is_trusted(trusted, path, hook) for path, hook in hooks)


def _is_trusted(trusted: Any, path: Path, hook: HookCommand) -> bool:
    event = re.sub("(?<=[a-z])(?=[A-Z])", "_", hook.event).lower()
    entry = trusted.get(f"{path}:{event}:{hook.group}:{hook.handler}") if isinstance(trusted, dict) else None
    trusted_hash = entry.get("trusted_hash") if isinstance(entry, dict) else None
    if trusted_hash is None or hook.matcher is not None or not hook.settings.keys() <= _HASHED:
        return trusted_hash is not None
    document = {"event_name": event, "hooks": [{"async": False, **hook.settings}]}
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return trusted_hash == f"sha256:{hashlib.sha256(canonical.encode(errors='replace')).hexdigest()}"


CODEX = Host(
    name="codex",
    title="Codex",
    programs=("codex",),
    folders=lambda machine: (machine.named("CODEX_HOME", machine.home / ".codex"),),
    files=_codex_files,
    server=plain_server,
    hooks=(
        HookEntry("SessionStart", seconds=10),
        HookEntry("UserPromptSubmit"),
        HookEntry("PreCompact"),
        HookEntry("PostCompact"),
        HookEntry("Stop"),
        HookEntry("SessionEnd", seconds=3),  # the most that Codex takes
    ),
    distilling=(
        *("exec", "--skip-git-repo-check", "--ephemeral", "--ignore-rules", "--sandbox", "read-only"),
        *("--disable", "hooks", "--disable", "shell_tool", "-c", "model_reasoning_effort=low", "-"),
    ),
    distilling_price="your model at low effort, about 16,000 tokens a session, most of them Codex's own",
    remarks=_codex_remarks,
    untrusted=_untrusted,
)


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

"""Claude Code: MCP servers in `.claude.json`, or in `.mcp.json` of a project; hooks in `settings.json`.

`claude mcp add` is not used: it writes the whole file anew, in its own layout, so an uninstall could not restore it.
Claude Code takes none of these files when it holds a comment.
"""

from __future__ import annotations

from collections.abc import Sequence

from picomem.hosts.host import HookEntry, Host, Reach, SettingsFile, typed_server
from picomem.hosts.machine import Machine


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
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


def _remarks(reach: Reach) -> Sequence[str]:
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
    files=_files,
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
    remarks=_remarks,
)

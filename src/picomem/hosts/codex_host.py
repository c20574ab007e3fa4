"""Codex: MCP servers in `config.toml`, hooks in `hooks.json` beside it.

`codex mcp add` is not used: it replaces CRLF line ends, so an uninstall could not restore them.

Codex runs a hook only after the user has trusted it: `hooks.state` in `config.toml` holds a hash of each trusted hook,
by its file, event and place.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from picomem.hosts.host import HookEntry, Host, Reach, SettingsFile, plain_server
from picomem.hosts.host_entries import HookCommand
from picomem.hosts.machine import Machine
from picomem.hosts.toml_edit import parse_toml, table_at

_HASHED = frozenset(("type", "command", "timeout", "async"))  # of a hook, if it has no more than these


def _files(machine: Machine, reach: Reach) -> Sequence[SettingsFile]:
    folder = machine.folder / ".codex" if reach == "project" else machine.named("CODEX_HOME", machine.home / ".codex")
    return (
        SettingsFile(folder / "config.toml", "toml", servers=("mcp_servers",)),
        SettingsFile(folder / "hooks.json", "json", has_hooks=True),
    )


def _remarks(reach: Reach) -> Sequence[str]:
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
    files=_files,
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
    remarks=_remarks,
    untrusted=_untrusted,
)

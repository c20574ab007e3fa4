"""The plugin for Claude Code: the MCP server and the hooks of `picomem install claude-code`, for users of plugins.

`python -m tests.hosts.claude_code_plugin FOLDER` writes it; a test compares plugins/claude-code with what it writes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from picomem.hosts.known_hosts import CLAUDE_CODE
from picomem.hosts.program import HOOK_NAME, NAME, Program
from picomem.version import __version__

_DESCRIPTION = "Long-term memory: past sessions, decisions and preferences, in one file on this machine."
_README = """# picomem for Claude Code

Gives Claude Code a long-term memory that stays on this machine. When a session begins, the index of your memory goes
into its context. Beside each prompt goes what memory is sure of. Afterwards the session itself is read, so that later
sessions find it. Over MCP, Claude searches past sessions and keeps decisions.

The plugin runs two programs, which must be on the `PATH`:

    uv tool install picomem        # or: pipx install picomem

Use either this plugin or `picomem install claude-code`, not both: with both, memory comes twice. The plugin uses the
default store; `picomem install claude-code --db PATH` sets up another one.

Nothing is sent anywhere. `picomem why`, `picomem forget` and `picomem purge` explain, archive and erase what is stored.
"""


def render_plugin() -> dict[str, str]:
    """The text of each file of the plugin, by its path."""
    program = Program(NAME, HOOK_NAME)
    manifest = {
        "name": NAME,
        "version": __version__,
        "description": _DESCRIPTION,
        "author": {"name": "picomem"},
        "license": "Apache-2.0",
        "keywords": ["memory", "mcp", "local"],
        "mcpServers": {NAME: CLAUDE_CODE.server(program)},
    }
    command = program.hook_command()
    hooks = {entry.event: [{"hooks": [entry.handler(command)]}] for entry in CLAUDE_CODE.hooks}
    return {
        ".claude-plugin/plugin.json": _document(manifest),
        "hooks/hooks.json": _document({"description": "Memory in, sessions out", "hooks": hooks}),
        "README.md": _README,
    }


def write_plugin(folder: Path) -> None:
    """Write the files of the plugin."""
    for name, text in render_plugin().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _document(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    write_plugin(Path(sys.argv[1]))

"""The hosts in which picomem can be installed, in the order of the list that users see."""

from __future__ import annotations

from picomem.errors import InvalidInput, did_you_mean
from picomem.hosts.claude_code_host import CLAUDE_CODE
from picomem.hosts.codex_host import CODEX
from picomem.hosts.cursor_host import CURSOR
from picomem.hosts.gemini_cli_host import GEMINI_CLI
from picomem.hosts.host import Host
from picomem.hosts.openclaw_host import OPENCLAW
from picomem.hosts.opencode_host import OPENCODE
from picomem.hosts.vscode_host import VSCODE

HOSTS: tuple[Host, ...] = (CLAUDE_CODE, CODEX, OPENCLAW, CURSOR, VSCODE, GEMINI_CLI, OPENCODE)
HOST_NAMES = tuple(host.name for host in HOSTS)


def host_named(name: str) -> Host:
    """The host of that name. Raises InvalidInput with the nearest."""
    for host in HOSTS:
        if host.name == name:
            return host
    raise InvalidInput(
        f"There is no host “{name[:40]}”; {did_you_mean(name, HOST_NAMES, 'choose ' + ', '.join(HOST_NAMES))}"
    )

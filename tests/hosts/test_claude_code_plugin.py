"""The plugin for Claude Code holds what the installer writes, and comes with the sources."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.hosts.claude_code_plugin import render_plugin
from tests.hosts.conftest import ROOT

from picomem.hosts.installing import install, plan_install
from picomem.hosts.known_hosts import host_named
from picomem.hosts.program import Machine, Program

_PLUGIN = ROOT / "plugins" / "claude-code"


def test_the_plugin_is_the_one_that_is_rendered() -> None:
    files = {str(path.relative_to(_PLUGIN)): path.read_text("utf-8") for path in _PLUGIN.rglob("*") if path.is_file()}
    assert files == render_plugin(), "python -m tests.hosts.claude_code_plugin plugins/claude-code"


def test_the_plugin_holds_what_the_installer_writes(machine: Machine) -> None:
    program = Program("picomem", "picomem-hook")
    assert install(plan_install(host_named("claude-code"), machine, "user", program), program).problem is None
    servers = json.loads((machine.home / ".claude.json").read_text())["mcpServers"]
    hooks = json.loads((machine.home / ".claude" / "settings.json").read_text())["hooks"]
    assert json.loads((_PLUGIN / ".claude-plugin" / "plugin.json").read_text())["mcpServers"] == servers
    assert json.loads((_PLUGIN / "hooks" / "hooks.json").read_text())["hooks"] == hooks


def test_the_source_distribution_holds_the_plugin(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert {f"plugins/claude-code/{name}" for name in render_plugin()} <= names

"""`picomem mcp`: the store, served to one agent over stdin and stdout."""

from __future__ import annotations

import argparse

from picomem.app import open_engine
from picomem.gateway.mcp import run_stdio
from picomem.paths import private_umask


def run_mcp(chosen: argparse.Namespace) -> int:
    """Serve until the agent closes stdin."""
    private_umask()
    run_stdio(lambda: open_engine(chosen.db, user=chosen.user, actor="agent:mcp", without_store=True))
    return 0

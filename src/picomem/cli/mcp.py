"""`picomem mcp` serves the store to one agent over stdin and stdout."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager

from picomem.app import open_engine
from picomem.engine.engine import Engine
from picomem.gateway.mcp import run_stdio
from picomem.hooks.hook_server import hooks_answered
from picomem.jobs import in_background
from picomem.paths import private_umask


def run_mcp(chosen: argparse.Namespace) -> int:
    """Serve until the agent closes stdin."""
    private_umask()
    run_stdio(lambda: _opened(chosen))
    return 0


@contextmanager
def _opened(chosen: argparse.Namespace) -> Iterator[Engine]:
    opened = open_engine(chosen.db, user=chosen.user, actor="agent:mcp", without_store=True)
    with opened as engine, in_background(engine), hooks_answered(chosen.db):
        yield engine

"""Run a test file as a program: the other process of a test about processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def start(file: str, *arguments: str, wrapped: Sequence[str] = (), **variables: str) -> subprocess.Popen[str]:
    """Start a test file with pipes for its input and output.

    `wrapped` is a command that runs it, and `variables` are added to its environment."""
    path = os.pathsep.join([str(ROOT), *sys.path])
    env = {**os.environ, "PYTHONPATH": path, "TOKENIZERS_PARALLELISM": "false", **variables}
    return subprocess.Popen(
        [*wrapped, sys.executable, file, *arguments], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

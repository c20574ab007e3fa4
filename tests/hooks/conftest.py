"""The real hook program, as a host runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.sealed_stores import is_setting

# Seconds. Hosts wait 5 s; on a busy machine an interpreter alone may take as long to start, and a hang takes for ever.
HOSTS_PATIENCE = 30


@dataclass(frozen=True)
class HookRun:
    """What a hook printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        return json.loads(self.out)

    @property
    def context(self) -> str:
        """What the host puts into the model's context."""
        return self.answer.get("hookSpecificOutput", {}).get("additionalContext", "")


class Host:
    """A home, and the hook in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "data"
        self.store = self.data / "picomem.db"
        self.log = self.data / "hooks.log"

    @property
    def env(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
        return {**kept, "HOME": str(self.home), "PICOMEM_DATA_DIR": str(self.data), "TZ": "UTC"}

    def start(self, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
        """Start the hook; its input stays open."""
        return subprocess.Popen(
            [sys.executable, "-m", "picomem.hooks.hook", *arguments],
            env={**self.env, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.home,
        )

    def hook(self, given: bytes | dict[str, Any], *arguments: str, **variables: str) -> HookRun:
        """Run the hook with an event, and wait for it longer than a host does: tests run on busy machines."""
        text = json.dumps(given).encode() if isinstance(given, dict) else given
        process = self.start("--wait", "60", *arguments, **variables)
        out, err = process.communicate(text, timeout=90)
        return HookRun(process.returncode, out.decode(), err.decode())

    def problems(self) -> list[str]:
        """What stands in the hooks' log."""
        if not self.log.exists():
            return []
        return [json.loads(line)["problem"] for line in self.log.read_text().splitlines()]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)

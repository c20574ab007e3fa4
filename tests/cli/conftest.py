"""The real program, as a process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.forked_program import program


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Picomem = Callable[..., Ran]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A clean home: no settings, no transcripts, no store."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def picomem(home: Path) -> Picomem:
    """Run `picomem ARGUMENTS…` in a clean home; `env` adds variables."""

    def _run(*arguments: str | bytes, env: dict[str, str] | None = None, stdin: str = "") -> Ran:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PICOMEM_")}
        code, out, err = program().run(
            arguments,
            stdin=stdin.encode(),
            cwd=home,
            env={**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "TZ": "UTC", **(env or {})},
            timeout=120,
        )
        return Ran(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    return _run

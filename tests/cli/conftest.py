"""The real program, as a process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clean_home import Ran, variables_of
from tests.clean_home import home as home  # a fixture
from tests.forked_program import program
from tests.sealed_stores import is_setting

Picomem = Callable[..., Ran]


@pytest.fixture
def picomem(home: Path) -> Picomem:
    """Run `picomem ARGUMENTS…` in a clean home, in its folder or another; `env` adds variables."""

    def _run(*arguments: str | bytes, env: dict[str, str] | None = None, stdin: str = "", folder: Path = home) -> Ran:
        kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
        code, out, err = program().run(
            arguments,
            stdin=stdin.encode(),
            cwd=folder,
            env={**kept, **variables_of(home), "TZ": "UTC", **(env or {})},
            timeout=120,
        )
        return Ran(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    return _run

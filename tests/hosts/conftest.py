"""A machine with hosts, as files in a temporary folder, and picomem installed as programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.clean_home import Ran, variables_of
from tests.clean_home import home as home  # a fixture

from picomem.hosts.program import Machine, Program

ROOT = Path(__file__).parents[2]
_HOOK_SCRIPT = f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([os.environ.get('PICOMEM_DATA_DIR'), *sys.argv[1:]]))\n"
_SCRIPT = f"#!{sys.executable}\nimport sys\nfrom picomem.cli.main import main\nsys.exit(main())\n"


RunPicomem = Callable[..., Ran]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The folder of an installation's programs."""
    folder = tmp_path / "my tools"
    folder.mkdir()
    for name, script in (("picomem", _SCRIPT), ("picomem-hook", _HOOK_SCRIPT)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def machine(home: Path, project: Path) -> Machine:
    return Machine(home, project, {"PATH": "/nowhere"}, "linux")


@pytest.fixture
def program(programs: Path) -> Program:
    return Program(str(programs / "picomem"), str(programs / "picomem-hook"))


@pytest.fixture
def run_picomem(home: Path, project: Path, programs: Path) -> RunPicomem:
    """Run the installed `picomem ARGUMENTS…` in the project's folder. `install` takes the address of a server from the
    settings alone, so there it stands."""
    variables = variables_of(home)
    if address := variables.pop("PICOMEM_DB", ""):
        settings = home / "data" / "picomem" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(f"[data]\ndatabase = {json.dumps(address)}\n", "utf-8")

    def _run(*arguments: str, env: dict[str, str] | None = None) -> Ran:
        clean = {
            **variables,
            "PATH": os.defpath,
            "PYTHONPATH": str(ROOT / "src"),
        }
        done = subprocess.run(
            [programs / "picomem", *arguments],
            cwd=project,
            env=clean | (env or {}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    return _run


def tree(folder: Path) -> dict[str, bytes | None]:
    """Every file below a folder with its bytes, and every folder."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}

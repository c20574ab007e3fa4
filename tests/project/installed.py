"""The wheel as a user gets it: with its base dependencies, in an environment of its own, away from the source tree.

`make installed` makes `.envs/base` and runs this file. It has no name that pytest collects by itself, since the
environment needs a package index.
"""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".envs/base"
BIN = ENVIRONMENT / "bin"
OF_EXTRAS = (
    "pydantic_ai",
    "openai",
    "anthropic",
    "google.genai",
    "onnxruntime",
    "fastembed",
    "jinja2",
    "psycopg",
    "textual",
)

# Import each module of picomem; print the modules that lack something, each with what it lacks.
_IMPORT_ALL = """
import importlib, json, pkgutil, picomem

lacking = {}
for module in pkgutil.walk_packages(picomem.__path__, "picomem."):
    if module.name != "picomem.__main__":
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            lacking[module.name] = error.name
print(json.dumps(lacking))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A clean home, and nothing of the source tree or of this interpreter's settings."""
    return {"HOME": str(tmp_path), "PATH": os.defpath, "LANG": "C.UTF-8", "TZ": "UTC"}


@pytest.fixture
def run(tmp_path: Path, environment: dict[str, str]):
    def _run(*command: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == code, done.stderr
        return done

    return _run


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else():
    (wheel,) = (ROOT / ".envs/dist").glob("*.whl")
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    package = {path.relative_to(ROOT / "src").as_posix() for path in files}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == package
    for data in ("store/schema/memories.sql", "store/sql/memories.sql"):
        assert f"picomem/{data}" in held
    assert sum(name.startswith("picomem/demo/sessions/") for name in held) == 9


def test_the_environment_holds_the_base_dependencies_alone(run):
    program = "import importlib.metadata as m; print(*(d.metadata['Name'].lower() for d in m.distributions()))"
    installed = set(run(BIN / "python", "-I", "-c", program).stdout.replace("_", "-").split())
    lines = (ROOT / "requirements/base.txt").read_text("utf-8").splitlines()
    locked = {line.partition("==")[0] for line in lines if "==" in line}
    assert "picomem" in installed
    assert installed - {"picomem"} <= locked


@pytest.mark.parametrize("module", OF_EXTRAS)
def test_no_module_of_an_extra_is_there(module: str, run):
    failed = run(BIN / "python", "-I", "-c", f"import {module}", code=1)
    assert "ModuleNotFoundError" in failed.stderr


def test_only_what_comes_with_an_extra_needs_one(run):
    where = run(BIN / "python", "-I", "-c", "import picomem; print(picomem.__file__)").stdout
    assert Path(where).is_relative_to(ENVIRONMENT)
    lacking = json.loads(run(BIN / "python", "-I", "-c", _IMPORT_ALL).stdout)
    packages: dict[str, set[str]] = {}
    for module, missing in lacking.items():
        packages.setdefault(module.split(".")[1], set()).add(missing)
    assert packages == {
        "agent": {"pydantic_ai"},
        "cli": {"pydantic_ai", "textual", "websockets"},  # whole commands, which are loaded when they are called
        "gateway": {"structlog", "jinja2", "websockets"},
        "models": {"pydantic_ai"},
        "page": {"jinja2", "markupsafe"},
        "store": {"psycopg"},
        "tui": {"textual"},
    }
    assert "picomem.gateway.mcp" not in lacking


def test_the_demo_plays(run):
    assert "Next: your own sessions" in run(BIN / "picomem", "demo").stdout


@pytest.mark.parametrize("arguments", [("--help",), ("recall", "--help"), ("mcp", "--help"), ("chat", "--help")])
def test_help_is_printed(arguments: tuple[str, ...], run):
    assert run(BIN / "picomem", *arguments).stdout.startswith("usage: picomem")


def test_memories_and_past_sessions_are_found_and_the_store_is_sound(run):
    (sessions,) = ENVIRONMENT.glob("lib/python*/site-packages/picomem/demo/sessions/claude/projects")
    run(BIN / "picomem", "remember", "The harbor crane is blue", "--key", "crane_color")
    run(BIN / "picomem", "ingest", sessions)
    crane = json.loads(run(BIN / "picomem", "--json", "recall", "Which color does the harbor crane have?").stdout)
    assert crane["hits"][0]["text"] == "The harbor crane is blue"
    slot = json.loads(run(BIN / "picomem", "--json", "recall", "how long is a slot held?").stdout)
    assert any("15 minutes" in hit["text"] for hit in slot["hits"])
    assert json.loads(run(BIN / "picomem", "--json", "doctor").stdout)["findings"] == []


def test_a_server_of_mcp_stores_and_finds(tmp_path: Path, environment: dict[str, str]):
    server = StdioServerParameters(command=str(BIN / "picomem"), args=["mcp"], env=environment, cwd=tmp_path)

    async def _conversation() -> Any:
        with anyio.fail_after(60):
            async with Client(server) as client:
                memory = {"content": "The harbor crane is blue", "key": "crane_color"}
                stored = await client.call_tool("memory_store", memory)
                assert not stored.is_error, stored
                return await client.call_tool("memory_recall", {"query": "Which color does the crane have?"})

    (block,) = anyio.run(_conversation).content
    assert isinstance(block, TextContent)
    assert "The harbor crane is blue" in block.text


def test_what_needs_an_extra_names_it(run):
    failed = run(BIN / "picomem", "chat", "--model", "openai:gpt-5-mini", "hello", code=2)
    assert "install picomem[agent]" in failed.stderr
    assert "Traceback" not in failed.stderr

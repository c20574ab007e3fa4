"""What a fresh process loads when it remembers and recalls (invariant 12), and that it talks to nobody."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import picomem

FOREIGN = (
    "mcp rich pydantic pydantic_settings typer click starlette fastapi uvicorn textual psycopg httpx httpx2 requests "
    "urllib3 huggingface_hub wordllama safetensors pydantic_ai openai anthropic watchfiles zstandard"
).split()

_PROGRAM = """
import json, sys

events = []

def watch(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        events.append([event, repr(arguments)])

sys.addaudithook(watch)
import picomem

with picomem.open(sys.argv[1], embedder=sys.argv[2]) as memory:
    memory.remember("The staging database listens on port 5433", kind="fact", key="staging_db_port")
    texts = [hit.text for hit in memory.recall("which port does staging use?").hits]
print(json.dumps({"texts": texts, "modules": sorted(sys.modules), "events": events}))
"""


def _run(db, embedder: str) -> dict:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PICOMEM_", "COV_"))}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    env["PICOMEM_DATA_DIR"] = str(db.parent)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(db), embedder], env=env, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.requirement("X1")
@pytest.mark.parametrize("embedder", ["none", "static"])
def test_remembering_and_recalling_loads_no_foreign_library_and_connects_to_nothing(embedder, db):
    report = _run(db, embedder)
    assert report["texts"] == ["The staging database listens on port 5433"]
    assert report["events"] == []
    assert {name.partition(".")[0] for name in report["modules"]} & set(FOREIGN) == set()
    assert "asyncio" not in report["modules"]
    assert ("numpy" in report["modules"]) == (embedder == "static")
    assert "numpy.ma" not in report["modules"]


SLOW = ("_hashlib dataclasses difflib inspect numpy platformdirs re2 shutil tokenizers tomllib zoneinfo").split()

_COMMAND = """
import atexit, sys
from picomem.cli.main import main
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
sys.exit(main())
"""


def test_a_recall_by_words_at_the_terminal_loads_nothing_slow_that_it_does_not_need(db):
    with picomem.open(db, embedder="none") as memory:
        memory.remember("The harbor crane is blue", key="crane")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PICOMEM_", "COV_"))}
    env |= {"PYTHONPATH": os.pathsep.join(sys.path), "PICOMEM_RECALL_EMBEDDER": "none", "TZ": "UTC"}
    env["PICOMEM_DATA_DIR"] = str(db.parent)
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, "--db", str(db), "recall", "which crane is blue?"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "The harbor crane is blue" in done.stdout
    loaded = set(done.stderr.split())
    assert loaded & set(SLOW) == set()
    assert {name.partition(".")[0] for name in loaded} & set(FOREIGN) == set()


@pytest.mark.parametrize("arguments", ["--help", "help serve", "completion bash"])
def test_help_and_completion_load_no_foreign_library(arguments: str, tmp_path):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PICOMEM_DATA_DIR": str(tmp_path)}
    command = [sys.executable, "-c", _COMMAND, *arguments.split()]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "picomem" in done.stdout
    assert {name.partition(".")[0] for name in done.stderr.split()} & set(FOREIGN) == set()


def test_importing_picomem_loads_nothing_that_it_does_not_need():
    program = "import sys; before = set(sys.modules); import picomem; print(*sorted(set(sys.modules) - before))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) <= {"__future__", "picomem", "picomem.version", "typing", *_needed_by_typing()}


def _needed_by_typing() -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, typing; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())

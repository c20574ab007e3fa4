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


SLOW = (
    "_hashlib asyncio dataclasses difflib importlib.util inspect logging numpy platformdirs re2 shutil subprocess"
    " tempfile tokenizers tomllib traceback zoneinfo"
).split()
UNUSED = (  # modules of ours that neither a recall by words nor the prompt hook has a use for
    "picomem.memory.version_history picomem.operations.command_names picomem.store.tables.session_rows"
).split()
# Modules of ours, each of which takes 0.15 ms. A new module that a recall needs may raise it.
MOST_MODULES = {"recall": 163, "hook": 152}

_COMMAND = """
import atexit, sys
from picomem.cli.main import main
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
sys.exit(main())
"""


_HOOK = """
import json, sys
from picomem.hooks import hook, hook_context
options, event = dict(zip(sys.argv[1::2], sys.argv[2::2])), json.load(sys.stdin)
hook._leave_host = hook_context.note_what_was_injected = lambda *_: None  # when the host has its answer
hook._answer(options, event, 1)  # what the child does
print(*sorted(sys.modules), file=sys.stderr, flush=True)
"""


@pytest.mark.parametrize("user", ["local", "user-0"])
def test_a_recall_by_words_at_the_terminal_loads_nothing_slow_that_it_does_not_need(user: str, db):
    loaded, answer = _loaded(db, user, _COMMAND, "recall", "which crane is blue?")
    assert "The harbor crane is blue" in answer
    assert loaded & {*SLOW, *UNUSED} == set()
    assert {name.partition(".")[0] for name in loaded} & set(FOREIGN) == set()
    assert len(_ours(loaded)) <= MOST_MODULES["recall"], _ours(loaded)


@pytest.mark.parametrize("user", ["local", "user-0"])
def test_the_prompt_hook_loads_nothing_slow_that_it_does_not_need(user: str, db):
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "1",
        "cwd": str(db.parent),
        "prompt": "What did I say about which harbor crane is blue?",
    }
    loaded, answer = _loaded(db, user, _HOOK, given=json.dumps(event))
    assert "The harbor crane is blue" in answer
    assert loaded & {*SLOW, *UNUSED, "argparse", "gettext"} == set()
    assert {name.partition(".")[0] for name in loaded} & set(FOREIGN) == set()
    assert len(_ours(loaded)) <= MOST_MODULES["hook"], _ours(loaded)


def _ours(loaded: set[str]) -> list[str]:
    return sorted(name for name in loaded if name.partition(".")[0] == "picomem")


def _loaded(db, user: str, program: str, *arguments: str, given: str = "") -> tuple[set[str], str]:
    """The modules that a program loads, and what it prints; `user` has a memory."""
    with picomem.open(db, user=user, embedder="none") as memory:
        memory.remember("The harbor crane is blue", key="crane")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PICOMEM_", "COV_"))}
    env |= {"PYTHONPATH": os.pathsep.join(sys.path), "PICOMEM_RECALL_EMBEDDER": "none", "TZ": "UTC"}
    env["PICOMEM_DATA_DIR"] = str(db.parent)
    done = subprocess.run(
        [sys.executable, "-c", program, "--db", str(db), "--user", user, *arguments],
        env=env,
        input=given,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.split()), done.stdout


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

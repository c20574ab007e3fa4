"""The front of what a provider gets has the same bytes in two processes, until memory changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.model_server import ModelServer, serving
from tests.sealed_stores import is_setting


def chat(home: Path, server: ModelServer, *arguments: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
    env = {**kept, "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "TZ": "UTC", **server.env}
    command = [sys.executable, "-m", "picomem.cli.main", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", cwd=home, env=env, check=True).stdout


def front(body: dict) -> tuple[str, str]:
    """What a provider caches: the tools, and the system prompt up to what changes."""
    (system,) = [message["content"] for message in body["messages"] if message["role"] == "system"]
    return json.dumps(body["tools"]), system.partition("## Memory Context")[0].partition("Today is")[0].rstrip()


@pytest.mark.requirement("O9")
def test_the_front_of_the_prompt_is_the_same_bytes_in_two_processes_until_memory_changes(tmp_path: Path) -> None:
    with serving(ModelServer()) as server:
        chat(tmp_path, server, "remember", "The staging database listens on port 5433", "--key", "staging_db_port")
        server.steps = ["Port 5433.", "It rains."]
        first = json.loads(chat(tmp_path, server, "chat", "Which port has staging?", "--json"))
        session = first["session"]
        chat(tmp_path, server, "chat", "--session", session, "And the weather?")
        server.steps = [[("memory_store", {"content": "The crane is yellow", "key": "crane"})], "Noted.", "Yellow."]
        chat(tmp_path, server, "chat", "--session", session, "The crane is yellow.")
        chat(tmp_path, server, "chat", "--session", session, "Which colour is it?")
    fronts = [front(body) for body in server.asked]
    assert fronts[0] == fronts[1] == fronts[2] == fronts[3]  # the run that stores keeps its own prompt, too
    assert "on port 5433" in fronts[0][1] and "The crane" not in fronts[0][1] and "The crane" in fronts[4][1]
    assert [tools for tools, _ in fronts] == [fronts[0][0]] * 5
    earlier = server.asked[0]["messages"][1:]
    assert server.asked[1]["messages"][1 : 1 + len(earlier)] == earlier  # and so do the messages behind it

"""`picomem consolidate` as a person runs it, with a model behind a server: two at once, stopped, at the day's limit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.clean_home import variables_of
from tests.consolidation.conftest import TALK
from tests.consolidation.server import Server, running
from tests.databases import open_memory
from tests.sealed_stores import is_setting

from .conftest import Picomem

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it needs signals")


def talks(home: Path, count: int) -> None:
    """A store with so many conversations to take up."""
    with open_memory(home / "data" / "picomem" / "picomem.db", embedder="none") as memory:
        for _ in range(count):
            memory.sessions().append(memory.sessions().create().id, *TALK)


def leading_to(server: Server) -> dict[str, str]:
    return {
        "PICOMEM_MEMORY_CONSOLIDATION_PROVIDER": "openai-compatible",
        "PICOMEM_MEMORY_CONSOLIDATION_MODEL": "tiny",
        "PICOMEM_MEMORY_CONSOLIDATION_BASE_URL": server.url,
        "PICOMEM_RECALL_EMBEDDER": "none",
    }


def start(home: Path, server: Server) -> subprocess.Popen[str]:
    """The program with that model; it runs on while the server holds its request."""
    kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
    env = {**kept, **leading_to(server), **variables_of(home), "TZ": "UTC"}
    return subprocess.Popen(
        [sys.executable, "-m", "picomem.cli.main", "consolidate"], env=env, cwd=home, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.requirement("X10")
def test_of_two_at_once_one_pays_and_the_other_says_why_it_does_not(picomem: Picomem, home: Path) -> None:
    talks(home, 1)
    with running() as server:
        asked = server.hold()
        first = start(home, server)
        asked.wait(60)
        second = picomem("consolidate", env=leading_to(server))
        assert second.code == 0
        assert "another process is consolidating" in second.out
        server.stop.set()
        assert "kept by openai-compatible:tiny" in first.communicate(timeout=60)[0]
        assert len(server.requests) == 1


def test_stopped_in_the_middle_of_a_call_it_keeps_nothing_and_leaves_the_turn_to_the_next(
    picomem: Picomem, home: Path
) -> None:
    talks(home, 1)
    with running() as server:
        asked = server.hold()
        process = start(home, server)
        asked.wait(60)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert (process.returncode, err) == (130, "picomem: stopped; what was done until now is kept.\n")
        assert picomem("timeline", "--json").json["episodes"] == []
        server.stop.set()
        assert "kept by openai-compatible:tiny" in picomem("consolidate", env=leading_to(server)).out


def test_at_the_days_limit_sentences_are_picked_and_that_is_said_once(picomem: Picomem, home: Path) -> None:
    with running() as server:
        env = {**leading_to(server), "PICOMEM_MEMORY_DAILY_TOKEN_LIMIT": "4000"}
        talks(home, 1)
        assert "kept by openai-compatible:tiny" in picomem("consolidate", env=env).out
        talks(home, 3)
        done = picomem("consolidate", env=env)  # another process, the same day
        assert done.code == 0
        assert done.out.count("kept by openai-compatible:tiny") == 1
        assert done.out.count("kept by extractive") == 2
        assert done.out.count("memory.daily_token_limit") == 1
        status = picomem("status", env=env).out
        assert "openai-compatible:tiny: 2 calls, 1,400 tokens in, 120 out" in status
        assert "today          1,520 of 4,000 tokens" in status
        assert picomem("consolidate", env=env).out == "Nothing is new in any conversation.\n"


def test_a_model_that_is_gone_is_said_and_after_three_times_done_without(picomem: Picomem, home: Path) -> None:
    talks(home, 1)
    with running() as gone:
        env = leading_to(gone)
    tries = [picomem("consolidate", env=env) for _ in range(3)]
    assert [attempt.code for attempt in tries] == [8, 8, 0]
    assert "is the server running?" in tries[0].out
    assert "kept by extractive" in tries[2].out
    assert "failed 3 times in a row" in tries[2].out

"""Before compaction: the agent's turn, and the note that takes what the store cannot."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.app import open_engine
from picomem.before_compaction import STORE, WRITE, Flushed, append, flush, statements
from picomem.engine.engine import Engine
from picomem.errors import DiskFull, GeneratorFailed, InvalidInput
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, NotesSettings, RecallSettings

LAST = "The booking queue moves to Postgres in June"


class Agent:
    """An agent whose memory tool is the engine's own, and which can write a list."""

    def __init__(self, memory: Engine, answer: str = f"- {LAST}") -> None:
        self.memory = memory
        self.answer = answer
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def __call__(self, instruction: str) -> str:
        self.asked.append(instruction)
        if instruction == STORE:
            if self.error:
                raise self.error
            await anyio.to_thread.run_sync(partial(self.memory.remember, LAST, key="queue", origin="agent"))
            return "NOTHING"
        return self.answer


def flushed(memory: Engine, agent: Agent, workspace: Path | None, *, read_only: bool = False) -> Flushed:
    return anyio.run(partial(flush, memory, agent, workspace, read_only=read_only))


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def storeless(tmp_path: Path, workspace: Path, clock) -> Engine:
    """An engine whose database is not there, with the notes of the workspace."""
    settings = Settings(
        recall=RecallSettings(embedder="none", timezone="UTC"),
        memory=MemorySettings(enabled=True),
        notes=NotesSettings(paths=(str(workspace),)),
    )
    return open_engine(tmp_path / "gone.db", settings=settings, clock=clock, create=False, without_store=True)


@pytest.mark.requirement("O13")
def test_the_agent_stores_what_should_last(memory: Engine, workspace: Path) -> None:
    agent = Agent(memory)
    assert flushed(memory, agent, workspace).state == "stored"
    assert agent.asked == [STORE]
    assert [stored.content for stored in memory.memories()] == [LAST]
    assert list(workspace.iterdir()) == []


@pytest.mark.requirement("O13")
def test_a_read_only_workspace_skips_it(memory: Engine, workspace: Path, tmp_path: Path, open_engine) -> None:
    agent = Agent(memory)
    assert flushed(memory, agent, workspace, read_only=True).state == "skipped"
    assert flushed(memory, agent, tmp_path / "nowhere").state == "skipped"
    assert flushed(open_engine(), agent, workspace).reason == "memory.enabled is off"
    assert agent.asked == []
    assert memory.memories() == []


@pytest.mark.requirement("O13", "O12")
def test_where_there_is_no_store_the_words_go_to_the_note_of_the_day(storeless: Engine, workspace: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    agent = Agent(storeless, f"Here is what should last:\n- {LAST}\n- The token is {secret}\n")
    done = flushed(storeless, agent, workspace)
    assert (done.state, done.note, done.lines) == ("noted", "memory/2026-05-01.md", 2)
    assert agent.asked == [WRITE]  # the store is down: no turn is wasted on it
    note = workspace / done.note
    text = note.read_text()
    assert f"- {LAST}\n" in text
    assert secret not in text
    assert stat.S_IMODE(note.stat().st_mode) == 0o600
    assert "Postgres" in storeless.recall("where does the booking queue move").hits[0].text
    flushed(storeless, agent, workspace)
    assert note.read_text().count(LAST) == 2  # appended


@pytest.mark.requirement("O13")
def test_a_store_that_fails_in_the_middle_of_the_turn_is_met_the_same_way(memory: Engine, workspace: Path) -> None:
    agent = Agent(memory)
    agent.error = DiskFull()
    done = flushed(memory, agent, workspace)
    assert (done.state, done.lines) == ("noted", 1)
    assert "disk is full" in done.reason
    assert agent.asked == [STORE, WRITE]
    agent.answer = "NOTHING"
    assert flushed(memory, agent, workspace).state == "nothing"
    assert flushed(memory, agent, None).state == "failed"


def test_a_model_that_fails_does_not_hold_compaction_up(memory: Engine, workspace: Path) -> None:
    agent = Agent(memory)
    agent.error = GeneratorFailed("no answer within 60 seconds.")
    assert flushed(memory, agent, workspace) == Flushed("failed", reason="no answer within 60 seconds.")


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize("trap", ["folder", "file", "dangling", "hard", "fifo", "directory"])
def test_nothing_outside_of_the_workspace_is_written(storeless: Engine, workspace: Path, tmp_path: Path, trap) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "authorized_keys"
    target.write_text("as it was")
    note = workspace / "memory" / "2026-05-01.md"
    if trap == "folder":
        (workspace / "memory").symlink_to(outside)
    else:
        (workspace / "memory").mkdir()
    if trap == "file":
        note.symlink_to(target)
    elif trap == "dangling":
        note.symlink_to(outside / "new")
    elif trap == "hard":
        os.link(target, note)
    elif trap == "fifo":
        os.mkfifo(note)
    elif trap == "directory":
        note.mkdir()
    done = flushed(storeless, Agent(storeless), workspace)
    assert done.state == "failed"
    assert "cannot be written" in done.reason
    assert target.read_text() == "as it was"
    assert list(outside.iterdir()) == [target]


def test_lines_that_are_appended_at_once_stay_whole(workspace: Path) -> None:
    texts = [f"- {name * 400}\n" for name in "abcdefgh"] * 8
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(append, workspace, "2026-05-01"), texts))
    lines = (workspace / "memory" / "2026-05-01.md").read_text().splitlines(keepends=True)
    assert sorted(lines) == sorted(texts)


def test_a_workspace_that_is_a_file_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    with pytest.raises(InvalidInput, match="cannot be written"):
        append(path, "2026-05-01", "- x\n")


@given(st.text(max_size=200) | st.lists(st.sampled_from(["- a b", "* c", "NOTHING", "", "1", "…"])).map("\n".join))
def test_statements_are_lines_of_text(answer: str) -> None:
    for line in statements(answer):
        assert line
        assert len(line.splitlines()) == 1
        assert len(line) <= 500

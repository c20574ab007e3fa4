"""Two processes on one session, with no daemon between them.

This file is the program of the other process too: it appends to a session, a line of output a message.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.databases import chosen
from tests.sessions.conftest import assistant, call, result, user

from picomem import open as open_memory
from picomem.clock import system_clock
from picomem.records.session import Message, Role
from picomem.sessions.pairs import grouped

ROUNDS = 24
ROOT = Path(__file__).parents[2]


def _rounds(path: str, session_id: str, name: str, rounds: int) -> list[list[int]]:
    """Turns with a tool call each: appended at once, or the results by themselves; the numbers of each turn."""
    with open_memory(path, embedder="none") as memory:
        log = memory.sessions()
        numbers = []
        for number in range(rounds):
            word, id_ = f"{name} {number}", f"{name}-{number}"
            turn = (user(word), assistant("", call(id=id_)), result(f"{word} done", id_))
            stored = log.append(session_id, *turn) if number % 2 else [*log.append(session_id, *turn[:2])]
            stored += [] if number % 2 else log.append(session_id, turn[2])
            numbers.append([message.seq for message in stored])
            seen = log.load(session_id, last=50).messages
            assert stored[-1].seq in [message.seq for message in seen]
        return numbers


def _start(path: Path, session_id: str, name: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    command = [sys.executable, __file__, chosen().named(path), session_id, name]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


@pytest.mark.requirement("X10")
def test_processes_on_one_session_lose_and_reorder_nothing(db, open_engine) -> None:
    log = open_engine(clock=system_clock).sessions()
    session = log.create()
    names = ("ann", "ben", "cem")
    started = {name: _start(db, session.id, name) for name in names}
    numbers = {name: json.loads(process.communicate(timeout=120)[0]) for name, process in started.items()}
    assert [process.returncode for process in started.values()] == [0, 0, 0]

    loaded = log.load(session.id)
    assert loaded.damaged == ()
    assert [message.seq for message in loaded.messages] == list(range(1, 3 * ROUNDS * len(names) + 1))
    groups, orphans = grouped(loaded.messages)
    assert orphans == []
    assert all(not group.waits for group in groups)
    by_seq = {message.seq: message for message in loaded.messages}
    for name in names:
        flat = [seq for turn in numbers[name] for seq in turn]
        assert flat == sorted(flat)
        assert [by_seq[turn[0]].content for turn in numbers[name]] == [f"{name} {number}" for number in range(ROUNDS)]
        for turn in numbers[name][1::2]:  # appended at once: nobody is between
            assert turn == list(range(turn[0], turn[0] + 3))
    assert [g.messages[1].content for g in groups if g.role is Role.ASSISTANT] == [
        f"{_asked(g.messages)} done" for g in groups if g.role is Role.ASSISTANT
    ]


def _asked(messages: tuple[Message, ...]) -> str:
    return messages[0].tool_calls[0].id.replace("-", " ")


@pytest.mark.requirement("P3")
def test_what_another_process_appends_is_seen_at_once(db, open_engine) -> None:
    log = open_engine(clock=system_clock).sessions()
    session = log.create()
    log.append(session.id, user("mine"))
    assert len(log.load(session.id, last=20).messages) == 1
    assert len(log.load(session.id, last=20).messages) == 1  # from the cache
    process = _start(db, session.id, "ann")
    assert process.stdout is not None
    process.communicate(timeout=120)
    assert log.load(session.id, last=20).messages[-1].content == f"ann {ROUNDS - 1} done"
    assert log.load(session.id, last=20).before == 1 + 3 * ROUNDS - 20


if __name__ == "__main__":
    sys.stdout.write(json.dumps(_rounds(sys.argv[1], sys.argv[2], sys.argv[3], ROUNDS)))

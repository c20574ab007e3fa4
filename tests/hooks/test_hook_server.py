"""A picomem process that stays answers hooks, and a hook needs none of them."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.amounts import amount
from tests.forked_program import ForkedProcess, program
from tests.hooks.conftest import HOSTS_PATIENCE, Host
from tests.waiting import wait_until

import picomem
from picomem.hooks.hook_socket import ANSWERED, deciding, request_of
from picomem.index_page.page import NOTHING_YET
from picomem.version import __version__

DECISION = "The billing service uses PostgreSQL 16"


def _begun(**fields: Any) -> dict[str, Any]:
    return {"hook_event_name": "SessionStart", "source": "startup", "cwd": "/work/billing", "session_id": "s", **fields}


@pytest.fixture
def stored(host: Host) -> Host:
    with picomem.open(host.store) as memory:
        memory.remember(DECISION, kind="decision")
    return host


@contextmanager
def _mcp(host: Host, *arguments: str) -> Iterator[ForkedProcess]:
    """`picomem mcp`, as a host starts it beside the hooks; listening."""
    process = program().start([*arguments, "mcp"], env=host.env, has_stdin=True)
    try:
        wait_until(lambda: _sockets(host))
        yield process
    finally:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.wait()


def _answers_recalls(host: Host) -> bool:
    """Whether the process that stays has loaded what a recall needs."""
    given = json.dumps({"request": {"query": "bookings"}, "folder": "", "version": __version__}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(_sockets(host)[0]))
        connection.sendall(request_of(deciding(host.env, {}), given))
        connection.shutdown(socket.SHUT_WR)
        return connection.recv(1) == ANSWERED


def _recall(host: Host, *arguments: str) -> tuple[int, bytes, bytes]:
    return program().run(["recall", *arguments], stdin=b"", cwd=host.data, env=host.env, timeout=120)


def _sockets(host: Host) -> list[Path]:
    return sorted(host.data.glob("hook-*.sock"))


def test_a_process_that_stays_gives_the_answer_that_a_hook_gives_by_itself(stored: Host) -> None:
    alone = stored.hook(_begun())
    with _mcp(stored):
        asked = stored.hook(_begun())

    assert DECISION in alone.context
    assert asked == alone


@pytest.mark.parametrize(
    "arguments",
    [
        ("which database keeps the bookings?",),
        ("which database keeps the bookings?", "--json", "-n", "3"),
        ("nothing of the kind", "--project", "harbour"),
        ("bookings", "--kind", "decision", "--since", "30d"),
        ("bookings", "--user", "zoe"),
        ("bookings", "--since", "no such day"),
    ],
)
def test_a_recall_at_the_terminal_is_answered_by_a_process_that_stays_as_it_is_without_one(
    stored: Host, arguments: tuple[str, ...]
) -> None:
    """39 §4."""
    alone = _recall(stored, *arguments)
    with _mcp(stored):
        wait_until(lambda: _answers_recalls(stored))
        asked = _recall(stored, *arguments)
    assert asked == alone


def test_beside_a_process_that_stays_a_recall_loads_neither_vectors_nor_a_model(stored: Host) -> None:
    """39 §4."""
    code = "import sys; from picomem.cli.main import main; main(['recall', 'billing service']); print('numpy' in sys.modules)"
    with _mcp(stored):
        wait_until(lambda: _answers_recalls(stored))
        ran = subprocess.run([sys.executable, "-c", code], env=stored.env, capture_output=True, check=True, text=True)
    assert DECISION in ran.stdout and ran.stdout.endswith("False\n")


def test_a_recall_at_the_terminal_asks_a_process_that_stays(stored: Host) -> None:
    """39 §4. A stand-in that answers nothing of picomem's is passed over."""
    with _standing_in(stored, b"+{no answer}\n") as requests:
        code, out, _ = _recall(stored, "which database?")
        assert requests and b'"request"' in requests[0] and code == 0 and DECISION.encode() in out


def test_the_key_of_a_store_is_told_to_nobody_who_listens(stored: Host) -> None:
    """42 §1."""
    key = "5e" * 32
    with _standing_in(stored, b'+{"from": "the socket"}\n') as requests:
        stored.hook(_begun(), PICOMEM_STORE_KEY=key)
        assert requests and b"PICOMEM_STORE_KEY=" in requests[0] and key.encode() not in requests[0]


def test_the_socket_is_its_owners_and_gone_with_the_process(stored: Host) -> None:
    with _mcp(stored) as process:
        (path,) = _sockets(stored)
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        assert stat.S_IMODE(stored.data.stat().st_mode) == 0o700
        process.communicate(timeout=60)  # the host ends

    assert _sockets(stored) == []


def test_a_hook_asks_the_process_that_stays(stored: Host) -> None:
    """A stand-in answers what picomem never would."""
    with _standing_in(stored, b'+{"from": "the socket"}\n') as requests:
        run = stored.hook(_begun())

    assert run.answer == {"from": "the socket"}
    assert json.loads(requests[0].partition(b"\0\0")[2]) == _begun()


@pytest.mark.parametrize("reply", [b".", b"", b"rubbish", b"+", b"+rm -rf", b'+{"hookSpecificOutput": {"addi'])
def test_where_that_process_gives_no_answer_a_hook_answers_by_itself(stored: Host, reply: bytes) -> None:
    with _standing_in(stored, reply):
        assert DECISION in stored.hook(_begun()).context


def test_the_socket_of_a_killed_process_is_removed(stored: Host) -> None:
    with _mcp(stored) as process:
        process.kill()
        process.wait()
        assert len(_sockets(stored)) == 1

        assert DECISION in stored.hook(_begun()).context
        assert _sockets(stored) == []


def test_the_socket_of_a_killed_process_is_removed_when_another_starts(stored: Host) -> None:
    with _mcp(stored) as process:
        process.kill()
        process.wait()
    (left,) = _sockets(stored)
    with _mcp(stored):
        wait_until(lambda: left not in _sockets(stored))
        wait_until(lambda: len(_sockets(stored)) == 1)


@pytest.mark.reliability("S14")
def test_a_process_that_hangs_does_not_hold_a_host_up(stored: Host) -> None:
    with _mcp(stored) as process:
        process.send_signal(signal.SIGSTOP)
        for _ in range(amount(3, 100)):
            hook = stored.start("--wait", "1")
            out, err = hook.communicate(json.dumps(_begun()).encode(), timeout=HOSTS_PATIENCE)
            assert (hook.returncode, err) == (0, b"")
            assert isinstance(json.loads(out), dict)

        assert DECISION in stored.hook(_begun(), "--wait", "8").context  # it gives up on the process after 4


def test_a_process_of_another_database_is_not_asked(stored: Host) -> None:
    other = stored.home / "other.db"
    with picomem.open(other) as memory:
        memory.remember("Lunch is at noon on Fridays", kind="fact")

    with _mcp(stored):
        assert "Lunch" in stored.hook(_begun(), "--db", str(other)).context
    with _mcp(stored, "--db", str(other)):
        assert DECISION in stored.hook(_begun()).context
        assert "Lunch" in stored.hook(_begun(), "--db", str(other)).context


@pytest.mark.parametrize("named", ["ann", "tui:ann"])
def test_a_user_is_answered_with_that_users_memory(stored: Host, named: str) -> None:
    with picomem.open(stored.store, user="ann") as memory:
        memory.remember("Lunch is at noon on Fridays", kind="fact")

    with _mcp(stored):
        context = stored.hook(_begun(), "--user", named).context

    assert "Lunch" in context
    assert DECISION not in context


def test_settings_that_were_changed_meanwhile_hold(stored: Host) -> None:
    with _mcp(stored):
        (stored.data / "config.toml").write_text("[index]\nbudget = 100\n")
        (stored.data / "config.toml").chmod(0o600)
        with_settings = stored.hook(_begun())

    assert with_settings == stored.hook(_begun())


def test_what_a_process_injected_is_noted_for_the_session(stored: Host) -> None:
    question = _begun(
        hook_event_name="UserPromptSubmit", prompt="which database does the billing service use?", source="user"
    )
    with _mcp(stored):
        assert DECISION in stored.hook(question).context
        wait_until(lambda: stored.hook(question).answer == {})


def test_other_variables_mean_another_memory(stored: Host) -> None:
    with _mcp(stored):
        assert stored.hook(_begun(), PICOMEM_DATA_DIR=str(stored.home / "elsewhere")).answer == {}
        assert NOTHING_YET in stored.hook(_begun(), PICOMEM_DATA_USER="ann").context


def test_a_relative_path_means_another_memory_in_another_folder(stored: Host) -> None:
    for name in ("a", "b"):
        (stored.home / name).mkdir()
        with picomem.open(stored.home / name / "mem.db") as memory:
            memory.remember(f"Lunch of team {name} is at noon on Fridays", kind="fact")
    env = {**stored.env, "PICOMEM_DB": "mem.db"}
    command = [sys.executable, "-m", "picomem", "mcp"]
    with subprocess.Popen(
        command, env=env, cwd=stored.home / "a", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as mcp:
        wait_until(lambda: _sockets(stored))
        hook = [sys.executable, "-m", "picomem.hooks.hook", "--wait", "60"]
        asked = json.dumps(_begun()).encode()
        run = subprocess.run(hook, env=env, cwd=stored.home / "b", input=asked, capture_output=True, check=True)
        mcp.communicate(timeout=60)

    assert b"team b" in run.stdout
    assert b"team a" not in run.stdout


@pytest.mark.parametrize("reach", ["folder", "socket"])
def test_a_socket_that_others_could_have_made_is_not_asked(stored: Host, reach: str) -> None:
    with _standing_in(stored, b'+{"from": "somebody else"}\n', asked=False):
        (stored.data if reach == "folder" else stored.data / "hook-1.sock").chmod(0o777)
        context = stored.hook(_begun()).context

    assert DECISION in context


def test_what_is_no_socket_is_left_alone(stored: Host) -> None:
    (stored.data / "hook-notes.sock").write_text("mine")

    assert DECISION in stored.hook(_begun()).context
    assert (stored.data / "hook-notes.sock").read_text() == "mine"


@contextmanager
def _standing_in(host: Host, reply: bytes, *, asked: bool = True) -> Iterator[list[bytes]]:
    """A process that answers one hook with some bytes, if it is `asked`; what it was asked."""
    requests: list[bytes] = []
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(os.fspath(host.data / "hook-1.sock"))
    (host.data / "hook-1.sock").chmod(0o600)
    listening.listen()

    def serve() -> None:
        connection, _ = listening.accept()
        request = b""
        while piece := connection.recv(1 << 16):
            request += piece
        requests.append(request)
        connection.sendall(reply)
        connection.close()

    thread = Thread(target=serve)
    if asked:
        thread.start()
    try:
        yield requests
    finally:
        if asked:
            thread.join(60)
        listening.close()

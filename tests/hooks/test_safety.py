"""A hook never harms its host (S14): whatever is wrong, it prints what the host takes for nothing, ends with 0, and in
time; and what went wrong stands in the log that `picomem status` names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import monotonic

import apsw
import pytest
from tests.amounts import amount
from tests.hooks.conftest import HOSTS_PATIENCE, Host
from tests.waiting import wait_until

import picomem

pytestmark = [pytest.mark.reliability("S14"), pytest.mark.sqlite_file("locks, cuts and damages the file")]

CASES = amount(3, 100)
EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop", "SessionEnd")


def _event(number: int, home: Path) -> bytes:
    return json.dumps(
        {
            "hook_event_name": EVENTS[number % len(EVENTS)],
            "session_id": f"s{number}",
            "cwd": str(home),
            "source": "startup" if number % len(EVENTS) == 0 else "user",
            "prompt": "which database does the billing service use?",
            "transcript_path": str(home / "transcript.jsonl"),
        }
    ).encode()


def _is_harmless(process: subprocess.Popen[bytes], given: bytes | None) -> None:
    """The program ends in the time that hosts give it, and says nothing. With None its input stays open."""
    try:
        if given is None:
            process.wait(HOSTS_PATIENCE)
        out, err = process.communicate(given, timeout=HOSTS_PATIENCE)
    finally:
        process.kill()
    assert (process.returncode, out, err) == (0, b"{}\n", b"")


def _store(host: Host) -> None:
    with picomem.open(host.store) as memory:
        memory.remember("The billing service uses PostgreSQL 16", kind="decision")


@contextmanager
def _held(path: Path, mode: str) -> Iterator[None]:
    """Keep the file locked."""
    connection = apsw.Connection(str(path))
    connection.execute(mode)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.close()


def test_without_a_store_a_hook_says_nothing_and_makes_none(host: Host) -> None:
    for number in range(CASES):
        _is_harmless(host.start(), _event(number, host.home))

    assert not host.store.exists()


def test_beside_a_locked_store_a_hook_ends_in_time(host: Host) -> None:
    _store(host)
    with _held(host.store, "PRAGMA locking_mode=EXCLUSIVE"):
        for number in range(CASES):
            _is_harmless(host.start("--wait", "0.8"), _event(number, host.home))


def test_a_damaged_store_is_left_as_it_is(host: Host) -> None:
    _store(host)
    whole = host.store.read_bytes()
    chance = Random(14)
    for number in range(CASES):
        damaged = bytearray(whole)
        at = chance.randrange(len(damaged) - 4_096)
        damaged[at : at + 4_096] = chance.randbytes(4_096)
        host.store.write_bytes(bytes(damaged[: chance.choice((100, 4_096, len(damaged)))] if number % 2 else damaged))
        process = host.start()
        try:
            out, err = process.communicate(_event(number, host.home), timeout=HOSTS_PATIENCE)
        finally:
            process.kill()
        assert (process.returncode, err) == (0, b"")
        assert isinstance(json.loads(out), dict)


@pytest.mark.parametrize("number", range(len(EVENTS)))
def test_a_store_that_was_cut_to_nothing_is_left_and_named_in_the_log(host: Host, number: int) -> None:
    (host.home / "transcript.jsonl").write_text('{"role": "user", "content": "the exporter runs at four"}\n')
    _store(host)
    os.truncate(host.store, 0)

    _is_harmless(host.start("--wait", "30"), _event(number, host.home))

    wait_until(host.problems, seconds=HOSTS_PATIENCE)
    assert f"{host.store} is empty, so there is no store in it" in host.problems()[0]
    assert host.store.stat().st_size == 0


def test_a_host_that_never_ends_its_input_gets_its_answer(host: Host) -> None:
    _store(host)
    for number in range(CASES):
        process = host.start("--wait", "0.8")
        assert process.stdin is not None
        process.stdin.write(_event(number, host.home)[: number % 50])
        process.stdin.flush()
        process.wait(HOSTS_PATIENCE)
        assert process.stdout is not None
        assert (process.returncode, process.stdout.read()) == (0, b"{}\n")
        process.stdin.close()

    assert set(host.problems()) == {"The host did not end its input in time."}


def test_rubbish_is_answered_with_nothing(host: Host) -> None:
    _store(host)
    chance = Random(41)
    rubbish = [
        b"", b"\0" * 9, b"null", b"[]", b'"x"', b"{", b"[" * 100_000, b"\xff\xfe{}", b"{}" * 9, b"1e999", b"x" * 5_000_000,
        b'{"hook_event_name": 1, "prompt": [], "cwd": {}, "session_id": null, "transcript_path": 3}',
        b'{"hook_event_name": "Stop", "transcript_path": "/dev/zero"}',
        b'{"hook_event_name": "Stop", "transcript_path": "' + b"x" * 4_000 + b'"}',
        b'{"hook_event_name": "Stop", "transcript_path": "a\\u0000b", "cwd": "a\\u0000b"}',
        b'{"hook_event_name": "UserPromptSubmit", "prompt": "\\ud800", "cwd": "\\udcff", "session_id": "\\ud800"}',
        b'{"hook_event_name": "UserPromptSubmit", "prompt": "' + b"a" * 900_000 + b'"}',
        *(chance.randbytes(chance.randrange(1, 400)) for _ in range(CASES)),
    ]  # fmt: skip
    for given in rubbish:
        _is_harmless(host.start("--wait", "30") if len(given) > 100_000 else host.start(), given)


def test_a_host_that_is_gone_is_no_fault(host: Host) -> None:
    _store(host)
    for number in range(CASES):
        process = host.start()
        assert process.stdout is not None
        process.stdout.close()
        assert process.stdin is not None
        process.stdin.write(_event(number, host.home))
        process.stdin.close()
        assert process.wait(HOSTS_PATIENCE) == 0


@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "0>write-only"])
def test_a_host_that_closes_the_streams_is_not_harmed(host: Host, streams: str) -> None:
    _store(host)
    run = subprocess.run(
        ["sh", "-c", f'"$0" -m picomem.hooks.hook --wait 30 {streams}', sys.executable],
        input=_event(1, host.home),
        env=host.env,
        cwd=host.home,
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert run.returncode == 0
    assert run.stderr == b""


@pytest.mark.parametrize(
    "arguments", [["--db"], ["--nonsense", "1"], ["x", "y"], ["--wait", "nan"], ["--wait", "-1"], ["--user", ""]]
)
def test_a_hook_that_is_called_wrongly_says_so_in_its_log(host: Host, arguments: list[str]) -> None:
    _is_harmless(host.start(*arguments), _event(1, host.home))

    assert len(host.problems()) == 1


def test_where_nothing_can_be_written_a_hook_is_silent(host: Host) -> None:
    host.data.write_text("a file where the folder should be")
    for number in range(len(EVENTS)):
        _is_harmless(host.start("--wait", "30"), _event(number, host.home))


def test_settings_that_are_wrong_are_named_in_the_log(host: Host) -> None:
    host.data.mkdir()
    (host.data / "config.toml").write_text("[hooks]\ntoken_bugdet = 3\n")
    _is_harmless(host.start("--wait", "30"), _event(1, host.home))

    assert "token_bugdet" in host.problems()[0]


def test_a_wait_beyond_all_bounds_is_no_fault(host: Host) -> None:
    _store(host)
    _is_harmless(host.start("--wait", "9" * 30), b'{"hook_event_name": "Notification"}')


def test_the_log_is_lines_whatever_a_host_names_its_files(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    from picomem.engine import hook_log

    monkeypatch.setenv("PICOMEM_DATA_DIR", str(host.data))
    hook_log.note("/tmp/a\u2028b\x9b31m\nc is no file")

    assert "is no file" in hook_log.latest()
    assert host.log.read_bytes().isascii()


def test_status_names_what_went_wrong_and_the_log(host: Host) -> None:
    _store(host)
    _is_harmless(host.start("--wait", "30"), b"rubbish")

    shown = subprocess.run(
        [sys.executable, "-m", "picomem", "status"], env=host.env, capture_output=True, text=True, check=False
    )

    assert "The host's input is not an event: no JSON object." in shown.stdout + shown.stderr
    assert str(host.log) in shown.stdout + shown.stderr


def test_the_log_stays_small_and_keeps_what_is_new(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    from picomem.engine import hook_log

    monkeypatch.setenv("PICOMEM_DATA_DIR", str(host.data))
    for number in range(2_000):
        hook_log.note(f"problem {number} " + "x" * 100)

    assert host.log.stat().st_size < 70_000
    assert host.problems()[-1].startswith("problem 1999 ")
    assert os.stat(host.log).st_mode & 0o777 == 0o600


def test_hooks_of_many_sessions_do_not_hinder_each_other(host: Host) -> None:
    _store(host)
    (host.home / "transcript.jsonl").write_text(
        json.dumps({"role": "user", "content": "the exporter runs at four in the morning"}) + "\n"
    )
    started = monotonic()
    processes = [host.start("--wait", "60") for _ in range(6)]
    for number, process in enumerate(processes):
        assert process.stdin is not None
        process.stdin.write(_event(number, host.home))
        process.stdin.close()
    for process in processes:
        assert process.stdout is not None
        assert isinstance(json.loads(process.stdout.read()), dict)
        assert process.wait(60) == 0

    assert monotonic() - started < 60
    assert host.problems() == []


QUESTION = {"hook_event_name": "UserPromptSubmit", "cwd": "/work/billing", "prompt": "which database does billing use?"}
BEGUN = {"hook_event_name": "SessionStart", "cwd": "/work/billing", "source": "startup"}


@pytest.mark.parametrize("event", [BEGUN, QUESTION], ids=["SessionStart", "UserPromptSubmit"])
def test_a_host_that_leaves_its_input_open_is_answered_as_soon_as_the_event_is_whole(
    host: Host, event: dict[str, str]
) -> None:
    _store(host)
    process = host.start("--wait", "60")
    assert process.stdin is not None
    assert process.stdout is not None
    for piece in (json.dumps(event).encode()[:20], json.dumps(event).encode()[20:]):
        process.stdin.write(piece)
        process.stdin.flush()

    assert b"PostgreSQL 16" in process.stdout.read()  # with the input open
    assert process.wait(HOSTS_PATIENCE) == 0
    process.stdin.close()
    assert host.problems() == []


@pytest.mark.parametrize(
    ("said", "given"),
    [
        (b"billing use?", b"billing use\xff?"),
        (b"billing use?", b"billing\0use?"),
        (b"billing use?", b"billing use?\n"),
        (b"}", b"}\0"),
        (b"}", b"}\n\xff\xfe"),
        (b"{", b"\xef\xbb\xbf{"),
        (b"{", b" \0\n{"),
    ],
)
def test_a_character_that_is_none_costs_itself_and_not_the_answer(host: Host, said: bytes, given: bytes) -> None:
    _store(host)

    assert "PostgreSQL 16" in host.hook(json.dumps(QUESTION).encode().replace(said, given)).context


def test_each_event_has_the_time_that_its_host_leaves_it(host: Host) -> None:
    _store(host)
    seconds = []
    with _held(host.store, "PRAGMA locking_mode=EXCLUSIVE"):
        for event in (QUESTION, BEGUN):
            started = monotonic()
            _is_harmless(host.start(), json.dumps(event).encode())
            seconds.append(monotonic() - started)

    assert host.problems() == ["There was no answer in time."] * 2
    assert seconds[0] >= 2.5
    assert seconds[1] >= 4


def test_what_a_host_does_not_wait_for_is_done_however_long_it_takes(host: Host) -> None:
    _store(host)
    transcript = host.home / "transcript.jsonl"
    transcript.write_text('{"role": "user", "content": "the exporter runs at four in the morning"}\n')
    event = {"hook_event_name": "Stop", "cwd": "/work/billing", "transcript_path": str(transcript)}
    with _held(host.store, "PRAGMA journal_mode"):
        _is_harmless(host.start("--wait", "1"), json.dumps(event).encode())

    with picomem.open(host.store) as memory:
        wait_until(
            lambda: memory.recall("when does the exporter run?", include_memories=False).hits, seconds=HOSTS_PATIENCE
        )

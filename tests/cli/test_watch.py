"""`picomem ingest --watch`, as a real process: what is appended appears in the database; Ctrl-C stops it."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.databases import chosen, open_memory

from picomem.engine.job_store import cancel_job

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it needs SIGINT")

_PATIENCE = 60  # seconds: a deadline, not a delay

Watch = Callable[..., "Watched"]


class Watched:
    """The process; `stdout` and `stderr` collect what it said so far."""

    def __init__(self, db: Path, home: Path, *arguments: str) -> None:
        command = [
            sys.executable,
            "-m",
            "picomem.cli.main",
            "--db",
            chosen().named(db),
            "ingest",
            "--watch",
            *arguments,
        ]
        environment = {
            **os.environ,
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": "",
            "CODEX_HOME": "",
            "XDG_DATA_HOME": "",
            "PYTHONFAULTHANDLER": "1",
        }
        self._process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home,
            env=environment,
        )
        self._db = db
        self.said = {"stdout": "", "stderr": ""}

    def reads(self, expected: Callable[[], bool]) -> None:
        """Wait for what is expected, at most as long as a deadline."""
        deadline = time.monotonic() + _PATIENCE
        while not expected():
            if time.monotonic() >= deadline:
                self._process.send_signal(signal.SIGABRT)  # faulthandler says where it stands
                self.ended()
            assert time.monotonic() < deadline, self.said
            assert self._process.poll() is None, self.said
            self._listen(0.1)

    def previews(self) -> list[str]:
        if not self.is_watching():  # before that there may be no store yet
            return []
        return [preview for (preview,) in chosen().rows(self._db, "SELECT preview FROM episodes ORDER BY doc")]

    def is_watching(self) -> bool:
        return "watching" in self.said["stderr"]

    def stop(self) -> int:
        """Ctrl-C; the exit code."""
        self._process.send_signal(signal.SIGINT)
        return self.ended()

    def terminate(self) -> int:
        """What a service manager does; the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        """Wait until it has ended by itself; the exit code."""
        out, err = self._process.communicate(timeout=_PATIENCE)
        self.said["stdout"] += out.decode()
        self.said["stderr"] += err.decode()
        return self._process.returncode

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()

    def _listen(self, seconds: float) -> None:
        streams = {"stdout": self._process.stdout, "stderr": self._process.stderr}
        ready, _, _ = select.select([stream for stream in streams.values() if stream], [], [], seconds)
        for name, stream in streams.items():
            if stream in ready:
                self.said[name] += os.read(stream.fileno(), 65536).decode()


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watch]:
    started: list[Watched] = []

    def _watch(*arguments: object, db: Path = tmp_path / "db" / "memory.db", home: Path = tmp_path) -> Watched:
        started.append(Watched(db, home, *map(str, arguments)))
        return started[-1]

    yield _watch
    for process in started:
        process.end()


def _say(path: Path, *texts: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps({"role": "user", "content": text}) + "\n" for text in texts)


def test_what_is_appended_appears_and_an_interrupt_stops_it_with_a_sentence(watch, tmp_path):
    path = tmp_path / "logs" / "chat.jsonl"
    _say(path, "First words")
    process = watch(tmp_path / "logs")
    process.reads(process.is_watching)
    assert process.previews() == ["First words"]
    for number in range(20):  # a burst
        _say(path, f"Burst {number}")
    process.reads(lambda: len(process.previews()) == 21)
    _say(tmp_path / "logs" / "new" / "other.jsonl", "In a new folder")
    process.reads(lambda: "In a new folder" in process.previews())
    assert process.stop() in (0, 130)
    assert "Traceback" not in process.said["stderr"]
    assert "stopped" in process.said["stderr"]
    assert process.previews() == ["First words", *(f"Burst {number}" for number in range(20)), "In a new folder"]


def test_a_service_manager_stops_it_as_calmly(watch, tmp_path):
    path = tmp_path / "logs" / "chat.jsonl"
    _say(path, "First words")
    process = watch(tmp_path / "logs")
    process.reads(process.is_watching)
    for number in range(200):
        _say(path, f"Burst {number}")
    assert process.terminate() == 0  # whether or not it has begun to read them
    assert "told to stop" in process.said["stderr"]
    assert "Traceback" not in process.said["stderr"]
    kept = process.previews()
    assert kept == ["First words", *(f"Burst {number}" for number in range(200))][: len(kept)]
    again = watch(tmp_path / "logs")
    again.reads(lambda: len(again.previews()) == 201)
    assert again.terminate() == 0


@pytest.mark.requirement("X10")
def test_of_two_that_watch_the_same_folder_one_waits_and_goes_on_when_the_other_ends(watch, tmp_path):
    path = tmp_path / "logs" / "chat.jsonl"
    _say(path, "First words")
    first = watch(tmp_path / "logs")
    first.reads(first.is_watching)
    second = watch("logs")  # the same folder by another name
    second.reads(lambda: "another process watches" in second.said["stderr"])
    assert first.terminate() == 0
    _say(path, "Second words")
    second.reads(second.is_watching)
    second.reads(lambda: second.previews() == ["First words", "Second words"])
    assert second.terminate() == 0


def test_it_ends_when_its_job_is_cancelled(watch, tmp_path, db):
    path = tmp_path / "logs" / "chat.jsonl"
    _say(path, "First words")
    process = watch(tmp_path / "logs", db=db)
    process.reads(process.is_watching)
    with open_memory(db, embedder="none") as memory:
        assert cancel_job(memory, "watch").is_cancelling
    assert process.ended() == 0
    assert "cancelled" in process.said["stderr"]
    again = watch(tmp_path / "logs", db=db)  # a person asked for it, and the job need not rest
    again.reads(again.is_watching)
    assert again.terminate() == 0


def test_with_json_every_reading_that_found_something_is_one_line(watch, tmp_path):
    path = tmp_path / "logs" / "chat.jsonl"
    _say(path, "First words")
    process = watch(tmp_path / "logs", "--json")
    process.reads(process.is_watching)
    _say(path, "Second words")
    process.reads(lambda: process.said["stdout"].count("\n") == 2)
    process.stop()
    assert [json.loads(line)["episodes"] for line in process.said["stdout"].splitlines()] == [1, 1]


def test_a_folder_that_is_taken_away_and_comes_back_is_followed_again(watch, tmp_path):
    folder = tmp_path / "logs"
    _say(folder / "chat.jsonl", "Before")
    process = watch(folder)
    process.reads(process.is_watching)
    folder.rename(tmp_path / "away")
    shutil.rmtree(tmp_path / "away")
    _say(folder / "chat.jsonl", "Before", "After")
    process.reads(lambda: process.previews() == ["Before", "After"])
    _say(folder / "chat.jsonl", "And on")
    process.reads(lambda: process.previews() == ["Before", "After", "And on"])
    assert process.stop() in (0, 130)


def test_a_hosts_own_folder_that_appears_later_is_followed(watch, tmp_path):
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    process = watch()
    process.reads(process.is_watching)
    record = {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user", "content": "From Claude"}}
    path = tmp_path / ".claude" / "projects" / "p" / "s.jsonl"
    path.parent.mkdir()
    path.write_text(json.dumps(record) + "\n")
    process.reads(lambda: process.previews() == ["From Claude"])
    _say(tmp_path / ".nanobot" / "workspace" / "sessions" / "a.jsonl", "From nanobot")
    process.reads(lambda: process.previews() == ["From Claude", "From nanobot"])


def test_a_hosts_database_is_followed_and_what_lies_in_folders_beside_it_is_not(watch, tmp_path):
    folder = tmp_path / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    with closing(apsw.Connection(str(folder / "opencode.db"))) as host:
        host.execute("PRAGMA journal_mode = wal").fetchall()
        host.execute("CREATE TABLE session(id); CREATE TABLE message(id, session_id, data)")
        host.execute("CREATE TABLE part(id, message_id, data)")
        process = watch()
        process.reads(process.is_watching)
        _say(folder / "repos" / "x" / "data.jsonl", "From a repository")
        for number, text in enumerate(("From OpenCode", "Again")):
            data = json.dumps({"type": "text", "text": text})
            host.execute("INSERT INTO message VALUES (?, 'ses_1', '{\"role\":\"user\"}')", (f"msg_{number}",))
            host.execute("INSERT INTO part VALUES (?, ?, ?)", (f"prt_{number}", f"msg_{number}", data))
            process.reads(lambda: process.previews()[-1:] == [text])  # noqa: B023 - it is called at once
        assert process.previews() == ["From OpenCode", "Again"]
    assert process.stop() in (0, 130)


@pytest.mark.requirement("O17")
def test_a_session_that_its_host_denies_meanwhile_is_withheld_without_a_change_of_its_transcript(watch, tmp_path):
    folder = tmp_path / ".openclaw" / "agents" / "main" / "sessions"
    said = {"role": "user", "content": "The crane is rented from Nordic", "timestamp": 1_777_800_000_000}
    header = {"type": "session", "version": 3, "id": "s1", "cwd": "/w"}
    folder.mkdir(parents=True)
    (folder / "s1.jsonl").write_text(
        f"{json.dumps(header)}\n{json.dumps({'type': 'message', 'id': 'm', 'parentId': None, 'message': said})}\n"
    )

    def lists(**entry: str) -> None:
        (folder / "new.json").write_text(json.dumps({"agent:main:main": {"sessionId": "s1", **entry}}))
        (folder / "new.json").rename(folder / "sessions.json")

    def policies() -> list[tuple[str, str | None]]:
        return chosen().rows(tmp_path / "db" / "memory.db", "SELECT send_policy, policy_by FROM transcripts")

    lists()
    process = watch()
    process.reads(process.is_watching)
    assert policies() == [("private", None)]
    lists(sendPolicy="deny")
    process.reads(lambda: policies() == [("deny", "host")])
    lists(sendPolicy="allow")
    process.reads(lambda: policies() == [("private", None)])
    lists()
    settings = tmp_path / ".openclaw" / "openclaw.json"
    settings.write_text('{"session": {"sendPolicy": {"default": "deny"}}}')
    process.reads(lambda: policies() == [("deny", "host")])
    settings.write_text("{}")
    process.reads(lambda: policies() == [("private", None)])
    assert process.stop() in (0, 130)


def test_one_file_is_followed_alone_also_when_it_is_rotated(watch, tmp_path):
    path = tmp_path / "logs" / "talk.log"
    _say(path, "First words")
    _say(tmp_path / "logs" / "other.jsonl", "Not asked for")
    process = watch(path)
    process.reads(process.is_watching)
    path.rename(tmp_path / "logs" / "talk.log.1")
    process.reads(
        lambda: "talk.log" in process.said["stderr"].partition("stops.")[2]
    )  # it is missing, and that is said
    _say(path, "Second words")
    process.reads(lambda: process.previews() == ["First words", "Second words"])
    assert process.stop() in (0, 130)


@pytest.mark.sqlite_file("the file lies in the watched folder")
def test_a_database_in_the_watched_folder_does_not_keep_it_busy(watch, tmp_path):
    _say(tmp_path / "logs" / "chat.jsonl", "First words")
    db = tmp_path / "logs" / "memory.db"
    process = watch(tmp_path / "logs", db=db)
    process.reads(process.is_watching)
    _say(tmp_path / "logs" / "chat.jsonl", "Second words")
    process.reads(lambda: len(process.previews()) == 2)
    _say(tmp_path / "logs" / "chat.jsonl", "Third words")
    process.reads(lambda: len(process.previews()) == 3)
    with closing(apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        ((_, frames, _),) = connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    assert frames < 240  # three stretches were read; each pass that writes is 10 frames and more


@pytest.mark.parametrize("named", [False, True], ids=["in its usual place", "named"])
def test_a_hosts_database_is_followed_while_the_host_has_it_open(watch, tmp_path, named):
    path = tmp_path / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    with closing(apsw.Connection(str(path))) as host:
        host.execute("PRAGMA journal_mode = WAL").fetchall()
        host.execute("CREATE TABLE transcript_events(session_id, seq, event_json, PRIMARY KEY (session_id, seq))")
        host.execute("CREATE TABLE session_windows(session_id, session_key)")
        host.execute("INSERT INTO session_windows VALUES ('s1', 'agent:main:main')")

        def say(seq: int, text: str) -> None:
            record = {"type": "message", "id": f"e{seq}", "message": {"role": "user", "content": text}}
            host.execute("INSERT INTO transcript_events VALUES ('s1', ?, ?)", (seq, json.dumps(record)))

        say(0, "First words")
        process = watch(*[path] * named)
        process.reads(process.is_watching)
        say(1, "Second words")
        process.reads(lambda: process.previews() == ["First words", "Second words"])
        assert process.stop() in (0, 130)


def test_nothing_to_watch_is_an_error_in_one_sentence(watch, tmp_path):
    process = watch(tmp_path / "nowhere" / "at" / "all")
    assert process.ended() == 2
    assert process.said["stderr"].startswith("picomem: There is nothing to watch")
    assert process.said["stderr"].count("\n") == 1

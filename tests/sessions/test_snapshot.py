"""PicoBot's sessions.json is taken over once, whatever happens in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from picomem import open as open_memory
from picomem.engine.engine import Engine
from picomem.engine.transcripts import import_sessions
from picomem.errors import InvalidInput
from picomem.records.session import Channel
from picomem.sessions.channel_users import user_of
from picomem.sessions.pairs import grouped

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def entry(id: str = "s-1", **fields: Any) -> dict[str, Any]:  # noqa: A002
    return {
        "id": id,
        "channel_type": "Whatsapp",
        "channel_id": "4917012345@s.whatsapp.net",
        "user_id": "whatsapp:4917012345@s.whatsapp.net",
        "conversation": [
            {"System": {"content": "You are PicoBot."}},
            {"User": {"content": "Which boats are moored?"}},
            {"AssistantToolCalls": {"tool_calls": [{"id": "c1", "name": "look", "arguments": {"at": "pier"}}]}},
            {"Tool": {"tool_call_id": "c1", "content": "Swift, Hope"}},
            {"Assistant": {"content": "The Swift and the Hope."}},
        ],
        "permissions": {"permissions": [{"FileRead": {"path": "/srv/**"}}]},
        "created_at": "2026-02-03T10:00:00.123456789Z",
        "last_active": "2026-02-04T10:00:00Z",
        "state": {"AwaitingPermission": {"tool": "shell", "request_id": "r"}},
        **fields,
    }


def snapshot(folder: Path, *entries: dict[str, Any]) -> Path:
    path = folder / "sessions.json"
    path.write_text(json.dumps({"sessions": list(entries)}, indent=2), "utf-8")
    return path


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data directory of its own, as the program finds it."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("PICOMEM_DATA_DIR", str(folder))
    monkeypatch.delenv("PICOMEM_DB", raising=False)
    return folder


def _contents(user: str, session: str) -> list[str]:
    with open_memory(user=user, embedder="none") as memory:
        return [message.content for message in memory.sessions().load(session).messages]


@pytest.mark.requirement("P11")
def test_a_snapshot_in_the_data_directory_is_taken_over_at_start_and_renamed(data: Path) -> None:
    other = entry("s-2", channel_type="Tui", channel_id="", user_id="tui:local", state="Idle")
    path = snapshot(data, entry(), other)
    with open_memory(user="whatsapp:4917012345@s.whatsapp.net", embedder="none") as memory:
        log = memory.sessions()
        ((session, count),) = log.page().sessions
        loaded = log.load(session.id)
    assert (session.id, session.channel, session.state, count) == ("s-1", Channel.WHATSAPP, "awaitingpermission", 5)
    assert session.title == "Which boats are moored?"
    assert json.loads(session.permissions) == [{"FileRead": {"path": "/srv/**"}}]
    assert [message.role for message in loaded.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert loaded.messages[2].tool_calls[0].arguments == '{"at": "pier"}'
    assert [len(group.messages) for group in grouped(loaded.messages)[0]] == [1, 1, 2, 1]
    assert len(_contents("local", "s-2")) == 5
    assert not path.exists()
    assert json.loads((data / "sessions.json.migrated").read_text("utf-8"))["sessions"][0]["id"] == "s-1"


@pytest.mark.requirement("P11")
@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"[]",
        b'{"sessions": [',
        b'{"sessions": [7]}',
        b'{"agent:main:main": {"sessionId": "x"}}',
        b"[" * 200_000,
        b'{"sessions":[{"id":"\xff"}]}',
        *(
            json.dumps({"sessions": [entry(), bad]}).encode()
            for bad in (
                entry(""),
                entry("s-1"),
                entry("s\n2"),
                entry("s-2", channel_type="Pigeon"),
                entry("s-2", conversation=7),
                entry("s-2", user_id="", channel_type="Api", channel_id=""),
            )
        ),
    ],
    ids=range(13),
)
def test_a_broken_snapshot_is_left_alone_and_told_in_a_sentence(broken: bytes, data: Path, caplog) -> None:
    path = data / "sessions.json"
    path.write_bytes(broken)
    with open_memory(embedder="none") as memory:
        memory.remember("The program starts", key="starts")
    assert [memory_.key for memory_ in memory_keys(data)] == ["starts"]
    (record,) = caplog.records
    assert record.getMessage().startswith("picomem: ")
    assert str(path) in record.getMessage()
    assert record.getMessage().count("\n") == 0
    assert path.read_bytes() == broken
    assert _no_sessions(data)


def memory_keys(data: Path) -> list[Any]:
    with open_memory(data / "picomem.db", embedder="none") as memory:
        return memory.memories()


def _no_sessions(data: Path) -> bool:
    with open_memory(data / "picomem.db", user="whatsapp:4917012345@s.whatsapp.net", embedder="none") as memory:
        return not memory.sessions().page().sessions


@pytest.mark.requirement("P11")
def test_the_same_snapshot_again_doubles_nothing_and_a_longer_one_adds_what_is_new(
    engine: Engine, tmp_path: Path
) -> None:
    path = snapshot(tmp_path, entry())
    first = import_sessions(engine, path)
    assert (first.sessions, first.messages, first.moved_to) == (1, 5, "")
    again = import_sessions(engine, path)
    assert (again.sessions, again.messages, again.differing) == (0, 0, ())
    longer = entry(conversation=[*entry()["conversation"], {"User": {"content": "And now?"}}])
    grown = import_sessions(
        engine, snapshot(tmp_path, longer, entry("s-2", conversation=[{"Video": 1}, {"User": {"content": ""}}]))
    )
    assert (grown.sessions, grown.messages, grown.skipped) == (1, 1, {"empty": 1, "unknown": 1})
    assert import_sessions(engine, path).messages == 0
    other = entry(conversation=[{"User": {"content": "Something else was said"}}])
    assert import_sessions(engine, snapshot(tmp_path, other)).differing == ("s-1",)


@pytest.mark.requirement("P11")
def test_a_run_that_was_killed_before_the_rename_is_finished_by_the_next(data: Path) -> None:
    path = snapshot(data, entry())
    user = entry()["user_id"]
    killed = (
        "import os, signal, sys\n"
        "sys.addaudithook(lambda event, _: event == 'os.rename' and os.kill(os.getpid(), signal.SIGKILL))\n"
        "import picomem\n"
        "picomem.open(embedder='none')\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", killed], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.exists()
    with open_memory(data / "picomem.db", user=user, embedder="none") as memory:
        before = memory.sessions().load("s-1").messages
    assert len(before) == 5
    with open_memory(user=user, embedder="none") as memory:
        assert memory.sessions().load("s-1").messages == before
    assert [file.name for file in data.glob("sessions.json*")] == ["sessions.json.migrated"]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(4 << 30)


@pytest.mark.requirement("P11", "X7")
@pytest.mark.parametrize("make", [_pipe, _device, _sparse, Path.mkdir])
def test_what_is_no_file_to_read_is_left_alone_and_told_and_the_program_starts(make, data: Path, caplog) -> None:
    path = data / "sessions.json"
    make(path)
    before = path.lstat()
    with open_memory(embedder="none") as engine:
        assert engine.status().memories == {}
        with pytest.raises(InvalidInput):
            import_sessions(engine, path)
    assert len(caplog.messages) == 1 and str(path) in caplog.text
    assert path.lstat().st_ino == before.st_ino


@pytest.mark.requirement("P11", "X10")
def test_processes_that_start_at_once_take_a_snapshot_over_once(data: Path) -> None:
    snapshot(data, *(entry(f"s-{number}") for number in range(20)))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", "import picomem; picomem.open(embedder='none').close()"]
    started = [subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate(timeout=60)[1] for process in started] == ["", "", ""]
    with open_memory(user=entry()["user_id"], embedder="none") as memory:
        page = memory.sessions().page(limit=50)
    assert [count for _, count in page.sessions] == [5] * 20
    assert [file.name for file in data.glob("sessions.json*")] == ["sessions.json.migrated"]


def test_an_earlier_migrated_file_is_not_overwritten(data: Path) -> None:
    (data / "sessions.json.migrated").write_text("earlier", "utf-8")
    snapshot(data, entry())
    open_memory(embedder="none").close()
    assert (data / "sessions.json.migrated").read_text("utf-8") == "earlier"
    assert "s-1" in (data / "sessions.json.migrated-2").read_text("utf-8")


def test_no_secret_of_a_snapshot_is_stored(engine: Engine, db: Path, tmp_path: Path) -> None:
    call = {"AssistantToolCalls": {"tool_calls": [{"id": "c", "name": "x", "arguments": {"deep": [KEY]}}]}}
    said = [{"User": {"content": KEY}}, call, {"Tool": {"tool_call_id": "c", "content": KEY}}]
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    given = entry(conversation=said, channel_id=KEY, permissions={"permissions": [{"NetAccess": {"domain": KEY}}]})
    import_sessions(engine, snapshot(folder, given))
    for file in db.parent.glob("memory.db*"):
        assert KEY.encode() not in file.read_bytes()


def test_a_file_that_is_not_there_is_said(engine: Engine, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="There is no file"):
        import_sessions(engine, tmp_path / "none.json")


@pytest.mark.requirement("P4")
def test_a_user_is_named_by_the_channel() -> None:
    assert user_of(Channel.WHATSAPP, name="+49 170 12345") == "whatsapp:4917012345@s.whatsapp.net"
    assert user_of(Channel.WHATSAPP, name="4917012345@s.whatsapp.net") == "whatsapp:4917012345@s.whatsapp.net"
    assert user_of(Channel.WEBSOCKET, key="0123456789abcdef") == "ws:01234567"
    assert user_of(Channel.WEBSOCKET, session="s-9") == "ws:s-9"
    assert (user_of(Channel.TUI), user_of(Channel.TUI, name="mia")) == ("tui:local", "tui:mia")
    assert user_of(Channel.API, key="0123456789abcdef") == "api:01234567"
    for channel in (Channel.WHATSAPP, Channel.WEBSOCKET, Channel.API):
        with pytest.raises(InvalidInput, match="whose this conversation is"):
            user_of(channel)


def test_a_session_without_a_user_is_its_channels(engine: Engine, tmp_path: Path) -> None:
    taken = import_sessions(engine, snapshot(tmp_path, entry(user_id="")))
    assert taken.users == ("whatsapp:4917012345@s.whatsapp.net",)

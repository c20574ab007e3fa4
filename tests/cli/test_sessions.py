"""Conversations with PicoBot at the terminal."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem
from tests.sessions.test_snapshot import KEY, entry, snapshot


def test_a_snapshot_is_imported_listed_and_read(picomem: Picomem, home: Path) -> None:
    talk = [{"User": {"content": f"message {number}"}} for number in range(60)]
    path = snapshot(home, entry(), entry("s-2", user_id="tui:local", channel_type="Tui", conversation=talk))
    done = picomem("import", "picobot", str(path))
    assert done.out.splitlines() == [
        f"{path} (picobot): 0 new memories, 0 changed, 0 known already, 0 refused, 0 unreadable.",
        "2 new conversations and 65 new messages.",
        "They belong to local, whatsapp:4917012345@s.whatsapp.net; `picomem sessions --user ID` lists those of one user.",
    ]
    assert path.exists()
    assert picomem("import", "picobot", str(path), "--json").json["messages"] == 0
    user = ("--user", "whatsapp:4917012345@s.whatsapp.net")
    listed = picomem("sessions", *user).out
    assert listed.startswith("Which boats are moored?\n   whatsapp · 5 messages · 2026-02-04 10:00 · s-1")
    shown = picomem("messages", "s-1", *user).out
    assert '   → look {"at": "pier"}' in shown
    assert "4. tool, 2026-02-04 10:00\n   Swift, Hope" in shown
    assert "s-2" in picomem("sessions").out  # as the terminal lists them
    long = picomem("messages", "s-2", "--user", "tui:local", "--json", "-n", "3").json
    assert ([message["number"] for message in long["messages"]], long["before"]) == ([58, 59, 60], 57)


def test_pages_follow_one_another(picomem: Picomem, home: Path) -> None:
    picomem("import", "picobot", str(snapshot(home, *(entry(f"s-{n}", user_id="ann") for n in range(3)))))
    first = picomem("sessions", "--user", "ann", "-n", "2", "--json").json
    second = picomem("sessions", "--user", "ann", "-n", "2", "--json", "--cursor", first["cursor"]).json
    assert [listed["session"]["id"] for page in (first, second) for listed in page["sessions"]] == ["s-2", "s-1", "s-0"]
    assert second["cursor"] == ""
    assert f"--cursor {first['cursor']}" in picomem("sessions", "--user", "ann", "-n", "2").out


def test_what_is_wrong_is_said_in_a_sentence(picomem: Picomem, home: Path) -> None:
    picomem("remember", "The Swift is moored at the north pier")
    assert "There are no such conversations" in picomem("sessions").out
    assert picomem("messages", "nobody").code == 3
    assert picomem("import", "picobot", str(home / "none.json")).code == 3
    (home / "sessions.json").write_text(json.dumps({"sessions": 7}), "utf-8")
    broken = picomem("import", "picobot", str(home / "sessions.json"))
    assert (broken.code, "no list of sessions" in broken.err) == (2, True)
    assert picomem("sessions", "-n", "0").code == 2
    assert picomem("sessions", "--cursor", "x").code == 2


@pytest.mark.sqlite_file("the snapshot lies beside the file")
def test_a_broken_snapshot_in_the_data_directory_is_reported_and_the_command_works(
    picomem: Picomem, home: Path
) -> None:
    assert picomem("remember", "The Swift is moored at the north pier").code == 0
    broken = home / "data" / "picomem" / "sessions.json"
    broken.write_text('{"sessions": [', "utf-8")
    done = picomem("recall", "Swift")
    assert (done.code, "north pier" in done.out) == (0, True)
    assert done.err.startswith("picomem: ")
    assert done.err.count("\n") == 1
    assert KEY not in done.err
    assert broken.exists()


def test_a_conversation_is_consolidated_by_hand(picomem: Picomem, home: Path) -> None:
    talk = [
        {"User": {"content": "The crane of pier nine squeaks. Remember that it is oiled on Mondays."}},
        {"Assistant": {"content": "It is oiled on Mondays; the squeak came from the winch."}},
    ]
    picomem("import", "picobot", str(snapshot(home, entry("s-1", user_id="ann", conversation=talk))))
    tried = picomem("consolidate", "s-1", "--dry-run", "--user", "ann").out
    assert "would keep by extractive" in tried
    assert "Nothing is new" not in picomem("consolidate", "--dry-run", "--user", "ann").out
    done = picomem("consolidate", "--user", "ann")
    assert "kept by extractive" in done.out
    assert "[2026-" in done.out
    assert picomem("consolidate", "--user", "ann").out == "Nothing is new in any conversation.\n"
    assert "s-1  nothing is new" in picomem("consolidate", "s-1", "--user", "ann").out
    hit = picomem("recall", "what squeaks", "--user", "ann", "--json").json["hits"][0]
    shown = picomem("show", hit["id"], "--user", "ann").out
    assert "1. user" in shown
    assert "the squeak came from the winch" in shown
    missing = picomem("consolidate", "nobody", "--user", "ann")
    assert missing.code == 3
    assert missing.err.startswith("picomem: ")


def test_a_model_that_cannot_be_reached_is_said_with_an_exit_code(picomem: Picomem, home: Path) -> None:
    talk = [{"User": {"content": "The crane of pier nine squeaks."}}, {"Assistant": {"content": "It is the winch."}}]
    picomem("import", "picobot", str(snapshot(home, entry("s-1", user_id="ann", conversation=talk))))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        env = {
            "PICOMEM_MEMORY_CONSOLIDATION_PROVIDER": "ollama",
            "PICOMEM_MEMORY_CONSOLIDATION_MODEL": "tiny",
            "PICOMEM_MEMORY_CONSOLIDATION_BASE_URL": f"http://127.0.0.1:{taken.getsockname()[1]}/v1",
        }
        failed = picomem("consolidate", "--user", "ann", env=env)
        assert failed.code == 8
        assert "the conversation waits as it is" in failed.out
        assert "! ollama:tiny: nobody answers" in failed.out
    assert picomem("recall", "crane", "--user", "ann", "--json").json["hits"] == []
    assert picomem("consolidate", "--user", "ann").code == 0
    wrong = picomem("consolidate", "--user", "ann", env=env | {"PICOMEM_MEMORY_CONSOLIDATION_PROVIDER": "olama"})
    assert wrong.code == 2
    assert "“olama” in [memory] is no provider" in wrong.err

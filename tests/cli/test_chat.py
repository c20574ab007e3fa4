"""`picomem chat` as a person uses it: the real program, the real client of the provider, a scripted server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem
from tests.cli.model_server import ModelServer, serving


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer()) as running:
        yield running


def test_a_question_is_answered_and_the_next_process_goes_on(picomem: Picomem, server: ModelServer) -> None:
    server.steps = [[("memory_store", {"content": "Ann drinks green tea", "key": "tea"})], "I will remember it.", "Green tea."]  # fmt: skip
    first = picomem("chat", "I", "am", "Ann", "and", "drink", "green", "tea.", env=server.env)
    assert (first.code, first.out) == (0, "I will remember it.\n")
    assert {tool["function"]["name"] for tool in server.asked[0]["tools"]} >= {"memory_store", "memory", "memory_audit"}
    said = first.err.split("--session ")[1].split("`")[0]
    again = picomem("chat", "--session", said, "What do I drink?", "--json", env=server.env)
    assert again.json["answer"] == "Green tea."
    assert again.json["session"].startswith(said)
    assert (again.json["input_tokens"], again.json["calls"], again.json["notices"]) == (7, [], [])
    roles = [message["role"] for message in server.asked[-1]["messages"]]
    assert roles[1:] == ["user", "assistant", "tool", "assistant", "user"]
    assert "- tea: Ann drinks green tea" in server.prompt()
    assert "Ann drinks green tea" in picomem("memories").out
    assert "agent:picobot" in picomem("why", "tea").out


def test_a_question_may_come_on_stdin_and_commands_too(picomem: Picomem, server: ModelServer) -> None:
    server.steps = ["It is a log."]
    piped = picomem("chat", stdin="What is this?\n\n12:00 started\n", env=server.env)
    assert piped.out == "It is a log.\n"
    assert server.asked[0]["messages"][-1]["content"] == "What is this?\n\n12:00 started"
    picomem("remember", "The staging database listens on port 5433", "--key", "staging_db_port")
    server.steps = ["Hello.", "Hello again."]
    lines = (
        "/memory;/why staging_db_port;hi;/new;hi again;/sessions;/forget staging_db_port;/memory port;/nothing;/help"
    )
    lines = f"{lines};/quit;never".replace(";", "\n")
    done = picomem("chat", stdin=lines, env=server.env)
    assert done.code == 0
    for printed in (
        "port 5433",
        "because",
        "Hello.\n",
        "Hello again.\n",
        "2 messages",
        "is archived",
        "Nothing was found",
        "/purge_older DAYS",
    ):
        assert printed in done.out, printed
    assert "There is no command /nothing" in done.err
    assert len(server.asked) == 3
    assert [message["role"] for message in server.asked[-1]["messages"]] == ["system", "user"]


def test_without_a_model_one_sentence_says_how_to_get_one(picomem: Picomem, home: Path) -> None:
    done = picomem("chat", "Hello?", env={"OLLAMA_HOST": "127.0.0.1:1"})
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "ollama pull" in done.err and "[model]" in done.err and "--model openai:" in done.err
    assert "no API key" in picomem("chat", "Hello?", "--model", "openai:gpt-5-mini").err
    assert not (home / "data").exists()


def test_ollama_on_this_machine_just_works(picomem: Picomem, server: ModelServer) -> None:
    server.steps = ["Here I am."]
    done = picomem("chat", "Hello?", env={"OLLAMA_HOST": f"127.0.0.1:{server.port}", "PICOMEM_RECALL_EMBEDDER": "none"})
    assert (done.code, done.out) == (0, "Here I am.\n")
    assert "talking with qwen3:8b" in done.err
    assert server.asked[0]["model"] == "qwen3:8b"


@pytest.mark.requirement("A12")
def test_memory_that_is_off_is_said_once_and_nothing_is_remembered(picomem: Picomem, server: ModelServer) -> None:
    server.steps = ["Yes.", "No."]
    env = {**server.env, "PICOMEM_MEMORY_ENABLED": "false"}
    picomem("remember", "The crane is yellow", "--key", "crane")
    done = picomem("chat", "Remember that the dog is called Rex.", env=env)
    assert done.out == "Yes.\n" and done.err.count("Memory is off") == 1
    assert "tools" not in server.asked[0] and "yellow" not in server.prompt()
    assert "Rex" not in picomem("memories").out
    on = picomem("chat", "Remember that the dog is called Rex.", env=server.env)
    assert "Memory is off" not in on.err
    assert "dog is called Rex" in picomem("memories").out


@pytest.mark.requirement("A12")
def test_a_store_that_cannot_be_opened_is_said_once_and_the_talk_goes_on(
    picomem: Picomem, server: ModelServer, home: Path
) -> None:
    broken = home / "broken.db"
    broken.write_bytes(b"this is no database" * 1_000)
    server.steps = ["Hello."]
    done = picomem("chat", "Hello?", "--db", str(broken), env=server.env)
    assert (done.code, done.out) == (0, "Hello.\n")
    assert done.err.count("goes on without it") == 1
    assert "tools" not in server.asked[0]
    assert broken.read_bytes() == b"this is no database" * 1_000
    refused = picomem("chat", "Hello?", "--db", str(broken), "--session", "01a2", env=server.env)
    assert refused.code == 2 and "cannot be continued" in refused.err


def test_a_model_that_fails_is_one_sentence_and_an_exit_code(picomem: Picomem, server: ModelServer) -> None:
    server.steps = [400]
    done = picomem("chat", "Hello?", env=server.env)
    assert done.code == 8
    assert "The model did not answer" in done.err and "Traceback" not in done.err
    server.steps = [400]
    as_json = picomem("chat", "Hello?", "--json", env=server.env)
    assert as_json.json["error"]["code"] == "generator_failed"
    assert picomem("chat", "Hello?", "--session", "nothing", env=server.env).code == 3
    assert picomem("chat", stdin="", env=server.env).code == 2


def test_after_a_few_turns_the_conversation_is_taken_up_into_memory(picomem: Picomem, server: ModelServer) -> None:
    server.steps = ["Noted.", "Sure.", "Done."]
    first = picomem("chat", "We decided to move the harbour database to port 6432.", "--json", env=server.env).json
    for text in ("Please plan the move for Tuesday.", "Thanks."):
        picomem("chat", "--session", first["session"], text, env=server.env)
    assert "6432" in picomem("timeline").out


def test_purging_is_asked_for_again_and_never_a_tool(picomem: Picomem, server: ModelServer) -> None:
    server.steps = [[("memory_store", {"content": "Ann drinks green tea", "key": "tea"})], "Noted.", "Hello.", "Bye."]
    picomem("remember", "The crane is yellow", "--key", "crane")
    lines = "/memory;I am Ann.;/purge_session;n;/sessions;/purge_session;y;/memory;hi;/sessions;/purge_older x"
    done = picomem("chat", stdin=lines.replace(";", "\n"), env=server.env)
    assert done.code == 0 and done.err.count("Nothing was purged.") == 1
    assert "Say how many days" in done.err
    assert "4 messages" in done.out and "2 messages" in done.out
    assert "tea" not in done.out.rpartition("purged")[2] and "green tea" not in picomem("memories").out
    assert not any("purge" in tool["function"]["name"] for tool in server.asked[0]["tools"])
    picomem("chat", stdin="/purge_user\nyes\n", env=server.env)
    assert "crane" not in picomem("memories").out
    assert "There are no such conversations" in picomem("sessions").out


def test_help_shows_how_it_is_used(picomem: Picomem) -> None:
    done = picomem("chat", "--help")
    assert done.code == 0
    for word in ("--session", "--model", "--json", "QUESTION"):
        assert word in done.out


def test_the_conversation_at_hand_is_renamed_forked_and_archived(picomem: Picomem, server: ModelServer) -> None:
    server.steps = ["Hello.", "Again.", "Bye."]
    lines = "/rename x;The Swift is moored;/rename Boats;/fork 2;hi;/sessions;/archive;/sessions;/fork x;/quit"
    done = picomem("chat", stdin="/help\n" + lines.replace(";", "\n"), env=server.env)
    assert done.code == 0
    assert "Nothing of this conversation is stored yet." in done.err
    assert "Say the number of a message, as in /fork 12." in done.err
    assert "forked from" in done.out and "4 messages" in done.out
    listed = picomem("sessions", "--json").json["sessions"]
    (kept,) = listed
    assert (kept["session"]["title"], kept["messages"]) == ("Boats", 2)
    (archived,) = picomem("sessions", "--archived", "--json").json["sessions"]
    assert archived["session"]["forked_from"] == kept["session"]["id"]
    assert "/rename TITLE" in done.out and "/memory WORDS" in done.out

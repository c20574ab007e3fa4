"""What people see of a recall: hits by session, in words that somebody wrote, and how to go on to the passage."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem

SESSION = "8463c716-a2ea-4c14-9efa-87158ebd9f20"
OTHER = "97c5bbc9-0d7e-4d7c-8a3c-b70d0d1bb786"


def row(session: str, number: int, role: str, content: object, at: str) -> dict[str, object]:
    kept = f"{session[:8]}-0000-4000-8000-{number:012}"
    before = f"{session[:8]}-0000-4000-8000-{number - 1:012}" if number else None
    return {
        "type": role, "uuid": kept, "parentUuid": before, "cwd": "/home/mia/harbor", "sessionId": session,
        "timestamp": at, "gitBranch": "main", "isSidechain": False, "userType": "external", "version": "2.1.330",
        "message": {"role": role, "content": content},
    }  # fmt: skip


def claude_session(home: Path, session: str, *rows: dict[str, object]) -> None:
    folder = home / ".claude" / "projects" / "-home-mia-harbor"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows), "utf-8")


@pytest.fixture
def two_sessions(picomem: Picomem, home: Path) -> None:
    edit = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/home/mia/harbor/src/queue.py"}}
    claude_session(
        home,
        SESSION,
        row(SESSION, 0, "user", "Why does the booking queue lose jobs?", "2026-04-07T09:00:00Z"),
        row(SESSION, 1, "assistant", "The queue lives in Redis, which forgets jobs.", "2026-04-07T09:01:00Z"),
        row(SESSION, 2, "assistant", [edit], "2026-04-07T09:02:00Z"),
        row(SESSION, 3, "user", "Deploy the queue on Fridays never again.", "2026-04-07T09:03:00Z"),
    )
    claude_session(
        home,
        OTHER,
        row(OTHER, 0, "user", "The queue of the ferry was long, a job for the weekend.", "2026-05-01T10:00:00Z"),
        {"type": "custom-title", "customTitle": "Ferry trip", "sessionId": OTHER},
    )
    assert picomem("ingest").code == 0


def test_people_see_the_hits_of_a_session_together_below_its_title_date_and_files(
    picomem: Picomem, two_sessions: None
) -> None:
    lines = picomem("recall", "why does the queue lose jobs", "-n", "10").out.splitlines()
    first = next(number for number, line in enumerate(lines) if "Why does the booking queue lose jobs?" in line)
    assert (
        lines[first] == f"── Why does the booking queue lose jobs?  (claude-code {SESSION[:8]}, 2026-04-07)  [harbor]"
    )
    assert lines[first + 1] == "   files: src/queue.py"
    headings = [line for line in lines if line.startswith("── ")]
    assert len(headings) == 2
    assert "── Ferry trip  (claude-code 97c5bbc9, 2026-05-01)  [harbor]" in headings
    numbered = [line for line in lines if line[:1].isdigit()]
    assert [line.split(".")[0] for line in numbered] == [str(number) for number in range(1, len(numbered) + 1)]
    assert "1. user, 2026-04-07 09:00, turn 1" in numbered


def test_people_see_the_hits_that_stand_out_and_how_to_see_the_others(picomem: Picomem, two_sessions: None) -> None:
    question = ("recall", "why does the queue lose jobs")
    shown, every = picomem(*question).out, picomem(*question, "--json").json["hits"]
    stand_out = [hit for hit in every if hit["score"] >= every[0]["score"] / 2]
    weaker = len(every) - len(stand_out)
    assert weaker > 0
    assert len(re.findall(r"(?m)^\d+\. ", shown)) == len(stand_out)
    assert "Ferry trip" not in shown
    pronoun = "it scores" if weaker == 1 else "they score"
    assert f"{weaker} more with -n {len(every)} ({pronoun} less than half of the best)." in shown
    limited = picomem(*question, "-n", str(len(every))).out
    assert len(re.findall(r"(?m)^\d+\. ", limited)) == len(every)
    assert "more with -n" not in limited


def test_a_single_weaker_hit_is_told_in_the_singular(picomem: Picomem) -> None:
    picomem("remember", "The ferry to the island leaves at nine")
    picomem("remember", "The ferry has a lighthouse beside it")
    assert "1 more with -n 2 (it scores less than half of the best)." in picomem("recall", "when leaves the ferry").out


def test_the_json_of_a_recall_is_a_flat_list_of_hits_and_each_session_once(
    picomem: Picomem, two_sessions: None
) -> None:
    answer = picomem("recall", "why does the queue lose jobs", "--json").json
    assert [hit["score"] for hit in answer["hits"]] == sorted((hit["score"] for hit in answer["hits"]), reverse=True)
    assert {hit["session"] for hit in answer["hits"]} == {SESSION, OTHER}
    titles = {session["session"]: (session["title"], session["files"]) for session in answer["sessions"]}
    assert titles == {
        SESSION: ("Why does the booking queue lose jobs?", ["src/queue.py"]),
        OTHER: ("Ferry trip", []),
    }


def test_a_reason_names_words_and_no_stems(picomem: Picomem, two_sessions: None) -> None:
    printed = picomem("recall", "deploys in Redis").out
    assert "deploys" in printed
    assert "Redis" in printed
    assert "deploi" not in printed
    assert "redi " not in printed
    assert "redi," not in printed
    for question, named in (("redis-deploys", "deploys"), ("stagingDeploys", "Deploys"), ("deploy_redis", "deploy")):
        printed = picomem("recall", question).out
        assert f"words: {named}" in printed, printed
        assert "deploi" not in printed and "redi," not in printed


@pytest.fixture
def long_message(picomem: Picomem, home: Path) -> str:
    """A message of 400 lines, one of which is asked for; the id of the episode that holds it."""
    lines = [f"Line {number} of the log says that nothing happened." for number in range(400)]
    lines[300] = "The lighthouse keeper hid the brass key under the anchor."
    path = home / "talk.jsonl"
    path.write_text(json.dumps({"role": "assistant", "content": "\n".join(lines)}) + "\n", "utf-8")
    assert picomem("ingest", str(path)).code == 0
    return picomem("recall", "where is the brass key", "--json").json["hits"][0]["id"]


def test_show_opens_a_long_message_at_the_words_and_says_how_much_there_is_besides(
    picomem: Picomem, long_message: str
) -> None:
    shown = picomem("show", long_message, "--query", "brass key").out
    assert "The lighthouse keeper hid the brass key under the anchor." in shown
    assert "Line 299 of the log" in shown
    assert "Line 301 of the log" in shown
    assert "Line 200 of the log" not in shown
    turn = picomem("show", long_message, "--query", "brass key", "--json").json["turns"][0]
    assert [turn["text"][start:end] for start, end in turn["marks"]] == ["brass", "key"]
    shown_lines = len(turn["text"].split("\n"))
    assert turn["earlier_lines"] + shown_lines + turn["later_lines"] == 400
    assert f"({turn['earlier_lines']} earlier lines: --all)" in shown
    assert f"({turn['later_lines']} later lines: --all)" in shown


def test_show_opens_a_long_message_at_its_episode_and_all_of_it_on_request(picomem: Picomem, long_message: str) -> None:
    assert "brass key" in picomem("show", long_message).out
    whole = picomem("show", long_message, "--all").out
    assert "Line 0 of the log" in whole
    assert "Line 399 of the log" in whole
    assert "--all)" not in whole


def test_recall_prints_the_command_that_opens_its_first_hit_at_the_words(picomem: Picomem, long_message: str) -> None:
    last = picomem("recall", "where's the brass key").out.splitlines()[-1]
    command = last.partition("picomem ")[2]
    arguments = shlex.split(command)
    assert arguments == ["show", long_message, "--query", "where's the brass key"]
    assert "hid the brass key" in picomem(*arguments).out


def test_a_failed_test_is_found_by_its_error_and_opened(picomem: Picomem, home: Path) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "python -m pytest -q"}}
    output = "E   KeyError: 'spring'\nFAILED tests/test_tide.py::test_tide\n1 failed, 12 passed in 0.42s"
    result = {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": output}
    claude_session(
        home,
        SESSION,
        row(SESSION, 0, "user", "The spring tide is missing.", "2026-04-07T09:00:00Z"),
        row(SESSION, 1, "assistant", [call], "2026-04-07T09:01:00Z"),
        row(SESSION, 2, "user", [result], "2026-04-07T09:01:09Z"),
    )
    picomem("ingest")
    told = picomem("recall", "the", "test", "that", "failed", "with", "KeyError").out
    assert "→ (from tool) tests failed: 12 passed, 1 failed (pytest)\n   → (from tool) KeyError: 'spring'\n" in told
    (hit,) = json.loads(picomem("recall", "tide", "--failed", "--json").out)["hits"]
    assert hit["origin"] == "agent"
    assert hit["outcomes"][:2] == ["tests failed: 12 passed, 1 failed (pytest)", "KeyError: 'spring'"]
    assert "→ (from tool) KeyError: 'spring'" in picomem("show", hit["id"]).out


def test_show_opens_an_episode_at_the_turn_that_matches_between_a_line_of_its_neighbours(
    picomem: Picomem, home: Path
) -> None:
    said = [f"Step {number} of the repair is done.\nNothing else happened." for number in range(7)]
    said[4] = "The anchor winch needs a new gasket.\nI ordered it."
    rows = [
        row(SESSION, number, "assistant", text, f"2026-04-07T09:0{number}:00Z") for number, text in enumerate(said, 1)
    ]
    claude_session(home, SESSION, row(SESSION, 0, "user", "Repair it.", "2026-04-07T09:00:00Z"), *rows)
    picomem("ingest")
    (hit,) = [hit for hit in picomem("recall", "winch gasket", "--json").json["hits"] if "winch" in hit["text"]]
    shown = picomem("show", hit["id"], "--query", "winch gasket").out
    assert shown.splitlines()[2:] == [
        "(3 earlier turns: --all)",
        "",
        "5. assistant, 2026-04-07 09:04",
        "   … Nothing else happened.",
        "",
        "6. assistant, 2026-04-07 09:05  ◂ matches",
        "   The anchor winch needs a new gasket.",
        "   I ordered it.",
        "",
        "7. assistant, 2026-04-07 09:06",
        "   Step 5 of the repair is done.",
        "",
        "(1 later turn: --all)",
    ]
    assert picomem("show", hit["id"], "--query", "winch gasket", "--json").json["match"] == 6
    for whole in (picomem("show", hit["id"], "--query", "winch gasket", "--all").out, picomem("show", hit["id"]).out):
        assert "Step 0 of the repair" in whole and "Step 6 of the repair" in whole


@pytest.mark.requirement("A4")
def test_a_limit_in_time_tests_the_time_that_a_hit_shows_and_known_since_when_it_was_stored(
    picomem: Picomem, home: Path
) -> None:
    def ingest(name: str, at: str, text: str) -> None:
        (home / name).write_text(json.dumps({"role": "user", "content": text, "timestamp": at}) + "\n")
        picomem("ingest", str(home / name))

    def texts(*arguments: str) -> set[str]:
        answer = picomem("recall", "ledger store", *arguments, "--json").json
        return {hit["text"].rstrip(".") for hit in answer["hits"]}

    march, april = "We decided: the ledger store is SQLite", "We decided: the ledger store gets a backup"
    ingest("march.jsonl", "2026-03-03T09:00:00Z", march)
    ingest("april.jsonl", "2026-04-07T09:00:00Z", april)
    picomem("remember", "The ledger store was moved", "--key", "ledger_store", "--since", "2026-03-05")
    everything = {march, april, "The ledger store was moved"}
    assert texts() == texts("--known-since", "today") == everything
    assert texts("--since", "2026-04-01") == texts("--time-window", "2026-04") == {april}
    assert texts("--until", "2026-03-31") == everything - {april}
    assert texts("--known-since", "2099-01-01") == set()
    assert texts("--known-since", "today", "--until", "2026-03-04") == {march}
    told = picomem("recall", "ledger store", "--known-since", "2099-01-01").out
    assert "--known-since 2099-01-01" in told


def test_in_a_project_s_folder_that_project_is_asked_first(picomem: Picomem, home: Path, tmp_path: Path) -> None:
    harbor = tmp_path / "harbor"
    harbor.mkdir()
    picomem("remember", "The queue is in Redis.", "--key", "queue_store", "--project", "harbor")
    picomem("remember", "The queue is in NATS.", "--key", "dock_queue", "--project", "dock")
    for command, words in (("recall", ["where is the queue"]), ("memories", [])):
        own = picomem(command, *words, folder=harbor)
        assert "Redis" in own.out and "NATS" not in own.out
        assert "[harbor]" in own.out
        assert "Only project “harbor” and what belongs to none was asked; --all-projects asks all." in own.out + own.err
        assert "NATS" in picomem(command, *words, "--all-projects", folder=harbor).out
        assert "NATS" in picomem(command, *words, folder=tmp_path).out
    assert picomem("forget", "queue_store").code == 0
    other = picomem("recall", "where is the queue", folder=harbor)
    assert "NATS" in other.out
    assert "Nothing was found in project “harbor”, so all projects were asked." in other.out + other.err


def test_the_timeline_lists_the_folder_s_project_first_as_recall_asks_it(picomem: Picomem, tmp_path: Path) -> None:
    for name, said in (("harbor", "Paint the red crane"), ("dock", "Oil the lock")):
        (tmp_path / name).mkdir()
        record = {"sessionId": name, "cwd": str(tmp_path / name), "entrypoint": "cli", "uuid": name, "type": "user"}
        record |= {"timestamp": "2026-04-07T09:00:00Z", "message": {"role": "user", "content": said}}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
        picomem("ingest", str(tmp_path / f"{name}.jsonl"))
    own = picomem("timeline", folder=tmp_path / "harbor")
    assert "crane" in own.out and "lock" not in own.out and "--all-projects asks all" in own.out + own.err
    for everything in (
        picomem("timeline", "--all-projects", folder=tmp_path / "harbor").out,
        picomem("timeline", folder=tmp_path).out,
    ):
        assert "crane" in everything and "lock" in everything


def test_what_the_ways_of_searching_found_is_called_candidates(picomem: Picomem) -> None:
    picomem("remember", "The crane is blue")
    assert re.search(r"tokens · candidates: memories by words 1\b", picomem("recall", "crane").out)


@pytest.mark.parametrize("command", [("recall", "crane"), ("timeline",), ("days",), ("changes",)])
def test_a_span_that_ends_before_it_begins_is_an_error_in_one_sentence(
    picomem: Picomem, command: tuple[str, ...]
) -> None:
    picomem("remember", "The crane is blue")
    told = picomem(*command, "--since", "2026-05-03", "--until", "2026-05-01")
    assert told.code != 0 and "“since” (2026-05-03) is after “until” (2026-05-01)" in told.err
    assert picomem(*command, "--since", "2026-05-03", "--until", "2026-05-03").code == 0


def test_projects_of_one_name_are_seen_and_named_by_more_than_it(picomem: Picomem, tmp_path: Path) -> None:
    for owner, port in (("alpha", 7411), ("beta", 9022)):
        folder = tmp_path / owner / "workdir"
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = git@git.example.org:acme/{owner}.git\n')
        row = {
            "type": "user", "uuid": owner, "parentUuid": None, "cwd": str(folder), "sessionId": owner,
            "version": "2.1.330", "timestamp": "2026-04-07T09:00:00Z", "isSidechain": False, "userType": "external",
            "message": {"role": "user", "content": f"Please remember that the port of the scheduler is {port}."},
        }  # fmt: skip
        (tmp_path / f"{owner}.jsonl").write_text(json.dumps(row) + "\n")
        picomem("ingest", str(tmp_path / f"{owner}.jsonl"))
    alpha, beta = "workdir (acme/alpha)", "workdir (acme/beta)"
    assert picomem("projects", "--json").json["projects"] == [alpha, beta]
    for command in (("recall", "port of the scheduler"), ("memories",)):
        shown = picomem(*command, "--all-projects").out
        assert f"[{alpha}]" in shown and f"[{beta}]" in shown
        for names, own, other in ((("workdir", alpha), "7411", "9022"), ((beta,), "9022", "7411")):
            for name in names:
                answer = picomem(*command, "--project", name).out
                assert own in answer and other not in answer
    picomem("remember", "The crane is painted green.", "--project", alpha, "--key", "crane")
    assert "painted green" in picomem("memories", "--project", "workdir").out

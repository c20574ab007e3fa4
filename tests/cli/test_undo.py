"""Taking back as a person does it: with the ids that the commands print, in processes of their own."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .conftest import Picomem

SAID = (
    "Why is the booking queue so slow?",
    "Remember that the booking queue must never lose a job.",
    "Please remember that the relay of the harbour listens on port 7070.",
    "Remember: password=hunter2hunter2",
)


def talk(folder: Path, name: str, *said: str) -> Path:
    folder.mkdir(exist_ok=True)
    rows = [
        {
            "role": "user",
            "content": text,
            "timestamp": f"2026-04-07T09:{number:02}:00Z",
            "id": f"{name}-{number:04}-0000",
        }
        for number, text in enumerate(said)
    ]
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def contents(picomem: Picomem) -> list[str]:
    return sorted(memory["content"] for memory in picomem("memories", "--json").json["memories"])


@pytest.mark.requirement("X3")
def test_what_an_ingest_remembered_is_listed_and_taken_back_as_one_run(picomem: Picomem, home: Path) -> None:
    folder = talk(home / "logs", "one.jsonl", *SAID)
    talk(folder, "two.jsonl", "Remember that deploys go out on Tuesdays.")
    done = picomem("ingest", str(folder))
    assert "4 requests to remember went through the gate: 3 add, 1 refuse." in done.out
    run = re.search(r"`picomem undo (\S+)` takes them back", done.out)[1]
    listed = picomem("changes", "--run", run, "--json").json["changes"]
    assert [entry["change"]["decision"] for entry in listed].count("add") == 3
    assert len(contents(picomem)) == 3
    undone = picomem("undo", run)
    assert undone.code == 0, undone.err
    assert contents(picomem) == []
    assert "never lose a job" in picomem("recall", "lose a job").out  # as an episode: what was said was said
    assert "unchanged" in picomem("ingest", str(folder)).out
    assert contents(picomem) == []
    again = re.search(r"`picomem undo (\S+)` does it again", undone.out)[1]
    assert "takes it back again" in picomem("undo", again).out
    assert len(contents(picomem)) == 3
    assert picomem("doctor").code == 0


def test_an_ingest_without_requests_names_no_run(picomem: Picomem, home: Path) -> None:
    done = picomem("ingest", str(talk(home / "logs", "one.jsonl", SAID[0])))
    assert "picomem undo" not in done.out
    assert picomem("ingest", str(home / "logs"), "--json").json["run"] == ""


@pytest.mark.requirement("O10")
def test_audit_counts_and_says_what_was_refused_and_changes_gives_the_ids(picomem: Picomem) -> None:
    picomem("remember", "The relay listens on port 7070", "--key", "relay_port")
    assert picomem("remember", "password=hunter2hunter2").code != 0
    audit = picomem("audit").out
    assert audit.startswith("Decisions in all: 1 add, 1 refuse.")
    assert "refused: password=" in audit
    assert "hunter2hunter2" not in audit
    change = picomem("changes", "relay_port").out.split()[0]
    assert picomem("undo", change).code == 0
    assert "`undo`" in picomem("audit", "--help").out
    assert "`audit`" in picomem("changes", "--help").out


@pytest.mark.requirement("X3")
def test_a_correction_and_a_removal_print_the_command_that_takes_them_back(picomem: Picomem) -> None:
    picomem("remember", "The harbour crane lifts 40 tonnes", "--key", "crane")
    steps = (("revise", "crane", "The harbour crane lifts 45 tonnes"), ("forget", "crane"))
    for step, before in zip(steps, (["The harbour crane lifts 40 tonnes"],) * 2, strict=True):
        done = picomem(*step)
        change = re.search(r"`picomem undo (\S+)` takes it back", done.out)[1]
        assert contents(picomem) != before
        assert picomem("undo", change).code == 0
        assert contents(picomem) == before

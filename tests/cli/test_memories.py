"""What people see of memories: when they were said, which version they are, why they were kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.cli.conftest import Picomem
from tests.databases import chosen

from picomem.app import open_engine
from picomem.clock import DAY, system_clock


def numbers(printed: str) -> list[str]:
    return re.findall(r"(?m)^(\d+)\. true", printed)


def test_versions_count_one_two_three_wherever_they_are_shown(picomem: Picomem) -> None:
    assert "version 1" in picomem("remember", "The crane is yellow", "--key", "crane", "--since", "2020-01-01").out
    assert "version 2" in picomem("revise", "crane", "The crane is red").out
    assert "version 3" in picomem("revise", "crane", "--tag", "big").out
    assert "version 4" in picomem("remember", "The crane is green since Monday", "--key", "crane").out
    assert numbers(picomem("history", "crane").out) == ["1", "2", "3", "4"]
    assert re.findall(r"version (\d+)", picomem("why", "crane").out) == ["1", "2", "3", "4"]
    assert "version 4" in picomem("remember", "The crane is green since Monday", "--key", "crane").out
    picomem("undo", picomem("changes", "--json").json["changes"][1]["change"]["id"])
    assert numbers(picomem("history", "crane").out) == ["1", "2", "3", "4", "5"]


def test_the_history_shows_each_version_once_with_the_time_in_which_it_was_true(picomem: Picomem) -> None:
    picomem("remember", "The crane is yellow", "--key", "crane", "--since", "2020-01-01")
    picomem("revise", "crane", "The crane is red", "--since", "2021-01-01")
    printed = picomem("history", "crane").out
    assert printed.count("The crane is yellow") == 1
    assert "1. true from 2020-01-01 00:00 – 2021-01-01 00:00" in printed
    assert "2. true from 2021-01-01 00:00 on  (current)" in printed


def test_memories_show_when_a_thing_was_said_and_not_when_it_was_read(picomem: Picomem, home: Path) -> None:
    said = {"role": "user", "content": "Remember that the gate closes at nine.", "timestamp": "2026-04-07T09:02:00Z"}
    (home / "talk.jsonl").write_text(json.dumps(said) + "\n")
    picomem("ingest", str(home / "talk.jsonl"))
    picomem("remember", "The lock opens at noon", "--key", "lock", "--since", "2019-01-01")
    printed = picomem("memories").out
    assert "2026-04-07)" in printed
    assert "2019" not in printed


def test_an_expiry_is_told_in_the_words_that_other_times_have(picomem: Picomem) -> None:
    for given in ("tomorrow", "30d", "in two weeks", "next month"):
        made = json.loads(picomem("remember", f"The bridge is closed, {given}", "--expires-at", given, "--json").out)
        assert made["memory"]["expires_at"] > made["memory"]["created_at"]
    refused = picomem("remember", "The bridge is closed", "--expires-at", "soon")
    assert refused.code == 2
    assert "write 30d, tomorrow, next week, 2026-05-03" in refused.err


def test_expired_memories_can_be_listed(picomem: Picomem, home: Path) -> None:
    picomem("remember", "The lock opens at noon", "--key", "lock")
    earlier = system_clock() - 3 * DAY
    with open_engine(chosen().named(home / "data" / "picomem" / "picomem.db"), clock=lambda: earlier) as engine:
        engine.remember("The ferry is late today", key="ferry", expires=earlier + DAY)
    assert "ferry" not in picomem("memories").out
    listed = picomem("memories", "--archived").out
    assert "The ferry is late today" in listed
    assert "expired" in listed
    assert "lock" not in listed


def test_a_reason_says_word_for_word_only_where_it_is(picomem: Picomem) -> None:
    picomem("remember", "The harbour crane is painted yellow")
    assert "already known word for word" in picomem("remember", "the harbour crane is painted yellow.").out
    assert "it may outdate" in picomem("remember", "The harbour crane is really painted yellow now").out


def test_a_session_is_named_by_the_beginning_of_its_id(picomem, tmp_path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for name in ("8463c716-one", "258c7280-two"):
        line = {
            "role": "user",
            "content": f"Does the walnut shelf of {name} hold the ledgers?",
            "timestamp": 1_777_000_000,
        }
        (folder / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    assert picomem("ingest", str(folder)).code == 0
    for arguments in (("timeline",), ("recall", "who holds the ledgers")):
        told = picomem(*arguments, "--session", "8463", "--json").json
        hits = told["episodes"] if "episodes" in told else told["hits"]
        assert {hit["session"] for hit in hits if hit["source"] == "episode"} == {"8463c716-one"}


def test_the_history_of_a_forgotten_memory_says_that_it_is_archived(picomem: Picomem) -> None:
    picomem("remember", "The crane is yellow", "--key", "crane")
    assert "archived" not in picomem("history", "crane").out
    assert picomem("history", "crane", "--json").json["archived"] == {}
    picomem("forget", "crane")
    shown = picomem("history", "crane")
    assert re.search(r"(?m)^crane  \S+  \(archived \d{4}-\d\d-\d\d \d\d:\d\d\)$", shown.out)
    (memory_id,) = picomem("history", "crane", "--json").json["archived"]
    assert memory_id in shown.out


def test_a_person_reads_the_key_of_what_is_in_doubt_and_no_id(picomem: Picomem) -> None:
    picomem("remember", "Log retention is 30 days for all services")
    said = picomem("remember", "The retention period for logs is 90 days").out
    assert "it may outdate “log_retention_days_services”" in said
    assert "contradicts:" not in said + picomem("why", "retention_period_logs_days").out


@pytest.mark.parametrize(
    "command", [("memories",), ("index",), ("index", "--lines"), ("index-status",), ("suggestions",), ("timeline",)]
)
def test_a_project_that_is_not_known_is_named_with_those_that_are(picomem: Picomem, command: tuple[str, ...]) -> None:
    picomem("remember", "The queue is in Redis.", "--project", "harbor")
    told = picomem(*command, "--project", "harbour")
    assert "There is no project “harbour”; did you mean “harbor”?" in told.out + told.err
    known = picomem(*command, "--project", "harbor")
    assert "There is no project" not in known.out + known.err

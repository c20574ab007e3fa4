"""Branches that a user went back from: found whenever the rewind is read, findable, labelled, and no wish any more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from picomem.engine.engine import Engine
from picomem.ingest.branches import Branches

from .test_ingest import claude, written

WISH = "Remember that the beacon for releases is green."


def line(name: str, parent: str | None, role: str, text: str, **more: Any) -> dict[str, Any]:
    """A line of Claude Code's that is called `name` and goes on from `parent`."""
    number = int(name[1:])
    return claude(number, role, text) | {"uuid": f"{name:0>36}", "parentUuid": parent and f"{parent:0>36}"} | more


TALK = [
    line("u0", None, "user", "Where does the crane log go?"),
    line("a1", "u0", "assistant", "Into the attic."),
    line("u2", "a1", "user", "Move it to the cellar."),
    line("a3", "u2", "assistant", "It is in the cellar now."),
]
REWIND = [
    line("u4", "a1", "user", "Move it to the garden."),
    line("a5", "u4", "assistant", "It is in the garden now."),
]


def taken_back(engine: Engine) -> set[str]:
    return {hit.text for hit in engine.timeline() if hit.abandoned}


ABANDONED = {"Move it to the cellar.", "It is in the cellar now."}


@pytest.mark.parametrize("first", range(len(TALK + REWIND) + 1))
def test_a_rewind_marks_what_was_said_before_it_wherever_the_first_reading_ended(engine, tmp_path, first):
    path = tmp_path / "s1.jsonl"
    for records in ((TALK + REWIND)[:first], (TALK + REWIND)[first:]):
        written(path, records, "a")
        engine.ingest([path])
    assert taken_back(engine) == ABANDONED
    assert len(engine.timeline()) == 6


def test_an_abandoned_turn_is_found_and_says_what_it_is(engine, tmp_path):
    engine.ingest([written(tmp_path / "s1.jsonl", TALK + REWIND)])
    (hit,) = [hit for hit in engine.recall("Move it to the cellar").hits if hit.text == "Move it to the cellar."]
    assert hit.abandoned
    assert hit.citation.endswith(", on an abandoned branch")
    assert not any("abandoned" in hit.citation for hit in engine.timeline() if "garden" in hit.text)
    assert engine.show(hit.id)[2].state == "open"


def test_who_goes_back_to_the_first_branch_abandons_the_second(engine, tmp_path):
    again = [line("u6", "a3", "user", "The cellar is fine after all.")]
    engine.ingest([written(tmp_path / "s1.jsonl", TALK + REWIND + again)])
    assert taken_back(engine) == {"Move it to the garden.", "It is in the garden now."}


def test_another_first_question_abandons_all_of_the_first(engine, tmp_path):
    engine.ingest([written(tmp_path / "s1.jsonl", [*TALK, line("u4", None, "user", "Where is the crane?")])])
    assert len(taken_back(engine)) == 4


def test_another_answer_to_the_same_question_abandons_the_first_answer(engine, tmp_path):
    engine.ingest([written(tmp_path / "s1.jsonl", [*TALK, line("a4", "u2", "assistant", "It fits in no cellar.")])])
    assert taken_back(engine) == {"It is in the cellar now."}


def test_what_is_no_rewind_abandons_nothing(engine, tmp_path):
    tool = [{"type": "tool_use", "id": "t1", "name": "Read", "input": {}}]
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "sessionId": "s1"}
    lines = [
        line("u0", None, "user", "Look at both files."),
        line("a1", "u0", "assistant", "The first one."),
        line("a2", "a1", "assistant", "And the second one."),
        line("u3", "a1", "user", "") | {"message": {"role": "user", "content": [{"type": "tool_result"}]}},
        line("a4", "a2", "assistant", "") | {"message": {"role": "assistant", "content": tool}},
        line("a5", "u3", "assistant", "I have read both."),
        line("u6", None, "user", "Find the log.", isSidechain=True),
        line("a7", "u6", "assistant", "It is in the attic.", isSidechain=True),
        line("u8", "a5", "user", "Good."),
        boundary,
        line("u9", "b", "user", "Now the third file."),
        line("a10", "u77", "assistant", "Its parent was not written."),
    ]
    engine.ingest([written(tmp_path / "s1.jsonl", lines)])
    assert taken_back(engine) == set()


def queued(number: int, text: str) -> dict[str, Any]:
    """A message that was typed while the agent worked: a record without an id and without a parent."""
    at = f"2026-02-10T21:{number:02}:30.000Z"
    return {"type": "queue-operation", "operation": "enqueue", "timestamp": at, "sessionId": "s1", "content": text}


@pytest.mark.parametrize("place", range(1, 5))
def test_a_message_that_was_typed_while_the_agent_worked_is_not_taken_back(engine, tmp_path, place):
    talk = [*TALK[:place], queued(place, "And oil the winch."), *TALK[place:]]
    path = tmp_path / "s1.jsonl"
    for records in (talk[: place + 1], talk[place + 1 :]):
        written(path, records, "a")
        engine.ingest([path])
    assert taken_back(engine) == set()


def test_a_rewind_to_before_a_queued_message_takes_back_only_what_was_said_on_the_branch(engine, tmp_path):
    engine.ingest([written(tmp_path / "s1.jsonl", [*TALK, queued(3, "And oil the winch."), *REWIND])])
    assert taken_back(engine) == {*ABANDONED, "And oil the winch."}


@pytest.mark.parametrize("parent", [{"parentUuid": None}, {}])
def test_a_file_that_names_no_parents_has_no_branches(engine, tmp_path, parent):
    lines = [
        {name: value for name, value in record.items() if name != "parentUuid"} | parent for record in TALK + REWIND
    ]
    engine.ingest([written(tmp_path / "s1.jsonl", lines)])
    assert taken_back(engine) == set()


def test_what_was_asked_for_on_an_abandoned_branch_is_no_memory(engine, tmp_path):
    wish = [*TALK[:2], line("u2", "a1", "user", WISH), *REWIND]
    report = engine.ingest([written(tmp_path / "s1.jsonl", wish)])
    assert engine.memories() == []
    assert report.skipped["request taken back"] == 1


def test_a_memory_whose_request_is_taken_back_later_stays_and_its_source_says_so(engine, tmp_path):
    path = written(tmp_path / "s1.jsonl", [*TALK[:2], line("u2", "a1", "user", WISH)])
    engine.ingest([path])
    written(path, REWIND, "a")
    engine.ingest([path])
    (memory,) = engine.memories()
    (source,) = engine.why(memory.key).sources
    assert source.citation.endswith(", on an abandoned branch")


def test_a_branch_of_openclaws_tree_is_abandoned_by_what_was_said_after_it(engine, tmp_path):
    def entry(name: str, parent: str | None, kind: str, role: str = "", text: str = "") -> dict[str, Any]:
        said = {"message": {"role": role, "content": [{"type": "text", "text": text}]}} if role else {}
        return {"type": kind, "id": name, "parentId": parent, "timestamp": "2026-04-03T09:00:00Z"} | said

    lines = [
        {"type": "session", "version": 3, "id": "s7", "timestamp": "2026-04-03T09:00:00Z", "cwd": "/home/ann"},
        entry("m0", None, "model_change"),
        entry("m1", "m0", "message", "user", "Where does the log go?"),
        entry("m2", "m1", "message", "assistant", "Into the attic."),
        entry("m3", "m2", "message", "user", "Move it to the cellar."),
        entry("m4", "m3", "message", "assistant", "It is in the cellar now."),
        entry("m5", "m2", "branch_summary"),
        entry("m6", "m5", "message", "user", "Move it to the garden."),
    ]
    engine.ingest([written(tmp_path / "s7.jsonl", lines)])
    assert taken_back(engine) == ABANDONED


def test_a_workflows_sub_agent_belongs_to_the_session_above_it(engine, tmp_path):
    lines = [claude(0, "user", "Find the log.", isSidechain=True, agentId="q1", sessionId="s1")]
    path = Path("s1") / "subagents" / "workflows" / "wf_1" / "agent-q1.jsonl"
    engine.ingest([written(tmp_path / path, lines)])
    (hit,) = engine.timeline()
    assert (hit.session, hit.role) == ("agent-q1", "agent")
    assert taken_back(engine) == set()


def test_the_tree_is_the_same_after_it_was_stored(tmp_path):
    made = Branches()
    for turn, (name, parent) in enumerate([("a", ""), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "b"), ("f", "e")]):
        made.said(turn, name, parent, person=turn % 2 == 0)
        made = Branches.from_json(json.loads(json.dumps(made.to_json())))
    assert made.abandoned() == [(2, 3)]

"""Why a person denied a call of their agent's is in their words, and only the host's own field says that they did (3.2)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.records.kinds import Origin

_REASON = "Never touch the lock file by hand; run pnpm dedupe instead."
_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file)."
)
_SAID = f"{_REFUSED} To tell you how to proceed, the user said:\n"
_NOTE = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention."
_PERSON = {"toolDenialKind": "user-rejected", "toolUseResult": "User rejected tool use"}


def _session(folder: Path, said: str, *, tool: str = "Edit", given: dict | None = None, **fields: object) -> Path:
    def line(uuid: str, kind: str, content: object, **more: object) -> str:
        head = {"parentUuid": None, "isSidechain": False, "type": kind, "message": {"role": kind, "content": content}}
        record = {**head, "uuid": uuid, "timestamp": "2026-11-28T12:01:29Z", "entrypoint": "cli", **more}
        return json.dumps(record | {"cwd": "/w/crane", "sessionId": "s1"}, separators=(",", ":"))

    call = {
        "type": "tool_use",
        "id": "toolu_9",
        "name": tool,
        "input": given or {"file_path": "/w/crane/pnpm-lock.yaml"},
    }
    result = {"type": "tool_result", "content": said, "is_error": True, "tool_use_id": "toolu_9"}
    lines = [
        line("u1", "user", "Tidy the packages."),
        line("a1", "assistant", [call]),
        line("u2", "user", [result], **fields),
        line("a2", "assistant", [{"type": "text", "text": "Understood."}]),
    ]
    path = folder / "s1.jsonl"
    path.write_text("".join(f"{text}\n" for text in lines), "utf-8")
    return path


def _of_the_person(engine: Engine) -> list[str]:
    opened = [engine.show(hit.id)[2] for hit in reversed(engine.timeline())]
    turns = {turn.index: turn for transcript in opened for turn in transcript.turns}
    return [turns[index].text for index in sorted(turns) if turns[index].origin is Origin.USER]


@pytest.mark.requirement("X14")
@pytest.mark.parametrize(
    ("said", "fields"),
    [
        (_SAID + _REASON, {}),
        (_SAID + _REASON + _NOTE, {}),
        (f"{_SAID}{_REASON}", {"userFeedback": _REASON}),
        ("In words that no version used so far.", {"userFeedback": _REASON}),
    ],
)
def test_why_a_person_denied_a_call_is_found_as_theirs_and_opens(engine, tmp_path, said, fields):
    engine.ingest([_session(tmp_path, said, **_PERSON, **fields)])
    assert _of_the_person(engine) == ["Tidy the packages.", _REASON]
    hit = engine.recall("what about the lock file?", token_budget=400).hits[0]
    assert (hit.source, hit.origin) == ("memory", Origin.USER) and hit.text in _REASON


@pytest.mark.requirement("X14")
def test_what_was_said_against_a_plan_is_found(engine, tmp_path):
    engine.ingest([_session(tmp_path, _SAID + _REASON, tool="ExitPlanMode", given={"plan": "Edit it."}, **_PERSON)])
    assert _of_the_person(engine) == ["Tidy the packages.", _REASON]


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("said", "fields"),
    [
        (_SAID + _REASON, {}),  # a server of tools can answer with the same sentence
        (_SAID + _REASON, {"toolUseResult": {"toolDenialKind": "user-rejected", "userFeedback": _REASON}}),
        (_SAID + _REASON, {"toolDenialKind": "permission-rule"}),
        ("This command contains several operations.", _PERSON),
        (f"{_REFUSED} STOP what you are doing and wait for the user to tell you how to proceed.", _PERSON),
        (_SAID + _REASON, {**_PERSON, "entrypoint": "sdk-py"}),
        (_SAID + _REASON, {**_PERSON, "isSidechain": True, "agentId": "a7"}),
    ],
)
def test_a_refusal_without_a_person_or_without_words_is_nothing_that_they_said(engine, tmp_path, said, fields):
    engine.ingest([_session(tmp_path, said, **fields)])
    assert _of_the_person(engine) == ["Tidy the packages."]


@pytest.mark.requirement("X14")
def test_of_a_form_that_was_put_off_only_the_answers_are_the_persons(engine, tmp_path):
    questions = [
        {"question": question, "options": [{"label": "NATS"}, {"label": "Kafka"}]}
        for question in ("Which broker?", "Which region?", "Which port?")
    ]
    put_off = (
        "The user wants to clarify these questions.\n    Start by asking them what they would like to clarify.\n\n"
        '    Questions asked:\n- "Which broker?"\n  Answer: We take NATS as it is small\n  User notes: Ask Ann first\n'
        '- "Which region?"\n  (No answer provided)\n- "Which port?"\n  Answer: 7443'
    )
    path = _session(
        tmp_path,
        _SAID + put_off + _NOTE,
        tool="AskUserQuestion",
        given={"questions": questions},
        userFeedback=put_off,
        **_PERSON,
    )
    engine.ingest([path])
    assert _of_the_person(engine) == ["Tidy the packages.", "We take NATS as it is small\nAsk Ann first\n7443"]

"""What a person answers to a form of the agent's becomes a memory that says what was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.engine.review import waiting_suggestions
from picomem.operations.table import operation
from picomem.records.kinds import Origin
from picomem.text.tokens import count_tokens

_BROKER = "Which message broker should we use?"
_REGION = "Where do the backups go?"


def _record(number: int, role: str, block: dict, **fields: object) -> dict:
    message = {"id": f"m{number}", "role": role, "content": [block]}
    at = f"2026-04-03T09:00:{number:02}Z"
    common = {"sessionId": "s1", "cwd": "/w/crane", "entrypoint": "cli", "uuid": f"u{number}", "timestamp": at}
    return {**common, "type": role, "message": message, **fields}


def _session(folder: Path, *before: dict, answers: dict[str, str], session: str = "s1") -> Path:
    questions = [{"question": question, "options": [{"label": "RabbitMQ"}]} for question in answers]
    call = {"type": "tool_use", "id": "c1", "name": "AskUserQuestion", "input": {"questions": questions}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "User has answered your questions."}
    records = [
        _record(1, "user", {"type": "text", "text": "Set up the queue."}),
        *before,
        _record(10, "assistant", call),
        _record(11, "user", result, toolUseResult={"answers": answers}),
    ]
    path = folder / f"{session}.jsonl"
    lines = (json.dumps(record | {"sessionId": session, "uuid": f"{session}{record['uuid']}"}) for record in records)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def _contents(engine: Engine) -> list[str]:
    """What was asked to be remembered, and what is suggested."""
    suggested = [suggestion.text for suggestion in waiting_suggestions(engine)]
    return sorted([*(memory.content for memory in engine.memories()), *suggested])


@pytest.mark.requirement("A5")
def test_a_captured_answer_carries_its_question(engine, tmp_path):
    answers = {
        _BROKER: "We always use NATS because it is small",
        _REGION: "I prefer the bucket in Lisbon because it is near",
    }
    engine.ingest([_session(tmp_path, answers=answers)])
    assert _contents(engine) == [f"{question} {answers[question]}" for question in (_REGION, _BROKER)]
    assert any("NATS because it is small" in hit.text for hit in engine.recall("why NATS as the broker?").hits)


@pytest.mark.requirement("X14")
@pytest.mark.parametrize("answer", ["NATS because it is small and we know it", "port 7443"])
def test_an_answer_is_shown_with_its_question(engine, tmp_path, answer):
    engine.ingest([_session(tmp_path, answers={_BROKER: answer})])
    hit = next(hit for hit in engine.timeline() if hit.text.endswith(answer))
    assert hit.text == f"{_BROKER} {answer}" and hit.origin is Origin.USER
    assert hit.tokens > count_tokens(hit.text)
    recalled = engine.recall(answer, token_budget=200).hits
    assert hit.text in [other.text for other in recalled]
    opened = operation("show").call(engine, operation("show").request(hit.id))
    assert [turn.text for turn in opened.turns] == [hit.text]


@pytest.mark.requirement("X14")
def test_each_of_several_answers_is_shown_with_its_question_also_one_that_was_clicked(engine, tmp_path):
    typed = {_BROKER: "NATS because it is small", _REGION: "Lisbon"}
    engine.ingest([_session(tmp_path, answers=typed)])
    text = f"{_BROKER} NATS because it is small\n{_REGION} Lisbon"
    assert text in [hit.text for hit in engine.timeline()]
    engine.ingest([_session(tmp_path, answers={_BROKER: "RabbitMQ"}, session="s2")])
    assert f"{_BROKER} RabbitMQ" in [hit.text for hit in engine.timeline()]


@pytest.mark.requirement("A5")
def test_what_was_typed_stays_the_persons_beside_an_option_that_was_clicked(engine, tmp_path):
    """Issue 37, 3.3."""
    typed = "We always use NATS because it is small"
    engine.ingest([_session(tmp_path, answers={_BROKER: typed, _REGION: "RabbitMQ"})])
    origins = {hit.text: hit.origin for hit in engine.timeline()}
    assert origins[f"{_BROKER} {typed}"] is Origin.USER
    assert origins[f"{_REGION} RabbitMQ"] is Origin.AGENT
    assert _contents(engine) == [f"{_BROKER} {typed}"]
    for hit in engine.timeline():
        opened = operation("show").call(engine, operation("show").request(hit.id))
        assert hit.text in "\n".join(turn.text for turn in opened.turns)


# What versions of the host say to the model, and what none has said so far.
_WORDINGS = (
    'User has answered your questions: "{0}"="{1}". You can now continue with the user\'s answers in mind.',
    'Your questions have been answered: "{0}"="{1}". You can now continue with these answers in mind.',
    'The user answered: "{0}"="{1}". Read the answers carefully — they may request changes — and follow them.',
    'Reply to the form: "{0}"="{1}"',
    "The form was sent.",
)


def _real_session(folder: Path, said: str, result: dict[str, object] | None, **fields: object) -> Path:
    """A session as the program writes it: compact, the scalars of a line before its message."""

    def line(uuid: str, kind: str, content: object, **more: object) -> str:
        head = {"parentUuid": None, "isSidechain": False, "type": kind, "message": {"role": kind, "content": content}}
        record = {**head, "uuid": uuid, "timestamp": "2026-11-28T12:01:29Z", **more, "entrypoint": "cli"}
        record |= {"cwd": "/w/crane", "sessionId": "s1", "version": "2.1.330"}
        return json.dumps(record, separators=(",", ":"), ensure_ascii=False)

    options = [{"label": "NATS", "description": "small"}, {"label": "Kafka", "description": "big"}]
    questions = [{"question": _BROKER, "header": "Bus", "multiSelect": False, "options": options}]
    call = {"type": "tool_use", "id": "toolu_37", "name": "AskUserQuestion", "input": {"questions": questions}}
    answered = {"type": "tool_result", "content": said, "tool_use_id": "toolu_37"}
    told = {} if result is None else {"toolUseResult": {"questions": questions, **result}}
    lines = [
        line("u1", "user", "Set up the queue."),
        line("a1", "assistant", [call]),
        line("u2", "user", [answered], **told, **fields),
    ]
    path = folder / "s1.jsonl"
    path.write_text("".join(f"{text}\n" for text in lines), "utf-8")
    return path


def _user_turns(engine: Engine) -> list[str]:
    opened = [engine.show(hit.id)[2] for hit in reversed(engine.timeline())]
    turns = {turn.index: turn for transcript in opened for turn in transcript.turns}
    return [turns[index].text for index in sorted(turns) if turns[index].role != "assistant"]


@pytest.mark.requirement("X14")
@pytest.mark.parametrize("wording", _WORDINGS)
def test_an_answer_is_found_whatever_the_host_says_about_it(engine, tmp_path, wording):
    typed = "NATS because it is small and we know it"
    engine.ingest([_real_session(tmp_path, wording.format(_BROKER, typed), {"answers": {_BROKER: typed}})])
    assert _user_turns(engine) == ["Set up the queue.", typed]


@pytest.mark.requirement("X14")
@pytest.mark.parametrize("wording", _WORDINGS[:-1])
def test_an_answer_to_the_calls_own_question_is_read_from_the_result_alone(engine, tmp_path, wording):
    typed = "NATS because it is small"
    engine.ingest([_real_session(tmp_path, wording.format(_BROKER, typed), None)])
    assert _user_turns(engine) == ["Set up the queue.", typed]


@pytest.mark.requirement("X14")
def test_a_pair_in_a_result_that_is_no_question_of_the_call_is_no_answer(engine, tmp_path):
    engine.ingest([_real_session(tmp_path, _WORDINGS[0].format("Which port?", "NATS because it is small"), None)])
    assert _user_turns(engine) == ["Set up the queue."]


@pytest.mark.requirement("X14")
@pytest.mark.parametrize(
    ("result", "read"),
    [
        ({"answers": {}, "response": "Neither, we send mail"}, ["Neither, we send mail"]),
        ({"answers": {_BROKER: "(notes only)"}, "annotations": {_BROKER: {"notes": "Ask Ann"}}}, ["Ask Ann"]),
        ({"answers": {_BROKER: "MQTT"}, "annotations": {_BROKER: {"notes": "in May"}}}, ["MQTT\nin May"]),
        ({"answers": {_BROKER: ["NATS", "Kafka"]}}, ["Bus: NATS, Kafka"]),
        ({"answers": {_BROKER: "[skipped]"}, "annotations": {_BROKER: {"unanswered": "skipped"}}}, []),
        ({"answers": {_BROKER: "NATS"}, "afkTimeoutMs": 60000}, []),
    ],
)
def test_what_the_person_wrote_in_a_form_is_read_and_what_the_host_put_there_is_not(engine, tmp_path, result, read):
    engine.ingest([_real_session(tmp_path, "The form was sent.", result)])
    assert _user_turns(engine) == ["Set up the queue.", *read]


@pytest.mark.requirement("X7")
def test_a_question_of_an_agent_that_had_read_a_page_is_not_carried(engine, tmp_path):
    fetch = {"type": "tool_use", "id": "c0", "name": "WebFetch", "input": {"url": "https://example.org"}}
    engine.ingest([_session(tmp_path, _record(2, "assistant", fetch), answers={_BROKER: "NATS because it is small"})])
    assert not any(_BROKER in content for content in _contents(engine))


@pytest.mark.requirement("X14")
def test_an_answer_without_its_structured_result_is_read_from_the_text_of_the_result(engine, tmp_path):
    said = f'User has answered your questions: "{_BROKER}"="NATS, the "small" one", "{_REGION}"="Lisbon". '
    result = {"type": "tool_result", "tool_use_id": "c1", "content": said + "You can now continue."}
    questions = [{"question": question, "options": []} for question in (_BROKER, _REGION)]
    call = {"type": "tool_use", "id": "c1", "name": "AskUserQuestion", "input": {"questions": questions}}
    other = {**result, "tool_use_id": "c2", "content": said.replace("NATS", "Kafka")}  # of no form
    records = [
        _record(1, "user", {"type": "text", "text": "Set up the queue."}),
        _record(2, "assistant", call),
        _record(3, "user", result),
        _record(4, "assistant", {"type": "tool_use", "id": "c2", "name": "Bash", "input": {"command": "cat said"}}),
        _record(5, "user", other),
    ]
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    engine.ingest([path])
    (hit,) = [hit for hit in engine.timeline() if "NATS" in hit.text]
    _, _, opened = engine.show(hit.id)
    answer = next(turn for turn in opened.turns if "NATS" in turn.text)
    assert (answer.role, answer.text) == ("user", 'NATS, the "small" one\nLisbon')
    assert not [hit for hit in engine.timeline() if "Kafka" in hit.text]

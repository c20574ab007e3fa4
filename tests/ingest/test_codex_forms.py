"""What a person answers to Codex' `request_user_input` is theirs where they typed it (3.2, 3.3)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.records.kinds import Origin

_BROKER = "Which message broker should we use?"
_REGION = "Where do the backups go?"
_TYPED = "user_note: We always use NATS because it is small"
_WORDS = _TYPED.removeprefix("user_note: ")


def _question(name: str, text: str, **more: object) -> dict:
    options = [{"label": label, "description": "fine"} for label in ("Kafka (Recommended)", "Lisbon", "Oslo")]
    return {"id": name, "header": name, "question": text, "isOther": True, "options": options, **more}


def _session(folder: Path, answers: object, *, tool: str = "request_user_input", source: str = "cli", **form) -> Path:
    questions = form.get("questions") or [_question("broker", _BROKER), _question("region", _REGION)]
    call = {
        "type": "function_call",
        "name": tool,
        "call_id": "call_1",
        "arguments": json.dumps({"questions": questions}),
    }
    said = answers if isinstance(answers, str) else json.dumps({"answers": answers})
    records = [
        {
            "type": "session_meta",
            "payload": {"id": "s1", "cwd": "/w/crane", "source": source, "originator": "codex_cli_rs"},
        },
        {"type": "response_item", "payload": _message("user", "Set up the queue.")},
        *form.get("before", ()),
        {"type": "response_item", "payload": call},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "call_1", "output": said}},
        {"type": "response_item", "payload": _message("assistant", "Understood.")},
    ]
    lines = (json.dumps({"timestamp": f"2026-05-03T10:00:{at:02}Z", **record}) for at, record in enumerate(records))
    path = folder / "rollout-2026-05-03T10-00-00-s1.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def _message(role: str, text: str) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _said(engine: Engine) -> list[tuple[str, Origin]]:
    """What stands in the person's place, as the transcript is opened."""
    opened = [engine.show(hit.id)[2] for hit in reversed(engine.timeline())]
    turns = {turn.index: turn for transcript in opened for turn in transcript.turns}
    return [(turns[index].text, turns[index].origin) for index in sorted(turns) if turns[index].role != "assistant"][1:]


@pytest.mark.requirement("X14")
@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"broker": {"answers": [_TYPED]}}, [(_WORDS, Origin.USER)]),
        ({"broker": {"answers": ["None of the above", _TYPED]}}, [(_WORDS, Origin.USER)]),
        ({"broker": {"answers": [_WORDS]}}, [(_WORDS, Origin.USER)]),  # a client without the prefix
        ({"broker": {"answers": ["Kafka (Recommended)"]}}, [("Kafka (Recommended)", Origin.AGENT)]),
        (
            {"broker": {"answers": [_TYPED]}, "region": {"answers": ["Lisbon"]}},
            [(_WORDS, Origin.USER), ("Lisbon", Origin.AGENT)],
        ),
        ({"broker": {"answers": ["None of the above"]}}, []),
        ({"broker": {"answers": []}, "other": {"answers": ["user_note: of no question"]}}, []),
        ("aborted by user", []),
        ('{"answers": ["user_note: no object"]}', []),
    ],
)
def test_what_a_person_typed_is_theirs_and_what_they_clicked_the_agents(engine, tmp_path, answers, said):
    engine.ingest([_session(tmp_path, answers)])
    assert _said(engine) == said


@pytest.mark.requirement("A5")
def test_an_answer_becomes_a_memory_and_stands_with_its_question_and_the_option_beside_it(engine, tmp_path):
    engine.ingest(
        [_session(tmp_path, {"broker": {"answers": [_TYPED]}, "region": {"answers": ["Lisbon", "user_note: in May"]}})]
    )
    hits = [hit.text for hit in engine.timeline()]
    assert f"{_BROKER} {_WORDS}\n{_REGION} Lisbon in May" in hits
    assert f"{_BROKER}\n- Kafka (Recommended)" in "\n".join(hits)
    recalled = engine.recall("why NATS as the broker?").hits
    assert any(_WORDS in hit.text and hit.origin is Origin.USER for hit in recalled)


@pytest.mark.requirement("X7")
def test_an_answer_to_an_agent_that_had_read_a_page_is_shown_without_the_question(engine, tmp_path):
    search = {"type": "response_item", "payload": {"type": "web_search_call", "action": {"query": "brokers"}}}
    engine.ingest([_session(tmp_path, {"broker": {"answers": [_TYPED]}}, before=[search])])
    assert _said(engine) == [(_WORDS, Origin.USER)]
    assert not any(_BROKER in hit.text for hit in engine.timeline() if _WORDS in hit.text)


@pytest.mark.requirement("X7")
@pytest.mark.parametrize(
    ("form", "origins"),
    [
        ({"tool": "mcp__forms__ask"}, []),
        ({"source": "exec"}, [Origin.AGENT]),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "s0"}}}}, [Origin.AGENT]),
    ],
)
def test_an_answer_that_no_person_gave_is_not_theirs(engine, tmp_path, form, origins):
    engine.ingest([_session(tmp_path, {"broker": {"answers": [_TYPED]}}, **form)])
    assert [origin for _, origin in _said(engine)] == origins


@pytest.mark.requirement("O7")
def test_a_secret_answer_is_not_read(engine, tmp_path):
    questions = [_question("token", "What is the token?", isSecret=True)]
    engine.ingest([_session(tmp_path, {"token": {"answers": ["user_note: swordfish"]}}, questions=questions)])
    assert _said(engine) == []

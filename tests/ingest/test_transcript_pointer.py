"""Pointers: `show` opens the very messages behind an episode, or says why it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import zstandard

import picomem
from picomem.engine.engine import Engine
from picomem.engine.transcripts import keep_transcripts
from picomem.ingest.transcript_pointer import Opened
from picomem.records.kinds import Origin
from picomem.settings import Settings
from picomem.settings_tables import IngestSettings, RecallSettings

_TALK = [
    ("user", "Where does the loader keep its cache? It is called Zoë's."),
    ("assistant", "I look."),
    ("assistant", "In ~/.cache/loader, 40 files."),
    ("user", "缓存可以删除吗？"),
    ("assistant", "Yes, it is made anew."),
]


def _line(number: int, role: str, text: str) -> bytes:
    record = {"role": role, "content": text, "timestamp": f"2026-04-03T09:00:{number:02}Z", "id": f"m{number}"}
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"".join(_line(number, *said) for number, said in enumerate(_TALK)))
    return path


def _opened(engine: Engine) -> list[Opened]:
    """The pointers of all episodes, in the order of the transcript."""
    shown = [engine.show(hit.id) for hit in engine.timeline()]
    return [opened for episode, _, opened in sorted(shown, key=lambda row: (row[0].first_turn, row[0].part))]


def _texts(engine: Engine) -> list[list[str]]:
    return [[turn.text for turn in opened.turns] for opened in _opened(engine)]


_MESSAGES = [[_TALK[0][1]], [_TALK[1][1], _TALK[2][1]], [_TALK[3][1]], [_TALK[4][1]]]


def test_an_open_pointer_shows_exactly_the_messages_with_their_numbers_times_and_speakers(engine, path):
    engine.ingest([path])
    assert _texts(engine) == _MESSAGES
    turns = [turn for opened in _opened(engine) for turn in opened.turns]
    assert [turn.index for turn in turns] == [0, 1, 2, 3, 4]
    assert [turn.role for turn in turns] == [role for role, _ in _TALK]
    assert [turn.at - turns[0].at for turn in turns] == [number * 1_000_000 for number in range(5)]
    lines = path.read_bytes()
    assert all(json.loads(lines[turn.start : turn.end])["content"] == turn.text for turn in turns)


def test_a_pointer_into_a_transcript_that_is_gone_says_so_and_keeps_the_preview(engine, path):
    engine.ingest([path])
    path.unlink()
    assert {opened.state for opened in _opened(engine)} == {"gone"}
    assert all(str(path) in opened.note and not opened.turns for opened in _opened(engine))
    assert [hit.text for hit in engine.timeline()][-1] == _TALK[0][1]


def test_a_pointer_into_a_rewritten_transcript_shows_nothing_else_instead(engine, path):
    engine.ingest([path])
    data = path.read_bytes()
    path.write_bytes(data.replace(b"I look.", b"I wait."))
    assert [opened.state for opened in _opened(engine)] == ["open", "changed", "open", "open"]
    path.write_bytes(_line(9, "user", "Something else " * 100) + data)
    assert {opened.state for opened in _opened(engine)} == {"changed"}
    path.write_bytes(b"\x00\xff" * 4_000)
    assert {opened.state for opened in _opened(engine)} == {"changed"}
    path.write_bytes(data)
    assert _texts(engine) == _MESSAGES


def test_a_moved_transcript_opens_after_the_next_run(engine, path, tmp_path):
    engine.ingest([path])
    moved = tmp_path / "archive" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    assert {opened.state for opened in _opened(engine)} == {"gone"}
    assert engine.ingest([moved]).episodes == 0
    assert _texts(engine) == _MESSAGES
    with moved.open("ab") as file:
        file.write(_line(5, "user", "Then delete it."))
    engine.ingest([moved])
    assert _texts(engine) == [*_MESSAGES, ["Then delete it."]]


def test_a_compressed_transcript_opens_at_once_and_damaged_compression_is_told(engine, path):
    engine.ingest([path])
    compressed = path.with_name(f"{path.name}.zst")
    data = zstandard.ZstdCompressor().compress(path.read_bytes())
    compressed.write_bytes(data)
    path.unlink()
    assert _texts(engine) == _MESSAGES
    compressed.write_bytes(data[: len(data) // 2])
    assert {opened.state for opened in _opened(engine)} == {"changed"}
    compressed.write_bytes(data[:4] + bytes(reversed(data[4:])))
    assert {opened.state for opened in _opened(engine)} == {"unreadable"}
    compressed.unlink()
    compressed.mkdir()
    assert {opened.state for opened in _opened(engine)} == {"unreadable"}


def test_lines_that_stand_twice_in_the_span_are_shown_once(engine, path):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[:2], *lines[2:]]))
    report = engine.ingest([path])
    assert report.skipped == {"repeated": 2}
    assert _texts(engine) == _MESSAGES


def test_every_part_of_a_long_turn_opens_the_whole_turn(engine, path):
    text = " ".join(f"step {number}." for number in range(600))
    with path.open("ab") as file:
        file.write(_line(6, "assistant", text))
    engine.ingest([path])
    assert _texts(engine)[4:] == [[text]] * len(_texts(engine)[4:])
    assert len(_texts(engine)) > 7


def test_a_secret_is_redacted_in_what_is_opened(engine, path):
    secret = "ghp_" + "b7Wd13nYpK" * 3 + "Qs82Ax"
    with path.open("ab") as file:
        file.write(_line(7, "user", f"Use {secret} for the push"))
    engine.ingest([path])
    opened = _opened(engine)[-1]
    assert opened.state == "open"
    assert secret not in opened.turns[0].text
    assert "[redacted:" in opened.turns[0].text


def test_a_codex_span_opens_although_its_events_repeat_it_and_a_sub_agents_words_stay_an_agents(engine, tmp_path):
    def line(second: int, kind: str, payload: dict) -> str:
        return json.dumps({"timestamp": f"2026-04-03T09:00:{second:02}.000Z", "type": kind, "payload": payload}) + "\n"

    def item(second: int, role: str, part: str, text: str) -> str:
        content = [{"type": part, "text": text}]
        return line(second, "response_item", {"type": "message", "role": role, "content": content})

    meta = {"id": "c1", "cwd": "/w/crane", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "c0"}}}}
    path = tmp_path / "rollout-2026-04-03T09-00-00-019c0000-0000-7000-8000-000000000001.jsonl"
    path.write_text(
        line(0, "session_meta", meta)
        + item(1, "user", "input_text", "Count the tests")
        + line(1, "event_msg", {"type": "user_message", "message": "Count the tests"})
        + item(2, "assistant", "output_text", "I count.")
        + line(2, "event_msg", {"type": "agent_message", "message": "I count."})
        + item(3, "assistant", "output_text", "There are 12.")
    )
    engine.ingest([path])
    assert _texts(engine) == [["Count the tests"], ["I count.", "There are 12."]]
    assert {turn.origin for opened in _opened(engine) for turn in opened.turns} == {Origin.AGENT}


def _form_of_claude_code(**fields: object) -> bytes:
    record = {"sessionId": "s1", "cwd": "/w/crane", "entrypoint": "cli", "timestamp": "2026-04-03T09:00:00Z", **fields}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


@pytest.fixture
def dependent(tmp_path: Path) -> Path:
    """A transcript in which records mean something only by what stood before them: an answer, an approved plan and a
    queued prompt."""

    def called(uuid: str, call: str, name: str, given: dict) -> bytes:
        block = {"type": "tool_use", "id": call, "name": name, "input": given}
        message = {"id": f"m-{uuid}", "role": "assistant", "content": [block]}
        return _form_of_claude_code(type="assistant", uuid=uuid, message=message)

    def came(uuid: str, call: str, said: str, result: dict) -> bytes:
        block = {"type": "tool_result", "tool_use_id": call, "content": said}
        message = {"role": "user", "content": [block]}
        return _form_of_claude_code(type="user", uuid=uuid, message=message, toolUseResult=result)

    questions = [{"question": "Which broker?", "header": "Broker", "options": [{"label": "RabbitMQ"}]}]
    path = tmp_path / "-w-crane/s1.jsonl"
    path.parent.mkdir()
    path.write_bytes(
        _form_of_claude_code(type="user", uuid="u1", message={"role": "user", "content": "Set up the queue."})
        + called("a1", "c1", "AskUserQuestion", {"questions": questions})
        + came("u2", "c1", "User has answered", {"answers": {"Which broker?": "NATS because it is small"}})
        + called("a2", "c2", "ExitPlanMode", {"plan": "# Plan: NATS"})
        + came("u3", "c2", "User has approved your plan", {"plan": "# Plan: NATS\n\nThree steps."})
        + _form_of_claude_code(type="queue-operation", operation="enqueue", content="Tackle the lamp as well")
    )
    return path


_DEPENDENT = [
    ["Set up the queue."],
    ["Which broker?\n- RabbitMQ"],
    ["NATS because it is small"],
    ["# Plan: NATS\n\nThree steps."],
    ["Tackle the lamp as well"],
]


def test_a_record_that_means_something_only_by_earlier_ones_opens(engine, dependent):
    engine.ingest([dependent])
    assert _texts(engine) == _DEPENDENT
    assert {opened.state for opened in _opened(engine)} == {"open"}


def test_an_answer_opens_that_stands_only_in_the_sentence_of_its_result(engine, dependent):
    """Issue 37, 3.2: a copy of a session, or an earlier version, has no `toolUseResult`."""
    lines = [json.loads(line) for line in dependent.read_text().splitlines()]
    said = 'User has answered your questions: "Which broker?"="NATS because it is small". You can now continue.'
    for line in lines:
        if line.pop("toolUseResult", None) and "answered" in line["message"]["content"][0]["content"]:
            line["message"]["content"][0]["content"] = said
    dependent.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    engine.ingest([dependent])
    assert _texts(engine) == [texts for texts in _DEPENDENT if texts != ["# Plan: NATS\n\nThree steps."]]
    assert {opened.state for opened in _opened(engine)} == {"open"}


@pytest.mark.sqlite_file("copies of transcripts lie beside the file")
def test_a_copy_opens_such_a_record_too(db, dependent):
    settings = Settings(recall=RecallSettings(embedder="none"), ingest=IngestSettings(keep="all"))
    with picomem.open(db, settings=settings) as engine:
        engine.ingest([dependent])
        keep_transcripts(engine)
        dependent.unlink()
        assert _texts(engine) == _DEPENDENT

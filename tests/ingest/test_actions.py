"""What an agent did is found by what it ran and which files it touched, and goes as its words go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.ingest.outcomes import LONGEST_ACTION, actions_of
from picomem.records.kinds import Origin


@each_case(
    ("tool", "given", "expected"),
    [
        ("Bash", {"command": "git push\n  -u origin", "description": "Push"}, ("ran git push -u origin (Push)",)),
        ("Bash", {"command": "x" * 500}, ("ran " + "x" * LONGEST_ACTION,)),
        ("shell", {"command": ["bash", "-lc", "make test"]}, ("ran make test",)),
        ("shell", {"command": ["make", "test"]}, ("ran make test",)),
        ("exec_command", {"cmd": "ls"}, ("ran ls",)),
        ("Read", {"file_path": "/p/lib/a.ex"}, ("read lib/a.ex",)),
        ("Edit", {"file_path": "/q/a.ex", "old_string": "SECRET"}, ("edited /q/a.ex",)),
        ("NotebookEdit", {"notebook_path": "n.ipynb"}, ("edited n.ipynb",)),
        ("Write", {"file_path": "/p/b.ex", "content": "SECRET"}, ("wrote b.ex",)),
        ("Grep", {"pattern": "agentId", "path": "/p/test"}, ("searched agentId in test",)),
        ("WebFetch", {"url": "https://example.org/1", "prompt": "what?"}, ("fetched https://example.org/1",)),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Add File: a.py\n+1\n*** Update File: b.py\n*** Delete File: c.py\n"},
            ("wrote a.py", "edited b.py", "deleted c.py"),
        ),
        ("TaskOutput", {"task_id": "1"}, ()),
        ("Bash", {"command": {"odd": 1}}, ()),
        ("Mystery", {"file_path": "/p/a"}, ()),
    ],
)
def test_a_call_is_told_in_one_line(tool, given, expected):
    assert actions_of(tool, given, "/p") == expected


def _claude(*records: dict) -> str:
    base = {"sessionId": "s1", "cwd": "/p", "isSidechain": False, "parentUuid": None}
    return "".join(json.dumps({**base, "uuid": f"u{n}", **record}) + "\n" for n, record in enumerate(records))


def _says(text: str) -> dict:
    return {"type": "user", "message": {"role": "user", "content": text}}


def _calls(name: str, given: dict, text: str = "", call: str = "c") -> dict:
    blocks: list[dict] = [{"type": "text", "text": text}] if text else []
    blocks.append({"type": "tool_use", "id": call, "name": name, "input": given})
    return {"type": "assistant", "message": {"id": f"m{call}", "role": "assistant", "content": blocks}}


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "s1.jsonl"
    path.write_text(
        _claude(
            _says("the mooring sensor reports nothing"),
            _calls("Bash", {"command": "heron calibrate --sensor 7", "description": "Calibrate it"}, call="a"),
            _calls(
                "Edit", {"file_path": "/p/lib/mooring.ex", "old_string": "OLDTEXT"}, "The baud rate was wrong.", "b"
            ),
            _calls(
                "Bash", {"command": "export TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 && heron push"}, call="d"
            ),
        )
    )
    return path


def _episode(engine: Engine) -> dict[str, str]:
    (hit,) = [hit for hit in engine.timeline() if hit.role == "assistant"]
    return {"id": hit.id, "text": hit.text, "actions": "\n".join(hit.actions)}


def test_what_an_agent_ran_belongs_to_what_it_said_and_is_found(engine: Engine, transcript: Path) -> None:
    engine.ingest([transcript])
    hits = engine.recall("which heron command calibrates the sensor?").hits
    hit = next(hit for hit in hits if hit.role == "assistant")
    assert (hit.text, hit.origin) == ("The baud rate was wrong.", Origin.AGENT)
    assert hit.actions[0] == "ran heron calibrate --sensor 7 (Calibrate it)"
    assert "OLDTEXT" not in str(engine.timeline())
    opened = engine.show(hit.id)[2]
    assert [turn.shown for turn in opened.turns][:2] == [
        "ran heron calibrate --sensor 7 (Calibrate it)",
        "The baud rate was wrong.\nedited lib/mooring.ex",
    ]


def test_a_secret_in_a_command_is_taken_out(engine: Engine, transcript: Path, db: Path) -> None:
    engine.ingest([transcript])
    assert "heron push" in _episode(engine)["actions"]
    engine.close()
    assert b"ghp_abcdefghijklmnop" not in b"".join(path.read_bytes() for path in db.parent.glob(f"{db.name}*"))


def test_a_file_limits_recall_to_what_was_done_to_it(engine: Engine, transcript: Path) -> None:
    engine.remember("The mooring sensor is number seven")
    engine.ingest([transcript])
    assert [hit.role for hit in engine.recall("mooring", file="lib/mooring.ex").hits] == ["assistant"]
    assert engine.recall("mooring", file="lib/other.ex").hits == ()


def test_what_was_done_grows_with_the_transcript(engine: Engine, transcript: Path) -> None:
    lines = transcript.read_text().splitlines(keepends=True)
    transcript.write_text("".join(lines[:2]))
    engine.ingest([transcript])
    first = _episode(engine)
    assert (first["text"], first["actions"]) == ("ran heron calibrate --sensor 7 (Calibrate it)", "")
    transcript.write_text("".join(lines))
    engine.ingest([transcript])
    assert _episode(engine)["id"] == first["id"]
    assert _episode(engine)["text"] == "The baud rate was wrong."
    assert engine.doctor().findings == []
    again = _episode(engine)
    engine.ingest([transcript])
    assert _episode(engine) == again


def test_a_purge_takes_what_was_done(engine: Engine, transcript: Path, db: Path) -> None:
    engine.ingest([transcript])
    engine.purge(session="s1")
    transcript.unlink()
    engine.close()
    held = b"".join(path.read_bytes() for path in db.parent.glob(f"{db.name}*"))
    assert b"calibrate" not in held and b"mooring.ex" not in held


def test_codex_and_openclaw_tell_what_was_done_as_well(engine: Engine, tmp_path: Path) -> None:
    codex = [
        {"type": "session_meta", "payload": {"id": "c1", "cwd": "/p"}},
        {
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "raise the mast"}],
            },
        },
        {
            "type": "response_item",
            "payload": {
                "type": "function_call",
                "name": "shell",
                "arguments": json.dumps({"command": ["bash", "-lc", "winch up --mast"]}),
                "call_id": "k1",
            },
        },
        {
            "type": "response_item",
            "payload": {
                "type": "custom_tool_call",
                "name": "apply_patch",
                "input": "*** Begin Patch\n*** Update File: rig/mast.py\n",
                "call_id": "k2",
            },
        },
    ]
    (tmp_path / "rollout-1.jsonl").write_text(
        "".join(json.dumps({"timestamp": "2026-05-03T10:00:00Z", **line}) + "\n" for line in codex)
    )
    claw = [
        {"type": "session", "id": "o1", "cwd": "/p"},
        {
            "type": "message",
            "id": "m1",
            "parentId": None,
            "message": {
                "role": "assistant",
                "content": [{"type": "toolCall", "id": "t", "name": "exec", "arguments": {"command": "winch down"}}],
            },
        },
    ]
    (tmp_path / "o1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in claw))
    report = engine.ingest([tmp_path])
    assert report.problems == []
    assert sorted(hit.text for hit in engine.timeline() if hit.role == "assistant") == [
        "ran winch down",
        "ran winch up --mast\nedited rig/mast.py",
    ]

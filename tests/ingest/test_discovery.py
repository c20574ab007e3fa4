from __future__ import annotations

import gzip
import json
import os
import sys

import pytest
import zstandard

from picomem.ingest import formats as builtin_formats
from picomem.ingest.discovery import default_places, find
from picomem.ingest.format import TranscriptFolder, formats

_CODEX = b'{"timestamp":"2026-05-03T10:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/p"}}\n'
_PLAIN = b'{"role":"user","content":"hello"}\n'
_CLAUDE = b'{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":"hi"}}\n'


def _write(path, content=_PLAIN):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_the_hosts_own_folders_are_searched_and_missing_ones_are_no_problem(tmp_path):
    claude = _write(tmp_path / ".claude/projects/-p/s.jsonl", _CLAUDE)
    agent = _write(tmp_path / ".claude/projects/-p/s/subagents/agent-a.jsonl", _CLAUDE)
    codex = _write(tmp_path / ".codex/sessions/2026/05/03/rollout-a.jsonl", _CODEX)
    _write(tmp_path / ".claude/projects/-p/memory/MEMORY.md", b"# notes")
    header = b'{"type":"session","id":"s","cwd":"/"}\n'
    claw = _write(tmp_path / ".openclaw/agents/main/sessions/s.jsonl", header)
    _write(tmp_path / ".openclaw/agents/main/sessions/sessions.json", b'{"agent:main:main":{"sessionId":"s"}}')
    archive = tmp_path / ".openclaw/agents/main/sessions/r.jsonl.deleted.1.zst"
    _write(archive, zstandard.ZstdCompressor().compress(header))
    transcripts = find(default_places(tmp_path, {}))
    assert {(transcript.path, transcript.format) for transcript in transcripts} == {
        (claude, "claude-code"),
        (agent, "claude-code"),
        (codex, "codex"),
        (claw, "openclaw"),
        (archive, "openclaw"),
    }
    assert find(default_places(tmp_path / "nobody", {})) == []


def test_the_environment_moves_the_folders(tmp_path):
    places = default_places(tmp_path, {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"})
    folders = {str(place.folder) for place in places}
    assert {"/c/projects", "/x/sessions", "/x/archived_sessions"} <= folders


def test_of_a_rollout_and_its_compressed_copy_the_plain_one_is_taken(tmp_path):
    packed = zstandard.ZstdCompressor().compress(_CODEX)
    plain = _write(tmp_path / "sessions/rollout-a.jsonl", _CODEX)
    _write(tmp_path / "sessions/rollout-a.jsonl.zst", packed)
    _write(tmp_path / "archived_sessions/rollout-a.jsonl.zst", packed)
    alone = _write(tmp_path / "archived_sessions/rollout-b.jsonl.zst", packed)
    assert [transcript.path for transcript in find([tmp_path])] == [alone, plain]


def test_links_are_not_followed_and_each_file_is_given_once(tmp_path):
    inside = _write(tmp_path / "given/a.jsonl")
    outside = _write(tmp_path / "outside/b.jsonl")
    os.symlink(tmp_path / "given", tmp_path / "given/loop")
    os.symlink(outside, tmp_path / "given/out.jsonl")
    os.symlink(outside.parent, tmp_path / "given/out")
    os.mkfifo(tmp_path / "given/pipe.jsonl")
    assert [transcript.path for transcript in find([tmp_path / "given", inside])] == [inside]
    os.symlink(tmp_path / "given", tmp_path / "link")
    assert [transcript.path.name for transcript in find([tmp_path / "link"])] == ["a.jsonl"]


def test_a_named_file_is_judged_by_its_content_and_reported_if_it_is_nothing_known(tmp_path):
    odd = _write(tmp_path / "talk.log")
    photo = _write(tmp_path / "photo.jsonl", b"\x89PNG\r\n\x1a\n\0\0")
    damaged = _write(tmp_path / "c.jsonl.zst", b"\x28\xb5\x2f\xfd" + b"\xff" * 40)
    transcripts = find([odd, photo, damaged, tmp_path / "nothing"])
    assert sorted(
        (transcript.path.name, transcript.format, bool(transcript.problem)) for transcript in transcripts
    ) == [
        ("c.jsonl.zst", "", True),
        ("nothing", "", True),
        ("photo.jsonl", "", True),
        ("talk.log", "plain", False),
    ]


def test_sessions_are_given_in_the_order_in_which_they_began(tmp_path):
    def began(path: str, at: str) -> str:
        record = f'{{"type":"user","sessionId":"s","uuid":"u","timestamp":"{at}","message":{{"role":"user","content":"hi"}}}}'
        _write(tmp_path / path, b'{"type":"mode","sessionId":"s"}\n' + record.encode() + b"\n")
        return path

    expected = [
        began("d.jsonl", "2026-03-01T10:00:00Z"),
        began("c/s1.jsonl", "2026-03-02T10:00:00Z"),
        began("c/s1/subagents/agent-a.jsonl", "2026-03-02T10:00:00Z"),  # it repeats the session
        began("c/s1/subagents/agent-0.jsonl", "2026-03-02T11:00:00Z"),
        began("a.jsonl", "2026-03-03T10:00:00Z"),
    ]
    written = _write(tmp_path / "b.jsonl", b'{"role":"user","content":"a log without times"}\n')
    os.utime(written, (1_772_500_000, 1_772_500_000))  # 2026-03-03T01:06:40Z
    expected.insert(4, "b.jsonl")
    given = [tmp_path / "a.jsonl", tmp_path]
    assert [str(transcript.path.relative_to(tmp_path)) for transcript in find(given)] == expected


def test_what_cannot_be_read_is_reported_and_the_rest_is_found(tmp_path):
    if os.geteuid() == 0:
        pytest.skip("the superuser can read everything")
    inside = _write(tmp_path / "closed/a.jsonl")
    seen = _write(tmp_path / "open/a.jsonl")
    inside.parent.chmod(0)
    transcripts = find([tmp_path, inside])
    inside.parent.chmod(0o700)
    assert [(transcript.path, bool(transcript.problem)) for transcript in transcripts] == [
        (inside.parent, True),
        (seen, False),
        (inside, True),
    ]


def test_a_place_that_is_a_file_of_no_host_is_passed_over(tmp_path):
    assert find([TranscriptFolder("codex", tmp_path / "missing")]) == []


_NEW_FORMAT = """
from pathlib import Path
from picomem.ingest.format import LineFormat, State, TranscriptFolder
from picomem.records.kinds import Origin

class Quill(LineFormat):
    name = "quill"
    file_names = ("quill.log",)
    def claims(self, path, head, /):
        return head.startswith(b"QUILL ")
    def places(self, home, env, /):
        yield TranscriptFolder(self.name, home / ".quill")
    def start(self, path=None):
        return State()
    def feed(self, state, line):
        return state.say(line, line.data.decode().removeprefix("QUILL "), role="user", origin=Origin.USER)

FORMAT = Quill()
"""


def test_a_new_format_is_one_file(tmp_path, monkeypatch, engine):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "quill.py").write_text(_NEW_FORMAT)
    _write(tmp_path / ".quill/quill.log", b"QUILL The heron nests on the eastern pier\n")
    monkeypatch.setattr(builtin_formats, "__path__", [*builtin_formats.__path__, str(tmp_path / "more")])
    formats.cache_clear()
    try:
        report = engine.ingest(default_places(tmp_path, {}))
    finally:
        formats.cache_clear()
        sys.modules.pop(f"{builtin_formats.__name__}.quill", None)
    assert (report.hosts, report.problems) == ({"quill": 1}, [])
    assert "heron" in engine.recall("where does the heron nest?").hits[0].text


_TURNS = [{"role": "user", "content": "When does the café close?"}, {"role": "assistant", "content": "At six."}]
_AS_LINES = "".join(json.dumps(turn, ensure_ascii=False) + "\n" for turn in _TURNS)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (_AS_LINES.encode("utf-16"), "UTF-16"),
        (b"\xfe\xff" + _AS_LINES.encode("utf-16-be"), "UTF-16"),
        (_AS_LINES.replace("\n", "\r\n").encode("utf-16"), "UTF-16"),
        (_AS_LINES.replace("\n", "\r").encode(), "carriage return"),
        (json.dumps(_TURNS).encode(), "array"),
        (json.dumps(_TURNS, indent=2).encode(), "array"),
        (json.dumps(_TURNS * 5_000).encode(), "array"),
    ],
    ids=["utf-16", "big-endian", "utf-16 of Windows", "carriage returns", "array", "indented array", "long array"],
)
def test_a_transcript_in_another_form_is_named_with_what_to_do(data, said, engine, tmp_path):
    path = _write(tmp_path / "logs/talk.jsonl", data)
    _write(tmp_path / "logs/numbers.jsonl", b"[1, 2, 3]\n")
    _write(tmp_path / "logs/rows.jsonl", "\ufeff[1, 2]\n".encode("utf-16-le"))
    _write(tmp_path / "logs/whole.jsonl")
    report = engine.ingest([tmp_path / "logs"])
    assert (report.turns, report.unread, report.skipped) == (1, 1, {"no transcript": 2})
    [problem] = report.problems
    assert problem.startswith(f"{path} looks like a transcript, but ")
    assert said in problem


def test_a_transcript_that_gzip_packed_is_found_in_a_folder_and_counts_once(engine, tmp_path):
    path = _write(tmp_path / "logs/talk.jsonl", _AS_LINES.encode())
    assert engine.ingest([tmp_path / "logs"]).turns == 2
    _write(tmp_path / "logs/talk.jsonl.gz", gzip.compress(_AS_LINES.encode()))
    assert engine.ingest([tmp_path / "logs"]).turns == 0
    path.unlink()
    again = engine.ingest([tmp_path / "logs"])
    assert (again.episodes, again.files, again.problems) == (0, 1, [])
    said = {turn.text for hit in engine.timeline() for turn in engine.show(hit.id)[2].turns}
    assert said == {turn["content"] for turn in _TURNS}


@pytest.mark.parametrize("first", [b'{"event": "tick"}\n', b"starting up\n"])
def test_a_log_whose_first_messages_come_late_is_a_transcript(tmp_path, first):
    late = _write(tmp_path / "late.jsonl", first * 100 + _PLAIN)
    _write(tmp_path / "none.jsonl", first * 100)
    assert {(transcript.path.name, transcript.format) for transcript in find([tmp_path])} == {
        (late.name, "plain"),
        ("none.jsonl", ""),
    }

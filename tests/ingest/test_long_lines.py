"""A line of any length: the file is recognised, what can be read is read, and what cannot be read is reported."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import zstandard

from picomem.cli.main import main
from picomem.ingest import reader
from picomem.ingest.discovery import find

_LONG = "paste " * 20_000  # 120 KB
_TOO_LONG = 9 << 20

_FIRST = {
    "claude-code": {"type": "user", "sessionId": "s1", "uuid": "u1", "message": {"role": "user", "content": _LONG}},
    "codex": {
        "timestamp": "2026-05-03T10:00:00Z",
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": _LONG}]},
    },
    "openclaw": {"type": "message", "id": "m1", "parentId": None, "message": {"role": "user", "content": _LONG}},
    "plain": {"role": "user", "content": _LONG},
}


def _written(path: Path, *records: dict[str, Any], compact: bool = True) -> Path:
    separators = (",", ":") if compact else None
    path.write_text("".join(json.dumps(record, separators=separators) + "\n" for record in records))
    return path


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("name", _FIRST)
def test_a_long_first_line_is_recognised_and_read(engine, tmp_path, name, compact):
    _written(tmp_path / "a.jsonl", _FIRST[name], compact=compact)
    report = engine.ingest([tmp_path])
    assert (report.hosts, report.turns, report.problems, report.skipped) == ({name: 1}, 1, [], {})
    assert sum(len(hit.text) for hit in engine.timeline(limit=1000)) > 0.9 * len(_LONG)


def test_a_long_line_that_tells_nothing_hides_no_later_one(tmp_path):
    unknown = {"kind": "header", "data": "x" * 100_000}
    _written(tmp_path / "a.jsonl", *[unknown] * 19, {"role": "user", "content": "hello"})
    assert [transcript.format for transcript in find([tmp_path])] == ["plain"]


def test_a_long_first_line_in_a_compressed_file_is_recognised(tmp_path):
    data = json.dumps(_FIRST["codex"]).encode() + b"\n"
    (tmp_path / "a.jsonl.zst").write_bytes(zstandard.ZstdCompressor().compress(data))
    assert [transcript.format for transcript in find([tmp_path])] == ["codex"]


def test_a_sample_is_small_however_long_the_lines_are(tmp_path):
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        for _ in range(2):
            file.write(b'{"role":"user","content":"')
            for _ in range(50):
                file.write(b"x" * (1 << 20))
            file.write(b'"}\n')
        file.write(b'{"role":"user","content":"%s"}\n' % (b"y" * (7 << 20)))
        file.write(b'{"data":%s1%s}\n' % (b"[" * 400, b"]" * 400))
    tracemalloc.start()
    sample = reader.sample(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20
    assert len(sample.head) < 150_000
    assert not sample.unreadable
    assert [transcript.format for transcript in find([path])] == ["plain"]


def test_a_line_that_is_too_long_is_reported_and_the_command_fails(tmp_path, capsys):
    path = _written(
        tmp_path / "a.jsonl", {"role": "user", "content": "x" * _TOO_LONG}, {"role": "user", "content": "hi"}
    )
    command = ["--db", str(tmp_path / "memory.db"), "ingest", str(tmp_path)]
    assert main(command) == 1
    told = capsys.readouterr().out
    assert "1 turn, 1 new episode" in told
    assert f"! {path}: Lines that are longer than 8 MiB were not read: 1." in told
    assert main(command) == 0  # it is told once
    assert "1 unchanged" in capsys.readouterr().out


def test_a_file_of_lines_that_are_too_long_is_a_problem_and_not_no_transcript(tmp_path, capsys):
    path = _written(tmp_path / "a.jsonl", {"role": "user", "content": "x" * _TOO_LONG})
    _written(tmp_path / "b.jsonl", {"role": "user", "content": "hi"})
    assert main(["--db", str(tmp_path / "memory.db"), "ingest", str(tmp_path)]) == 1
    assert f"! {path} begins with lines longer than 8 MiB" in capsys.readouterr().out


def test_what_is_passed_over_is_told_where_nothing_was_found(tmp_path, capsys):
    _written(tmp_path / "a.jsonl", {"kind": "other"})
    assert main(["--db", str(tmp_path / "memory.db"), "ingest", str(tmp_path)]) == 0
    assert "Passed over: no transcript 1." in capsys.readouterr().out

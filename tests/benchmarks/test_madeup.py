from __future__ import annotations

import json
from collections import Counter

import pytest

from benchmarks.madeup import write_claude_code, write_plain
from picomem.app import open_engine
from picomem.ingest.discovery import find


@pytest.mark.parametrize("write", [write_claude_code, write_plain])
def test_the_same_seed_gives_the_same_bytes(tmp_path, write):
    first, again, other = (write(tmp_path / name, 60_000, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in again]
    assert first[0].read_bytes() != other[0].read_bytes()


@pytest.mark.parametrize("write", [write_claude_code, write_plain])
def test_there_are_as_many_bytes_as_asked_for_in_files_of_a_megabyte(tmp_path, write):
    sizes = [path.stat().st_size for path in write(tmp_path, 1_500_000)]
    assert len(sizes) == 2
    assert 1_500_000 <= sum(sizes) < 1_600_000


@pytest.mark.parametrize(("write", "name"), [(write_claude_code, "claude-code"), (write_plain, "plain")])
def test_the_readers_know_them_for_what_they_are(tmp_path, write, name):
    paths = write(tmp_path / "sessions", 400_000)
    assert {transcript.format for transcript in find(paths)} == {name}
    with open_engine(tmp_path / "memory.db", embedder="none") as engine:
        report = engine.ingest(paths)
    assert not report.problems
    assert report.turns > 3
    assert not [reason for reason in report.skipped if reason.startswith(("unknown", "invalid"))]


def test_most_of_a_coding_session_is_the_noise_of_tools(tmp_path):
    sizes: Counter[str] = Counter()
    said = 0
    for path in write_claude_code(tmp_path, 2_000_000):
        for line in path.read_text("ascii").splitlines():
            record = json.loads(line)
            content = record.get("message", {}).get("content", "")
            kind = record["type"] if isinstance(content, str) else content[0]["type"]
            sizes[kind] += len(line)
            said += len(content if isinstance(content, str) else content[0].get("text", ""))
    share = {kind: size / sizes.total() for kind, size in sizes.items()}
    assert 0.4 < share["tool_result"] < 0.6
    assert 0.25 < share["progress"] < 0.4
    assert 0.08 < share["tool_use"] < 0.2
    assert 0.005 < said / sizes.total() < 0.03


def test_some_turns_hold_what_is_redacted(tmp_path):
    paths = write_plain(tmp_path / "sessions", 150_000)
    with open_engine(tmp_path / "memory.db", embedder="none") as engine:
        report = engine.ingest(paths)
    assert 0 < report.redacted < report.turns / 20

"""Whatever a person names on the command line: one sentence for each, and the others are read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from picomem.errors import InvalidInput
from picomem.ingest import source
from picomem.ingest.discovery import find
from picomem.paths import hold_database, release_database
from picomem.store.files.database_files import SUFFIXES

_HELLO = b'{"role":"user","content":"hello"}\n'


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(_HELLO)
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="it needs named pipes and devices")
def test_the_program_says_what_is_wrong_with_each_and_reads_the_others(talk, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.sqlite")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    odd = os.fsencode(tmp_path / "odd") + b"\xff.jsonl"
    with open(odd, "wb") as file:
        file.write(_HELLO)
    wrong: list[str | bytes] = [
        str(tmp_path / "pipe"),
        str(tmp_path / "pipe.sqlite"),
        "/dev/zero",
        str(tmp_path / "loop"),
        str(tmp_path / ("n" * 300) / "a.jsonl"),
        str(talk / "inside.jsonl"),
        "~nobody-of-that-name/a.jsonl",
        str(tmp_path / "missing.sqlite"),
        odd,
    ]
    program = [sys.executable, "-m", "picomem.cli.main", "--db", str(tmp_path / "memory.db"), "ingest"]
    done = subprocess.run([*program, *wrong, str(talk)], capture_output=True, timeout=60, check=False)
    told = done.stdout.decode()
    problems = [line for line in told.splitlines() if line.startswith("! ")]
    assert (done.returncode, done.stderr) == (1, b"")
    assert "1 turn, 1 new episode" in told
    assert len(problems) == len(wrong), told
    assert all(line.endswith(".") and line.count(str(tmp_path)) < 2 for line in problems), problems


def test_a_path_with_a_nul_or_half_a_character_is_a_problem_like_any_other(engine, talk):
    report = engine.ingest(["a\0b.jsonl", "half\ud800.jsonl", str(talk)])
    assert (report.turns, report.unread) == (1, 2)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser can read everything")
def test_a_closed_folder_is_a_problem(engine, talk, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    report = engine.ingest([closed, talk])
    closed.chmod(0o700)
    assert (report.turns, report.unread) == (1, 1)
    assert str(closed) in report.problems[0]


def test_an_open_database_is_not_opened_as_a_transcript(tmp_path, talk):
    databases = [tmp_path / "memory.db", tmp_path / "memory.jsonl"]
    for database in databases:
        for ending in ("", "-wal", "-shm"):
            Path(f"{database}{ending}").write_bytes(_HELLO)
        hold_database(database, SUFFIXES)
    try:
        named = [Path(f"{database}{ending}") for database in databases for ending in ("", "-wal", "-shm")]
        transcripts = find([*named, tmp_path])
    finally:
        for database in databases:
            release_database(database)
    assert [transcript.path for transcript in transcripts if transcript.format] == [talk]
    assert [transcript.path for transcript in transcripts if transcript.problem] == named
    assert all("database" in transcript.problem for transcript in transcripts if transcript.problem)


def test_the_name_decides_who_opens_a_file_so_that_no_lock_is_lost(tmp_path):
    """The reader never opens what SQLite may have open, and SQLite never what the reader opens."""
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    assert [transcript.format for transcript in find([path])] == [""]
    assert not source.is_database(path)
    assert source.is_database(tmp_path / "openclaw-agent.sqlite")
    for ending in ("-wal", "-shm", "-journal"):
        with pytest.raises(InvalidInput, match="name the database itself"):
            source.refuse_part_of_database(tmp_path / f"openclaw-agent.sqlite{ending}")

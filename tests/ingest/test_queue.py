"""Many small files: stored together, each whole, and not looked into again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.engine_parts import connector_of
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine
from picomem.engine.transcripts import ingester
from picomem.ingest import queue, source, storing
from picomem.ingest.discovery import find
from picomem.store import sql_statements


def _talk(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ({"role": "user", "content": text, "timestamp": "2026-05-03T10:00:00Z"} for text in texts)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _many(folder: Path, count: int) -> list[Path]:
    return [_talk(folder / f"{number:04}.jsonl", f"Message {number} about the crane") for number in range(count)]


@contextmanager
def _statements(engine: Engine) -> Iterator[list[str]]:
    """The statements of the storing connection."""
    told: list[str] = []
    connection = connection_of(engine)
    connection.exec_trace = lambda _cursor, statement, _values: told.append(statement) or True
    yield told
    connection.exec_trace = None


def _previews(engine: Engine) -> list[str]:
    return sorted(hit.text for hit in engine.timeline(limit=10_000))


@pytest.fixture
def settled(monkeypatch) -> None:
    """Files count as settled at once, so that no test waits for its file system."""
    monkeypatch.setattr(source, "_SETTLED", -(10**18))


@pytest.mark.sqlite_file("asks SQLite for its plan")
@pytest.mark.parametrize("statement", ["transcripts_at_path", "transcript_at_path", "transcripts_of_session"])
def test_a_transcript_is_found_by_its_index_however_many_there_are(engine, statement):
    values = {"user": "local", "path": "/a", "session": "s", "host": "plain"}
    query = sql_statements.statement(statement)
    with connector_of(engine).read() as tx:
        (plan,) = tx._connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()  # type: ignore[attr-defined]
    assert "AND path=?" in plan[3] or "AND session=?" in plan[3]


@pytest.mark.sqlite_file("listens to SQLite's statements")
def test_small_files_are_stored_in_few_transactions(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(queue, "BATCH_SECONDS", 1e9)
    monkeypatch.setattr(storing, "LOCK_SECONDS", 1e9)
    for name in ("BATCH_PIECES", "BATCH_FILES"):
        monkeypatch.setattr(queue, name, getattr(queue, name) // 10)
    _many(tmp_path, 90)
    with _statements(engine) as told:
        report = engine.ingest([tmp_path])
    assert (report.files, report.episodes, report.turns, report.problems) == (90, 90, 90, [])
    assert told.count("COMMIT") == 3


@pytest.mark.sqlite_file("listens to SQLite's statements")
def test_a_transaction_ends_after_a_moment_so_that_others_can_write(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(storing, "LOCK_SECONDS", 0)
    _many(tmp_path, 20)
    with _statements(engine) as told:
        report = engine.ingest([tmp_path])
    assert (report.episodes, told.count("COMMIT")) == (20, 20)


def test_one_transcript_that_cannot_be_stored_is_no_obstacle_for_those_beside_it(engine, tmp_path):
    codex = tmp_path / "0002.jsonl"
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Look at the crane"}]}
    records = [("session_meta", {"id": "0002", "cwd": "/tmp", "originator": "codex_cli_rs"}), ("response_item", said)]
    at = "2026-05-03T09:00:00Z"
    lines = (json.dumps({"timestamp": at, "type": kind, "payload": payload}) + "\n" for kind, payload in records)
    codex.write_text("".join(lines))
    engine.ingest([codex])
    files = _many(tmp_path, 5)
    report = engine.ingest([tmp_path])
    assert (report.unread, report.episodes, report.turns) == (1, 4, 4)
    assert "read as a transcript of codex before" in report.problems[0]
    assert str(files[2]) in report.problems[0]
    assert len(_previews(engine)) == 5


@pytest.mark.sqlite_file("damages a row in the file")
def test_a_damaged_row_stops_its_own_transcript_only(engine, tmp_path):
    """The copy repeats a turn of a transcript whose record is damaged, which is met in the middle of storing."""
    _talk(tmp_path / "b" / "first.jsonl", "Said in both", "Said in the first")
    engine.ingest([tmp_path])
    with connector_of(engine).write(engine.scope) as tx:
        tx._connection.execute("UPDATE transcripts SET title = 'edited by hand'")  # type: ignore[attr-defined]
    _talk(tmp_path / "a" / "1.jsonl", "Before the copy")
    _talk(tmp_path / "b" / "copy.jsonl", "Said in both")
    _talk(tmp_path / "c" / "2.jsonl", "After the copy")
    report = engine.ingest([tmp_path / "a", tmp_path / "b" / "copy.jsonl", tmp_path / "c"])
    assert (report.unread, report.episodes, report.turns) == (1, 2, 2)
    assert "damaged" in report.problems[0]
    with connector_of(engine).read() as tx:
        assert tx.one("count_episodes", user="local") == (4,)  # type: ignore[attr-defined]


def test_what_was_told_of_is_kept_after_ctrl_c(engine, tmp_path):
    _many(tmp_path, 30)

    def interrupt(progress) -> None:
        if progress.files_done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ingester(engine).run(find([tmp_path]), interrupt)
    assert len(_previews(engine)) == 10
    assert engine.ingest([tmp_path]).episodes == 20


@pytest.mark.usefixtures("settled")
def test_an_untouched_file_is_known_by_its_status_alone(engine, tmp_path):
    files = _many(tmp_path, 3)
    engine.ingest([tmp_path])
    recognize = ingester(engine).recognize
    assert [recognize(path) for path in files] == ["plain"] * 3
    assert engine.ingest([tmp_path]).unchanged == 3

    files[0].write_text(files[0].read_text().replace("Message", "Massage"))
    status = files[1].stat()
    files[1].write_text(files[1].read_text().replace("Message", "Massage"))
    os.utime(files[1], ns=(status.st_atime_ns, status.st_mtime_ns))  # of the same size, and the same time of storing
    assert [recognize(path) for path in files] == ["", "", "plain"]
    report = engine.ingest([tmp_path])
    assert (report.files, report.unchanged, report.rewritten, report.episodes) == (3, 1, 2, 2)


def test_a_file_that_was_changed_a_moment_ago_is_looked_into_until_it_has_settled(engine, tmp_path, monkeypatch):
    (path,) = _many(tmp_path, 1)
    engine.ingest([tmp_path])
    recognize = ingester(engine).recognize
    assert recognize(path) == ""
    monkeypatch.setattr(source, "_SETTLED", -(10**18))
    assert recognize(path) == ""  # nothing is known of the moment at which it was read
    report = engine.ingest([tmp_path])
    assert (report.unchanged, report.turns) == (1, 0)
    assert recognize(path) == "plain"


@pytest.mark.usefixtures("settled")
def test_a_copy_is_looked_into_as_long_as_another_file_has_its_turns(engine, tmp_path):
    first = _talk(tmp_path / "first.jsonl", "Said in both")
    copy = _talk(tmp_path / "second.jsonl", "Said in both", "Only in the copy")
    engine.ingest([tmp_path])
    recognize = ingester(engine).recognize
    assert [recognize(first), recognize(copy)] == ["plain", ""]

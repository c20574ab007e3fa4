"""OpenClaw's database: real ones, in the documented shape, made by the tests; read while their owner writes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
import zstandard
from tests.engine_parts import caller_context_of, connector_of

from picomem.engine.engine import Engine
from picomem.ingest.discovery import default_places
from picomem.ingest.transcript_copies import KeepRule
from picomem.records.episode import Transcript
from picomem.store.tables import transcript_rows

_SCHEMA = """
CREATE TABLE session_nodes(session_key TEXT PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT) STRICT;
CREATE TABLE session_windows(session_id TEXT PRIMARY KEY, session_key TEXT, created_at INTEGER) STRICT;
CREATE TABLE transcript_events(session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL,
    event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE transcript_rewrite_watermarks(session_id TEXT PRIMARY KEY, generation TEXT NOT NULL) STRICT;
"""


class Host:
    """OpenClaw's part: the connection that owns the database."""

    def __init__(self, path: Path, mode: str = "wal", schema: str = _SCHEMA) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.db = apsw.Connection(str(path))
        self.db.execute(f"PRAGMA journal_mode = {mode}").fetchall()
        self.db.execute(schema)

    def add(self, session: str, seq: int, event: dict, *, packed: bool = False) -> None:
        data = json.dumps(event).encode()
        self.db.execute(
            "INSERT INTO transcript_events(session_id, seq, event_json, event_zstd, event_utf8_bytes, created_at) "
            "VALUES (?, ?, ?, ?, ?, 1)",
            (session, seq, None, zstandard.ZstdCompressor().compress(data), len(data))
            if packed
            else (session, seq, data.decode(), None, None),
        )

    def say(self, session: str, *texts: str, first: int = 1, packed: bool = False) -> None:
        """What a person and the agent say in turn, from message number `first` on."""
        if first == 1:
            self.add(session, 0, {"type": "session", "version": 3, "id": session, "cwd": "/w/crane"})
        for number, text in enumerate(texts, first):
            self.add(session, number, message(session, number, text), packed=packed)

    def rewrite(self, session: str, generation: str) -> None:
        """Delete a session's records, as its owner does before it writes them anew."""
        self.db.execute("DELETE FROM transcript_events WHERE session_id = ?", (session,))
        self.db.execute("INSERT OR REPLACE INTO transcript_rewrite_watermarks VALUES (?, ?)", (session, generation))


def message(session: str, number: int, text: str) -> dict:
    role = "user" if number % 2 else "assistant"
    return {
        "type": "message",
        "id": f"{session}-{number}",
        "parentId": f"{session}-{number - 1}" if number > 1 else None,
        "timestamp": f"2026-05-03T10:{number // 60:02}:{number % 60:02}Z",
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"


@pytest.fixture
def host(path: Path) -> Iterator[Host]:
    owner = Host(path)
    yield owner
    owner.db.close()


def _previews(engine: Engine) -> list[str]:
    return sorted(hit.text for hit in engine.timeline(limit=1000))


def _transcripts(engine: Engine) -> list[Transcript]:
    with connector_of(engine).read() as tx:
        return sorted(
            transcript_rows.transcripts(tx, engine.scope), key=lambda transcript: (transcript.path, transcript.session)
        )


def _files(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir()}


def test_it_is_found_in_its_usual_place_with_one_transcript_for_each_session(engine, host, tmp_path):
    host.say("s1", "Where is the loader?", "In src/loader.")
    host.say("s2", "My token is ghp_0123456789abcdefghijABCDEFGHIJ456789", "NO_REPLY")
    report = engine.ingest(default_places(tmp_path, {}))
    assert (report.problems, report.files, report.hosts, report.turns) == ([], 1, {"openclaw": 1}, 3)
    transcripts = _transcripts(engine)
    assert [
        (transcript.session, transcript.host, transcript.agent, transcript.project, transcript.turns)
        for transcript in transcripts
    ] == [
        ("s1", "openclaw", "main", "crane", 2),
        ("s2", "openclaw", "main", "crane", 1),
    ]
    assert report.redacted == 1
    assert not any("ghp_" in text for text in _previews(engine))
    assert engine.ingest([tmp_path / ".openclaw"]).unchanged == 1


def test_only_what_was_appended_is_read_the_next_time_and_compressed_records_too(engine, host, path):
    host.say("s1", "one")
    host.say("s2", "uno")
    engine.ingest([path])
    host.say("s1", "two " * 200, "three", first=2, packed=True)
    report = engine.ingest([path])
    assert (report.turns, report.episodes, report.rewritten, report.repeated) == (2, 2, 0, 0)
    assert _previews(engine) == ["one", "three", ("two " * 200).strip(), "uno"]
    assert engine.ingest([path]).unchanged == 1


def test_slices_give_the_rows_that_one_reading_gives(engine, host, path, open_engine, tmp_path):
    said = [f"Message {number} about the loader" for number in range(1, 260)]
    for number, text in enumerate(said, 1):
        host.say("s1", text, first=number, packed=number % 3 == 0)
        if number % 50 == 0:
            engine.ingest([path])
    engine.ingest([path])
    calm = open_engine(tmp_path / "calm.db")
    calm.ingest([path])
    assert _previews(engine) == _previews(calm)
    assert len(_previews(calm)) == len(said)


def test_a_branch_that_was_left_is_known_as_in_the_lines(engine, host, path):
    host.say("s1", "one", "two", "three, taken back", "four, taken back")
    host.add("s1", 5, {**message("s1", 5, "three, said otherwise"), "parentId": "s1-2"})
    engine.ingest([path])
    assert [transcript.abandoned for transcript in _transcripts(engine)] == ["[[2, 3]]"]


def test_a_rewritten_session_is_read_again_and_its_words_stay_once(engine, host, path):
    host.db.execute("INSERT INTO session_windows VALUES ('s1', 'agent:main:main', 1), ('s2', 'agent:main:main', 1)")
    host.say("s1", "one", "two", "three")
    host.say("s2", "uno")
    engine.ingest([path])
    host.rewrite("s1", "g2")
    host.add("s1", 0, {"type": "session", "version": 3, "id": "s1"})
    for seq, number in enumerate((1, 3, 4), 7):
        host.add("s1", seq, message("s1", number, {1: "one", 3: "three", 4: "four"}[number]))
    report = engine.ingest([path])
    assert (report.rewritten, report.episodes, report.updated) == (1, 1, 2)
    assert _previews(engine) == ["four", "one", "three", "two", "uno"]
    states = {hit.text: engine.show(hit.id)[2].state for hit in engine.timeline()}
    assert {text for text, state in states.items() if state == "open"} == {"one", "three", "four", "uno"}


def test_a_record_that_vanished_without_a_word_makes_its_session_read_again(engine, host, path):
    host.say("s1", "one", "two", "three")
    engine.ingest([path])
    host.db.execute("DELETE FROM transcript_events WHERE seq = 2")
    assert engine.ingest([path]).rewritten == 1
    host.db.execute("DELETE FROM transcript_events WHERE seq = 3")
    host.say("s1", "three, otherwise", first=3)
    assert engine.ingest([path]).rewritten == 1
    assert len(_transcripts(engine)) == 1


def test_a_pointer_opens_the_messages_or_says_that_they_are_gone_or_others(engine, host, path):
    host.say("s1", "one", "two", packed=True)
    host.say("s2", "uno")
    host.say("s3", "eins")
    engine.ingest([path])
    host.rewrite("s2", "g2")
    host.db.execute("UPDATE transcript_events SET event_json = replace(event_json, 'eins', 'zwei')")
    opened = {hit.text: engine.show(hit.id)[2] for hit in engine.timeline()}
    assert {text: shown.state for text, shown in opened.items()} == {
        "one": "open",
        "two": "open",
        "uno": "gone",
        "eins": "changed",
    }
    assert [(turn.role, turn.text) for turn in opened["two"].turns] == [("assistant", "two")]


@pytest.mark.sqlite_file("copies lie beside the file")
@pytest.mark.requirement("X9")
def test_a_session_that_its_host_deleted_opens_from_the_copy(engine, host, path):
    host.say("s1", "one", "two", packed=True)
    host.say("s2", "uno")
    engine.ingest([path])
    kept = caller_context_of(engine).copies().keep(KeepRule(all=True, most_bytes=1_000_000, lifetimes={}), engine.now())
    assert (kept.made, kept.problems) == (2, [])
    host.db.execute("DELETE FROM transcript_events")
    opened = {hit.text: engine.show(hit.id)[2] for hit in engine.timeline()}
    assert {text: [turn.text for turn in shown.turns] for text, shown in opened.items()} == {
        "one": ["one"],
        "two": ["two"],
        "uno": ["uno"],
    }


def test_a_locked_database_is_reported_and_read_the_next_time(engine, path):
    with closing(Host(path, mode="delete").db) as db:
        db.execute(
            "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('s1', 1, ?, 1)",
            (json.dumps(message("s1", 1, "one")),),
        )
        db.execute("PRAGMA cache_size = 1; BEGIN EXCLUSIVE; UPDATE transcript_events SET created_at = 2")
        report = engine.ingest([path])
        assert "locked" in report.problems[0]
        db.execute("COMMIT")
        assert engine.ingest([path]).turns == 1


def test_a_host_that_keeps_the_database_to_itself_is_not_disturbed(engine, host, path):
    host.db.execute("PRAGMA locking_mode = EXCLUSIVE").fetchall()
    host.say("s1", "one")
    assert "locked" in engine.ingest([path]).problems[0]
    host.say("s1", "two", first=2)
    host.db.close()
    assert engine.ingest([path]).turns == 2


def test_a_writer_in_the_middle_of_a_transaction_hinders_nobody(engine, host, path):
    host.say("s1", "one")
    host.db.execute("BEGIN IMMEDIATE")
    host.say("s1", "two", first=2)
    report = engine.ingest([path])
    assert (report.turns, report.problems) == (1, [])
    host.db.execute("COMMIT")
    assert engine.ingest([path]).turns == 1


# A reader of SQLite that meets the head of the log's index while it is written takes the writer's lock for an instant,
# to look again. So the writer may try again, for a small part of what hosts allow (5 s).
_WRITER = """
import json, sys, apsw
db = apsw.Connection(sys.argv[1])
db.set_busy_timeout(100)
print("ready", flush=True)
for number in range(2, 1500):
    record = {"type": "message", "id": f"s1-{number}", "parentId": f"s1-{number - 1}",
              "message": {"role": "user", "content": f"Message {number}"}}
    db.execute("INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('s1', ?, ?, 1)", (number, json.dumps(record)))
"""


def test_while_another_process_writes_each_message_is_read_once_and_the_writer_goes_on(engine, host, path):
    host.say("s1", "Message 1")
    command = [sys.executable, "-c", _WRITER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        while writer.poll() is None:
            assert engine.ingest([path]).problems == []
        assert (writer.returncode, writer.communicate()[1]) == (0, "")
    engine.ingest([path])
    with connector_of(engine).read() as tx:
        (transcript,) = transcript_rows.transcripts(tx, engine.scope)
    assert (transcript.turns, transcript.cursor) == (1499, 1500)
    assert engine.ingest([path]).unchanged == 1
    assert host.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_reading_leaves_no_trace_where_nobody_has_it_open(engine, path):
    with closing(Host(path).db) as db:
        db.execute(
            "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES ('s1', 1, ?, 1)",
            (json.dumps(message("s1", 1, "one")),),
        )
    before = _files(path)
    assert list(before) == [path.name]
    assert engine.ingest([path]).turns == 1
    assert [engine.show(hit.id)[2].state for hit in engine.timeline()] == ["open"]
    assert _files(path) == before


def test_what_a_crash_left_in_the_log_is_read_and_stays_in_the_log(engine, host, path, tmp_path):
    host.say("s1", "one")
    crashed = tmp_path / "crashed" / path.name
    crashed.parent.mkdir()
    for end in ("", "-wal"):
        crashed.with_name(path.name + end).write_bytes(path.with_name(path.name + end).read_bytes())
    before = _files(crashed)
    assert engine.ingest([crashed]).turns == 1
    assert {name: data for name, data in _files(crashed).items() if not name.endswith("-shm")} == before


def test_words_that_were_read_from_the_lines_are_not_read_again_from_the_database(engine, host, path):
    lines = path.parent.parent / "sessions" / "s1.jsonl"
    lines.parent.mkdir()
    records = [{"type": "session", "version": 3, "id": "s1"}, message("s1", 1, "one"), message("s1", 2, "two")]
    lines.write_text("".join(json.dumps(record) + "\n" for record in records))
    engine.ingest([lines])
    host.say("s1", "one", "two", "three")
    report = engine.ingest([path, lines])
    assert (report.episodes, report.repeated) == (1, 2)
    lines.unlink()
    engine.ingest([path])
    shown = [engine.show(hit.id) for hit in engine.timeline()]
    assert {(episode.preview, transcript.path, opened.state) for episode, transcript, opened in shown} == {
        (text, str(path), "open") for text in ("one", "two", "three")
    }


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ("CREATE TABLE other(x)", "no table transcript_events"),
        ("CREATE TABLE transcript_events(session_id, words)", "no table transcript_events"),
        ("CREATE VIEW transcript_events AS SELECT 's' AS session_id, 1 AS seq, '{}' AS event_json", "no table"),
    ],
)
def test_a_database_of_another_shape_is_reported_and_nothing_else_stops(engine, path, tmp_path, schema, problem):
    Host(path, schema=schema).db.close()
    other = tmp_path / "a.jsonl"
    other.write_text('{"role":"user","content":"hello"}\n')
    report = engine.ingest([path, other])
    assert (len(report.problems), report.turns) == (1, 1)
    assert problem in report.problems[0]


def test_older_and_newer_shapes_and_records_that_cannot_be_read_are_no_obstacle(engine, path):
    Host(path, schema="").db.close()
    with closing(apsw.Connection(str(path))) as db:
        db.execute(
            "CREATE TABLE transcript_events(session_id, seq, event_json, soon); CREATE TABLE transcript_rewrite_watermarks(x)"
        )
        said = [json.dumps(message("s1", number, text)) for number, text in ((1, "one"), (2, "two"))]
        rows = [("s1", 0, None), ("s1", 1, said[0]), ("s1", 2, "{"), ("s1", 3, "x" * (9 << 20)), ("s1", 4, said[1])]
        rows += [(None, 1, said[0]), ("", 1, said[0]), ("s\u200b2", 1, said[0])]
        db.executemany("INSERT INTO transcript_events VALUES (?, ?, ?, 'new')", rows)
    report = engine.ingest([path])
    assert (report.turns, report.unread) == (2, 2)
    assert "sessions (2) whose id is empty" in report.problems[0]
    assert "Lines of s1 that are longer than 8 MiB were not read: 1." in report.problems[1]
    assert (report.skipped["invalid line"], report.skipped["line too long"]) == (2, 1)


def test_a_damaged_file_under_its_name_is_reported(engine, path):
    path.parent.mkdir(parents=True)
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    assert "cannot be read" in engine.ingest([path]).problems[0]

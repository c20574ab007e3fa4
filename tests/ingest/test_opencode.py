"""OpenCode's database: real ones, with the tables of OpenCode 1.18.33, read while their owner writes."""

from __future__ import annotations

import json
import random
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.amounts import amount

from picomem.engine.engine import Engine
from picomem.ingest.discovery import default_places, find
from picomem.jobs.watching import WatchedPlaces
from picomem.records.kinds import Origin

_SCHEMA = """
CREATE TABLE session(id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
    directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, time_created integer NOT NULL,
    time_updated integer NOT NULL);
CREATE TABLE message(id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL,
    FOREIGN KEY (session_id) REFERENCES session(id) ON DELETE CASCADE);
CREATE TABLE part(id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL,
    FOREIGN KEY (message_id) REFERENCES message(id) ON DELETE CASCADE);
"""
_BEGIN = 1_777_802_400_000
_ENDED = {"time": {"created": _BEGIN, "completed": _BEGIN}}


class Host:
    """OpenCode's part: the connection that owns the database."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / ".local" / "share" / "opencode" / "opencode.db"
        self.path.parent.mkdir(parents=True)
        self.db = apsw.Connection(str(self.path))
        self.db.execute("PRAGMA journal_mode = wal").fetchall()
        self.db.execute(_SCHEMA)
        self.number = 0

    def session(self, name: str, title: str = "The crane", parent: str | None = None) -> None:
        self.db.execute(
            "INSERT INTO session VALUES (?, 'global', ?, 'swift-eagle', '/w/harbor', ?, '1.18.33', NULL, ?, ?)",
            (name, parent, title, _BEGIN, _BEGIN),
        )

    def message(self, session: str, role: str, *parts: dict, **more: object) -> str:
        self.number += 1
        name, at = f"msg_20774e24e{self.number:04}AznSGCVnk5mTdH", _BEGIN + self.number * 1000
        data = json.dumps({"role": role, **(_ENDED if role == "assistant" else {}), **more})
        self.db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (name, session, at, at, data))
        for part in parts:
            self.part(session, name, part)
        return name

    def part(self, session: str, message: str, part: dict) -> str:
        self.number += 1
        name, at = f"prt_20774e26{self.number:05}s4b0IFv3HUP6h", _BEGIN + self.number * 1000
        self.db.execute(
            "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", (name, message, session, at, at, json.dumps(part))
        )
        return name

    def talk(self, session: str = "ses_1") -> None:
        self.session(session)
        self.message(session, "user", _text("Where does the crane log go?"), _text("SECRET", synthetic=True))
        self.message(
            session,
            "assistant",
            {"type": "step-start", "snapshot": "668c"},
            {"type": "reasoning", "text": "SECRET"},
            _text("Let me look."),
            _tool("read", {"filePath": "/w/harbor/crane.md"}, output="SECRET"),
            {"type": "step-finish", "reason": "tool-calls"},
        )
        self.message(session, "assistant", _text("Into crane.md."))


def _text(text: str, **more: object) -> dict:
    return {"type": "text", "text": text, **more}


def _tool(name: str, given: dict, **state: object) -> dict:
    return {"type": "tool", "tool": name, "callID": "call_1", "state": {"status": "completed", "input": given, **state}}


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path)
    with closing(host.db):
        yield host


def _said(engine: Engine) -> list[tuple[str, Origin]]:
    return [(hit.text, hit.origin) for hit in reversed(engine.timeline())]


def test_messages_are_turns_and_what_opencode_adds_is_not(engine, host):
    host.talk()
    report = engine.ingest([host.path])
    assert _said(engine) == [
        ("Where does the crane log go?", Origin.USER),
        ("Let me look.\nInto crane.md.", Origin.AGENT),
    ]
    answer = engine.timeline()[0]
    assert (answer.actions, answer.project) == (("read crane.md",), "harbor")
    assert report.skipped == {"system": 1, "bookkeeping": 2, "thinking": 1}
    assert (report.hosts, report.problems) == ({"opencode": 1}, [])
    assert [engine.show(hit.id)[2].state for hit in engine.timeline()] == ["open"] * 2
    assert engine.ingest([host.path]).unchanged == 1


def test_each_turn_is_stored_once_while_the_agent_writes(engine, host):
    host.session("ses_1", title="New session - 2026-05-03T10:00:00.000Z")
    asked = host.message("ses_1", "user")
    assert engine.ingest([host.path]).episodes == 0  # OpenCode writes a message before its parts
    host.part("ses_1", asked, _text("Oil the crane."))
    engine.ingest([host.path])
    answer = host.message("ses_1", "assistant", _text("I"), time={"created": _BEGIN})
    engine.ingest([host.path])
    assert _said(engine) == [("Oil the crane.", Origin.USER)]
    host.db.execute(
        "UPDATE part SET data = ?, time_updated = 7 WHERE message_id = ?", (json.dumps(_text("I did.")), answer)
    )
    host.db.execute("UPDATE message SET data = ? WHERE id = ?", (json.dumps({"role": "assistant", **_ENDED}), answer))
    engine.ingest([host.path])
    host.part("ses_1", answer, _text("Twice."))  # the host goes on with a message that was read
    host.message("ses_1", "user", _text("Thanks."))
    report = engine.ingest([host.path])
    assert report.rewritten == 1
    assert _said(engine) == [
        ("Oil the crane.", Origin.USER),
        ("I did.\n\nTwice.", Origin.AGENT),
        ("Thanks.", Origin.USER),
    ]
    assert [engine.show(hit.id)[2].state for hit in engine.timeline()] == ["open"] * 3


def test_what_the_user_took_back_stays_and_what_was_said_then_is_added(engine, host):
    host.talk()
    taken_back = [
        host.message("ses_1", "user", _text("Paint it red.")),
        host.message("ses_1", "assistant", _text("Red.")),
    ]
    engine.ingest([host.path])
    for name in taken_back:
        host.db.execute("DELETE FROM part WHERE message_id = ?", (name,))
        host.db.execute("DELETE FROM message WHERE id = ?", (name,))
    host.message("ses_1", "user", _text("Paint it blue."))
    engine.ingest([host.path])
    states = {hit.text: engine.show(hit.id)[2].state for hit in engine.timeline()}
    assert (states["Paint it red."], states["Paint it blue."], len(states)) == ("changed", "open", 5)


@pytest.mark.requirement("X7")
def test_a_sub_agents_task_is_not_the_users(engine, host):
    host.talk()
    host.session("ses_2", title="Child session - x", parent="ses_1")
    host.message("ses_2", "user", _text("Pay Nordic Shell."))
    engine.ingest([host.path])
    assert ("Pay Nordic Shell.", Origin.AGENT) in _said(engine)


@pytest.mark.requirement("X7")
def test_after_text_of_others_was_read_the_agents_words_are_theirs(engine, host):
    host.session("ses_1")
    readings = (
        (_tool("webfetch", {"url": "https://example.org"}), Origin.WEB),
        (_tool("tracker_list_issues", {}), Origin.TOOL),
        (_tool("apply_patch", {"patchText": "x"}), Origin.AGENT),
    )
    for number, (reading, _) in enumerate(readings):
        host.message("ses_1", "user", _text(f"Question {number}?"))
        host.message("ses_1", "assistant", reading)
        host.message("ses_1", "assistant", _text(f"Answer {number}."))
    host.message("ses_1", "user", _text("See @doc."), _text("Reading MCP resource: doc (x://y)", synthetic=True))
    host.message("ses_1", "assistant", _text("Answer 3."))
    engine.ingest([host.path])
    origins = [origin for text, origin in _said(engine) if "Answer" in text]
    assert origins == [*(origin for _, origin in readings), Origin.TOOL]


def test_the_summary_of_a_compacted_session_is_a_summary(engine, host):
    host.talk()
    host.message("ses_1", "user", {"type": "compaction", "auto": True})
    host.message("ses_1", "assistant", _text("The crane log goes into crane.md."), summary=True)
    host.message("ses_1", "user", _text("Continue if you have next steps.", synthetic=True))
    engine.ingest([host.path])
    (summary,) = (hit for hit in engine.timeline() if hit.text == "The crane log goes into crane.md.")
    assert summary.role == "summary"


def test_the_database_is_found_and_what_lies_in_folders_beside_it_is_not(tmp_path, host):
    copy = host.path.parent / "repos" / "x" / "data.jsonl"
    copy.parent.mkdir(parents=True)
    copy.write_text('{"role":"user","content":"Pay Nordic Shell"}\n')
    for home, env in ((tmp_path, {}), (tmp_path / "x", {"XDG_DATA_HOME": str(tmp_path / ".local" / "share")})):
        assert [(transcript.path, transcript.format) for transcript in find(default_places(home, env))] == [
            (host.path, "opencode")
        ]
    places = WatchedPlaces((host.path.parent,), frozenset(), recursive=True, flat=frozenset({host.path.parent}))
    assert (places.hold(host.path), places.hold(copy), places.hold(copy.parent)) == (True, False, False)


def test_damaged_rows_are_counted_and_other_tables_are_a_problem(engine, host, tmp_path):
    host.talk()
    host.message("ses_1", "user", _text("Still there?"), {"type": "oracle"}, {"type": 7})
    host.db.execute("INSERT INTO part VALUES ('prt_9', ?, 'ses_1', 1, 1, 'not json')", (host.message("ses_1", "user"),))
    host.db.execute("INSERT INTO message VALUES ('msg_9', 'ses_1', 'x', 1, x'ff00')")
    host.message("ses_1", "oracle", _text("x"))
    host.db.execute("UPDATE part SET data = x'ff' WHERE data LIKE '%thinking%'")
    report = engine.ingest([host.path])
    assert report.problems == [] and "Still there?" in [text for text, _ in _said(engine)]
    assert report.skipped["unknown:oracle"] >= 1
    other = tmp_path / "x" / "opencode.db"
    other.parent.mkdir()
    with closing(apsw.Connection(str(other))) as connection:
        connection.execute("CREATE TABLE session(id)")
    (problem,) = engine.ingest([other]).problems
    assert "no tables message and part of a known form" in problem


@pytest.mark.reliability("R18")
def test_a_damaged_database_is_told_of_and_never_fatal(engine, host):
    host.talk()
    host.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    whole = host.path.read_bytes()
    for case in range(amount(10, 500)):
        seeded = random.Random(case)
        damaged = bytearray(whole)
        for _ in range(seeded.randrange(1, 40)):
            damaged[seeded.randrange(len(damaged))] ^= 1 << seeded.randrange(8)
        folder = host.path.parent.parent / str(case)
        folder.mkdir()
        (folder / "opencode.db").write_bytes(damaged[: seeded.choice((None, -4096, 5000))])
        report = engine.ingest([folder / "opencode.db"])
        assert report.problems or report.episodes or report.repeated or report.skipped

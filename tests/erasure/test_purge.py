"""Purge erases what is chosen and all that was made of it, and leaves no trace in the files."""

from __future__ import annotations

import json
import time
from contextlib import closing
from pathlib import Path
from threading import Thread
from typing import Any

import apsw
import pytest
from tests.databases import chosen
from tests.engine_parts import caller_context_of, connector_of
from tests.sealed_stores import stored_bytes
from tests.sqlite_file import connection_of

from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.engine.review import count_suggestions
from picomem.engine.transcripts import import_sessions, ingester
from picomem.errors import Conflict, InvalidInput, NotFound
from picomem.ingest.discovery import find
from picomem.memory import lease
from picomem.memory.decide import Offer
from picomem.models.static_embedder import StaticEmbedder
from picomem.operations.table import operation
from picomem.records.episode import Episode, Transcript
from picomem.records.kinds import Kind, Origin
from picomem.records.memory import Parent
from picomem.records.scope import Scope
from picomem.records.session import NewMessage, Role
from picomem.store.sqlite.maintenance import SqliteMaintenance
from picomem.store.tables import episodes, tombstones, transcript_rows

from .planted import OTHER, PLACES, SESSION, STAYS, found_in, plant, planted


@pytest.fixture
def planted_engine(open_engine, tmp_path: Path) -> Engine:
    engine = open_engine(embedder=StaticEmbedder())
    plant(engine, tmp_path)
    stored = {place for places in found_in(tmp_path).values() for place in places}
    # What is an argument of a test that holds is in the files before.
    absent = {"refused"} if (tmp_path / "sessions.json.migrated").exists() else {"refused", "snapshot"}
    assert stored >= set(PLACES) - absent
    return engine


def sources(folder: Path) -> list[Path]:
    """The transcripts, which belong to another program and stay."""
    return [folder / "talk.jsonl", folder / OTHER]


def without_sources(folder: Path) -> dict[str, list[str]]:
    return {path: words for path, words in found_in(folder).items() if path != "talk.jsonl"}


@pytest.mark.requirement("X5")
def test_a_purged_session_leaves_not_a_word_in_any_file(planted_engine: Engine, tmp_path: Path) -> None:
    purged = planted_engine.purge(session=SESSION[:8])
    assert purged.unfinished == ""
    assert purged.scan.found == {}
    assert purged.scan.postings == 0
    assert purged.scan.patterns > 40
    assert without_sources(tmp_path) == {}
    assert planted_engine.doctor().healthy


@pytest.mark.requirement("X5")
def test_what_is_not_of_the_session_stays(planted_engine: Engine, tmp_path: Path) -> None:
    planted_engine.purge(session=SESSION)
    assert {memory.key for memory in planted_engine.memories()} == {"crane", "lamps", "deploys_tuesdays"}
    (lamps,) = [memory for memory in planted_engine.memories() if memory.key == "lamps"]
    assert lamps.related == ("crane",)
    assert [hit.text for hit in planted_engine.recall("harbour crane").hits][:1] == [STAYS]
    assert planted_engine.status().episodes == 1
    assert [session.title for session, _ in planted_engine.sessions().page().sessions] == ["Another talk"]
    snapshot = tmp_path / "sessions.json.migrated"
    kept = json.loads(snapshot.read_text())["sessions"] if snapshot.exists() else [{"id": "kept-session"}]
    assert [session["id"] for session in kept] == ["kept-session"]
    page = (tmp_path / "memory" / "MEMORY-INDEX.md").read_text()
    assert page == planted_engine.index().text
    assert STAYS in page


@pytest.mark.sqlite_file("changes rows in the file, or looks at its bytes")
@pytest.mark.requirement("X5")
def test_a_dry_run_says_what_will_go_and_writes_nothing(planted_engine: Engine, db: Path) -> None:
    before = db.read_bytes()
    planned = planted_engine.purge_plan(session=SESSION)
    assert planned.counts["messages"] == 3
    assert planned.counts["transcripts"] == 2
    assert f"{planted('key')}_of_the_pier" in {memory.key for memory in planned.memories}
    assert db.read_bytes() == before
    assert planted_engine.purge(session=SESSION).counts == planned.counts


def test_a_purge_is_one_change_that_says_who_when_and_how_much_and_no_more(planted_engine: Engine) -> None:
    planted_engine.purge(session=SESSION)
    (purge,) = [change for change, _ in planted_engine.changes(50) if change.verb == "purge"]
    assert "3 messages" in purge.reason
    assert SESSION not in purge.reason
    assert (purge.memory_id, purge.candidate) == ("", "")
    with pytest.raises(InvalidInput, match="is a purge and erased for good"):
        planted_engine.undo(purge.id)
    assert not [change for change, _ in planted_engine.changes(50) if "zwyx" in change.reason + change.candidate]


@pytest.mark.requirement("X5")
def test_the_same_transcript_read_again_does_not_come_back(planted_engine: Engine, tmp_path: Path) -> None:
    planted_engine.purge(session=SESSION)
    for _ in range(2):
        report = planted_engine.ingest(sources(tmp_path))
        assert report.skipped == {"purged session": 1}
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "talk.jsonl").rename(moved / "renamed.jsonl")
    planted_engine.ingest([moved / "renamed.jsonl"])
    planted_engine.close()
    (moved / "renamed.jsonl").rename(tmp_path / "talk.jsonl")
    assert without_sources(tmp_path) == {}


def _line(role: str, text: str, at: str, number: int) -> dict:
    """A line whose turn has an id that is the same in every copy."""
    message = {"role": role, "content": text}
    id_ = f"0e57a11e-d00d-4bad-9fee-00000000000{number}"
    return {"type": "message", "id": id_, "parentId": None, "timestamp": at, "message": message}


def _pi(folder: Path) -> Path:
    """Pi's folder: of a session elsewhere nothing shows that it is the user's own."""
    sessions = folder / ".pi" / "agent" / "sessions" / "--w--"
    sessions.mkdir(parents=True, exist_ok=True)
    return sessions


def _write(path: Path, session: str, *lines: dict) -> None:
    head = {"type": "session", "id": session, "version": 3, "cwd": "/tmp"}
    path.write_text("".join(json.dumps(line) + "\n" for line in (head, *lines)))


@pytest.mark.requirement("X5")
def test_a_copy_under_another_session_brings_only_what_is_new_in_it(engine: Engine, tmp_path: Path) -> None:
    old = _line("user", "Remember that deploys go out on Tuesdays", "2026-04-01T10:00:00Z", 1)
    new = _line("user", "The ferry leaves at noon", "2026-04-02T10:00:00Z", 2)
    folder = _pi(tmp_path)
    _write(folder / "first.jsonl", "first-session", old)
    engine.ingest([folder / "first.jsonl"])
    engine.purge(session="first-session")
    _write(folder / "fork.jsonl", "second-session", old, new)
    assert engine.ingest([folder / "fork.jsonl"]).skipped["purged"] == 1
    assert [hit.text for hit in engine.timeline()] == ["The ferry leaves at noon"]
    assert engine.memories() == []


@pytest.mark.requirement("X5")
def test_a_session_that_is_purged_while_it_is_read_does_not_come_in(open_engine, tmp_path: Path, monkeypatch) -> None:
    engine, other = open_engine(), open_engine()
    path = tmp_path / "talk.jsonl"
    first = _line("user", "The old jetty is closed", "2026-04-01T10:00:00Z", 1)
    _write(path, "first-session", first)
    engine.ingest([path])
    _write(path, "first-session", first, _line("user", "The new jetty is open", "2026-04-02T10:00:00Z", 2))
    reader = ingester(engine)
    commit = reader._writing.commit
    purges = iter([True])

    def purged_meanwhile(*given):
        if next(purges, False):
            other.purge(session="first-session")
        return commit(*given)

    monkeypatch.setattr(reader._writing, "commit", purged_meanwhile)
    report = reader.run(find([path]))
    assert report.skipped == {"purged session": 1}
    assert engine.status().transcripts == {}
    assert engine.timeline() == []


@pytest.mark.sqlite_file("the snapshot lies beside the file")
@pytest.mark.requirement("X5")
def test_a_snapshot_imported_again_does_not_come_back(planted_engine: Engine, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes((tmp_path / "sessions.json.migrated").read_bytes())
    planted_engine.purge(session=SESSION)
    done = import_sessions(planted_engine, copy)
    assert done.skipped == {"purged session": 1}
    assert done.sessions == 1
    copy.unlink()
    assert without_sources(tmp_path) == {}


@pytest.mark.sqlite_file("changes rows in the file, or looks at its bytes")
@pytest.mark.requirement("X5")
def test_everything_of_a_user_goes_and_nothing_of_another_one(open_engine, db: Path, tmp_path: Path) -> None:
    other = open_engine(user="omar", embedder=StaticEmbedder())
    other.remember("Omar keeps the ferry timetable", key="ferry")
    engine = open_engine(embedder=StaticEmbedder())
    plant(engine, tmp_path)
    purged = engine.purge(everything=True)
    assert purged.scan.found == {}
    assert without_sources(tmp_path) == {}
    assert not any(STAYS.encode() in stored_bytes(path) for path in chosen().files(db))
    assert (engine.memories(), engine.status().episodes, engine.sessions().page().sessions) == ([], 0, ())
    assert [change.verb for change, _ in engine.changes()] == ["purge"]
    assert [hit.key for hit in other.recall("ferry timetable").hits] == ["ferry"]
    assert engine.ingest(sources(tmp_path)).episodes == 0
    assert STAYS not in (tmp_path / "memory" / "MEMORY-INDEX.md").read_text()
    assert engine.doctor().healthy
    engine.remember("The user begins anew", key="anew")
    assert [hit.key for hit in engine.recall("begins anew").hits] == ["anew"]


def test_what_is_older_goes_and_what_was_said_later_in_the_same_conversation_stays(engine: Engine, clock) -> None:
    log = engine.sessions()
    old, long = log.create("tui"), log.create("tui")
    for session in (old, long):
        log.append(session.id, NewMessage(role=Role.USER, content="The old jetty is closed"))
    clock.now += 40 * DAY
    log.append(long.id, NewMessage(role=Role.USER, content="The new jetty is open"))
    engine.remember("Mia prefers the new jetty", key="jetty", since=clock.now - 400 * DAY)
    purged = engine.purge(older_than=30)
    assert purged.counts == {"sessions": 1, "messages": 2}
    ((left, count),) = log.page().sessions
    assert (left.id, left.title, count) == (long.id, "The new jetty is open", 1)
    assert [memory.key for memory in engine.memories()] == ["jetty"]
    assert engine.purge(older_than=30).counts == {}


@pytest.mark.requirement("X5")
def test_an_old_transcript_stays_out_until_more_is_said_in_it_and_then_only_that_comes_in(
    engine: Engine, clock, tmp_path: Path
) -> None:
    talk = tmp_path / "talk.jsonl"
    said = [{"role": "user", "content": "The old jetty is closed", "timestamp": clock.now // 1_000_000}]
    talk.write_text("".join(json.dumps(line) + "\n" for line in said))
    engine.ingest([talk])
    clock.now += 40 * DAY
    engine.purge(older_than=30)
    assert engine.ingest([talk]).skipped == {"purged session": 1}
    said.append({"role": "user", "content": "The new jetty is open", "timestamp": clock.now // 1_000_000})
    talk.write_text("".join(json.dumps(line) + "\n" for line in said))
    engine.ingest([talk])
    assert [hit.text for hit in engine.timeline()] == ["The new jetty is open"]
    assert engine.status().episodes == 1


@pytest.mark.requirement("X5")
def test_a_transcript_that_goes_on_loses_its_old_episodes_and_the_title_that_they_gave_it(
    engine: Engine, clock
) -> None:
    owner = Scope("local")
    state = json.dumps({"reader": {"info": {"title": "About the old jetty"}}})
    long = Transcript(id="t", host="plain", path="/nowhere/a", session="s", title="About the old jetty", state=state)
    with connector_of(engine).write(engine.scope) as tx:
        transcript_rows.put_transcript(tx, owner, long)
        for number, days in enumerate((40, 1)):
            said = Episode(
                id=f"e{number}", transcript_id="t", first_turn=number, last_turn=number, part=0, start=number, end=number + 1,
                role="user", origin=Origin.USER, preview=f"The jetty on day {days}", started_at=clock.now - days * DAY,
                ended_at=None, identity=f"i{number}",
            )  # fmt: skip
            episodes.insert(tx, owner, said)
    assert engine.purge(older_than=30).counts == {"episodes": 1}
    assert [hit.text for hit in engine.timeline()] == ["The jetty on day 1"]
    with connector_of(engine).read() as tx:
        (left,) = transcript_rows.transcripts(tx, owner)
    assert (left.title, "old jetty" in left.state) == ("", False)
    assert engine.doctor().findings == []


@pytest.mark.requirement("X5")
def test_what_a_purged_version_had_replaced_is_believed_again(engine: Engine, tmp_path: Path) -> None:
    engine.remember("The berth number is 1111", key="gate")
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "The berth number is 2222"}) + "\n")
    engine.ingest([talk])
    (episode,) = engine.timeline()
    offer = Offer(scope=engine.scope, content="The berth number is 2222", kind=Kind.FACT, key="gate", key_given=True)
    with connector_of(engine).write(engine.scope) as tx:
        caller_context_of(engine).writer("remember").remember(tx, offer, [Parent(kind="episode", id=episode.id)])
    assert [memory.content for memory in engine.memories()] == ["The berth number is 2222"]
    engine.purge(session="talk")
    (memory,) = engine.memories()
    assert (memory.content, memory.valid_to) == ("The berth number is 1111", None)
    assert "2222" not in json.dumps([version.content for version in engine.history("gate")])
    assert engine.doctor().findings == []
    added, superseded = (change.id for change in engine.why("gate").changes)
    with pytest.raises(Conflict, match="a later purge changed"):
        engine.undo(added)
    with pytest.raises(InvalidInput, match="purged since"):
        engine.undo(superseded)
    engine.undo(engine.forget("gate").id)
    assert engine.memories()[0].content == "The berth number is 1111"


@pytest.mark.requirement("X5")
def test_what_a_person_said_later_in_their_own_words_stays_under_a_key_that_tells_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Remember that the flimflam locker is 2222"}) + "\n")
    engine.ingest([talk])
    ((memory),) = engine.memories()
    assert "flimflam" in memory.key
    engine.revise(memory.key, "Coats hang beside the door")
    engine.purge(session="talk")
    (stays,) = engine.memories()
    assert stays.content == "Coats hang beside the door"
    assert "flimflam" not in stays.key
    assert [hit.key for hit in engine.recall("where do coats hang").hits] == [stays.key]
    assert engine.doctor().findings == []


def test_a_purge_must_be_chosen_and_what_is_chosen_must_be_there(engine: Engine) -> None:
    engine.remember(STAYS)
    choices: list[dict[str, Any]] = [{}, {"session": "x", "everything": True}, {"older_than": 0}]
    for choice in choices:
        with pytest.raises(InvalidInput):
            engine.purge(**choice)
    with pytest.raises(NotFound, match="There is no session"):
        engine.purge(session="nowhere")
    assert engine.purge(older_than=1).counts == {}
    assert [change.verb for change, _ in engine.changes()] == ["remember"]


@pytest.mark.sqlite_file("changes rows in the file, or looks at its bytes")
@pytest.mark.requirement("X5")
def test_a_damaged_row_is_purged_with_its_words(
    planted_engine: Engine, db: Path, tmp_path: Path, disagreements
) -> None:
    connection_of(planted_engine).execute("UPDATE episodes SET preview = 'edited by hand' WHERE id = 'e-planted'")
    purged = planted_engine.purge(session=SESSION)
    assert purged.scan.found == {}
    assert without_sources(tmp_path) == {}
    assert disagreements(db) == []


@pytest.mark.sqlite_file("looks at what the file says of itself")
@pytest.mark.plain_file("looks at the log, which a search of a sealed file merges first")
@pytest.mark.requirement("X5")
def test_the_mark_of_the_purge_itself_is_no_trace_of_what_was_said(engine: Engine) -> None:
    session = engine.sessions().create()
    engine.sessions().append(session.id, NewMessage(role=Role.USER, content="everything"))
    scan = engine.purge(everything=True).scan
    assert (scan.found, scan.shared) == ({}, 1)


@pytest.mark.requirement("X5")
def test_the_places_of_what_a_message_suggests_are_no_trace_of_what_was_said(engine: Engine, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    file.write_text(
        json.dumps({"role": "user", "content": "We always deploy the harbour API by hand, as the pipeline cannot."})
    )
    engine.ingest(file)
    assert count_suggestions(engine) == 1
    scan = engine.purge(session=engine.timeline()[0].session).scan
    assert scan.patterns == 7  # of the message and its title the beginning, middles and ends; the path and its end


@pytest.mark.sqlite_file("looks at what the file says of itself")
def test_words_of_the_file_s_own_are_no_trace_of_what_was_said(open_engine) -> None:
    engine = open_engine(embedder=StaticEmbedder())
    engine.remember(STAYS, kind="decision")
    engine.remember("The harbour crane is repainted every autumn", kind="decision", key="crane")
    session = engine.sessions().create()
    for word in (
        "assistant",
        "remember",
        "decision",
        "replaced",
        "transcript",
        "row_hash",
        "user:local",
        "supersede",
    ):
        engine.sessions().append(session.id, NewMessage(role=Role.USER, content=word))
    engine.remember("Nothing is left", key="nothing")
    purged = engine.purge(session=session.id)
    assert purged.scan.found == {}
    assert purged.scan.shared > 5


@pytest.mark.requirement("X5")
def test_everything_may_be_purged_again_and_again(engine: Engine) -> None:
    engine.remember(STAYS)
    for _ in range(4):
        purged = engine.purge(everything=True)
        assert purged.scan is None or purged.scan.clean, purged.scan


@pytest.mark.sqlite_file("changes rows in the file, or looks at its bytes")
def test_the_doctor_examines_a_user_of_whom_only_changes_are_left(open_engine) -> None:
    engine = open_engine()
    engine.remember(STAYS)
    engine.purge(everything=True)
    connection_of(engine).execute("UPDATE changes SET actor = 'somebody else', reason = 'edited by hand'")
    assert [finding.check for finding in engine.doctor().findings] == ["row"]


@pytest.mark.requirement("X5")
def test_the_title_of_a_purged_session_does_not_come_back_with_a_copy(engine: Engine, tmp_path: Path) -> None:
    title = "The smugglers of Quince Cove"
    records = [
        {"type": "custom-title", "customTitle": title, "sessionId": "SESSION"},
        {
            "type": "user",
            "uuid": "0e57a11e-d00d-4bad-9fee-000000000001",
            "parentUuid": None,
            "sessionId": "SESSION",
            "timestamp": "2026-04-01T10:00:00Z",
            "cwd": "/tmp",
            "message": {"role": "user", "content": "The lantern was red"},
        },
    ]
    text = "".join(json.dumps(record) + "\n" for record in records)
    for name in ("first", "second"):
        (tmp_path / f"{name}.jsonl").write_text(text.replace("SESSION", f"{name}-session"))
    engine.ingest([tmp_path / "first.jsonl"])
    with connector_of(engine).read() as tx:
        assert [row.title for row in transcript_rows.transcripts(tx, engine.scope)] == [title]
    engine.purge(session="first-session")
    engine.ingest([tmp_path / "second.jsonl"])
    engine.close()
    assert not any(title.encode() in stored_bytes(path) for path in chosen().files(tmp_path / "memory.db"))


def test_a_fork_of_a_purged_session_brings_no_title_of_it_under_any_name(engine: Engine, tmp_path: Path) -> None:
    def said(number: int, session: str) -> dict[str, Any]:
        message = {"role": "user", "content": f"Turn {number} speaks of the lighthouse keeper and his lamp."}
        name = f"{number:08}-1111-4111-8111-111111111111"
        return {"type": "user", "uuid": name, "sessionId": session, "cwd": "/w", "message": message}

    def write(path: Path, *records: dict[str, Any]) -> None:
        with path.open("a") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)

    old, fork = tmp_path / "old.jsonl", tmp_path / "fork.jsonl"
    write(old, said(1, "s1"), {"type": "custom-title", "customTitle": "Quince Cove", "sessionId": "s1"})
    engine.ingest([old])
    engine.purge(session="s1")
    title = {"type": "custom-title", "customTitle": "Quince Cove (Branch)", "sessionId": "s2"}
    write(fork, said(1, "s2"), title, said(2, "s2"))
    engine.ingest([fork])
    write(fork, said(3, "s2"), title)  # a host writes the title again where a session goes on
    engine.ingest([fork])
    assert [hit.text[:6] for hit in engine.timeline()] == ["Turn 3", "Turn 2"]
    engine.close()
    assert not any(b"Quince Cove" in stored_bytes(path) for path in chosen().files(tmp_path / "memory.db"))


@pytest.mark.sqlite_file("another process erases while the file is written anew")
@pytest.mark.requirement("X5", "X10")
def test_a_purge_that_ends_does_not_call_another_one_finished(open_engine, tmp_path: Path, monkeypatch) -> None:
    engine, other = open_engine(), open_engine()
    for name in ("first", "second"):
        _write(
            tmp_path / f"{name}.jsonl", name, _line("user", f"The {name} jetty is closed", "2026-04-01T10:00:00Z", 1)
        )
        engine.ingest([tmp_path / f"{name}.jsonl"])

    leaves_no_trace = SqliteMaintenance.leave_no_trace

    def leave_no_trace(maintenance: SqliteMaintenance, wait_seconds: float, scope: Scope | None = None) -> None:
        leaves_no_trace(maintenance, wait_seconds, scope)
        with connector_of(other).write(
            other.scope
        ) as tx:  # another process erases, and is killed before it removes the traces
            tombstones.begin(tx, other.scope, everything=False)

    monkeypatch.setattr(SqliteMaintenance, "leave_no_trace", leave_no_trace)
    assert engine.purge(session="first").finished
    monkeypatch.undo()
    assert engine.status().purge_unfinished
    assert engine.purge().finished
    assert not engine.status().purge_unfinished


@pytest.mark.requirement("O9", "X5")
def test_what_an_export_that_was_killed_left_beside_the_page_is_purged(engine: Engine, tmp_path: Path) -> None:
    page, spare, note = (
        tmp_path / "out" / "INDEX.md",
        tmp_path / "out" / ".INDEX.md.4711",
        tmp_path / "out" / ".INDEX.md.txt",
    )
    engine.remember(STAYS)
    engine.export_index(page)
    spare.write_text(page.read_text())
    note.write_text("The user's own")
    engine.purge(everything=True)
    assert (spare.exists(), note.exists()) == (False, True)


@pytest.mark.requirement("O9", "X5")
def test_an_export_that_was_never_written_is_not_on_record(engine: Engine, tmp_path: Path) -> None:
    engine.remember(STAYS)
    (tmp_path / "page.md").touch()
    for path in (tmp_path / ("x" * 300), tmp_path / "page.md" / "INDEX.md"):
        with pytest.raises(InvalidInput):
            engine.export_index(path)
    purged = engine.purge(everything=True)
    assert (purged.left, purged.scan.clean) == ((), True)


@pytest.mark.sqlite_file("changes rows in the file, or looks at its bytes")
@pytest.mark.requirement("O9", "X5")
def test_a_purge_ends_where_an_export_cannot_be_looked_at(engine: Engine, tmp_path: Path) -> None:
    engine.remember(STAYS)
    engine.export_index(tmp_path / "INDEX.md")
    connection_of(engine).execute("UPDATE exports SET path = ?", (str(tmp_path / ("x" * 300)),))
    for _ in range(2):
        purged = engine.purge(everything=True)
        assert purged.finished
    assert engine.purge(everything=True).finished


@pytest.mark.requirement("X5")
def test_the_folder_of_a_purged_session_does_not_survive_as_a_memorys_project(engine: Engine, tmp_path: Path) -> None:
    said = _line("user", "Remember that deploys go out on Tuesdays", "2026-04-01T10:00:00Z", 1)
    head = {"type": "session", "id": "first-session", "version": 3, "cwd": "/home/mia/quincesmugglers"}
    talk = _pi(tmp_path) / "talk.jsonl"
    talk.write_text("".join(json.dumps(line) + "\n" for line in (head, said)))
    engine.ingest([talk])
    (memory,) = engine.memories()
    assert memory.scope.project == "quincesmugglers"
    engine.remember("The release train leaves on Wednesdays", key=memory.key)  # the key is taken where no project is
    engine.revise(memory.id, "Releases wait for the harbour master")
    engine.purge(session="first-session")
    assert {(left.content, left.scope.project) for left in engine.memories()} == {
        ("Releases wait for the harbour master", ""),
        ("The release train leaves on Wednesdays", ""),
    }
    assert [hit.text for hit in engine.recall("harbour master").hits] == ["Releases wait for the harbour master"]
    assert engine.doctor().findings == []
    engine.close()
    assert not any(b"quincesmugglers" in stored_bytes(path) for path in chosen().files(tmp_path / "memory.db"))


@pytest.mark.sqlite_file("looks at the bytes of the file")
@pytest.mark.requirement("X5", "O9")
@pytest.mark.parametrize("everything", [False, True])
def test_the_folder_of_a_purged_session_does_not_survive_as_the_project_of_a_page(
    everything: bool, engine: Engine, tmp_path: Path
) -> None:
    for name in ("quincesmugglers", "walnutweavers"):
        said = _line("user", f"Remember that the {name} meet on Tuesdays", "2026-04-01T10:00:00Z", 1)
        head = {"type": "session", "id": f"{name}-session", "version": 3, "cwd": f"/home/mia/{name}"}
        talk = _pi(tmp_path) / f"{name}.jsonl"
        talk.write_text("".join(json.dumps(line) + "\n" for line in (head, said)))
        engine.ingest([talk])
        engine.export_index(tmp_path / f"{name[0]}.md", scope=engine.scope.narrowed(project=name))
    purged = engine.purge(everything=True) if everything else engine.purge(session="quincesmugglers-session")
    assert (purged.left, purged.scan.clean) == ((), True)
    page = engine.index().text
    assert (tmp_path / "q.md").read_text() == page
    engine.close()
    content = b"".join(stored_bytes(path) for path in chosen().files(tmp_path / "memory.db"))
    assert (b"quincesmugglers" in content, b"walnutweavers" in content) == (False, not everything)


@pytest.mark.sqlite_file("looks at the lease of a purge in the file")
@pytest.mark.requirement("X10")
def test_doctor_says_that_a_purge_is_running_and_reports_no_damage(engine: Engine, db: Path) -> None:
    engine.remember("The amber harbour keeps its ledgers in a dry cellar", key="harbour")
    with closing(apsw.Connection(str(db))) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memories").fetchall()  # the purge waits for what this one still sees
        purge = Thread(target=lambda: engine.purge(everything=True, wait_seconds=30))
        purge.start()
        while not (during := engine.doctor()).running and purge.is_alive():
            pass
        reader.execute("COMMIT")
    purge.join()
    assert during.running == ["A purge of local is running; examine the store again when it has ended."]
    assert (during.healthy, during.findings) == (True, [])
    after = engine.doctor()
    assert (after.healthy, after.running) == (True, [])


@pytest.mark.sqlite_file("looks at the lease of a purge in the file")
@pytest.mark.requirement("X10")
def test_a_purge_that_takes_longer_than_a_lease_lasts_is_still_said_to_run(
    engine: Engine, db: Path, monkeypatch
) -> None:
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.001)
    engine.remember("The amber harbour keeps its ledgers in a dry cellar", key="harbour")
    write_anew = SqliteMaintenance.leave_no_trace
    running: list[str] = []

    def wait_for_a_renewal(maintenance: SqliteMaintenance, wait_seconds: float, scope: Scope | None = None) -> None:
        with closing(apsw.Connection(str(db))) as other:
            other.set_busy_timeout(30_000)
            other.execute("UPDATE leases SET expires_at = 0")
            deadline = time.monotonic() + 30
            while other.execute("SELECT 1 FROM leases WHERE expires_at = 0").fetchall():
                assert time.monotonic() < deadline, "the lease was not renewed"
        running.extend(engine.doctor().running)
        write_anew(maintenance, wait_seconds, scope)

    monkeypatch.setattr(SqliteMaintenance, "leave_no_trace", wait_for_a_renewal)
    assert engine.purge(everything=True).finished
    assert running == ["A purge of local is running; examine the store again when it has ended."]
    assert connection_of(engine).execute("SELECT * FROM leases").fetchall() == []


def test_a_confirmed_purge_erases_nothing_that_was_not_shown(open_engine) -> None:
    """Something may be stored after the preview, while a person reads it or a server checks the code of it."""
    engine, verb = open_engine(), operation("purge")
    engine.remember("The harbour master lends out oars", key="oars")
    assert verb.confirmation is not None
    request = verb.request(everything=True)
    shown = verb.call(engine, verb.confirmation.preview(request))
    engine.remember("The ferry to the island leaves at nine", key="ferry")
    with pytest.raises(Conflict, match="changed since"):
        verb.call(engine, verb.confirmation.granted(request, shown))
    assert {memory.key for memory in engine.memories()} == {"oars", "ferry"}
    shown = verb.call(engine, verb.confirmation.preview(request))
    assert verb.call(engine, verb.confirmation.granted(request, shown)).counts["memories"] == 2
    assert engine.memories() == []

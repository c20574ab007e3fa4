"""What was purged does not come back with a copy, whatever ids its messages have there; and what is said anew does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.databases import chosen
from tests.engine_parts import connector_of
from tests.sealed_stores import stored_bytes

from picomem.clock import DAY, SECOND
from picomem.engine.engine import Engine
from picomem.engine.transcripts import import_sessions
from picomem.operations.table import operation
from picomem.records.session import NewMessage, Role
from picomem.store.tables import transcript_rows

from .copied_transcripts import FOLDER, FORMATS, SENT, Copy, Write, claude_code, codex, pi, picobot, plain

ASKED = "Remember that the walnut smugglers meet behind the old quarry on Tuesdays"
ANSWER = "I noted that the smugglers meet there, and that their lanterns are green."
TALK = [
    ("user", ASKED),
    ("assistant", ANSWER),
    ("assistant", "The next meeting of the smugglers is on the fifth of April."),
    ("user", "Who carries the lanterns up to the quarry?"),
    ("assistant", "The twins of the miller carry the green lanterns."),
]
WORDS = (b"smuggler", b"lantern", b"quarry")
NEW = ("user", "When does the ferry to the island leave on Sundays?")

TIMED = [name for name in FORMATS if name != "plain without times"]
every_format = pytest.mark.parametrize("write", FORMATS.values(), ids=FORMATS)
pytestmark = pytest.mark.requirement("X5")


def _purge_every_session(engine: Engine) -> None:
    with connector_of(engine).read() as tx:
        sessions = [transcript.session for transcript in transcript_rows.transcripts(tx, engine.scope)]
    assert len(sessions) == 1
    engine.purge(session=sessions[0])
    assert engine.timeline() == []


def _texts(engine: Engine) -> list[str]:
    return sorted(hit.text for hit in engine.timeline())


def _assert_no_trace(engine: Engine, folder: Path, *words: bytes) -> None:
    engine.close()
    content = b"".join(stored_bytes(path) for path in chosen().files(folder / "memory.db"))
    assert [word for word in words if word in content] == []


@pytest.mark.sqlite_file("looks at the bytes of the file")
@every_format
def test_a_copy_with_other_ids_brings_nothing_back(write: Write, engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write(Copy(tmp_path, 1), TALK)])
    assert engine.timeline()
    _purge_every_session(engine)
    report = engine.ingest([write(Copy(tmp_path, 2), TALK)])
    assert report.skipped["purged"] >= 2
    assert (_texts(engine), engine.memories()) == ([], [])
    _assert_no_trace(engine, tmp_path, *WORDS)


@every_format
def test_a_copy_that_was_sent_anew_before_the_purge_brings_no_sentence_back(
    write: Write, engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write(Copy(tmp_path, 1), TALK)])
    _purge_every_session(engine)
    engine.ingest([write(Copy(tmp_path, 2, SENT + 3_600), TALK)])
    assert (_texts(engine), engine.memories()) == ([], [])


@pytest.mark.parametrize("write", [FORMATS[name] for name in TIMED], ids=TIMED)
def test_what_is_said_again_after_the_purge_is_a_new_statement(
    write: Write, engine: Engine, tmp_path: Path, clock
) -> None:
    engine.ingest([write(Copy(tmp_path, 1), TALK)])
    _purge_every_session(engine)
    clock.now += 10 * DAY
    engine.ingest([write(Copy(tmp_path, 2, clock.now // SECOND - 3_600), TALK[:1])])
    assert _texts(engine) == [ASKED]


@every_format
def test_what_follows_a_copy_comes_in(write: Write, engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write(Copy(tmp_path, 1), TALK)])
    _purge_every_session(engine)
    engine.ingest([write(Copy(tmp_path, 2), [*TALK, NEW])])
    assert _texts(engine) == [NEW[1]]


def test_short_words_are_recognised_by_the_moment_at_which_they_were_said(engine: Engine, tmp_path: Path) -> None:
    engine.ingest([pi(Copy(tmp_path, 1), [("user", "yes"), ("user", "My PIN is 4711")])])
    _purge_every_session(engine)
    engine.ingest([pi(Copy(tmp_path, 2), [("user", "yes"), ("user", "My PIN is 4711")])])
    assert _texts(engine) == []
    engine.ingest([pi(Copy(tmp_path, 3, SENT + 60), [("user", "yes")])])
    assert _texts(engine) == ["yes"]


@pytest.mark.parametrize("kept", [2, 3])
def test_a_copy_that_ends_in_the_middle_of_an_answer_brings_nothing_back(
    kept: int, engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([pi(Copy(tmp_path, 1), TALK)])
    _purge_every_session(engine)
    engine.ingest([pi(Copy(tmp_path, 2), TALK[:kept])])
    assert _texts(engine) == []


def test_what_stands_in_a_session_that_stays_is_kept_there(engine: Engine, tmp_path: Path) -> None:
    other = pi(Copy(tmp_path, 2, SENT + 60), [("user", ASKED), NEW])
    engine.ingest([pi(Copy(tmp_path, 1), TALK), other])
    engine.purge(session=Copy(tmp_path, 1).session)
    engine.ingest([other])
    assert _texts(engine) == sorted([ASKED, NEW[1]])


def test_a_purge_names_the_sessions_that_hold_the_same_words(engine: Engine, tmp_path: Path) -> None:
    purged, copy = Copy(tmp_path, 1), Copy(tmp_path, 2, SENT + 60)
    engine.ingest([pi(purged, TALK), pi(copy, [("user", ASKED), NEW]), pi(Copy(tmp_path, 3), [NEW])])
    purge = operation("purge")
    plan = purge.call(engine, purge.request(session=purged.session, dry_run=True))
    assert plan.copies == {copy.session: 1}
    told = purge.present(plan).warnings
    assert told == (
        f"1 episode of other sessions holds the same words: {copy.session}. `picomem purge --session {copy.session}` "
        "erases such a session too.",
    )
    done = purge.call(engine, purge.request(session=purged.session, yes=True))
    assert done.copies == {copy.session: 1} and told[0] in purge.present(done).warnings
    assert purge.call(engine, purge.request(session=copy.session, yes=True)).copies == {Copy(tmp_path, 3).session: 1}


def test_a_fork_that_was_made_after_the_purge_names_the_session_that_it_copies(
    engine: Engine, tmp_path: Path, clock
) -> None:
    first = Copy(tmp_path, 1)
    engine.ingest([codex(first, TALK)])
    engine.purge(session=first.session)
    clock.now += 10 * DAY
    fork = Copy(tmp_path, 2, clock.now // SECOND - 3_600, forked_from_id=first.session)
    engine.ingest([codex(fork, [*TALK, NEW])])
    assert _texts(engine) == [NEW[1]]


def test_a_copy_of_what_was_too_old_brings_nothing_back(engine: Engine, tmp_path: Path, clock) -> None:
    engine.ingest([pi(Copy(tmp_path, 1), TALK)])
    clock.now += 40 * DAY
    later = ("user", "When does the ferry to the island leave on Sundays?")
    engine.purge(older_than=30)
    assert _texts(engine) == []
    engine.ingest([pi(Copy(tmp_path, 2), TALK)])
    assert _texts(engine) == []
    recent = clock.now // SECOND - 86_400
    engine.ingest([pi(Copy(tmp_path, 3, recent), [*TALK[:1], later])])  # said again since, and not too old
    assert _texts(engine) == sorted([ASKED, later[1]])


def test_another_user_who_says_the_same_is_not_concerned(open_engine, tmp_path: Path) -> None:
    engine, other = open_engine(), open_engine(user="omar")
    engine.ingest([pi(Copy(tmp_path, 1), TALK)])
    engine.purge(everything=True)
    other.ingest([pi(Copy(tmp_path, 2), TALK)])
    assert ASKED in _texts(other)
    engine.ingest([pi(Copy(tmp_path, 2), TALK)])
    assert _texts(engine) == []


@pytest.mark.sqlite_file("looks at the bytes of the file")
@pytest.mark.parametrize("write", [claude_code, codex, pi])
def test_the_project_of_a_purged_session_does_not_come_back_with_a_copy(
    write: Write, engine: Engine, tmp_path: Path
) -> None:
    engine.ingest([write(Copy(tmp_path, 1), TALK)])
    _purge_every_session(engine)
    fork = write(Copy(tmp_path, 2), TALK)
    for _ in range(2):
        engine.ingest([fork])
    _assert_no_trace(engine, tmp_path, Path(FOLDER).name.encode())


@pytest.mark.parametrize("write", [claude_code, codex, pi])
def test_a_copy_that_goes_on_belongs_to_the_project_of_its_folder(write: Write, engine: Engine, tmp_path: Path) -> None:
    engine.ingest([write(Copy(tmp_path, 1), TALK)])
    _purge_every_session(engine)
    engine.ingest([write(Copy(tmp_path, 2), TALK)])
    engine.ingest([write(Copy(tmp_path, 2), [*TALK, NEW])])
    assert _texts(engine) == [NEW[1]]
    with connector_of(engine).read() as tx:
        assert [record.project for record in transcript_rows.transcripts(tx, engine.scope)] == [Path(FOLDER).name]


@pytest.mark.sqlite_file("the snapshot lies beside the file")
def test_a_snapshot_with_other_session_ids_brings_no_message_back(engine: Engine, tmp_path: Path) -> None:
    log = engine.sessions()
    talk = log.create("tui")
    log.append(talk.id, *(NewMessage(role=Role(role), content=text) for role, text in TALK))
    engine.purge(session=talk.id)
    copy = picobot(Copy(tmp_path, 2), [*TALK, NEW])
    done = import_sessions(engine, copy)
    assert done.skipped["purged message"] == len(TALK)
    ((session, count),) = engine.sessions().page().sessions
    assert (session.title, count) == (NEW[1], 1)


def test_a_talk_with_picobot_that_was_purged_does_not_come_back_as_a_transcript(engine: Engine, tmp_path: Path) -> None:
    log = engine.sessions()
    talk = log.create("tui")
    log.append(talk.id, *(NewMessage(role=Role(role), content=text) for role, text in TALK))
    engine.purge(session=talk.id)
    engine.ingest([plain(Copy(tmp_path, 2), TALK)])
    assert ASKED not in _texts(engine)


def _claudes_sub_agent(folder: Path, parent: Copy) -> Path:
    file = claude_code(Copy(folder, 7), [("user", "Find out who the walnut smugglers are"), ("assistant", ANSWER)])
    lines = file.read_text().replace(Copy(folder, 7).session, parent.session)
    lines = "".join(f'{{"isSidechain":true,"agentId":"0a1b2c",{line[1:]}\n' for line in lines.splitlines())
    path = folder / parent.session / "subagents" / "agent-0a1b2c.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(lines)
    return path


def _codexs_sub_agent(folder: Path, parent: Copy) -> Path:
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": parent.session}}}
    return codex(Copy(folder, 8, source=spawned), [("user", "Find out who the walnut smugglers are")])


@pytest.mark.sqlite_file("looks at the bytes of the file")
@pytest.mark.parametrize(
    ("write", "sub_agent"), [(claude_code, _claudes_sub_agent), (codex, _codexs_sub_agent)], ids=["claude", "codex"]
)
def test_a_sub_agent_of_a_purged_session_does_not_come_in(
    write: Write, sub_agent: Callable[[Path, Copy], Path], engine: Engine, tmp_path: Path
) -> None:
    parent = Copy(tmp_path, 1)
    engine.ingest([write(parent, TALK)])
    engine.purge(session=parent.session)
    path = sub_agent(tmp_path, parent)
    for _ in range(2):
        engine.ingest([path])
        assert _texts(engine) == []
    _assert_no_trace(engine, tmp_path, *WORDS)


def test_a_sub_agent_of_a_session_that_was_too_old_comes_in(engine: Engine, tmp_path: Path, clock) -> None:
    parent = Copy(tmp_path, 1)
    engine.ingest([codex(parent, TALK)])
    clock.now += 100 * DAY
    engine.purge(older_than=30)
    engine.ingest([_codexs_sub_agent(tmp_path, parent)])
    assert _texts(engine) == ["Find out who the walnut smugglers are"]


@pytest.mark.parametrize("write", [FORMATS[name] for name in TIMED if name != "picobot"])
def test_a_file_that_was_begun_anew_under_the_name_of_a_purged_one_is_read(
    write: Write, engine: Engine, tmp_path: Path, clock
) -> None:
    engine.ingest([write(Copy(tmp_path, 1), TALK)])
    clock.now += 40 * DAY
    engine.purge(older_than=30)
    engine.ingest([write(Copy(tmp_path, 1, clock.now // SECOND - 3_600, ids=9), [NEW])])
    assert _texts(engine) == [NEW[1]]


def test_a_copy_that_was_begun_anew_is_read(engine: Engine, tmp_path: Path, clock) -> None:
    engine.ingest([plain(Copy(tmp_path, 1), TALK)])
    _purge_every_session(engine)
    engine.ingest([plain(Copy(tmp_path, 2), TALK)])
    clock.now += 40 * DAY
    engine.ingest([plain(Copy(tmp_path, 2, clock.now // SECOND - 3_600, ids=9), [NEW])])
    assert _texts(engine) == [NEW[1]]

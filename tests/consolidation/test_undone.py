"""A consolidation that is taken back, purged, scrubbed."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest
from tests.consolidation.conftest import PORT, TALK, Scripted, begun, consolidate, proposal, said, with_window
from tests.engine_parts import change_settings

from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.errors import Conflict
from picomem.models.generator import Fact
from picomem.records.session import Session

GENERATOR = Scripted([proposal(PORT, invalidate=("staging_pool_port",))])


def state(memory: Engine, session: str) -> tuple:
    """What a consolidation changes of a conversation and of memory."""
    now = memory.sessions().get(session)
    believed = {(stored.key, stored.content) for stored in memory.memories()}
    pointer = (now.last_consolidated_seq, now.last_consolidated_at, now.consolidation_failures)
    return believed, pointer, memory.sessions().summary(session), [entry.text for entry in memory.timeline()]


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("by", ["run", "change"])
def test_a_whole_run_is_taken_back(memory: Engine, talk: Session, by: str, db, disagreements) -> None:
    memory.remember("The staging pool asks port 6432", key="staging_pool_port", origin="agent", since="2026-04-30")
    before = state(memory, talk.id)
    (run,) = consolidate(memory, GENERATOR, talk.id).runs
    after = state(memory, talk.id)
    assert after != before
    done = memory.undo(run.run if by == "run" else run.change_id)
    assert state(memory, talk.id) == before
    assert {change.key for change in done} == {"staging_db_port", "staging_pool_port", ""}
    assert memory.doctor().healthy
    assert disagreements(db) == []
    with pytest.raises(Conflict, match="was undone already"):
        memory.undo(run.run)
    again = memory.undo(done[-1].change.id if by == "change" else done[-1].change.run)
    assert state(memory, talk.id) == after
    assert {change.key for change in again} == {"staging_db_port", "staging_pool_port", ""}
    assert disagreements(db) == []
    with pytest.raises(Conflict, match="was undone already"):
        memory.undo(done[-1].change.run)
    memory.undo(run.run if by == "run" else run.change_id)
    assert state(memory, talk.id) == before
    assert memory.doctor().healthy
    assert disagreements(db) == []


@pytest.mark.requirement("X3")
def test_a_timeline_entry_that_came_back_is_found_opened_and_purged_like_before(
    memory: Engine, talk: Session, db
) -> None:
    (run,) = consolidate(
        memory, Scripted([proposal(PORT, timeline="They mended the zeppelin of staging.")]), talk.id
    ).runs
    (before,) = memory.timeline()
    undone = memory.undo(run.run)
    assert memory.recall("zeppelin").hits == ()
    memory.undo(undone[-1].change.run)
    (after,) = memory.timeline()
    assert (after.id, after.text, after.at) == (before.id, before.text, before.at)
    assert [hit.id for hit in memory.recall("zeppelin").hits] == [before.id]
    assert len(memory.show(before.id)[2].turns) == len(TALK)
    memory.purge(session=talk.id)
    memory.close()
    assert b"zeppelin" not in b"".join(path.read_bytes() for path in db.parent.glob("memory.db*"))


@pytest.mark.requirement("X3")
def test_a_conversation_that_was_consolidated_anew_is_not_given_the_old_run_as_well(
    memory: Engine, talk: Session
) -> None:
    (first,) = consolidate(memory, Scripted([proposal(PORT)]), talk.id).runs
    undone = memory.undo(first.run)[-1].change.run
    (second,) = consolidate(memory, Scripted([proposal(timeline="They talked of staging.")]), talk.id).runs
    with pytest.raises(Conflict, match=f"further by run {second.run}; undo that first"):
        memory.undo(undone)
    memory.undo(second.run)
    memory.undo(undone)
    assert [stored.key for stored in memory.memories()] == ["staging_db_port"]
    assert len(memory.timeline()) == 1
    assert memory.doctor().healthy


@pytest.mark.sqlite_file("changes rows in the file")
@pytest.mark.requirement("X3", "A14")
def test_what_an_undo_took_off_the_timeline_does_not_outlive_its_time(memory: Engine, talk: Session, clock, db) -> None:
    (run,) = consolidate(memory, Scripted([proposal(PORT, timeline="They mended the zeppelin.")]), talk.id).runs
    undone = memory.undo(run.run)[-1].change
    clock.now += (memory.settings.memory.timeline_retention_days + 1) * DAY
    memory.tidy()
    with pytest.raises(Conflict, match="past its time or was purged; `picomem consolidate`"):
        memory.undo(undone.id)
    memory.close()
    with closing(apsw.Connection(str(db))) as stored:
        assert stored.execute("SELECT count(*) FROM consolidations").fetchall() == [(0,)]


@pytest.mark.requirement("X3", "O7")
def test_what_an_undo_took_off_the_timeline_is_scrubbed_with_the_rest(
    memory: Engine, talk: Session, db, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "ghp_" + "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"[:36]
    with monkeypatch.context() as patched:
        patched.setattr("picomem.memory.text_cleaning.Cleaner.shown_text", lambda _self, text: text)
        (run,) = consolidate(memory, Scripted([proposal(timeline=f"They used {secret} for staging.")]), talk.id).runs
    undone = memory.undo(run.run)[-1].change
    memory.scrub()
    assert memory.doctor().healthy
    memory.undo(undone.id)
    (entry,) = memory.timeline()
    assert secret not in entry.text
    assert "They used" in entry.text


@pytest.mark.requirement("X3")
def test_what_was_taken_back_is_not_stored_again_by_the_next_run(memory: Engine, talk: Session) -> None:
    (run,) = consolidate(memory, Scripted([proposal(PORT)]), talk.id).runs
    memory.undo(run.run)
    done = consolidate(memory, Scripted([proposal(PORT, Fact("pool", "The pool of staging answers in 3 ms"))]), talk.id)
    assert done.state == "done"
    assert [stored.key for stored in memory.memories()] == ["pool"]
    assert len(memory.timeline()) == 1


@pytest.mark.requirement("X3")
def test_runs_are_taken_back_from_the_latest_on_with_their_summaries(memory: Engine, db, disagreements) -> None:
    change_settings(memory, with_window(1_000))
    words = [
        message
        for n in range(8)
        for message in (said("user", f"Part {n} " + "boat " * 200), said("assistant", f"Done {n}."))
    ]
    session = begun(memory, *words)
    states = [state(memory, session.id)]
    runs = []
    for number in range(2):
        generator = Scripted(
            [proposal(Fact("", f"Pier {number} has {number + 3} berths"), summary=f"Summary {number}")]
        )
        runs += consolidate(memory, generator, session.id, force=True).runs
        memory.sessions().append(session.id, *words)
        states.append(state(memory, session.id))
    assert len(runs) > 2
    with pytest.raises(Conflict, match=f"by run {runs[-1].run}; undo "):
        memory.undo(runs[0].run)
    for run in reversed(runs):
        memory.undo(run.run)
    assert state(memory, session.id) == states[0]
    assert memory.doctor().healthy
    assert disagreements(db) == []


@pytest.mark.requirement("X3")
def test_a_fact_that_was_taken_back_by_itself_does_not_stand_in_the_way(memory: Engine, talk: Session) -> None:
    before = state(memory, talk.id)
    (run,) = consolidate(memory, Scripted([proposal(PORT)]), talk.id).runs
    memory.undo(memory.why("staging_db_port").changes[0].id)
    memory.undo(run.run)
    assert state(memory, talk.id) == before


@pytest.mark.requirement("X3", "X5")
@pytest.mark.parametrize("undone", [False, True])
def test_a_run_whose_conversation_was_purged_is_not_taken_back(memory: Engine, talk: Session, undone: bool) -> None:
    (run,) = consolidate(memory, Scripted([proposal(PORT)]), talk.id).runs
    name = memory.undo(run.run)[-1].change.run if undone else run.run
    memory.purge(session=talk.id)
    with pytest.raises(Conflict, match="purged"):
        memory.undo(name)
    assert memory.memories() == []


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("everything", [False, True])
def test_a_purge_of_the_session_leaves_nothing_of_what_was_made_of_it(memory: Engine, db, everything: bool) -> None:
    change_settings(memory, with_window(1_000))
    words = [
        said("user", "The zeppelin hangar is yellow. " + "boat " * 80),
        said("assistant", "The zeppelin, noted."),
    ] * 6
    session = begun(memory, *words)
    fact = Fact("zeppelin", "The zeppelin hangar is yellow")
    for _ in range(2):
        made = proposal(fact, timeline="They painted the zeppelin.", summary="The zeppelin is yellow.")
        consolidate(memory, Scripted([made]), session.id, force=True)
        memory.sessions().append(session.id, *words)
    done = memory.purge(everything=True) if everything else memory.purge(session=session.id)
    assert done.counts["summaries"] == 1
    assert memory.memories() == []
    assert memory.timeline() == []
    assert memory.doctor().healthy
    memory.close()
    held = b"".join(path.read_bytes() for path in db.parent.glob("memory.db*"))
    assert b"zeppelin" not in held


@pytest.mark.requirement("X5")
def test_a_message_that_is_purged_for_its_age_takes_what_was_made_of_it(memory: Engine, talk: Session, clock) -> None:
    consolidate(memory, Scripted([proposal(PORT)]), talk.id)
    clock.now += 40 * DAY
    memory.sessions().append(talk.id, *TALK[-2:])
    memory.purge(older_than=30)
    assert memory.memories() == []
    assert memory.timeline() == []
    assert memory.doctor().healthy

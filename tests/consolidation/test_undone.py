"""A consolidation that is taken back, purged, scrubbed."""

from __future__ import annotations

import pytest
from tests.consolidation.conftest import PORT, TALK, Scripted, begun, consolidate, proposal, said, with_window

from picomem.clock import DAY
from picomem.engine.engine import Engine
from picomem.errors import Conflict, InvalidInput
from picomem.models.generator import Fact
from picomem.records.session import Session

GENERATOR = Scripted([proposal(PORT, invalidate=("staging_pool_port",))])


def state(memory: Engine, session: str) -> tuple:
    """What a consolidation changes of a conversation and of memory."""
    now = memory.sessions().get(session)
    believed = {(each.key, each.content) for each in memory.memories()}
    pointer = (now.last_consolidated_seq, now.last_consolidated_at, now.consolidation_failures)
    return believed, pointer, memory.sessions().summary(session), [entry.text for entry in memory.timeline()]


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("by", ["run", "change"])
def test_a_whole_run_is_taken_back(memory: Engine, talk: Session, by: str, db, disagreements) -> None:
    memory.remember("The staging pool asks port 6432", key="staging_pool_port")
    before = state(memory, talk.id)
    (run,) = consolidate(memory, GENERATOR, talk.id).runs
    after = state(memory, talk.id)
    assert after != before
    done = memory.undo(run.run if by == "run" else run.change_id)
    assert state(memory, talk.id) == before
    assert {each.key for each in done} == {"staging_db_port", "staging_pool_port", ""}
    assert memory.doctor().healthy
    assert disagreements(db) == []
    with pytest.raises(Conflict, match="was undone already"):
        memory.undo(run.run)
    with pytest.raises(InvalidInput, match="picomem consolidate"):
        memory.undo(done[-1].change.id)


@pytest.mark.requirement("X3")
def test_what_was_taken_back_is_not_stored_again_by_the_next_run(memory: Engine, talk: Session) -> None:
    (run,) = consolidate(memory, Scripted([proposal(PORT)]), talk.id).runs
    memory.undo(run.run)
    done = consolidate(memory, Scripted([proposal(PORT, Fact("pool", "The pool of staging answers in 3 ms"))]), talk.id)
    assert done.state == "done"
    assert [each.key for each in memory.memories()] == ["pool"]
    assert len(memory.timeline()) == 1


@pytest.mark.requirement("X3")
def test_runs_are_taken_back_from_the_latest_on_with_their_summaries(memory: Engine, db, disagreements) -> None:
    memory.settings = with_window(1_000)
    words = [
        each for n in range(8) for each in (said("user", f"Part {n} " + "boat " * 200), said("assistant", f"Done {n}."))
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


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("everything", [False, True])
def test_a_purge_of_the_session_leaves_nothing_of_what_was_made_of_it(memory: Engine, db, everything: bool) -> None:
    memory.settings = with_window(1_000)
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

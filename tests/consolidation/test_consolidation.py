"""What a consolidation keeps of a conversation, and what it leaves alone."""

from __future__ import annotations

import json
import time
from functools import partial
from itertools import pairwise

import anyio
import apsw
import pytest
from tests.consolidation.conftest import (
    PORT,
    TALK,
    Scripted,
    begun,
    consolidate,
    failing,
    proposal,
    said,
    settings,
    with_window,
)
from tests.sqlite_file import connection_of

from picomem import consolidation_runner
from picomem.clock import DAY, MINUTE
from picomem.engine.agent_support import window_of
from picomem.engine.engine import Engine
from picomem.memory import lease
from picomem.models.generator import ExtractiveGenerator, Fact
from picomem.records.kinds import Kind, Origin, Source
from picomem.records.session import Session, ToolCall
from picomem.records.spend import Spend


def contents(memory: Engine) -> dict[str, str]:
    return {stored.key: stored.content for stored in memory.memories()}


@pytest.mark.requirement("A8")
def test_facts_timeline_and_invalidations_are_applied_with_where_they_came_from(memory: Engine, talk: Session) -> None:
    memory.remember("The staging pool asks port 6432", key="staging_pool_port", origin="agent", since="2026-04-30")
    generator = Scripted([proposal(PORT, invalidate=("staging_pool_port",))])
    done = consolidate(memory, generator, talk.id)
    assert done.state == "done"
    assert generator.asked[0].known[0].key == "staging_pool_port"
    assert contents(memory) == {"staging_db_port": PORT.content}
    (stored,) = memory.memories()
    assert (stored.source, stored.origin, stored.importance) == (Source.CONSOLIDATION, Origin.AGENT, 0.8)
    why = memory.why("staging_db_port")
    assert any(source.text == TALK[1].content and "message 2" in source.citation for source in why.sources)
    assert memory.recall("which port has the staging database").hits[0].citation.startswith("picobot")
    assert "holds no longer" in memory.why("staging_pool_port").changes[-1].reason


@pytest.mark.requirement("A8")
def test_a_model_archives_nothing_that_the_person_stated_or_pinned(memory: Engine, talk: Session) -> None:
    memory.remember("The staging pool asks port 6432", key="staging_pool_port")
    memory.remember("The staging pool is mended by Ann", key="staging_pool", origin="agent", pinned=True)
    (run,) = consolidate(memory, Scripted([proposal(invalidate=("staging_pool_port", "staging_pool"))]), talk.id).runs
    assert set(contents(memory)) == {"staging_pool_port", "staging_pool"}
    assert [reason for _, reason in run.turned_down] == [
        "only the user's own words call it off", "the user pinned it"
    ]  # fmt: skip


@pytest.mark.requirement("A7")
def test_one_timeline_entry_is_written_and_the_history_comes_back_compressed(memory: Engine, talk: Session) -> None:
    consolidate(memory, Scripted([proposal()]), talk.id)
    (entry,) = memory.timeline()
    assert entry.text == "[2026-05-01 00:00] They found why staging was slow."
    assert entry.key.startswith(f"ctx_{talk.id}_")
    assert (entry.importance, entry.kind, entry.origin) == (0.3, "timeline", Origin.AGENT)
    assert memory.recall("why was staging slow", include_transcripts=True).hits[0].id == entry.id
    _, _, opened = memory.show(entry.id)
    assert [turn.text for turn in opened.turns] == [message.content for message in TALK]
    assert memory.doctor().healthy


@pytest.mark.requirement("A5")
def test_only_what_came_after_the_pointer_is_taken_up(memory: Engine, talk: Session) -> None:
    generator = Scripted([proposal()])
    assert consolidate(memory, generator, talk.id).state == "done"
    now = memory.sessions().get(talk.id)
    assert (now.last_consolidated_seq, now.last_consolidated_at is not None) == (6, True)
    assert consolidate(memory, generator, talk.id, force=True).state == "not due"
    memory.sessions().append(talk.id, said("user", "Deploy it on Monday then."), said("assistant", "On Monday, good."))
    assert consolidate(memory, generator, talk.id).state == "not due"  # one turn
    assert consolidate(memory, generator, talk.id, force=True).state == "done"
    fresh = [[line.number for line in material.lines if line.fresh] for material in generator.asked]
    assert fresh == [[1, 2, 3, 4, 5, 6], [7, 8]]
    assert len(memory.timeline()) == 2


@pytest.mark.requirement("A6")
def test_ten_idle_minutes_start_one(memory: Engine, clock) -> None:
    session = begun(memory, *TALK[:2])
    assert consolidate(memory, Scripted([proposal()]), session.id).state == "not due"
    clock.now += 10 * MINUTE
    assert consolidate(memory, Scripted([proposal()]), session.id).state == "done"


@pytest.mark.requirement("A5")
@pytest.mark.parametrize("jump", [-2 * DAY, 3650 * DAY])
def test_a_clock_that_jumps_makes_nothing_be_taken_up_twice_or_never(
    memory: Engine, talk: Session, clock, jump
) -> None:
    generator = Scripted([proposal()])
    consolidate(memory, generator, talk.id)
    clock.now += jump
    memory.sessions().append(talk.id, *TALK)
    consolidate(memory, generator, talk.id)
    assert [[line.number for line in material.lines if line.fresh] for material in generator.asked] == [
        [1, 2, 3, 4, 5, 6],
        [7, 8, 9, 10, 11, 12],
    ]


@pytest.mark.requirement("P6")
@pytest.mark.parametrize("settled", [with_window(1_000)])
def test_a_long_history_gets_one_summary_and_keeps_its_last_messages(memory: Engine) -> None:
    session = begun(memory, *[message for n in range(12) for message in (said("user", f"Part {n} " + "boat " * 20), said("assistant", f"Done {n}"))])  # fmt: skip
    generator = Scripted([proposal()])
    assert consolidate(memory, generator, session.id).state == "done"
    summary = memory.sessions().summary(session.id)
    assert summary is not None
    assert (summary.covered_seq, summary.message_count) == (20, 20)
    window = window_of(memory, session.id)
    assert "## Session Summary\nStaging was slow; it is not any more." in window.system
    assert [message.seq for message in window.messages] == [21, 22, 23, 24]
    memory.sessions().append(session.id, *[said("user", "boat " * 60), said("assistant", "Well.")] * 6)
    consolidate(memory, generator, session.id)
    later = memory.sessions().summary(session.id)
    assert later is not None
    assert (later.covered_seq, later.message_count, later.created_at) == (32, 32, summary.created_at)
    asked = generator.asked[-1]
    assert asked.summary == summary.text
    assert [line.number for line in asked.lines if not line.fresh] == [21, 22, 23, 24]


@pytest.mark.parametrize("settled", [with_window(1_000)])
def test_what_is_too_long_for_a_model_is_taken_up_in_parts(memory: Engine) -> None:
    session = begun(memory, *[message for n in range(20) for message in (said("user", f"Part {n} " + "boat " * 150), said("assistant", f"Done {n}"))])  # fmt: skip
    generator = Scripted([proposal()])
    done = consolidate(memory, generator, session.id)
    assert len(done.runs) == len(generator.asked) > 2
    spans = [(run.first, run.last) for run in done.runs]
    assert spans[0][0] == 1
    assert spans[-1][1] == 40
    assert all(before[1] + 1 == after[0] for before, after in pairwise(spans))
    summary = memory.sessions().summary(session.id)
    assert summary is not None
    assert (summary.covered_seq, summary.message_count) == (36, 36)


@pytest.mark.requirement("A11")
def test_after_three_failures_in_a_row_no_model_is_asked_and_counting_starts_again(
    memory: Engine, talk: Session
) -> None:
    for count in (1, 2):
        done = consolidate(memory, failing(), talk.id)
        assert (done.state, done.failures) == ("failed", count)
        now = memory.sessions().get(talk.id)
        assert (now.last_consolidated_seq, now.consolidation_failures) == (0, count)
        assert memory.timeline() == []
    done = consolidate(memory, failing(), talk.id)
    assert (done.state, done.runs[0].generator) == ("done", "extractive")
    assert "3 times in a row" in done.warnings[-1]
    now = memory.sessions().get(talk.id)
    assert (now.last_consolidated_seq, now.consolidation_failures) == (6, 0)
    assert "the pool" in memory.timeline()[0].text


@pytest.mark.requirement("A11")
def test_a_success_in_between_makes_counting_start_again(memory: Engine, talk: Session) -> None:
    consolidate(memory, failing(), talk.id)
    consolidate(memory, Scripted([proposal()]), talk.id)
    assert memory.sessions().get(talk.id).consolidation_failures == 0


@pytest.mark.requirement("A11", "O7")
def test_where_nobody_has_anything_to_say_the_raw_messages_are_kept_without_their_secrets(memory: Engine) -> None:
    session = begun(
        memory, said("user", "🛶 🛶 🛶"), said("assistant", "…"), *[said("user", "🛶"), said("assistant", "!!")] * 2
    )
    done = consolidate(memory, ExtractiveGenerator(), session.id)
    assert done.runs[0].generator == "raw"
    (entry,) = memory.timeline()
    assert entry.text.startswith("[2026-05-01 00:00] [RAW] user: 🛶 🛶 🛶")
    assert memory.doctor().healthy


@pytest.mark.requirement("O7", "A11")
def test_a_secret_that_the_model_hands_back_is_redacted_before_it_is_kept(memory: Engine, talk: Session, db) -> None:
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z" * 2
    fact = Fact("api_key", f"The staging database has the key {key}")
    consolidate(memory, Scripted([proposal(fact, timeline=f"They used {key} on staging.")]), talk.id)
    memory.close()
    held = b"".join(path.read_bytes() for path in db.parent.glob("memory.db*"))
    assert key.encode() not in held


@pytest.mark.sqlite_file("reads and deletes rows in the file")
@pytest.mark.requirement("X3", "A8")
def test_a_run_is_one_change_with_the_pointer_before_and_after(memory: Engine, talk: Session) -> None:
    memory.remember("The staging pool asks port 6432", key="staging_pool_port", origin="agent", since="2026-04-30")
    done = consolidate(memory, Scripted([proposal(PORT, invalidate=("staging_pool_port",))]), talk.id)
    (run,) = done.runs
    changes = [change for change, _ in memory.changes(50) if change.run == run.run]
    assert sorted(change.decision for change in changes) == ["add", "archive", "consolidate"]
    assert {change.verb for change in changes} == {"consolidate"}
    (own,) = [change for change in changes if change.id == run.change_id]
    assert (own.before, own.after, own.memory_id) == (0, 6, "")
    row = connection_of(memory).execute(
        "SELECT session_id, first_seq, last_seq, before_seq, before_at, before_failures, before_summary, episodes "
        "FROM consolidations WHERE run = ?", (run.run,)
    ).fetchall()  # fmt: skip
    assert row[0][:7] == (talk.id, 1, 6, 0, None, 0, "")
    assert json.loads(str(row[0][7])) == [memory.timeline()[0].id]


def test_a_dry_run_says_what_would_be_kept_and_keeps_nothing(memory: Engine, talk: Session) -> None:
    done = consolidate(memory, Scripted([proposal(PORT)]), talk.id, dry_run=True)
    assert [(content, remembered.decision) for content, _, remembered in done.runs[0].offered] == [
        (PORT.content, "add")
    ]
    assert memory.memories() == []
    assert memory.timeline() == []
    assert memory.changes() == []
    assert memory.sessions().get(talk.id).last_consolidated_seq == 0
    assert memory.status().spent_today == 120  # it was asked all the same
    assert memory.doctor().healthy


def test_memory_that_is_off_consolidates_only_when_a_person_asks(open_engine) -> None:
    engine = open_engine()
    session = begun(engine, *TALK)
    generator = Scripted([proposal()])
    assert consolidate(engine, generator, session.id).state == "off"
    assert generator.asked == []
    assert consolidate(engine, generator, session.id, force=True).state == "done"


def test_what_the_user_asks_to_be_remembered_needs_no_model(memory: Engine) -> None:
    session = begun(memory, said("user", "Remember that releases go out on Tuesdays."), said("assistant", "Noted."))
    consolidate(memory, ExtractiveGenerator(), session.id, force=True)
    (stored,) = memory.memories()
    assert (stored.content, stored.origin, stored.kind) == ("Releases go out on Tuesdays", Origin.USER, Kind.FACT)


def test_what_was_forgotten_since_does_not_come_back(memory: Engine) -> None:
    session = begun(memory, said("user", "Remember that releases go out on Tuesdays."), said("assistant", "Noted."))
    memory.remember("Releases go out on Tuesdays", key="releases")
    memory.forget("releases")
    generator = Scripted([proposal(Fact("releases", "Releases go out on Tuesdays"))])
    (run,) = consolidate(memory, generator, session.id, force=True).runs
    assert memory.memories() == []
    assert [reason for _, reason in run.turned_down] == ["“releases” said this and was forgotten since"] * 2
    assert any("was forgotten since" in change.reason for change, _ in memory.changes())


def test_a_session_that_changed_while_the_model_was_asked_is_left_alone(memory: Engine, talk: Session) -> None:
    generator = Scripted([proposal(PORT)], meanwhile=lambda: consolidate(memory, ExtractiveGenerator(), talk.id))
    done = consolidate(memory, generator, talk.id)
    assert done.state == "overtaken"
    assert len(memory.timeline()) == 1
    assert contents(memory) == {}


@pytest.mark.requirement("X10")
def test_one_process_at_a_time_asks_a_model(memory: Engine, talk: Session) -> None:
    other, states = Scripted([proposal()]), []
    second = begun(memory, *TALK)

    def meanwhile() -> None:
        states.extend(consolidate(memory, other, session.id, force=True).state for session in (talk, second))
        states.extend(
            outcome.state for outcome in anyio.run(partial(consolidation_runner.consolidate_due, memory, other))
        )

    done = consolidate(memory, Scripted([proposal(PORT)], meanwhile=meanwhile), talk.id)
    assert states == ["busy"] * 3
    assert other.asked == []
    assert done.state == "done"
    assert consolidate(memory, other, second.id).state == "done"  # the lease was given back
    assert contents(memory) == {"staging_db_port": PORT.content}


@pytest.mark.sqlite_file("reads and deletes rows in the file")
@pytest.mark.requirement("X10")
def test_a_model_that_takes_longer_than_a_lease_lasts_keeps_its_turn(
    memory: Engine, talk: Session, monkeypatch
) -> None:
    monkeypatch.setattr(lease, "BEAT_SECONDS", 0.001)
    connection = apsw.Connection(memory.status().database)  # its own: no two threads can use the writer's at once
    connection.set_busy_timeout(30_000)

    def wait_for_a_renewal() -> None:
        connection.execute("UPDATE leases SET expires_at = 0")
        deadline = time.monotonic() + 30
        while connection.execute("SELECT 1 FROM leases WHERE expires_at = 0").fetchall():
            assert time.monotonic() < deadline, "the lease was not renewed"

    generator = Scripted([proposal(PORT)], meanwhile=wait_for_a_renewal)
    assert consolidate(memory, generator, talk.id).state == "done"
    assert connection.execute("SELECT * FROM leases").fetchall() == []
    connection.close()


def test_a_model_that_is_interrupted_leaves_the_turn_to_the_next(memory: Engine, talk: Session) -> None:
    """Ctrl-C ends the loop; the chat ends a task."""

    async def interrupted() -> None:
        with anyio.CancelScope() as scope:
            slow = Scripted([proposal(PORT)], meanwhile=lambda: anyio.from_thread.run_sync(scope.cancel))
            await consolidation_runner.consolidate(memory, slow, talk.id)

    anyio.run(interrupted)
    assert memory.timeline() == []
    assert consolidate(memory, Scripted([proposal(PORT)]), talk.id).state == "done"


@pytest.mark.sqlite_file("reads and deletes rows in the file")
def test_messages_that_were_purged_while_the_model_was_asked_leave_no_trace(memory: Engine, talk: Session) -> None:
    def purge() -> None:
        connection_of(memory).execute("DELETE FROM messages WHERE seq = 2")

    done = consolidate(memory, Scripted([proposal(PORT)], meanwhile=purge), talk.id)
    assert done.state == "overtaken"
    assert memory.memories() == []
    assert memory.timeline() == []


def test_several_sessions_are_taken_up_and_those_that_are_not_due_are_left(memory: Engine, talk: Session) -> None:
    begun(memory, *TALK[:2])
    done = anyio.run(consolidation_runner.consolidate_due, memory, Scripted([proposal()]))
    assert [(outcome.session, outcome.state) for outcome in done] == [(talk.id, "done")]


@pytest.mark.parametrize("settled", [settings(daily_token_limit=1_000)])
def test_the_spend_is_counted_shown_and_capped(memory: Engine, talk: Session) -> None:
    generator = Scripted([proposal()])
    consolidate(memory, generator, talk.id)
    status = memory.status()
    assert status.models == {"scripted": {"calls": 1, "input_tokens": 100, "output_tokens": 20}}
    assert (status.spent_today, status.daily_token_limit) == (120, 1_000)
    for _ in range(12):
        memory.sessions().append(talk.id, *TALK)
        done = consolidate(memory, generator, talk.id)
        assert done.state == "done"
    assert memory.status().spent_today <= 1_000
    assert len(generator.asked) == 6  # each needs room for the most that it can cost
    assert "memory.daily_token_limit" in done.warnings[0]
    assert done.runs[0].generator == "extractive"


@pytest.mark.parametrize("settled", [settings(daily_token_limit=1_000)])
def test_the_limit_is_of_a_day(memory: Engine, talk: Session, clock) -> None:
    generator = Scripted([proposal()], spend=Spend(1, 800, 100))
    consolidate(memory, generator, talk.id)
    memory.sessions().append(talk.id, *TALK)
    assert consolidate(memory, generator, talk.id).runs[0].generator == "extractive"
    clock.now += DAY
    memory.sessions().append(talk.id, *TALK)
    assert consolidate(memory, generator, talk.id).runs[0].generator == "scripted"


@pytest.mark.requirement("X6")
def test_what_a_memory_tool_handed_out_is_not_stored_again(memory: Engine) -> None:
    recalled = "We decided to move the booking queue to Postgres because Redis lost jobs"
    session = begun(
        memory,
        said("user", "What did we decide about the queue?"),
        said("assistant", "", None, ToolCall("c1", "memory_recall", '{"query": "queue"}')),
        said("tool", f"Found 1 memories:\n- episode: {recalled}", answers="c1"),
        said("assistant", f"{recalled}."),
    )
    done = consolidate(memory, Scripted([proposal(Fact("queue_store", recalled))]), session.id, force=True)
    assert [remembered.decision for _, _, remembered in done.runs[0].offered] == ["refuse"]
    assert memory.memories() == []

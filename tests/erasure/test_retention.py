"""What is past its time: when it goes, and when it is looked for."""

from __future__ import annotations

import pytest
from tests.engine_parts import change_settings, connector_of

from picomem.clock import DAY, HOUR, SECOND
from picomem.engine.engine import Engine
from picomem.errors import NotFound
from picomem.light_dataclass import replace
from picomem.operations.table import operation
from picomem.records.episode import Episode, Transcript
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.records.session import NewMessage, Role
from picomem.settings_tables import RetentionSettings
from picomem.store.sql_access import sql
from picomem.store.tables import episodes, transcript_rows

LOCAL = Scope()


def conversation(engine: Engine, *said: str) -> str:
    """The id of a conversation with PicoBot in which the user said these."""
    session = engine.sessions().create()
    engine.sessions().append(session.id, *(NewMessage(role=Role.USER, content=text) for text in said))
    return session.id


def timeline_entry(engine: Engine, number: int, at: int) -> None:
    """A timeline entry as a consolidation stores it."""
    entry = Episode(
        id=f"e{number}", transcript_id="t", first_turn=number, last_turn=number, part=0, start=0, end=0, role="summary",
        origin=Origin.AGENT, preview=f"[2026-05-01 10:00] summary {number}", started_at=at, ended_at=at,
        identity=str(number), category="timeline", key=f"ctx_s_{number}", created_at=at,
    )  # fmt: skip
    with connector_of(engine).write(engine.scope) as tx:
        if transcript_rows.transcript(tx, LOCAL, "t") is None:
            transcript_rows.put_transcript(tx, LOCAL, Transcript(id="t", host="picobot", path="session", session="s"))
        episodes.insert(tx, LOCAL, entry)


@pytest.mark.requirement("A14", "P7")
def test_timeline_entries_past_their_retention_are_removed_with_their_full_text(engine: Engine, clock) -> None:
    timeline_entry(engine, 1, clock.now - 91 * DAY)
    timeline_entry(engine, 2, clock.now - 89 * DAY)
    assert engine.tidy()["timeline_removed"] == 1
    assert [hit.key for hit in engine.timeline()] == ["ctx_s_2"]
    assert len(engine.recall("summary").hits) == 1
    assert engine.doctor().healthy


@pytest.mark.requirement("P7")
def test_the_task_runs_when_it_is_due_and_not_before(engine: Engine, clock) -> None:
    remember = operation("remember")

    def write(text: str) -> None:
        remember.call(engine, remember.request(content=text))

    write("Deploys go out on Tuesdays")
    timeline_entry(engine, 1, clock.now - 91 * DAY)
    write("Releases are tagged on Mondays")
    assert len(engine.timeline()) == 1
    clock.now += HOUR
    write("The venue is called Atlantis")
    assert engine.timeline() == []


@pytest.mark.requirement("P7", "P12")
def test_the_ages_and_the_interval_are_settings_with_the_defaults_of_the_design(open_engine, clock) -> None:
    engine = open_engine()
    assert engine.settings.retention == RetentionSettings(max_age_days=90, cleanup_interval_secs=3_600)
    assert engine.settings.memory.timeline_retention_days == 90
    memory = replace(engine.settings.memory, timeline_retention_days=7)
    retention = RetentionSettings(cleanup_interval_secs=120)
    change_settings(engine, replace(engine.settings, retention=retention, memory=memory))
    remember = operation("remember")
    remember.call(engine, remember.request(content="Deploys go out on Tuesdays"))
    timeline_entry(engine, 1, clock.now - 8 * DAY)
    timeline_entry(engine, 2, clock.now - 6 * DAY)
    for seconds, text, left in ((60, "Releases are tagged on Mondays", 2), (90, "The venue is called Atlantis", 1)):
        clock.now += seconds * SECOND
        remember.call(engine, remember.request(content=text))
        assert len(engine.timeline()) == left


@pytest.mark.requirement("P7")
def test_a_conversation_is_removed_when_its_last_message_is_older_than_the_maximum_age(engine: Engine, clock) -> None:
    old = conversation(engine, "The amber harbour freezes in January")
    kept = conversation(engine, "The violins are tuned by Marta")
    clock.now += 50 * DAY
    engine.sessions().append(kept, NewMessage(role=Role.USER, content="Anton mends the lute"))
    clock.now += 41 * DAY
    assert engine.tidy()["sessions_removed"] == 1
    assert [session.id for session, _ in engine.sessions().page().sessions] == [kept]
    assert len(engine.sessions().load(kept).messages) == 2
    with pytest.raises(NotFound):
        engine.sessions().load(old)
    with connector_of(engine).read() as tx:
        assert "amber" not in str([sql(tx).all(name, user="local") for name in ("all_messages", "all_sessions")])
    assert engine.doctor().healthy


@pytest.mark.requirement("P7")
def test_the_maximum_age_is_a_setting_and_memories_outlive_their_conversation(open_engine, clock) -> None:
    engine = open_engine()
    change_settings(engine, replace(engine.settings, retention=RetentionSettings(max_age_days=2)))
    session = conversation(engine, "Remember that the amber harbour freezes in January")
    engine.remember("The amber harbour freezes in January", key="harbour")
    clock.now += DAY
    assert engine.tidy()["sessions_removed"] == 0
    clock.now += 2 * DAY
    assert engine.tidy()["sessions_removed"] == 1
    assert [memory.key for memory in engine.memories()] == ["harbour"]
    with pytest.raises(NotFound):
        engine.sessions().get(session)

"""What is past its time: when it goes, and when it is looked for."""

from __future__ import annotations

import pytest

from picomem.clock import DAY, HOUR
from picomem.engine.engine import Engine
from picomem.operations.table import operation
from picomem.records.episode import Episode, Transcript
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.store import episodes

LOCAL = Scope()


def timeline_entry(engine: Engine, number: int, at: int) -> None:
    """A timeline entry as a consolidation stores it."""
    entry = Episode(
        id=f"e{number}", transcript_id="t", first_turn=number, last_turn=number, part=0, start=0, end=0, role="summary",
        origin=Origin.AGENT, preview=f"[2026-05-01 10:00] summary {number}", started_at=at, ended_at=at,
        identity=str(number), category="timeline", key=f"ctx_s_{number}", created_at=at,
    )  # fmt: skip
    with engine._connector.write() as tx:
        if episodes.transcript(tx, LOCAL, "t") is None:
            episodes.put_transcript(tx, LOCAL, Transcript(id="t", host="picobot", path="session", session="s"))
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

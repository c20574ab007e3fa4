"""A clock that is set back, leaps, stands still or changes to summer time (R12).

Order comes from the sequence in which things were stored, an expiry date is never early, and no span of time is
negative.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import chain, pairwise, repeat
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from picomem import open as open_memory
from picomem.clock import DAY, HOUR, SECOND, Micros, parse_iso, to_micros
from picomem.engine.engine import Engine
from picomem.engine.stored_memories import undone_changes
from picomem.errors import InvalidInput
from picomem.operations.table import operation
from picomem.records import ids
from picomem.records.session import NewMessage, Role
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings

BEGIN = parse_iso("2026-05-01")
YEAR = 365 * DAY
IN_2038 = (1 << 31) * SECOND


def _steps(first: Micros, *shifts: Micros) -> list[Micros]:
    return [first + shift for shift in shifts]


# What the clock says at one call after the other; the last time stays.
CLOCKS = {
    "stands still": [BEGIN],
    "goes a microsecond at a time": _steps(BEGIN, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5),
    "is set back two days": [*_steps(BEGIN, *(number * SECOND for number in range(4))), *_steps(BEGIN - 2 * DAY, *range(60))],
    "leaps ten years": _steps(BEGIN, 0, SECOND, 10 * YEAR, 10 * YEAR + SECOND),
    "leaps ten years and comes back": _steps(BEGIN, 0, SECOND, 10 * YEAR, 10 * YEAR + SECOND, 2 * SECOND),
    "passes 2038": _steps(IN_2038, -2, -1, 0, 1, 2, SECOND),
    "falls back an hour at a time": _steps(BEGIN, *(-number * HOUR for number in range(60))),
    "goes to and fro": _steps(BEGIN, *chain.from_iterable((number * DAY, -number * DAY) for number in range(30))),
}  # fmt: skip


def _clock(name: str) -> Callable[[], Micros]:
    times = chain(CLOCKS[name], repeat(CLOCKS[name][-1]))
    return lambda: next(times)


@pytest.fixture(params=CLOCKS)
def memory(request: pytest.FixtureRequest, open_engine) -> Engine:
    return open_engine(clock=_clock(request.param))


@pytest.mark.requirement("X2")
@pytest.mark.reliability("R12")
def test_changes_are_listed_in_the_order_in_which_they_were_made(memory: Engine) -> None:
    made = [
        memory.remember(f"The crate {number} stands on quay {number}", key=f"k{number}").change_id
        for number in range(6)
    ]
    memory.revise("k2", "The crate 2 stands in the yard")
    memory.revise("k2", "The crate 2 stands in the cellar")
    forgotten = memory.forget("k3").id
    (undone,) = memory.undo(forgotten)
    (redone,) = memory.undo(undone.change.id)
    listed = [change for change, _ in memory.changes(100)]
    verbs = [change.verb for change in listed]
    assert verbs == ["undo", "undo", "forget", "revise", "revise", *["remember"] * 6]
    assert [change.id for change in listed[::-1]][:6] == made
    assert [change.verb for change, _ in memory.changes(100, about="k2")] == ["revise", "revise", "remember"]
    assert [change.verb for change, _ in memory.changes(100, about="k3")] == ["undo", "undo", "forget", "remember"]
    assert [change.id for change, _ in memory.changes(1)] == [redone.change.id]
    assert undone_changes(memory) == {undone.change.id: redone.change.id}
    assert "k3" not in {held.key for held in memory.memories()}


@pytest.mark.requirement("X2")
@pytest.mark.reliability("R12")
def test_changes_of_two_processes_stay_in_order_when_the_machine_is_set_back_between_them(
    open_engine, monkeypatch
) -> None:
    """Ids hold the machine's own time; a process that starts later knows nothing of the ids of the first."""
    memory = open_engine()
    first = memory.remember("The ferry sails at one", key="ferry").change_id
    two_days_ago = time.time_ns() - 2 * DAY * 1_000
    monkeypatch.setattr(ids, "_last", 0)
    monkeypatch.setattr(ids.time, "time_ns", lambda: two_days_ago)
    forgotten = memory.forget("ferry").id
    (undone,) = memory.undo(forgotten)
    (redone,) = memory.undo(undone.change.id)
    listed = [change.id for change, _ in memory.changes()]
    assert listed == [redone.change.id, undone.change.id, forgotten, first]
    assert undone_changes(memory) == {undone.change.id: redone.change.id}


@pytest.mark.requirement("X2")
@pytest.mark.reliability("R12")
def test_the_last_version_is_believed_and_no_span_is_negative(memory: Engine) -> None:
    memory.remember("The ferry sails at one", key="ferry")
    for hour in ("two", "three", "four", "five"):
        memory.revise("ferry", f"The ferry sails at {hour}")
    assert [held.content for held in memory.memories()] == ["The ferry sails at five"]
    assert memory.recall("When does the ferry sail?").hits[0].text == "The ferry sails at five"
    versions = memory.history("ferry")
    assert [version.version for version in versions if version.known_to is None][-1:] == [versions[-1].version]
    assert versions[-1].content == "The ferry sails at five"
    for version in versions:
        assert version.known_to is None or version.known_from <= version.known_to
        assert version.valid_to is None or version.valid_from <= version.valid_to
    memory.forget("ferry")
    assert memory.memories() == []
    assert memory.doctor().findings == []


@pytest.mark.requirement("X2")
@pytest.mark.reliability("R12")
def test_the_history_of_a_key_that_was_begun_anew_is_in_order(memory: Engine) -> None:
    said = [f"The ferry sails at {hour}" for hour in ("one", "two", "three", "four")]
    for text in said:
        memory.remember(text, key="ferry")
        memory.forget("ferry")
    assert [version.content for version in memory.history("ferry")] == said


@pytest.mark.requirement("P3")
@pytest.mark.reliability("R12")
def test_messages_stand_in_the_order_in_which_they_were_said(memory: Engine) -> None:
    log = memory.sessions()
    session = log.create()
    for number in range(12):
        log.append(session.id, NewMessage(role=(Role.USER, Role.ASSISTANT)[number % 2], content=f"message {number}"))
    loaded = log.load(session.id)
    assert [message.content for message in loaded.messages] == [f"message {number}" for number in range(12)]
    seqs = [message.seq for message in loaded.messages]
    assert all(before < after for before, after in pairwise(seqs))


@pytest.mark.requirement("O19")
@pytest.mark.reliability("R12")
@pytest.mark.parametrize("expires_in", [2, SECOND, DAY, 10 * YEAR, IN_2038 - BEGIN])
def test_nothing_expires_before_its_time(open_engine, expires_in: Micros) -> None:
    now = [BEGIN]
    memory = open_engine(clock=lambda: now[0])
    memory.remember("The pass to the quay is valid", key="pass", expires=BEGIN + expires_in)
    for now[0] in (BEGIN - 2 * DAY, BEGIN, BEGIN + expires_in - 1):
        assert memory.tidy()["expired"] == 0
        assert [held.key for held in memory.memories()] == ["pass"]
        assert [hit.key for hit in memory.recall("pass to the quay").hits] == ["pass"]
    now[0] = BEGIN + expires_in
    assert memory.memories() == []
    assert memory.tidy()["expired"] == 1


@pytest.mark.requirement("O19")
@pytest.mark.reliability("R12")
def test_what_a_leap_of_the_clock_let_expire_can_be_undone_when_the_clock_is_right_again(open_engine) -> None:
    now = [BEGIN]
    memory = open_engine(clock=lambda: now[0])
    memory.remember("The pass to the quay is valid", key="pass", expires=BEGIN + DAY)
    now[0] = BEGIN + 10 * YEAR
    assert memory.tidy()["expired"] == 1
    now[0] = BEGIN + SECOND
    ((expired, _),) = memory.changes(1)
    memory.undo(expired.id)
    assert [held.key for held in memory.memories()] == ["pass"]
    with pytest.raises(InvalidInput):
        memory.revise("pass", expires=BEGIN)


# A zone, and a day on which its clocks change: by an hour or half of one, by day, at midnight, and once a whole day.
CHANGES = [
    ("Europe/Berlin", "2026-03-29"),
    ("Europe/Berlin", "2026-10-25"),
    ("America/New_York", "2026-03-08"),
    ("America/New_York", "2026-11-01"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("America/Santiago", "2025-09-07"),
    ("America/Santiago", "2026-04-04"),
    ("Asia/Beirut", "2026-03-29"),
    ("Africa/Cairo", "2026-04-24"),
    ("America/Havana", "2026-03-08"),
    ("America/Sao_Paulo", "2018-11-04"),
]


def _say(path: Path, at: dict[str, Micros]) -> None:
    lines = (
        {"role": "user", "content": f"Is walnut ledger {name} lying open?", "timestamp": moment / SECOND}
        for name, moment in at.items()
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.requirement("A4")
@pytest.mark.reliability("R12")
@pytest.mark.parametrize(("zone_name", "day"), CHANGES)
def test_yesterday_is_the_whole_day_on_which_the_clocks_changed(tmp_path: Path, zone_name: str, day: str) -> None:
    zone = ZoneInfo(zone_name)
    days = (datetime.fromisoformat(day) + timedelta(days=number) for number in range(3))
    # Of a midnight that the clocks leap over this is the moment of the leap, and of one that comes twice the first.
    begin, end, after = (to_micros(midnight.replace(tzinfo=zone)) for midnight in days)
    _say(
        tmp_path / "talk.jsonl",
        {"before": begin - SECOND, "first": begin, "last": end - SECOND, "today": end},
    )
    settings = Settings(recall=RecallSettings(embedder="none", timezone=zone_name))
    for now in (end + SECOND, (end + after) // 2, after - SECOND):
        with open_memory(tmp_path / "memory.db", settings=settings, clock=lambda now=now: now) as memory:
            memory.ingest([tmp_path / "talk.jsonl"])
            timeline = operation("timeline")
            listed = timeline.call(memory, timeline.request(since="yesterday", until="yesterday")).episodes
            assert {hit.text.split()[3] for hit in listed} == {"first", "last"}
            answer = memory.recall("What was said about the walnut ledger yesterday?")
            assert {hit.text.split()[3] for hit in answer.hits[:2]} == {"first", "last"}

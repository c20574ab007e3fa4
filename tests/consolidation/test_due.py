"""When a conversation is consolidated, and up to where."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.sessions.talks import message, talk

from picomem.clock import DAY, MINUTE, to_micros
from picomem.consolidation.due import Due, Trigger, Triggers, due
from picomem.errors import InvalidInput
from picomem.records.scope import Scope
from picomem.records.session import Channel, Message, Role, Session
from picomem.sessions.pairs import grouped
from picomem.settings import Settings
from picomem.settings_tables import MemorySettings, SessionSettings

DEFAULT = Triggers.of(Settings(), UTC)
SESSION = Session(id="s", scope=Scope(), channel=Channel.TUI, created_at=0, last_active_at=0)


def _turns(count: int, words: int = 3) -> list[Message]:
    return [message(seq, Role.USER if seq % 2 else Role.ASSISTANT, "boat " * words) for seq in range(1, 2 * count + 1)]


@pytest.mark.requirement("A6")
def test_three_finished_turns_are_enough_and_two_are_not() -> None:
    assert due(SESSION, _turns(2), 0, DEFAULT) is None
    assert due(SESSION, _turns(3), 0, DEFAULT) == Due(Trigger.TURNS, 1, 6, 0)
    asked = [*_turns(2), message(5, Role.USER, "and now?")]
    assert due(SESSION, asked, 0, DEFAULT) is None  # its answer is not there yet


@pytest.mark.requirement("A6")
def test_history_past_half_of_the_window_is_enough() -> None:
    long = _turns(2, words=2_000)
    assert sum(message.tokens for message in long) > 8_000 > sum(message.tokens for message in long[:3])
    assert due(SESSION, long[:2], 0, DEFAULT) is None
    assert due(SESSION, long, 0, DEFAULT) == Due(Trigger.SIZE, 1, 4, 0)


@pytest.mark.requirement("A6")
def test_ten_idle_minutes_are_enough_for_whatever_is_new() -> None:
    one = _turns(1)
    assert due(SESSION, one, 10 * MINUTE - 1, DEFAULT) is None
    assert due(SESSION, one, 10 * MINUTE, DEFAULT) == Due(Trigger.IDLE, 1, 2, 0)
    assert due(SESSION, one[:1], 10 * MINUTE, DEFAULT) == Due(Trigger.IDLE, 1, 1, 0)  # nobody will answer it
    assert due(replace(SESSION, last_consolidated_seq=2), one, 10**15, DEFAULT) is None
    assert due(SESSION, [], 10**15, DEFAULT) is None
    assert due(SESSION, one, -(10**15), DEFAULT) is None  # the clock was set back


def test_whatever_was_said_before_the_time_of_day_is_taken_up_then() -> None:
    rare = Triggers(tokens=10**6, turns=10**3, idle=7 * DAY, keep=10, daily=time(3, 30))
    day = _micros("2026-05-04T00:00:00")
    session = replace(SESSION, last_active_at=day)
    at = day + 210 * MINUTE
    assert due(session, _turns(1), at - 1, rare) is None
    assert due(session, _turns(1), at, rare) == Due(Trigger.DAILY, 1, 2, 0)
    assert due(session, _turns(1), day + 7 * DAY, rare) == Due(Trigger.IDLE, 1, 2, 0)
    assert due(replace(session, last_active_at=at + 1), _turns(1), at + MINUTE, rare) is None, "it waits for tomorrow"
    assert due(replace(session, last_consolidated_seq=2), _turns(1), at, rare) is None


@each_case(
    ("now", "last"),
    [
        ("2026-05-04T01:30:00", "2026-05-04T01:30:00"),  # 3:30 in Berlin
        ("2026-05-04T01:29:59", "2026-05-03T01:30:00"),
        ("2026-05-04T23:00:00", "2026-05-04T01:30:00"),
        ("2026-01-04T02:29:00", "2026-01-03T02:30:00"),  # winter: an hour later in UTC
        ("2026-01-04T02:30:00", "2026-01-04T02:30:00"),
        ("2026-03-29T01:30:00", "2026-03-29T01:30:00"),  # the clock went from 2 to 3
        ("2026-10-25T02:30:00", "2026-10-25T02:30:00"),  # the clock went from 3 to 2
    ],
)
def test_a_time_of_day_is_one_of_the_zone(now: str, last: str) -> None:
    triggers = Triggers(tokens=1, turns=1, idle=7 * DAY, keep=1, daily=time(3, 30), zone=ZoneInfo("Europe/Berlin"))
    assert triggers.quiet_before(_micros(now)) == _micros(last)


def _micros(moment: str) -> int:
    return to_micros(datetime.fromisoformat(moment))


@pytest.mark.requirement("A6")
def test_all_three_are_settings() -> None:
    chosen = Settings(
        memory=MemorySettings(consolidation_turn_threshold=7, idle_consolidation_minutes=2),
        session=SessionSettings(context_window=1_000, keep_messages=4),
    )
    assert Triggers.of(chosen, UTC) == Triggers(tokens=500, turns=7, idle=2 * MINUTE, keep=4)
    at_night = replace(chosen, memory=MemorySettings(consolidation_time="03:30"))
    assert Triggers.of(at_night, UTC).daily == time(3, 30)
    for wrong in ("3:30", "24:00", "03:30:00", "at night", "03:3x"):
        with pytest.raises(InvalidInput, match="such as 03:30"):
            replace(chosen, memory=MemorySettings(consolidation_time=wrong))
    assert (DEFAULT.turns, DEFAULT.idle, DEFAULT.keep, DEFAULT.tokens) == (3, 10 * MINUTE, 10, 8_000)


@pytest.mark.requirement("A5")
def test_what_is_consolidated_is_not_consolidated_again() -> None:
    messages = _turns(10)
    first = due(SESSION, messages, 0, DEFAULT)
    assert first == Due(Trigger.TURNS, 1, 20, 10)
    done = replace(SESSION, last_consolidated_seq=first.last)
    assert due(done, messages, 10**15, DEFAULT) is None
    again = due(done, _turns(13), 0, DEFAULT)
    assert again == Due(Trigger.TURNS, 21, 26, 16)


@pytest.mark.requirement("P6")
def test_the_last_ten_messages_stay_word_for_word_and_pairs_stay_whole() -> None:
    messages = [
        *_turns(3),
        message(7, Role.USER, "look"),
        message(8, Role.ASSISTANT, "", ("c1", "c2")),
        message(9, Role.TOOL, "fog", answers="c1"),
        message(10, Role.TOOL, "rain", answers="c2"),
        *[message(seq, Role.USER if seq % 2 else Role.ASSISTANT, "boat") for seq in range(11, 20)],
    ]
    due_now = due(SESSION, messages, 0, DEFAULT)
    assert due_now == Due(Trigger.TURNS, 1, 18, 7)  # ten would begin at 10, which answers 8


def test_a_result_that_may_yet_come_is_waited_for() -> None:
    messages = [*_turns(3), message(7, Role.USER, "look"), message(8, Role.ASSISTANT, "", ("c1",))]
    assert due(SESSION, messages, 0, DEFAULT) == Due(Trigger.TURNS, 1, 6, 0)
    assert due(SESSION, messages, 10**15, DEFAULT) == Due(Trigger.TURNS, 1, 7, 0)


@pytest.mark.requirement("A5", "P6")
@given(talk(), st.integers(0, 30), st.integers(0, 2), st.integers(0, 12))
def test_a_cut_parts_no_call_from_its_result_and_the_end_stays(
    messages: list[Message], consolidated: int, idle: int, keep: int
) -> None:
    session = replace(SESSION, last_consolidated_seq=consolidated)
    due_now = due(session, messages, idle * 10 * MINUTE, replace(DEFAULT, keep=keep, tokens=200))
    if due_now is None:
        return
    assert consolidated < due_now.first <= due_now.last
    assert due_now.covers <= due_now.last
    groups, orphans = grouped(messages)
    for group in groups:
        for cut in (due_now.last, due_now.covers):
            assert not group.first <= cut < group.last
    alone = {message.seq for message in orphans}
    behind = [message for message in messages if message.seq > due_now.covers and message.seq not in alone]
    assert not due_now.covers or len(behind) >= keep
    assert not (groups[-1].waits and groups[-1].first <= due_now.last)
    assert due(replace(session, last_consolidated_seq=due_now.last), messages, 0, replace(DEFAULT, turns=1)) is None

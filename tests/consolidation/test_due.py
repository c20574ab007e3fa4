"""When a conversation is consolidated, and up to where."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sessions.talks import message, talk

from picomem.clock import MINUTE
from picomem.consolidation.due import Due, Trigger, Triggers, due
from picomem.records.scope import Scope
from picomem.records.session import Channel, Message, Role, Session
from picomem.sessions.pairs import grouped
from picomem.settings import MemorySettings, SessionSettings, Settings

DEFAULT = Triggers.of(Settings())
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


@pytest.mark.requirement("A6")
def test_all_three_are_settings() -> None:
    chosen = Settings(
        memory=MemorySettings(consolidation_turn_threshold=7, idle_consolidation_minutes=2),
        session=SessionSettings(context_window=1_000, keep_messages=4),
    )
    assert Triggers.of(chosen) == Triggers(tokens=500, turns=7, idle=2 * MINUTE, keep=4)
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
@settings(max_examples=200, deadline=None)
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

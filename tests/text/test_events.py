"""When the event of a text happened. Said on Wednesday, 18 October 2023, 14:30, if a test says nothing else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import each_case
from tests.cost import cost

from picomem.clock import DAY, to_datetime, to_micros
from picomem.text.temporal.event_times import EventTime, read_event

WEDNESDAY = to_micros(datetime(2023, 10, 18, 14, 30, tzinfo=UTC))


def days(text: str) -> str:
    """The first and the last day of the event of a text."""
    event = read_event(text, WEDNESDAY, UTC)
    if event is None:
        return ""
    since, last = to_datetime(event.since), to_datetime(event.until - 1)
    return f"{since:%Y-%m-%d}" if since.date() == last.date() else f"{since:%Y-%m-%d}..{last:%Y-%m-%d}"


@pytest.mark.requirement("A4")
@each_case(
    ("text", "event"),
    [
        ("Yesterday I joined a church nearby!", "2023-10-17"),
        ("My mom and I cooked last night.", "2023-10-17..2023-10-18"),
        ("I won my first tournament last Friday.", "2023-10-13"),
        ("We went to a convention last month.", "2023-09-01..2023-09-30"),
        ("I got a puppy two weeks ago, she is adorable.", "2023-10-01..2023-10-07"),
        ("On 3 May we moved to Lyon.", "2023-05-03"),
        ("The landlord came on Monday and repaired it.", "2023-10-16"),
        ("We met in May 2022.", "2022-05-01..2022-05-31"),
        ("Last month was hard, but yesterday I slept.", "2023-10-17"),
        ("昨天我去了医院。", "2023-10-17"),
        ("上周五开了会", "2023-10-13"),
        ("上个月他晋升了", "2023-09-01..2023-09-30"),
        ("三天前换了手机", "2023-10-15"),
    ],
)
def test_a_text_dates_its_event(text: str, event: str) -> None:
    assert days(text) == event


@each_case(
    "text",
    [
        "Thanks, that is lovely.",
        "I am planning a trip to Japan in October.",
        "I'm going to the dentist on Friday.",
        "Today was long.",
        "We met this week.",
        "She was born in 1990.",
        "I moved here last year.",
        "A few days ago, I think.",
        "Vampire Weekend (October 1)",
        "He said “yesterday I went home”.",
        "release 2023.10.2 of the last library",
        "今天下雨了",
        "明年三月我打算去日本",
        "",
    ],
)
def test_what_dates_no_past_event_gives_none(text: str) -> None:
    assert read_event(text, WEDNESDAY, UTC) is None


def test_the_day_is_that_of_the_zone() -> None:
    late = to_micros(datetime(2023, 10, 18, 22, 30, tzinfo=UTC))
    tokyo = timezone(timedelta(hours=9))
    assert read_event("I did it yesterday.", late, UTC) == EventTime(
        to_micros(datetime(2023, 10, 17, tzinfo=UTC)), to_micros(datetime(2023, 10, 18, tzinfo=UTC))
    )
    assert read_event("I did it yesterday.", late, tokyo) == EventTime(
        to_micros(datetime(2023, 10, 18, tzinfo=tokyo)), to_micros(datetime(2023, 10, 19, tzinfo=tokyo))
    )


def test_an_event_is_likely_in_a_window_by_the_share_of_its_time() -> None:
    month = EventTime(0, 30 * DAY)
    assert month.share_within(0, 15 * DAY) == 0.5
    assert month.share_within(-DAY, 40 * DAY) == 1.0
    assert month.share_within(30 * DAY, 31 * DAY) == 0.0


@given(st.text(max_size=300), st.integers(0, 4_000_000_000_000_000))
def test_any_text_is_read_and_its_event_is_over(text: str, said_at: int) -> None:
    event = read_event(f"Yesterday {text} last week", said_at, UTC)
    assert event is None or 0 <= event.since < event.until <= said_at


@each_case("text", ["yesterday " * 5_000, "昨天" * 5_000, "in May " * 5_000, "x" * 100_000])
def test_a_long_text_is_read_quickly(text: str) -> None:
    assert cost(lambda: read_event(text, WEDNESDAY, UTC)) < 0.2

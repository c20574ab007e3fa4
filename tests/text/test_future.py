"""Times that lie ahead, as the expiry of a memory gives them."""

from __future__ import annotations

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from tests.cases import each_case

from picomem.clock import parse_iso
from picomem.errors import InvalidTime
from picomem.text.temporal.event_times import parse_future

NOW = "2026-01-31T14:30:00+00:00"  # a Saturday


@each_case(
    ("text", "expected"),
    [
        ("2026-05-03", "2026-05-03"),
        ("2026-05-03T14:30", "2026-05-03T14:30"),
        ("2026-05", "2026-05-01"),
        ("tomorrow", "2026-02-01"),
        ("  Tomorrow ", "2026-02-01"),
        ("明天", "2026-02-01"),
        ("30d", "2026-03-02T14:30"),
        ("12h", "2026-02-01T02:30"),
        ("2w", "2026-02-14T14:30"),
        ("in two weeks", "2026-02-14T14:30"),
        ("3 days from now", "2026-02-03T14:30"),
        ("a month from now", "2026-02-28T14:30"),
        ("1y", "2027-01-31T14:30"),
        ("next week", "2026-02-02"),
        ("next month", "2026-02-01"),
        ("next year", "2027-01-01"),
        ("friday", "2026-02-06"),
        ("on saturday", "2026-02-07"),
    ],
)
def test_a_time_to_come_is_read(text: str, expected: str) -> None:
    assert parse_future(text, parse_iso(NOW), UTC) == parse_iso(expected)


def test_a_day_begins_where_its_person_is() -> None:
    assert parse_future("tomorrow", parse_iso("2026-01-31T20:00"), ZoneInfo("Asia/Tokyo")) == parse_iso(
        "2026-02-02T00:00+09:00"
    )


@each_case("text", ["", "soon", "last week", "in some days", "2026-02-30", "99999d9", "9999y", "x" * 5_000])
def test_what_is_no_time_to_come_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(InvalidTime):
        parse_future(text, parse_iso(NOW), UTC)

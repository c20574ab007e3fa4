"""Numbers are the same number however they are written."""

from __future__ import annotations

import pytest

from picomem.text.written_numbers import numbers_in


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("kept for thirty-five days", {"35"}),
        ("Seven of twenty people, nineteen rooms", {"7", "20", "19"}),
        ("4,000 euros at 10:30 with 3.12", {"4000", "10:30", "3.12"}),
        ("备份保留九十天", {"90"}),
        ("两万三千五百人，一百二十个房间", {"23500", "120"}),
        ("二〇二三年 8 月", {"2023", "8"}),
        ("one-hundredth anniversary, a weekend at ten", {"1", "10"}),
        ("nobody phones seventhly", set()),
    ],
)
def test_a_number_is_read_in_words_and_in_digits(text: str, numbers: set[str]) -> None:
    assert numbers_in(text) == numbers

"""The words of English time phrases: tokens, numbers, names of months and days, units, and quantities.

The tokenizer takes as one opaque token what only looks like a date's parts (a version, a price, a clock time,
a path), so that no rule can read the “3.11” of a version or the “8” of “8.5” as a number.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from picomem.light_dataclass import dataclass
from picomem.text.temporal.spans import Point, Span, day_span, yearly

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
# What else the word may be decides how much is asked of its surroundings.
AMBIGUOUS_MONTHS = {"may", "march", "mar", "sep", "jan", "dec"}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday", "thursday thu thur thurs", "friday fri", "saturday", "sunday")
    )
    for name in names.split()
}
DAY_PARTS = ("morning", "noon", "afternoon", "evening", "night")
SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}
SHARES = {
    "early": "early", "beginning": "early", "start": "early", "mid": "mid", "middle": "mid",
    "late": "late", "end": "late",
}  # fmt: skip
UNITS = {
    name: unit
    for unit, names in {
        "second": "second seconds moment moments sec secs",
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days night nights",
        "week": "week weeks wk wks",
        "fortnight": "fortnight fortnights",
        "month": "month months mo mos",
        "quarter": "quarter quarters",
        "year": "year years yr yrs",
        "decade": "decade decades",
    }.items()
    for name in names.split()
}
_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
NUMBERS = {word: value for value, word in enumerate(_ONES)} | _TENS | {"hundred": 100}
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8,
    "ninth": 9, "tenth": 10, "eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14,
    "fifteenth": 15, "sixteenth": 16, "seventeenth": 17, "eighteenth": 18, "nineteenth": 19, "twentieth": 20,
    "thirtieth": 30,
}  # fmt: skip

# A word that may follow “on the 8th” or “in 2023” without making it “the 8th floor” or “2023 items”.
FOLLOWERS = frozenset((
    "and", "or", "to", "with", "of", "at", "in", "on", "about", "for", "from", "by", "until", "till",
    "through", "before", "after", "during", "regarding", "we", "i", "you", "he", "she", "they", "it", "there",
    "my", "our", "your", "his", "her", "their", "a", "an", "the", "that", "this", "these", "those", "did",
    "do", "does", "was", "were", "is", "are", "am", "had", "has", "have", "been", "would", "could", "should",
    "can", "will", "when", "what", "where", "who", "which", "how", "why", "but", "because", "if", "as",
    "then", "only", "please", "again", "last", "morning", "noon", "afternoon", "evening", "night",
))  # fmt: skip
_VAGUE = {"few": (2, 6), "several": (3, 8), "some": (2, 8)}
_ROUGHLY = {"about", "around", "roughly", "approximately", "almost", "nearly", "over"}


QUANTITY_OPENERS = frozenset({"a", "an", "half", "couple", "pair", *_ROUGHLY, *_VAGUE, *NUMBERS})


class Token(NamedTuple):
    kind: str  # iso, slash, opaque, ordinal, number, word, possessive, mark
    low: str  # lower case
    text: str
    start: int
    end: int


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(
        r"(?P<iso>(?<![\w./-])(?:19|20)\d\d-\d\d(?:-\d\d(?:t\d\d:\d\d\S*)?)?(?![\w/-]|\.\w))"
        r"|(?P<slash>(?<![\w./-])(?:\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})|\d{4}/\d{1,2}/\d{1,2})(?![\w/-]|\.\w))"
        r"|(?P<opaque>[$€£¥#~]\d[\d.,]*\w*|\d+(?:[.,:/]\d+)+\w*|\d+%|\w+(?:[./\\@:_]\w+)+)"
        r"|(?P<ordinal>\d{1,2}(?:st|nd|rd|th)\b)"
        r"|(?P<number>\d+(?!\w))"
        r"|(?P<word>[^\W\d_]+(?:['’](?!s\b)[^\W\d_]+)?(?!\w))"
        r"|(?P<possessive>['’]s\b)"
        r"|(?P<glue>\w+)"
        r"|(?P<mark>\S)",
        re.IGNORECASE,
    )


def tokens(text: str) -> list[Token]:
    return [
        Token(match.lastgroup or "", match.group().lower(), match.group(), match.start(), match.end())
        for match in _pattern().finditer(text)
    ]


@dataclass(frozen=True, slots=True)
class Quantity:
    """“3”, “a couple of”, “two or three”: between `low` and `high`."""

    low: float
    high: float
    exact: bool = True


def read_number(words: list[Token], at: int) -> tuple[int, int] | None:
    """A whole number in digits or words (“21”, “twenty-one”), and the index after it."""
    if at >= len(words):
        return None
    word = words[at]
    if word.kind == "number":
        return (int(word.low), at + 1) if len(word.low) <= 7 else None
    value = NUMBERS.get(word.low)
    if value is None:
        return None
    if value in _TENS.values():
        rest = at + 2 if _low(words, at + 1) == "-" else at + 1
        ones = NUMBERS.get(_low(words, rest), 0)
        if 1 <= ones <= 9:
            return value + ones, rest + 1
    return value, at + 1


def read_ordinal(words: list[Token], at: int) -> tuple[int, int] | None:
    """A day of the month as an ordinal (“8th”, “eighth”, “twenty-first”), and the index after it."""
    word = _low(words, at)
    if at < len(words) and words[at].kind == "ordinal":
        value = int(word[:-2])
        return (value, at + 1) if 1 <= value <= 31 else None
    if word in ORDINALS:
        return ORDINALS[word], at + 1
    if word in ("twenty", "thirty"):
        rest = at + 2 if _low(words, at + 1) == "-" else at + 1
        ones = ORDINALS.get(_low(words, rest), 99)
        if _TENS[word] + ones <= 31:
            return _TENS[word] + ones, rest + 1
    return None


def read_quantity(words: list[Token], at: int) -> tuple[Quantity, int] | None:
    """Return how many of a unit, and the index after it (at the unit's name)."""
    rough = _low(words, at) in _ROUGHLY
    if rough:
        at += 1
    counted = _vague(words, at) or _counted(words, at)
    if counted is None or not rough:
        return counted
    quantity, at = counted
    return Quantity(quantity.low, quantity.high, False), at


def _vague(words: list[Token], at: int) -> tuple[Quantity, int] | None:
    if _low(words, at) == "half" and _low(words, at + 1) in ("a", "an"):
        return Quantity(0.5, 0.5), at + 2
    if _low(words, at) == "a":
        at += 1
    word = _low(words, at)
    if word == "half":
        return Quantity(0.5, 0.5), at + 1
    if word in ("couple", "pair"):
        return Quantity(2, 3, False), at + (2 if _low(words, at + 1) == "of" else 1)
    if word in _VAGUE:
        return Quantity(*_VAGUE[word], False), at + 1
    return None


def _counted(words: list[Token], at: int) -> tuple[Quantity, int] | None:
    if _low(words, at) in ("a", "an"):
        low, at = 1, at + 1
        if (hundred := _low(words, at)) in ("hundred", "dozen"):
            low, at = {"hundred": 100, "dozen": 12}[hundred], at + 1
    else:
        number = read_number(words, at)
        if number is None:
            return None
        low, at = number
    if _low(words, at) in ("or", "to", "-", "–") and (other := read_number(words, at + 1)) and other[0] > low:
        return Quantity(low, other[0], False), other[1]
    if [_low(words, at + step) for step in range(3)] == ["and", "a", "half"]:
        return Quantity(low + 0.5, low + 0.5), at + 3
    return Quantity(low, low), at


def _low(words: list[Token], at: int) -> str:
    return words[at].low if 0 <= at < len(words) else ""


# Feasts that people date things by, with the days on which they fall.
#
# Easter Sunday is computed by the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, ch. 8). Outside the
# table of lunar years, Chinese lunar feasts name nothing.

_FIRST_LUNAR_YEAR = 2015


def _sections() -> dict[str, dict[str, list[str]]]:
    """The feasts of `holidays.txt`, whose head explains the format, by section and name."""
    sections: dict[str, dict[str, list[str]]] = {}
    for line in Path(__file__).with_name("holidays.txt").read_text("utf-8").splitlines():
        if line.startswith("["):
            sections[line[1:-1]] = {}
        elif sections and line:
            name, _, values = line.partition(": ")
            sections[list(sections)[-1]][name] = values.split()
    return sections


_FEASTS = _sections()
_LUNAR_DAYS = _FEASTS.pop("days")
NAMES = tuple(sorted((name for feasts in _FEASTS.values() for name in feasts), key=len, reverse=True))


def holiday(name: str) -> Point:
    """The feast of that name (one of NAMES), as a point that recurs each year."""

    def at(year: int) -> Span:
        day, before, after = _day_of(name, year)
        return day_span(day - timedelta(days=before), day + timedelta(days=after))

    return yearly(at)


def _day_of(name: str, year: int) -> tuple[date, int, int]:
    kind, values = next((kind, feasts[name]) for kind, feasts in _FEASTS.items() if name in feasts)
    if kind == "lunar":
        days, low, high = _LUNAR_DAYS[values[0]], int(values[1]), int(values[2])
        if not 0 <= year - _FIRST_LUNAR_YEAR < len(days):
            raise ValueError("outside the table of lunar years")
        entry = days[year - _FIRST_LUNAR_YEAR]
        return date(year, int(entry[:2]), int(entry[2:])), -low, high
    numbers = list(map(int, values))
    if kind == "fixed":
        month, day, before, after = numbers
        return date(year, month, day), before, after
    if kind == "nth":
        month, weekday, which, after = numbers
        return _nth_weekday(year, month, weekday, which) + timedelta(days=after), 0, 0
    return _easter(year) + timedelta(days=numbers[0]), 0, 0


def _nth_weekday(year: int, month: int, weekday: int, which: int) -> date:
    if which > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (which - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7)


def _easter(year: int) -> date:
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(year, f // 31, f % 31 + 1)

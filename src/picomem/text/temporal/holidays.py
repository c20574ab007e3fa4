"""Feasts that people date things by, with the days on which they fall.

Easter Sunday is computed by the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, ch. 8). Outside the
table of lunar years, Chinese lunar feasts name nothing.
"""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from picomem.text.temporal.spans import Point, Span, day_span, yearly

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

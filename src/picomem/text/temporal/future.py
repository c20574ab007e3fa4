"""A time that lies ahead, as an option gives it: when a memory expires. Pure.

Questions and the options of recall name times of the past, so “30d” is the last thirty days there, and here the moment
in thirty days. A day, a week, a month or a year stands for its beginning, as a date does.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from picomem.clock import Micros, parse_iso, to_datetime, to_micros
from picomem.errors import InvalidTime
from picomem.text.temporal.words import NUMBERS, WEEKDAYS

_UNITS = {"h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year"}
_SHORT = re.compile(r"(\d{1,4})\s?(h|d|w|mo|y)", re.IGNORECASE | re.ASCII)
_FROM_NOW = re.compile(r"(?:in )?(\w{1,9}) (hour|day|week|month|year)s?(?: from now)?", re.ASCII)
_NEXT = re.compile(r"next (week|month|year)")
_WEEKDAY = re.compile(r"(?:(?:on|next|this) )?([a-z]+)")
_YEAR_AND_MONTH = re.compile(r"\d{4}-\d\d", re.ASCII)
_DAYS_AHEAD = {"today": 0, "tomorrow": 1, "the day after tomorrow": 2, "明天": 1, "后天": 2}


def parse_future(text: str, now: Micros, zone: tzinfo) -> Micros:
    """Return the time, in UTC microseconds, that a text names as a whole: a date, a date and time, “30d”, “in two
    weeks”, “tomorrow”, “friday”, “next month”, “2026-05”. Raises InvalidTime."""
    given = " ".join(text.lower().split())
    local = to_datetime(now, zone).replace(tzinfo=None)
    try:
        moment = _named(given, local)
        if moment is not None:
            return to_micros(moment.replace(tzinfo=zone))
        return parse_iso(f"{given}-01" if _YEAR_AND_MONTH.fullmatch(given) else text, zone)
    except (ValueError, OverflowError) as error:
        raise _unreadable(text) from error
    except InvalidTime as error:
        if text.strip()[:4].isdecimal():  # a date at fault, which the error names
            raise
        raise _unreadable(text) from error


def _unreadable(text: str) -> InvalidTime:
    shown = "".join(char if char.isprintable() else "?" for char in text[:40])
    return InvalidTime(
        f"“{shown}” cannot be read as a time to come; write 30d, tomorrow, next week, 2026-05-03 or 2026-05-03T14:30."
    )


def _named(given: str, now: datetime) -> datetime | None:
    """The local time of a text that is no date."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if given in _DAYS_AHEAD:
        return today + timedelta(days=_DAYS_AHEAD[given])
    if short := _SHORT.fullmatch(given):
        return _later(now, int(short[1]), _UNITS[short[2].lower()])
    if following := _NEXT.fullmatch(given):
        if following[1] == "week":
            return today + timedelta(days=7 - today.weekday())
        return _later(today.replace(day=1, month=today.month if following[1] == "month" else 1), 1, following[1])
    if span := _FROM_NOW.fullmatch(given):
        count = 1 if span[1] in ("a", "an") else int(span[1]) if span[1].isdecimal() else NUMBERS.get(span[1])
        return None if count is None else _later(now, count, span[2])
    weekday = _WEEKDAY.fullmatch(given)
    if weekday and weekday[1] in WEEKDAYS:
        return today + timedelta(days=(WEEKDAYS[weekday[1]] - today.weekday() - 1) % 7 + 1)
    return None


def _later(start: datetime, count: int, unit: str) -> datetime:
    """So many units after a time; a day that a month lacks is its last day."""
    if unit not in ("month", "year"):
        return start + timedelta(**{f"{unit}s": count})
    months = start.year * 12 + start.month - 1 + count * (12 if unit == "year" else 1)
    first = start.replace(year=months // 12, month=months % 12 + 1, day=1)
    last = (_later(first, 1, "month") - timedelta(days=1)).day if start.day > 28 else start.day
    return first.replace(day=min(start.day, last))

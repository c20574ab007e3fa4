"""Finds the time of the event that a text reports: “yesterday I went hiking”, “上周五开了会”. Pure.

It uses the grammar for questions, and counts from the day of the text. A text has an event only if it says exactly when
one happened, and that was over by then. An event on the day of the text itself needs no date of its own, and a year is
too vague.

“Yesterday”, “last May” and “May 2022” are always in the past. “In May” and “on Friday” are in the past only in a
sentence that says so, because people plan with the same words.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from functools import cache

from picomem.clock import DAY, Micros, parse_iso, to_datetime, to_micros
from picomem.errors import InvalidTime
from picomem.light_dataclass import dataclass
from picomem.text.temporal import words
from picomem.text.temporal.intent import is_past, sentence_at, unquoted
from picomem.text.temporal.parsing import read_phrases, window_of
from picomem.text.temporal.spans import Phrase
from picomem.text.temporal.words import NUMBERS, WEEKDAYS

_LONGEST = 2_000  # characters of a text that are read
_MOST_NUMBERS = 40  # in these; a text with more is a table or a log, and each of them costs as much as a sentence
COARSEST: Micros = 92 * DAY  # a quarter or a season; a coarser time is no event's
# Strings: `re` compiles a pattern at its first use, and a question needs none of these.
_WORD = r"[a-z]{3,}"
# Of feasts, and nearly always something else.
_COMMON = frozenset("black boxing chinese day eve festival fools good memorial new year".split())
_SENTENCE = r"(?s).+?(?:[.!?](?=\s)|[。！？]|\n|$)"
_CUE_DATE = r"\d(?:\d\d\d|/\d|st|nd|rd|th)"
_CHINESE_CUE = (
    "昨|前[天年晚]|去年|上一?[个個]?(?:[周週月季]|星期|[礼禮]拜)|(?:[天日周週月年]|星期)[之以]?前|[春夏秋冬][天季]"
    r"|[\d一二三四五六七八九十][月日号號]|(?:[周週]|星期|[礼禮]拜)[一二三四五六日天末]|"
    + "|".join(name for name in words.NAMES if not name.isascii())
)
_PAST = r"(?i)\byesterday\b|\blast\b|\bago\b|\bpast\b|\bprevious\b|\b(?:19|20)\d\d\b|[昨前上去]"


@dataclass(frozen=True, slots=True)
class EventTime:
    """UTC microseconds; `until` is exclusive. The length says how exactly the text dates the event."""

    since: Micros
    until: Micros

    def days(self, zone: tzinfo) -> str:
        """The day, or the first and the last."""
        first, last = (f"{to_datetime(at, zone):%Y-%m-%d}" for at in (self.since, self.until - 1))
        return first if first == last else f"{first} to {last}"

    def share_within(self, since: Micros, until: Micros) -> float:
        """Return the probability that the event lies in a window: the share of its time that does, 0–1."""
        return max(0, min(self.until, until) - max(self.since, since)) / (self.until - self.since)


def read_event(text: str, said_at: Micros, zone: tzinfo) -> EventTime | None:
    """The event that a text dates most exactly, the first of several; None if it dates none. No text makes it raise."""
    if not _has_cue(text[:_LONGEST]):
        return None
    now = to_datetime(said_at, zone).replace(tzinfo=None)
    text = text[:_LONGEST].replace(f"{now:%Y-%m-%d}", " ")  # the records of a log hold their own day
    if len(re.findall(r"\d+", text)) > _MOST_NUMBERS:
        return None
    masked = "".join(filter(_has_cue, re.findall(_SENTENCE, unquoted(text))))
    events = [
        phrase
        for phrase in read_phrases(masked, now)
        if phrase.span.exact
        and phrase.span.end <= now
        and timedelta(0) < phrase.span.end - phrase.span.start <= timedelta(microseconds=COARSEST)
        and _is_told(masked, phrase)
    ]
    if not events:
        return None
    window = window_of(min(events, key=lambda phrase: phrase.span.end - phrase.span.start).span, zone)
    return EventTime(window.since, window.until) if window else None


def _is_told(text: str, phrase: Phrase) -> bool:
    """Return whether the text tells of a past event with a phrase, and does not plan with it."""
    return re.search(_PAST, text[phrase.start : phrase.end]) is not None or is_past(sentence_at(text, phrase))


def _has_cue(text: str) -> bool:
    """Return whether a text has a word that every event has one of. Most texts have none, and are read no further."""
    low = text.lower()
    if not _cue_words().isdisjoint(re.findall(_WORD, low)) or "s back" in low or re.search(_CUE_DATE, low):
        return True
    return not low.isascii() and re.search(_CHINESE_CUE, low) is not None


@cache
def _cue_words() -> frozenset[str]:
    feasts = {part for name in words.NAMES for part in re.findall(_WORD, name)}
    relative = ("yesterday", "last", "ago", "past", "previous", "weekend", "wed", "sat", "sun")
    return frozenset((*relative, *words.MONTHS, *words.WEEKDAYS, *words.SEASONS, *feasts)) - _COMMON


# A time that lies ahead, as an option gives it: when a memory expires. Pure.
#
# Questions and the options of recall name times of the past, so “30d” is the last thirty days there, and here the
# moment in thirty days. A day, a week, a month or a year stands for its beginning, as a date does.

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

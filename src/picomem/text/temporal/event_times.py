"""Finds the time of the event that a text reports: “yesterday I went hiking”, “上周五开了会”. Pure.

It uses the grammar for questions, and counts from the day of the text. A text has an event only if it says exactly when
one happened, and that was over by then. An event on the day of the text itself needs no date of its own, and a year is
too vague.

“Yesterday”, “last May” and “May 2022” are always in the past. “In May” and “on Friday” are in the past only in a
sentence that says so, because people plan with the same words.
"""

from __future__ import annotations

import re
from datetime import timedelta, tzinfo
from functools import cache

from picomem.clock import DAY, Micros, to_datetime
from picomem.light_dataclass import dataclass
from picomem.text.temporal import holidays, words
from picomem.text.temporal.intent import is_past, sentence_at, unquoted
from picomem.text.temporal.parsing import read_phrases, window_of
from picomem.text.temporal.spans import Phrase

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
    + "|".join(name for name in holidays.NAMES if not name.isascii())
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
    feasts = {part for name in holidays.NAMES for part in re.findall(_WORD, name)}
    relative = ("yesterday", "last", "ago", "past", "previous", "weekend", "wed", "sat", "sun")
    return frozenset((*relative, *words.MONTHS, *words.WEEKDAYS, *words.SEASONS, *feasts)) - _COMMON

"""The time that a question names: “what did we decide last Tuesday”, “三天前聊了什么”.

    question → cut to 2,000 characters → quoted words, code and addresses blanked → phrases by the English and
    the Chinese grammar → one window, the order that is wanted, and whether the window may be used as a filter

Choices. Windows run from local midnight to local midnight in the asker's zone (finer for hours and parts of a
day), as UTC microseconds, end exclusive. Weeks begin on Monday. A date without a year, or a weekday, is the
latest one not after the asking; 5/8/2023 is May 8th unless that is impossible. What lies wholly after the
asking, or before 1970, is no window: nothing was said then. Two times that are not a range give the stretch
that covers both, uncertain.

`certain` answers “may a search leave out what lies outside?”; the rule is at the head of `intent`.

Where the parts are: the calendar in `spans`, the feasts in `holidays`; for English the words in
`words`, names of dates in `names`, relative ones in `dates`, the grammar in `english`; for
Chinese `chinese_words` and `chinese`; what is meant by it all in `intent`.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo

from picomem.clock import Micros, parse_iso, to_datetime, to_micros
from picomem.errors import InvalidTime
from picomem.light_dataclass import dataclass
from picomem.text.temporal import chinese, english
from picomem.text.temporal.intent import is_about_talk, is_meant, is_told, sentence_at, unquoted, wanted_order
from picomem.text.temporal.spans import EARLIEST, LATEST, Phrase, Span, last_units

_LONGEST = 2_000
_LAST_YEAR = 2099  # of a date in digits: the words of a question name no later one
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ParsedWindow:
    """UTC microseconds; `until` is exclusive and greater than `since`."""

    since: Micros
    until: Micros


@dataclass(frozen=True, slots=True)
class TimeReading:
    """The time expressions of a question."""

    window: ParsedWindow | None  # None: it names no time
    phrase: str  # the words that were read, as they stand in the question
    order: str  # "first" (the earliest is wanted), "last" (the latest) or ""
    certain: bool  # whether the window may be used as a filter
    of_talk: bool = False  # it asks what was said then, rather than what happened


def read_time(question: str, asked_at: Micros, zone: tzinfo) -> TimeReading:
    """The time that `question` names when asked at `asked_at` in `zone`. No text makes it raise.

    Where words that stand apart were read together, `phrase` joins them by “ … ”, and the reading is uncertain.
    Raises InvalidTime only for an `asked_at` outside the years 1 to 9999.
    """
    text = question[:_LONGEST]
    masked = unquoted(text)
    now = to_datetime(asked_at, zone).replace(tzinfo=None)
    order = wanted_order(masked)
    phrases = [phrase for phrase in read_phrases(masked, now) if _said_by_then(phrase.span, now)]
    if not phrases:
        return TimeReading(None, "", order, False)
    span, used = _combined(masked, phrases)
    window = window_of(span, zone)
    if window is None:
        return TimeReading(None, "", order, False)
    words = " … ".join(text[phrase.start : phrase.end] for phrase in used)
    certain = span.exact and all(is_meant(masked, phrase, now) for phrase in used)
    return TimeReading(window, words, order, certain, any(is_about_talk(sentence_at(masked, one)) for one in used))


def parse_window(text: str, asked_at: Micros, zone: tzinfo) -> ParsedWindow:
    """A window that was given as such: “30d”, “last week”, “三天前”, “2026-05-03”, “2026-05”,
    “2026-05-01..2026-05-09”.

    Short forms count back from `asked_at`: h, d, w, mo, y. A range includes both ends, either of which may be
    left out. Raises InvalidTime for anything else, for a date that does not exist, for a range that ends
    before it begins and for a time before 1970.
    """
    given = text.strip()
    if not given or len(given) > 200:
        raise _unreadable(text)
    now = to_datetime(asked_at, zone).replace(tzinfo=None)
    low, dots, high = given.partition("..")
    if not dots:
        span = _whole(given, now, zone)
    elif not low.strip() and not high.strip():
        raise _unreadable(text)
    else:
        start = _whole(low.strip(), now, zone).start if low.strip() else EARLIEST
        end = _whole(high.strip(), now, zone).end if high.strip() else LATEST
        span = Span(start, end)
    window = window_of(span, zone)
    if window is None:
        if span.start > span.end:
            raise InvalidTime(f"“{_shown(text)}” ends before it begins; write the earlier date first.")
        raise _too_early(text)
    return window


def _whole(text: str, now: datetime, zone: tzinfo) -> Span:
    """The local time that an option's text names as a whole."""
    given = text
    short = re.fullmatch(r"(\d{1,6})\s?(h|d|w|mo|y)", text, re.IGNORECASE | re.ASCII)
    try:
        if short:
            units = {"h": "hour", "d": "day", "w": "week", "mo": "month", "y": "year"}
            return last_units(now, int(short[1]), units[short[2].lower()])
        if text.lower() == "now":
            return Span(now, now + timedelta.resolution)
        if re.fullmatch(r"\d{4}", text, re.ASCII):
            text = f"in {text}"
        if re.fullmatch(r"\d{4}-\d\d-\d\d[T ].+", text, re.ASCII):
            moment = to_datetime(parse_iso(text, zone), zone).replace(tzinfo=None)
            return Span(moment, moment + _MINUTE)
        span = english.read_whole(text, now) or chinese.read_whole(text, now)
    except (ValueError, OverflowError) as error:
        raise _unreadable(given) from error
    if span is None:
        raise _unreadable(given)
    return span


def _unreadable(text: str) -> InvalidTime:
    if written := re.fullmatch(r"(\d{4,9})(?:-\d\d){0,2}", text, re.ASCII):  # as it should be: the date is at fault
        year = int(written[1])
        if year < EARLIEST.year:
            return _too_early(text)
        if year > _LAST_YEAR:
            return InvalidTime(f"“{_shown(text)}” is too late a date; name one from 1970 to {_LAST_YEAR}.")
        return InvalidTime(f"“{_shown(text)}” is not in the calendar; name a day that exists, such as 2026-05-03.")
    return InvalidTime(
        f"“{_shown(text)}” cannot be read as a time; "
        "write 30d, last week, 2026-05-03, 2026-05 or 2026-05-01..2026-05-09."
    )


def _too_early(text: str) -> InvalidTime:
    return InvalidTime(f"“{_shown(text)}” is before 1970, where time begins here; name a later one.")


def _shown(text: str) -> str:
    return "".join(char if char.isprintable() else "?" for char in text[:40])


def read_phrases(text: str, now: datetime) -> list[Phrase]:
    """Every time phrase of a text in either language, in order, as of the local time `now` (naive)."""
    phrases = english.read_phrases(text, now)
    if not text.isascii():
        phrases += [
            phrase
            for phrase in chinese.read_phrases(text, now)
            if not any(phrase.start < other.end and other.start < phrase.end for other in phrases)
        ]
    return sorted(phrases, key=lambda phrase: phrase.start)


def _said_by_then(span: Span, now: datetime) -> bool:
    return span.start <= now and span.end > EARLIEST and span.start < span.end


def _combined(text: str, phrases: list[Phrase]) -> tuple[Span, list[Phrase]]:
    """One span of several: the narrowest where the others hold it (“in May … on May 8th”), or the one of
    which the question says that it was talked then (“a month ago, as mentioned on May 8th”), else what covers
    all, loosely."""
    narrow = min(phrases, key=lambda phrase: phrase.span.end - phrase.span.start)
    if all(other.span.start <= narrow.span.start and narrow.span.end <= other.span.end for other in phrases):
        return narrow.span, [narrow]
    told = [phrase for phrase in phrases if is_told(text, phrase)]
    if len(told) == 1:
        return told[0].span, told
    exact = [phrase for phrase in phrases if phrase.span.exact] or phrases
    start, end = min(one.span.start for one in exact), max(one.span.end for one in exact)
    return Span(start, end, len(exact) == 1 and exact[0].span.exact), exact


def window_of(span: Span, zone: tzinfo) -> ParsedWindow | None:
    """The span as UTC. A local midnight that does not exist is the moment of the change, one that comes twice
    the first."""
    try:
        since = max(0, to_micros(span.start.replace(tzinfo=zone)))
        until = to_micros(span.end.replace(tzinfo=zone))
    except (ValueError, OverflowError):
        return None
    return ParsedWindow(since, until) if since < until else None

"""Times as callers give them: Unix milliseconds (the designs' `since` and `until`), a date, or words like "30d"."""

from __future__ import annotations

import re
from datetime import tzinfo

from picomem.clock import EARLIEST, LATEST, Micros, parse_iso
from picomem.errors import InvalidTime
from picomem.text.temporal.parsing import ParsedWindow, parse_window

_LONGEST_MOMENT = 16  # characters of a moment in milliseconds


def moment(given: int | str | None, now: Micros, zone: tzinfo, *, end: bool = False) -> Micros | None:
    """A time in UTC microseconds. Words and bare dates stand for a span: its beginning, or with `end` its end."""
    if given is None or given == "":
        return None
    if isinstance(given, int) or re.fullmatch(r"-?[0-9]{9,}", given):
        digits = len(given) if isinstance(given, str) else 0  # what int() takes long for lies far outside
        at = int(given) * 1000 if digits <= _LONGEST_MOMENT else LATEST + 1
        if not EARLIEST <= at <= LATEST:
            raise InvalidTime("That moment lies outside the years 1 to 9999; write it as 2026-05-03.")
        return at
    if re.match(r"\d{4}-\d\d-\d\d[T ]\d", given):
        return parse_iso(given, zone)
    span = parse_window(given, now, zone)
    return span.until if end else span.since


def between(
    since: int | str | None, until: int | str | None, now: Micros, zone: tzinfo
) -> tuple[Micros | None, Micros | None]:
    """A span of time, [since, until). Raises InvalidTime where it ends before it begins."""
    begin, end = moment(since, now, zone), moment(until, now, zone, end=True)
    if begin is not None and end is not None and end < begin:
        raise InvalidTime(f"“since” ({since}) is after “until” ({until}); exchange them.")
    return begin, end


def instant(given: int | str | None, now: Micros, zone: tzinfo) -> Micros | None:
    """The last moment of a time, for "what was so then": a version that begins where a day ends is of the next day."""
    last_moment = moment(given, now, zone, end=True)
    return last_moment if last_moment is None or last_moment == moment(given, now, zone) else last_moment - 1


def window(given: str | None, now: Micros, zone: tzinfo) -> ParsedWindow | None:
    """A span of time in words: "30d", "last week", "2026-05"; None for nothing."""
    return parse_window(given, now, zone) if given else None

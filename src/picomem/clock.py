"""Time as the rest of picomem uses it: integers, UTC microseconds since 1970.

A `Clock` is any callable that returns such a number. The engine takes one, so that a test or a replay decides
what time it is; nothing else in picomem reads the machine's clock for a value that it stores.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

from picomem.errors import InvalidTime

Micros = int
Clock = Callable[[], Micros]

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What a datetime can hold in every time zone; offsets from UTC are less than a day.
EARLIEST: Micros = -62_135_467_200 * SECOND  # 0001-01-02T12:00Z
LATEST: Micros = 253_402_171_200 * SECOND  # 9999-12-30T12:00Z


def system_clock() -> Micros:
    return time.time_ns() // 1000


def to_micros(moment: datetime) -> Micros:
    """A datetime (naive means UTC) as UTC microseconds, exactly."""
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * SECOND + delta.microseconds


def to_datetime(at: Micros, zone: tzinfo | None = UTC) -> datetime:
    """UTC microseconds as an aware datetime; `zone=None` is the machine's own zone.

    A time that no datetime can hold becomes the nearest that one can: a stored row must not stop a reader.
    """
    seconds, micros = divmod(min(max(at, EARLIEST), LATEST), SECOND)
    return (_EPOCH + timedelta(seconds=seconds, microseconds=micros)).astimezone(zone)


def check_time(at: Micros) -> Micros:
    """The time itself. Raises InvalidTime where no datetime can hold it."""
    if not EARLIEST <= at <= LATEST:
        raise InvalidTime(f"The time {at} lies outside the years 1 to 9999; give microseconds since 1970, in UTC.")
    return at


def iso(at: Micros) -> str:
    """RFC 3339 in UTC, to the second, or finer where there is more: `2026-05-03T14:30:00Z`."""
    moment = to_datetime(at)
    spec = "microseconds" if moment.microsecond else "seconds"
    return moment.isoformat(timespec=spec).replace("+00:00", "Z")


def file_stamp(at: Micros) -> str:
    """The time to the second as names of files have it."""
    return datetime.fromtimestamp(at // SECOND, UTC).strftime("%Y%m%dT%H%M%SZ")


def parse_iso(text: str, zone: tzinfo | None = UTC) -> Micros:
    """ISO 8601 (date, or date and time, with or without an offset) as UTC microseconds.

    A time without an offset is read in `zone`. Raises InvalidTime with a sentence that names the text.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone) if zone else moment.astimezone()
        return check_time(to_micros(moment))
    except (ValueError, OverflowError) as error:
        exists = "is not a date that exists" if text.strip()[:4].isdecimal() else "cannot be read as a date"
        raise InvalidTime(f"“{text[:40]}” {exists}; write it as 2026-05-03 or 2026-05-03T14:30.") from error


def zone_named(name: str) -> tzinfo:
    """A zone with its daylight-saving rules. Raises KeyError, ValueError or OSError for a name that is none."""
    from zoneinfo import ZoneInfo

    return ZoneInfo(name)


def local_zone() -> tzinfo:
    """The machine's own zone, with its daylight-saving rules where they can be found."""
    name = os.environ.get("TZ", "").lstrip(":")
    if not name:
        name = os.path.realpath("/etc/localtime").partition("/zoneinfo/")[2]
    if name in ("UTC", "Etc/UTC"):  # as servers have it; zoneinfo costs 4 ms to import
        return UTC
    try:
        if name:
            return zone_named(name)
    except (KeyError, ValueError, OSError):
        pass  # an unusual TZ: the offset of today is the best that is left
    return datetime.now().astimezone().tzinfo or UTC

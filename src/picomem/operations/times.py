"""Times as callers give them: Unix milliseconds (the designs' `since` and `until`), a date, or words like "30d"."""

from __future__ import annotations

from datetime import tzinfo

from picomem.clock import Micros, parse_iso
from picomem.recall.when.reading import Window, parse_window


def moment(given: int | str | None, now: Micros, zone: tzinfo, *, end: bool = False) -> Micros | None:
    """A time in UTC microseconds. Words and bare dates stand for a span: its beginning, or with `end` its end."""
    if given is None or given == "":
        return None
    if isinstance(given, int) or (given.lstrip("-").isdigit() and len(given) > 8):
        return int(given) * 1000
    if "T" in given:
        return parse_iso(given, zone)
    span = parse_window(given, now, zone)
    return span.until if end else span.since


def window(given: str | None, now: Micros, zone: tzinfo) -> Window | None:
    """A span of time in words: "30d", "last week", "2026-05"; None for nothing."""
    return parse_window(given, now, zone) if given else None

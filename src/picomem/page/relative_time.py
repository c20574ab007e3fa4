"""Times as people read them: how long ago, and exactly. Pure."""

from __future__ import annotations

from datetime import tzinfo

from picomem.clock import DAY, HOUR, MINUTE, SECOND, Micros, to_datetime
from picomem.page.message_catalog import Say

_STEPS = (
    (MINUTE, SECOND, "second"),
    (HOUR, MINUTE, "minute"),
    (DAY, HOUR, "hour"),
    (30 * DAY, DAY, "day"),
    (365 * DAY, 30 * DAY, "month"),
)


def ago(at: Micros, now: Micros, say: Say) -> str:
    """A time beside another one: “3 days ago”, “in 2 hours”, “just now”."""
    span = abs(now - at)
    if span < 45 * SECOND:
        return say("time.now")
    unit, name = next(((unit, name) for end, unit, name in _STEPS if span < end), (365 * DAY, "year"))
    return say(f"time.{name}_{'ago' if at <= now else 'ahead'}", count=max(1, span // unit))


def exactly(at: Micros, zone: tzinfo) -> str:
    """A time to the minute, in the reader's zone: `2026-05-01 14:30`."""
    return f"{to_datetime(at, zone):%Y-%m-%d %H:%M}"

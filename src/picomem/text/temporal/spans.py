"""Stretches of local time, and the calendar arithmetic that names them.

A `Span` is two naive local datetimes, end exclusive; only `when.py` knows the zone. A `Point` is what a
phrase names before it is known which one is meant: “May 8th” recurs each year, “Tuesday” each week,
“yesterday” does not recur. A recurring point is a function from an index (a year, a month's number, a week's
number) to a span, and is settled by looking back from the day of asking, or ahead from the other end of a
range.

Weeks run Monday to Sunday. Seasons are the meteorological ones of the northern hemisphere, winter named by
the year in which it begins. Functions here raise ValueError or OverflowError for a date that does not exist;
the readers of phrases turn that into “nothing was named”.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta

from picomem.light_dataclass import dataclass, replace

EARLIEST = datetime(1970, 1, 1)  # where “before X” begins
LATEST = datetime(9999, 1, 1)  # where a range without an end does
_TRIES = 9  # 29 February recurs within eight years

_UNIT_DAYS = {"day": 1.0, "week": 7.0, "month": 30.44, "quarter": 91.3, "year": 365.25}
_SMALLER = {
    "year": ("month", 12),
    "quarter": ("month", 3),
    "month": ("day", 30),
    "week": ("day", 7),
    "day": ("hour", 24),
    "hour": ("minute", 60),
}
_COUNTED_DAYS = 3
_MOST = 100_000  # units back; anything further is not a date

_DAY_PARTS = {
    "dawn": (0, 6),
    "morning": (4, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (18, 30),
}
_SEASON_MONTH = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_SHARES = {"early": (0, 3, 1), "mid": (1, 3, 1), "late": (2, 3, 1), "first half": (0, 2, 0), "second half": (1, 2, 0)}


@dataclass(frozen=True, slots=True)
class Span:
    """Local time from `start` up to `end`; `exact` is False where the words were vague."""

    start: datetime
    end: datetime
    exact: bool = True

    def loose(self) -> Span:
        return replace(self, exact=False)

    @property
    def first(self) -> date:
        return self.start.date()

    @property
    def last(self) -> date:
        return (self.end - timedelta.resolution).date()


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch of a text, by character offsets, that was read as a span of time."""

    span: Span
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Point:
    """The time that a phrase names. Without `index` it is one span, `at(0)`; with it, one span for each index.

    `strict`: the day of asking itself is not meant (on a Tuesday, “on Tuesday” is a week ago).
    """

    at: Callable[[int], Span]
    index: Callable[[date], int] | None = None
    strict: bool = False

    @property
    def recurs(self) -> bool:
        return self.index is not None

    def before(self, day: date) -> Span:
        """The latest one that begins on or before `day`."""
        if self.index is None:
            return self.at(0)
        limit = day - timedelta(days=1) if self.strict else day
        return self._first(range(self.index(day) + 1, self.index(day) - _TRIES, -1), lambda span: span.first <= limit)

    def after(self, day: date) -> Span:
        """The first one that begins on or after `day`."""
        if self.index is None:
            return self.at(0)
        return self._first(range(self.index(day) - 1, self.index(day) + _TRIES), lambda span: span.first >= day)

    def ended(self, day: date) -> Span:
        """The latest one that is over before `day`: “last summer”."""
        if self.index is None:
            return self.at(0)
        return self._first(
            range(self.index(day) + 1, self.index(day) - _TRIES, -1), lambda span: span.end.date() <= day
        )

    def _first(self, indexes: range, fits: Callable[[Span], bool]) -> Span:
        for number in indexes:
            try:
                span = self.at(number)
            except ValueError:  # 29 February in a common year
                continue
            if fits(span):
                return span
        raise ValueError("no such date near by")


def fixed(span: Span) -> Point:
    return Point(lambda _: span)


def yearly(at: Callable[[int], Span]) -> Point:
    return Point(at, lambda day: day.year)


def monthly(at: Callable[[int], Span]) -> Point:
    """`at` takes a month's number, see `month_number`."""
    return Point(at, month_number)


def weekly(weekday: int) -> Point:
    """A day of the week, 0 = Monday."""
    return Point(lambda week: day_span(date.fromordinal(week * 7 + 1 + weekday)), week_number, strict=True)


def weekends() -> Point:
    return Point(lambda week: weekend_span(date.fromordinal(week * 7 + 1)), week_number)


def mapped(point: Point, change: Callable[[Span], Span]) -> Point:
    """The point with each of its spans changed: “the week of May 8th”."""
    return Point(lambda number: change(point.at(number)), point.index, point.strict)


def midnight(day: date) -> datetime:
    return datetime.combine(day, time())


def day_span(first: date, last: date | None = None) -> Span:
    """Whole days, `last` included."""
    return Span(midnight(first), midnight((last or first) + timedelta(days=1)))


def week_number(day: date) -> int:
    return (day.toordinal() - 1) // 7  # ordinal 1 is a Monday


def week_span(day: date) -> Span:
    monday = day - timedelta(days=day.weekday())
    return day_span(monday, monday + timedelta(days=6))


def weekend_span(day: date) -> Span:
    """Saturday and Sunday of the week that holds `day`."""
    saturday = day + timedelta(days=5 - day.weekday())
    return day_span(saturday, saturday + timedelta(days=1))


def month_number(day: date) -> int:
    return day.year * 12 + day.month - 1


def month_span(number: int, count: int = 1) -> Span:
    """`count` whole months from the month with this number (year × 12 + month − 1)."""
    return Span(midnight(_first_of(number)), midnight(_first_of(number + count)))


def quarter_span(number: int) -> Span:
    """The quarter that holds the month with this number."""
    return month_span(number - number % 3, 3)


def year_span(year: int) -> Span:
    return month_span(year * 12, 12)


def season_span(year: int, season: str) -> Span:
    return month_span(year * 12 + _SEASON_MONTH[season] - 1, 3)


def month_day(number: int, day: int) -> Span:
    first = _first_of(number)
    return day_span(date(first.year, first.month, day))


def hull(one: Span, other: Span) -> Span:
    return Span(min(one.start, other.start), max(one.end, other.end), one.exact and other.exact)


def share(span: Span, part: str) -> Span:
    """“early”, “mid”, “late”, “first half”, “second half” of a span, in whole days.

    The thirds overlap by two days a month and at most a week: what one person calls the middle of May another
    calls late.
    """
    which, parts, overlaps = _SHARES[part]
    size = (span.end - span.start).days / parts
    margin = min(7.0, size / 5) * overlaps
    first = max(span.first, span.first + timedelta(days=round(size * which - margin)))
    last = min(span.last, span.first + timedelta(days=round(size * (which + 1) + margin) - 1))
    return replace(day_span(first, last), exact=span.exact)


def tenth(span: Span, which: int) -> Span:
    """The first, second or last ten days of a month (上旬, 中旬, 下旬), counted from 0."""
    first = span.first + timedelta(days=10 * which)
    return day_span(first, first + timedelta(days=9)) if which < 2 else day_span(first, span.last)


def day_part(span: Span, part: str) -> Span:
    """The dawn (00–06), morning (04–12), noon, afternoon (12–18), evening (17–24) or night (18–06) of the
    first day."""
    low, high = _DAY_PARTS[part]
    start = midnight(span.first)
    return Span(start + timedelta(hours=low), start + timedelta(hours=high), span.exact)


def last_units(now: datetime, count: float, unit: str, exact: bool = True) -> Span:
    """The last `count` hours, days, weeks, months… up to now; from days upwards the whole of the first and of
    today."""
    _check(count)
    if unit in ("minute", "hour"):
        return Span(now - timedelta(**{unit + "s": count}), now + timedelta.resolution, exact)
    today = now.date()
    if unit in ("month", "quarter", "year") and count == int(count):
        months = {"month": 1, "quarter": 3, "year": 12}[unit] * int(count)
        first = _months_before(today, months)
    else:
        first = today - timedelta(days=round(count * _UNIT_DAYS[unit]))
    return replace(day_span(first, today), exact=exact)


def units_ago(now: datetime, low: float, high: float, unit: str, exact: bool = True) -> Span:
    """“3 days ago” (low = high = 3), “2 or 3 weeks ago”.

    A day is that day, and from four on also the day before it; a week the seven days around the day; a month
    and a year those of the calendar; minutes and hours a third of the distance to either side. What is vague
    or not whole gets a margin of half a unit or 15 %.
    """
    _check(high)
    while unit in _SMALLER and low != int(low):
        unit, times = _SMALLER[unit]
        low, high, exact = low * times, high * times, False
    today = now.date()
    if unit in ("minute", "hour"):
        middle, reach = now - timedelta(**{unit + "s": (low + high) / 2}), timedelta(**{unit + "s": high / 3})
        margin = max(reach, timedelta(minutes=15))
        return Span(middle - margin, min(middle + margin, now + timedelta.resolution), exact)
    if exact and low == high:
        return _exactly_ago(today, int(low), unit)
    size = _UNIT_DAYS[unit]
    margin_days = max(size / 2, 0.15 * high * size)
    first = today - timedelta(days=round(high * size + margin_days))
    last = today - timedelta(days=max(0, round(low * size - margin_days)))
    return day_span(first, last).loose()


def _exactly_ago(today: date, count: int, unit: str) -> Span:
    if unit == "day":
        # A few days are counted by the calendar; many also as spells of 24 hours, which may be one day more.
        return day_span(today - timedelta(days=count + (count > _COUNTED_DAYS)), today - timedelta(days=count))
    if unit == "week":
        middle = today - timedelta(days=7 * count)
        return day_span(middle - timedelta(days=3), min(middle + timedelta(days=3), today))
    if unit == "month":
        return month_span(month_number(today) - count)
    if unit == "quarter":
        return quarter_span(month_number(today) - 3 * count)
    return year_span(today.year - count)


def _months_before(day: date, count: int) -> date:
    first = _first_of(month_number(day) - count)
    return min(date(first.year, first.month, 1) + timedelta(days=day.day - 1), month_span(month_number(first)).last)


def _first_of(number: int) -> date:
    return date(number // 12, number % 12 + 1, 1)


def _check(count: float) -> None:
    if not 0 <= count <= _MOST:
        raise ValueError("further back than any date")

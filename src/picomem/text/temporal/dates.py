"""English names of single stretches of time: “May 8th”, “Tuesday night”, “last week”, “two weekends ago”,
“early May”.

`Dates.read(i)` tries each rule at token i and returns what it found with the index after it. Rules look only
forward; those that hold another date in them (“the end of last month”) go a few deep and no more, so that the
whole is linear in the question.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

from picomem.text.temporal import spans
from picomem.text.temporal.names import NamedPoint, Names
from picomem.text.temporal.spans import Point, Span, fixed, mapped
from picomem.text.temporal.words import (
    AMBIGUOUS_MONTHS,
    DAY_PARTS,
    MONTHS,
    SEASONS,
    SHARES,
    UNITS,
    WEEKDAYS,
    Token,
    read_quantity,
)

_DASHES = ("-", "–", "—")
_DEEPEST = 4  # “early on the morning of the day after Christmas”


class Dates:
    """The rules, over one text's tokens as of one local time of asking."""

    def __init__(self, words: list[Token], now: datetime) -> None:
        self.names = Names(words, now)
        self.words = words
        self.now = now
        self.today = now.date()
        self.low = self.names.low
        self._depth = 0
        self._known: dict[tuple[int, int], NamedPoint | None] = {}

    def read(self, at: int) -> NamedPoint | None:
        """The longest time that begins at token `at`, with a part of the day after it if there is one."""
        if self._depth >= _DEEPEST or at >= len(self.words):
            return None
        key = (at, self._depth)
        if key not in self._known:
            self._depth += 1
            try:
                self._known[key] = self._first(at)
            finally:
                self._depth -= 1
        return self._known[key]

    def _first(self, at: int) -> NamedPoint | None:
        for rule in (
            self._share, self._part_of, self._week_of, self._offset, self._beside, self._ago, self._relative,
            self._rolling, self._before_last, self._weekday_of, self.names.read, self._vague,
        ):  # fmt: skip
            try:
                named = rule(at)
            except (ValueError, OverflowError):  # 30 February, or the year 12000
                continue
            if named:
                return self._with_day_part(named)
        return None

    def _with_day_part(self, named: NamedPoint) -> NamedPoint:
        at = named.end + 1 if self.low(named.end) in ("in", "the") else named.end
        at = at + 1 if self.low(at) == "the" else at
        part = self.low(at)
        if part not in DAY_PARTS or not is_day(named.point, self.today):
            return named
        return NamedPoint(mapped(named.point, lambda span: spans.day_part(span, part)), at + 1, named.needs)

    # Parts of something: “early May”, “the end of last month”, “the morning of May 8th”, “the week of …”

    def _share(self, at: int) -> NamedPoint | None:
        at = at + 1 if self.low(at) == "the" else at
        word, after = self.low(at), at + 1
        if word in ("first", "second") and self.low(after) == "half":
            part, after = f"{word} half", after + 1
        elif word in SHARES:
            part = SHARES[word]
        else:
            return None
        if self.low(after) in (*_DASHES, "of", "in"):
            after += 1
        elif word not in ("early", "mid", "late"):
            return None
        named = self.read(after)
        if not named:
            return None
        return NamedPoint(mapped(named.point, lambda span: _shared(span, part)), named.end)

    def _part_of(self, at: int) -> NamedPoint | None:
        at = at + 1 if self.low(at) == "the" else at
        part = self.low(at)
        named = self.read(at + 2) if part in DAY_PARTS and self.low(at + 1) == "of" else None
        if not named or not is_day(named.point, self.today):
            return None
        return NamedPoint(mapped(named.point, lambda span: spans.day_part(span, part)), named.end)

    def _week_of(self, at: int) -> NamedPoint | None:
        at = at + 1 if self.low(at) == "the" else at
        which = self.low(at) if self.low(at) in ("first", "last") else ""
        unit = self.low(at + 1 if which else at)
        after = at + 2 if which else at + 1
        if unit not in ("week", "weekend", "day") or self.low(after) not in ("of", "starting", "beginning"):
            return None
        named = self.read(after + 1)
        if not named or not (which or unit != "day"):
            return None
        return NamedPoint(mapped(named.point, lambda span: _piece(span, which, unit)), named.end)

    # Counted from something else: “the day before Christmas”, “two weeks after May 8th”

    def _offset(self, at: int) -> NamedPoint | None:
        start = at + 1 if self.low(at) == "the" else at
        if start > at and self.low(start) in ("day", "week", "month"):
            count, unit, after = 1.0, self.low(start), start + 1
        elif (amount := read_quantity(self.words, at)) and UNITS.get(self.low(amount[1])) in ("day", "week", "month"):
            count, unit, after = amount[0].high, UNITS[self.low(amount[1])], amount[1] + 1
        else:
            return None
        side = self.low(after)
        if side not in ("before", "after") or not 0 < count <= 1000:
            return None
        if (side, self.low(after + 1), unit) == ("before", "yesterday", "day"):
            return NamedPoint(fixed(spans.day_span(self.today - timedelta(days=1 + round(count)))), after + 2)
        named = self.read(after + 1)
        if not named:
            return None
        return NamedPoint(mapped(named.point, lambda span: _offset(span, count, unit, side == "after")), named.end)

    def _beside(self, at: int) -> NamedPoint | None:
        """“the last weekend before April 10”, “the Friday after Easter”: the nearest one that is over by then, or that
        begins after it."""
        at = at + 1 if self.low(at) == "the" else at
        which = self.low(at) if self.low(at) in ("last", "first") else ""
        at = at + 1 if which else at
        number = self.names.weekday(at)
        if number is None and self.low(at) != "weekend":
            return None
        side = self.low(at + 1)
        if side not in ("before", "after") or which == ("first" if side == "before" else "last"):
            return None
        named = self.read(at + 2)
        if not named or named.needs == "never":
            return None
        beside = spans.weekends() if number is None else spans.weekly(number)
        if side == "before":
            return NamedPoint(mapped(named.point, lambda span: beside.ended(span.start.date())), named.end)
        return NamedPoint(mapped(named.point, lambda span: beside.after(span.end.date())), named.end)

    # Counted from now

    def _ago(self, at: int) -> NamedPoint | None:
        amount = read_quantity(self.words, at)
        if not amount:
            return None
        quantity, at = amount
        name, low, high, exact = self.low(at), quantity.low, quantity.high, quantity.exact
        after = at + 1
        if [self.low(after + step) for step in range(3)] == ["and", "a", "half"]:
            low, high, after = low + 0.5, high + 0.5, after + 3
        if [self.low(after), self.low(after + 1)] == ["or", "so"]:
            exact, after = False, after + 2
        if self.low(after) not in ("ago", "back") or (
            self.low(after) == "back" and self.low(after + 1) in ("to", "in")
        ):
            return None
        singular = name.removesuffix("s")
        if singular in WEEKDAYS or singular == "weekend":
            return NamedPoint(fixed(self._repeated_ago(singular, int(low), int(high))), after + 1)
        unit, times = _regular(UNITS.get(name, ""))
        if not unit:
            return None
        span = spans.units_ago(self.now, low * times, high * times, unit, exact)
        return NamedPoint(fixed(span), after + 1)

    def _repeated_ago(self, name: str, low: int, high: int) -> Span:
        def back(count: int) -> Span:
            if name == "weekend":
                return spans.weekend_span(self.today - timedelta(days=7 * count))
            day = spans.weekly(WEEKDAYS[name]).ended(self.today).first
            return spans.day_span(day - timedelta(days=7 * (count - 1)))

        return back(low) if low == high else spans.hull(back(low), back(high)).loose()

    def _rolling(self, at: int) -> NamedPoint | None:
        """“the last 30 days”, “this past week”, “past few months”: up to now, unlike the calendar's “last
        week”."""
        determiner = self.low(at) if self.low(at) in ("the", "this", "these") else ""
        at = at + 1 if determiner else at
        word = self.low(at)
        if word not in ("last", "past", "previous") or not (determiner or word != "previous"):
            return None
        amount = read_quantity(self.words, at + 1)
        if amount:
            quantity, unit_at = amount
            unit, times = _regular(UNITS.get(self.low(unit_at), ""))
            if not unit:
                return None
            count = quantity.high * times
            return NamedPoint(fixed(spans.last_units(self.now, count, unit, quantity.exact)), unit_at + 1)
        name = self.low(at + 1)
        if word == "previous" or name not in ("hour", "week", "fortnight", "month", "quarter", "year"):
            return None
        if not (determiner or word == "past") or self.low(at + 2) == "of":
            return None
        unit, times = _regular(name)
        return NamedPoint(fixed(spans.last_units(self.now, times, unit)), at + 2)

    def _relative(self, at: int) -> NamedPoint | None:
        word, after = self.low(at), at + 1
        if word in ("today", "yesterday"):
            return NamedPoint(fixed(spans.day_span(self.today - timedelta(days=word == "yesterday"))), after)
        if word == "tonight":
            return NamedPoint(fixed(spans.day_part(spans.day_span(self.today), "evening")), after)
        if word in ("the", "this") and self.low(after) in ("past", "last") and _recurring_name(self.words, after + 1):
            word, after = "last", after + 1
        if word == "the" and self.low(after) in ("previous", "current"):
            word, after = self.low(after), after + 1
        if word == "past" and _recurring_name(self.words, after):
            word = "last"
        if word not in ("last", "this", "previous", "current"):
            return None
        back = 1 if word in ("last", "previous") else 0
        span = self._unit_back(self.low(after), back)
        if span:
            return NamedPoint(fixed(span), after + 1)
        named = self.names.read(after)
        if not named or named.point.index is None or named.needs in ("on", "year"):
            return None
        if named.needs == "month" and not self.words[after].text[:1].isupper() and self.low(after) in AMBIGUOUS_MONTHS:
            return None
        point = named.point
        assert point.index is not None
        span = point.ended(self.today) if back else point.at(point.index(self.today))
        return NamedPoint(fixed(span), named.end)

    def _weekday_of(self, at: int) -> NamedPoint | None:
        """“Tuesday of last week”, “Tuesday last week”."""
        number = self.names.weekday(at)
        after = at + 2 if self.low(at + 1) == "of" else at + 1
        if number is None or self.low(after) not in ("last", "this") or self.low(after + 1) != "week":
            return None
        monday = spans.week_span(self.today - timedelta(days=7 * (self.low(after) == "last"))).first
        return NamedPoint(fixed(spans.day_span(monday + timedelta(days=number))), after + 2)

    def _unit_back(self, name: str, back: int) -> Span | None:
        day, number = self.today - timedelta(days=7 * back), spans.month_number(self.today)
        if name == "week":
            return spans.week_span(day)
        if name == "weekend":
            return spans.weekend_span(day)
        if name == "month":
            return spans.month_span(number - back)
        if name == "quarter":
            return spans.quarter_span(number - 3 * back)
        if name == "year":
            return spans.year_span(self.today.year - back)
        if name in ("night", "evening", "afternoon", "morning") and (name in ("night", "evening") or not back):
            return spans.day_part(spans.day_span(self.today - timedelta(days=back)), name)
        return None

    def _before_last(self, at: int) -> NamedPoint | None:
        at = at + 1 if self.low(at) == "the" else at
        if [self.low(at + 1), self.low(at + 2)] != ["before", "last"]:
            return None
        name = self.low(at)
        if name in WEEKDAYS:
            return NamedPoint(fixed(self._repeated_ago(name, 2, 2)), at + 3)
        if name == "night":
            return NamedPoint(fixed(spans.day_part(spans.day_span(self.today - timedelta(days=2)), name)), at + 3)
        span = self._unit_back(name, 2)
        return NamedPoint(fixed(span), at + 3) if span else None

    def _vague(self, at: int) -> NamedPoint | None:
        def between(first: int, last: int, after: int) -> NamedPoint:
            start, end = self.today - timedelta(days=first), self.today - timedelta(days=last)
            return NamedPoint(fixed(spans.day_span(start, end).loose()), after)

        word, rest = self.low(at), [self.low(at + step) for step in range(1, 4)]
        if word in ("recently", "lately"):
            return between(30, 0, at + 1)
        if word == "just" and rest[0] == "now":
            return between(0, 0, at + 2)
        if word == "these" and rest[0] == "days":
            return between(30, 0, at + 2)
        if word == "recent" and rest[0] in ("days", "weeks", "months"):
            return between({"days": 10, "weeks": 45, "months": 180}[rest[0]], 0, at + 2)
        if word in ("a", "some") and rest[0] in ("while", "time") and rest[1] in ("ago", "back"):
            return between(365, 7, at + 3)
        if word == "a" and rest == ["long", "time", "ago"]:
            return between(3650, 60, at + 4)
        if word == "the" and rest[0] == "other" and rest[1] in ("day", "night", "evening", "week", "month"):
            far = {"week": 35, "month": 120}.get(rest[1], 14)
            return between(far, 1, at + 3)
        return None


def is_day(point: Point, today: date) -> bool:
    """Return whether the point names single days, and not weeks or months."""
    span = point.before(today)
    return span.end - span.start == timedelta(days=1)


def _shared(span: Span, part: str) -> Span:
    return spans.share(span, part) if span.end - span.start >= timedelta(days=5) else span


def _piece(span: Span, which: str, unit: str) -> Span:
    size = {"week": 6, "weekend": 6, "day": 0}[unit]
    if which == "first":
        edge = spans.day_span(span.first, span.first + timedelta(days=size))
    elif which == "last":
        edge = spans.day_span(span.last - timedelta(days=size), span.last)
    else:
        edge = span
    if unit == "weekend":
        return spans.weekend_span(edge.first)
    return edge if which else spans.week_span(span.first)


def _offset(span: Span, count: float, unit: str, forward: bool) -> Span:
    """`count` days, weeks or months before or after a span; the one adjoining week or month as a whole."""
    days = {"day": 1, "week": 7, "month": 30}[unit]
    edge = span.last if forward else span.first
    sign = 1 if forward else -1
    far = edge + sign * timedelta(days=round(count * days))
    if unit != "day" and count == 1:
        near = edge + sign * timedelta(days=1)
        return spans.day_span(min(near, far), max(near, far)).loose()
    margin = timedelta(days={"day": 0, "week": 3, "month": 10}[unit])
    return spans.day_span(far - margin, far + margin).loose()


def _regular(unit: str) -> tuple[str, int]:
    irregular = {"second": ("minute", 1), "fortnight": ("week", 2), "decade": ("year", 10)}
    return irregular.get(unit, (unit, 1))


def _recurring_name(words: list[Token], at: int) -> bool:
    name = words[at].low if at < len(words) else ""
    return name in WEEKDAYS or name in MONTHS or name in SEASONS or name in ("weekend", "christmas", "halloween")

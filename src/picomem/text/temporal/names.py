"""The calendar's own names in English: feasts, weekdays, months, seasons, quarters, years and dates made of
them.

`Names.read(i)` reads the name that begins at token i, with the year that follows it if one does. `needs` says
after what a bare word must stand to be a time at all: “in May” is one, “May I” is not; the grammar around
(`english.py`) decides.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import NamedTuple

from picomem.text.temporal import spans
from picomem.text.temporal.spans import Point, Span, fixed
from picomem.text.temporal.words import (
    AMBIGUOUS_MONTHS,
    DAY_PARTS,
    FOLLOWERS,
    MONTHS,
    NAMES,
    SEASONS,
    WEEKDAYS,
    Token,
    holiday,
    read_number,
    read_ordinal,
)

_YEARS = range(1900, 2200)
_SHORT_WEEKDAYS = {"Wed": 2, "Sat": 5, "Sun": 6}  # words of their own in lower case
_QUARTERS = ("q1", "q2", "q3", "q4")


class NamedPoint(NamedTuple):
    """The result of a rule, the index of the next token, and the word that must come before ("" for none)."""

    point: Point
    end: int
    needs: str = ""


class Names:
    """The names in one text's tokens as of one local time of asking."""

    def __init__(self, words: list[Token], now: datetime) -> None:
        self.words = words
        self.now = now
        self.today = now.date()

    def low(self, at: int) -> str:
        return self.words[at].low if 0 <= at < len(self.words) else ""

    def read(self, at: int) -> NamedPoint | None:
        if at >= len(self.words):
            return None
        return self._holiday(at) or self._weekday(at) or self._calendar(at)

    def _holiday(self, at: int) -> NamedPoint | None:
        start = self.words[at].start
        if self.words[at].kind != "word":
            return None
        window = _joined(self.words[at : at + 6], start)
        for name in NAMES:
            if window.startswith(name) and (end := _token_end(self.words, at, start + len(name))):
                return self._with_year(holiday(name), end, "holiday")
        return None

    def weekday(self, at: int) -> int | None:
        """The number of the day of the week that is named at token `at`, 0 = Monday."""
        return WEEKDAYS.get(self.low(at), _SHORT_WEEKDAYS.get(self.words[at].text if at < len(self.words) else ""))

    def _weekday(self, at: int) -> NamedPoint | None:
        number = self.weekday(at)
        if number is None or (self.low(at + 1).removesuffix("s") in DAY_PARTS and self.low(at + 1).endswith("s")):
            return None  # “Saturday mornings” are a habit
        after = at + 2 if self.low(at + 1) in (",", ".") else at + 1
        calendar_day = self._calendar(after)
        if calendar_day and calendar_day.needs == "":
            return calendar_day  # “Tuesday, May 8th”: the date says more
        return NamedPoint(spans.weekly(number), at + 1, "weekday")

    def _calendar(self, at: int) -> NamedPoint | None:
        if at >= len(self.words):
            return None
        word = self.words[at]
        if word.kind in ("iso", "slash"):
            return NamedPoint(fixed(_numeric(word)), at + 1)
        if word.low in MONTHS:
            return self._month(at)
        if word.low in SEASONS:
            season = SEASONS[word.low]
            needs = "season" if self._follows(at + 1) else "never"
            return self._with_year(spans.yearly(lambda year: spans.season_span(year, season)), at + 1, needs)
        if word.low in _QUARTERS:
            first = 3 * int(word.low[1]) - 3
            return self._with_year(spans.yearly(lambda year: spans.month_span(year * 12 + first, 3)), at + 1, "month")
        if word.low == "weekend":
            return NamedPoint(spans.weekends(), at + 1, "holiday")
        year = self._year(at)
        if year:
            point = fixed(spans.year_span(year))
            return NamedPoint(point, at + 1, "year" if self._follows(at + 1) else "never")
        return self._day_first(at)

    def _month(self, at: int) -> NamedPoint | None:
        """“May”, “May 8”, “May 8th, 2023”, “May 2023”."""
        month = MONTHS[self.low(at)]
        after = at + 2 if self.low(at + 1) == "." and len(self.low(at)) <= 4 and self.low(at) != "may" else at + 1
        the = after + 1 if self.low(after) == "the" else after
        ordinal, number = read_ordinal(self.words, the), read_number(self.words, after)
        if ordinal:
            return self._month_day(month, *ordinal)
        if number and 1 <= number[0] <= 31 and self.words[after].kind == "number":
            return self._month_day(month, *number) if self._plain(at, number[1]) else None
        return self._with_year(spans.yearly(lambda year: spans.month_span(year * 12 + month - 1)), after, "month")

    def _plain(self, at: int, after: int) -> bool:
        """Return whether a month's name with a bare number is surely a date: “May 8”, not “she may 8 of them”."""
        if self.low(at) not in AMBIGUOUS_MONTHS or self._year(after):
            return True
        if self.words[at].text[0].isupper():
            return self._follows(after)
        return after >= len(self.words) or self.words[after].kind == "mark"

    def _day_first(self, at: int) -> NamedPoint | None:
        """“8 May 2023”, “the 8th of May”, and by itself “the 8th”."""
        the = self.low(at) == "the"
        at = at + 1 if the else at
        day = read_ordinal(self.words, at) or read_number(self.words, at)
        if not day or not 1 <= day[0] <= 31:
            return None
        after = day[1] + 1 if self.low(day[1]) == "of" else day[1]
        month = MONTHS.get(self.low(after))
        if month and self.words[at].kind in ("number", "ordinal", "word"):
            return self._month_day(month, day[0], after + 1)
        if the and self.words[at].kind == "ordinal" and self._follows(day[1]):
            return NamedPoint(spans.monthly(lambda number: spans.month_day(number, day[0])), day[1], "on")
        return None

    def _month_day(self, month: int, day: int, after: int) -> NamedPoint:
        date(2024, month, day)  # a day that no year has is no date
        return self._with_year(spans.yearly(lambda year: spans.month_day(year * 12 + month - 1, day)), after, "")

    def _with_year(self, point: Point, after: int, needs: str) -> NamedPoint:
        """With the year that follows, if one does: “May 8th, 2023”, “summer of 2022”, “Christmas last
        year”."""
        skip = after + 1 if self.low(after) in (",", "of", "in") else after
        year = self._year(skip)
        if year:
            return NamedPoint(fixed(point.at(year)), skip + 1)
        if self.low(skip) in ("last", "this") and self.low(skip + 1) == "year":
            return NamedPoint(fixed(point.at(self.today.year - (self.low(skip) == "last"))), skip + 2)
        return NamedPoint(point, after, needs)

    def _year(self, at: int) -> int | None:
        word = self.words[at] if at < len(self.words) else None
        if word and word.kind == "number" and len(word.low) == 4 and int(word.low) in _YEARS:
            return int(word.low)
        return None

    def _follows(self, at: int) -> bool:
        """Return whether what stands at `at` leaves the date before it a date: “the 8th floor” does not."""
        if at >= len(self.words):
            return True
        word = self.words[at]
        if word.kind in ("mark", "possessive"):
            return word.low not in ("/", "%", "+", "*")
        return word.low in FOLLOWERS or (word.kind == "word" and word.text[:1].isupper())


def _numeric(word: Token) -> Span:
    if word.kind == "iso":
        year, month, *day = (int(part) for part in word.low[:10].split("-"))
        first = date(year, month, *day or (1,))
        return spans.day_span(first) if day else spans.month_span(spans.month_number(first))
    one, two, three = (int(part) for part in word.low.split("/"))
    if one > 31:
        return spans.day_span(date(one, two, three))
    year = three + 2000 if three < 100 else three
    month, day = (two, one) if one > 12 else (one, two)
    return spans.day_span(date(year, month, day))


def _joined(words: list[Token], start: int) -> str:
    """The tokens as they stand, apostrophes and spaces made plain; offsets from `start` are kept."""
    parts: list[str] = []
    for word in words:
        parts.append(" " * (word.start - start - sum(map(len, parts))))
        parts.append(word.low.replace("’", "'"))
    return "".join(parts)


def _token_end(words: list[Token], at: int, offset: int) -> int | None:
    """The index after the token that ends exactly at this offset of the text."""
    return next((index + 1 for index in range(at, min(at + 6, len(words))) if words[index].end == offset), None)

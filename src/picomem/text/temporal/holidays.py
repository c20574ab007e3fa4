"""Feasts that people date things by, with the days on which they fall.

Fixed and rule-made dates are the Gregorian calendar's, the movable American ones by United States usage.
Easter Sunday is computed by the anonymous Gregorian algorithm (Meeus, Astronomical Algorithms, ch. 8). The
Chinese lunar feasts are a table for 2015–2044, checked against two independent calendar packages; outside it
they name nothing.
"""

from __future__ import annotations

from datetime import date, timedelta

from picomem.text.temporal.spans import Point, Span, day_span, yearly

# name: month, day, days before, days after
_FIXED = {
    "new year's eve": (12, 31, 0, 0),
    "new year's day": (1, 1, 0, 0),
    "new year's": (1, 1, 1, 0),
    "new year": (1, 1, 1, 0),
    "valentine's day": (2, 14, 0, 0),
    "valentine's": (2, 14, 0, 0),
    "valentines day": (2, 14, 0, 0),
    "st patrick's day": (3, 17, 0, 0),
    "april fools day": (4, 1, 0, 0),
    "juneteenth": (6, 19, 0, 0),
    "independence day": (7, 4, 0, 0),
    "halloween": (10, 31, 0, 0),
    "veterans day": (11, 11, 0, 0),
    "christmas eve": (12, 24, 0, 0),
    "christmas day": (12, 25, 0, 0),
    "christmas": (12, 25, 1, 1),
    "xmas": (12, 25, 1, 1),
    "boxing day": (12, 26, 0, 0),
    "元旦": (1, 1, 0, 2),
    "情人节": (2, 14, 0, 0),
    "妇女节": (3, 8, 0, 0),
    "清明": (4, 5, 1, 1),
    "劳动节": (5, 1, 0, 4),
    "五一": (5, 1, 0, 4),
    "儿童节": (6, 1, 0, 0),
    "教师节": (9, 10, 0, 0),
    "国庆": (10, 1, 0, 6),
    "万圣节": (10, 31, 0, 0),
    "双十一": (11, 11, 0, 0),
    "双11": (11, 11, 0, 0),
    "平安夜": (12, 24, 0, 0),
    "圣诞": (12, 25, 1, 0),
    "跨年": (12, 31, 0, 1),
}
# name: month, weekday, which of the month (-1 = the last), days after
_NTH = {
    "mlk day": (1, 0, 3, 0),
    "mother's day": (5, 6, 2, 0),
    "母亲节": (5, 6, 2, 0),
    "memorial day": (5, 0, -1, 0),
    "father's day": (6, 6, 3, 0),
    "父亲节": (6, 6, 3, 0),
    "labor day": (9, 0, 1, 0),
    "thanksgiving": (11, 3, 4, 0),
    "感恩节": (11, 3, 4, 0),
    "black friday": (11, 3, 4, 1),
}
_EASTER = {"good friday": -2, "easter": 0, "easter sunday": 0, "easter monday": 1}

_FIRST_LUNAR_YEAR = 2015
_SPRING = (
    "0219 0208 0128 0216 0205 0125 0212 0201 0122 0210 0129 0217 0206 0126 0213 "
    "0203 0123 0211 0131 0219 0208 0128 0215 0204 0124 0212 0201 0122 0210 0130"
)
_DRAGON_BOAT = (
    "0620 0609 0530 0618 0607 0625 0614 0603 0622 0610 0531 0619 0609 0528 0616 "
    "0605 0624 0612 0601 0620 0610 0530 0618 0607 0527 0614 0603 0622 0611 0531"
)
_SEVENTH_EVE = (
    "0820 0809 0828 0817 0807 0825 0814 0804 0822 0810 0829 0819 0808 0826 0816 "
    "0805 0824 0812 0801 0820 0810 0828 0817 0807 0826 0814 0803 0822 0811 0731"
)
_MID_AUTUMN = (
    "0927 0915 1004 0924 0913 1001 0921 0910 0929 0917 1006 0925 0915 1003 0922 "
    "0912 1001 0919 0908 0927 0916 1004 0924 0913 1002 0920 0910 0928 0917 1005"
)
# name: table, days from, days to
_LUNAR = {
    "除夕": (_SPRING, -1, -1),
    "春节": (_SPRING, -1, 7),
    "大年初一": (_SPRING, 0, 0),
    "元宵": (_SPRING, 14, 14),
    "端午": (_DRAGON_BOAT, 0, 2),
    "七夕": (_SEVENTH_EVE, 0, 0),
    "中秋": (_MID_AUTUMN, 0, 2),
    "chinese new year": (_SPRING, -1, 7),
    "lunar new year": (_SPRING, -1, 7),
    "spring festival": (_SPRING, -1, 7),
}

NAMES = tuple(sorted([*_FIXED, *_NTH, *_EASTER, *_LUNAR], key=len, reverse=True))


def holiday(name: str) -> Point:
    """The feast of that name (one of NAMES), as a point that recurs each year."""

    def at(year: int) -> Span:
        day, before, after = _day_of(name, year)
        return day_span(day - timedelta(days=before), day + timedelta(days=after))

    return yearly(at)


def _day_of(name: str, year: int) -> tuple[date, int, int]:
    if name in _FIXED:
        month, day, before, after = _FIXED[name]
        return date(year, month, day), before, after
    if name in _NTH:
        month, weekday, which, after = _NTH[name]
        return _nth_weekday(year, month, weekday, which) + timedelta(days=after), 0, 0
    if name in _EASTER:
        return _easter(year) + timedelta(days=_EASTER[name]), 0, 0
    table, low, high = _LUNAR[name]
    days = table.split()
    if not 0 <= year - _FIRST_LUNAR_YEAR < len(days):
        raise ValueError("outside the table of lunar years")
    entry = days[year - _FIRST_LUNAR_YEAR]
    return date(year, int(entry[:2]), int(entry[2:])), -low, high


def _nth_weekday(year: int, month: int, weekday: int, which: int) -> date:
    if which > 0:
        first = date(year, month, 1)
        return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (which - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % 7)


def _easter(year: int) -> date:
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return date(year, f // 31, f % 31 + 1)

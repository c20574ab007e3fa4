"""Time phrases in Chinese, simplified or traditional: “三天前”, “上周二”, “2024年3月中旬”,
“从五月三日到八日”, “春节以来”.

    phrase := ["从" | "自"] date ("到" | "至" | "-") date | date ("之前" | "之后" | "以来" | "起" …) | date

Each rule is a small pattern matched where it stands; characters are folded one for one first, so that offsets
hold. “上周二” is the Tuesday of the calendar week before; “周二” alone the latest one before today. A bare
“3号” or “周二” counts only where its surroundings let it be a day (not “3号线”, “每周二”, “两周一次”).
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import NamedTuple

from picomem.text.temporal import spans
from picomem.text.temporal.chinese_words import (
    DAYS,
    DIGITS,
    FOLD,
    OPENERS,
    PARTS,
    SEASONS,
    TENTHS,
    UNITS,
    VAGUE,
    WEEKDAYS,
    YEARS,
    patterns,
    read_amount,
    read_number,
)
from picomem.text.temporal.spans import EARLIEST, Phrase, Point, Span, fixed, hull, mapped
from picomem.text.temporal.words import holiday


class _ChinesePoint(NamedTuple):
    point: Point
    end: int
    loose: bool = False


def read_phrases(text: str, now: datetime) -> list[Phrase]:
    """Every time phrase in the text, in order, as of the local time `now` (naive)."""
    reader = _ChineseReader(text.translate(FOLD), now)
    phrases: list[Phrase] = []
    at = 0
    while at < len(reader.text):
        phrase = reader.phrase(at) if reader.text[at] in OPENERS else None
        if phrase is None:
            at += 1
            continue
        phrases.append(phrase)
        at = phrase.end
    return phrases


def read_whole(text: str, now: datetime) -> Span | None:
    """The time that the whole text names."""
    phrase = _ChineseReader(text.translate(FOLD), now).phrase(0)
    return phrase.span if phrase and phrase.end == len(text) else None


class _ChineseReader:
    def __init__(self, text: str, now: datetime) -> None:
        self.text = text
        self.now = now
        self.today = now.date()

    def phrase(self, at: int) -> Phrase | None:
        opened = self._match("opened", at)
        start = opened.end() if opened else at
        try:
            near = self._date(start)
            if near is None:
                return None
            span, end = self._range(near) or self._bound(near, opened is not None)
        except (ValueError, OverflowError):  # a date that no year has: 2月30日
            return None
        return Phrase(span, at, end)

    def _range(self, near: _ChinesePoint) -> tuple[Span, int] | None:
        joint = self._match("joint", near.end)
        far = self._date(joint.end(), after_joint=True) if joint else None
        if joint is None or far is None:
            return None
        if joint.group().strip() in ("和", "与") and not self.text.startswith(("之间", "期间"), far.end):
            return hull(near.point.before(self.today), far.point.before(self.today)), far.end
        if near.point.recurs and not far.point.recurs:
            end = far.point.at(0)
            start = near.point.before(end.first)
        else:
            start = near.point.before(self.today)
            end = far.point.after(start.first)
        tail = self._match("closed", far.end)
        return hull(start, end), tail.end() if tail else far.end

    def _bound(self, near: _ChinesePoint, opened: bool) -> tuple[Span, int]:
        span = near.point.before(self.today)
        exact = span.exact and not near.loose
        bound = self._match("bound", near.end)
        if bound is None and not opened:
            return Span(span.start, span.end, exact), near.end
        end = spans.day_span(self.today).end
        after = bound.end() if bound else near.end
        if bound and bound["before"]:
            return Span(EARLIEST, span.start, exact), after
        if bound and bound["after"]:
            return Span(span.end, max(end, span.end), exact), after
        return Span(span.start, max(end, span.end), exact and bound is not None), after

    def _date(self, at: int, after_joint: bool = False) -> _ChinesePoint | None:
        for rule in (
            self._ago, self._rolling, self._vague, self._numeric, self._year, self._month, self._month_day,
            self._week, self._day, self._quarter, self._year_part, self._named,
        ):  # fmt: skip
            try:
                point = rule(at)
            except (ValueError, OverflowError):
                continue
            if point:
                return self._with_part(point)
        return self._bare(at, after_joint)

    def _match(self, name: str, at: int) -> re.Match[str] | None:
        return patterns()[name].match(self.text, at)

    def _before(self, at: int) -> str:
        return self.text[at - 1] if at else ""

    def _with_part(self, named: _ChinesePoint) -> _ChinesePoint:
        span = named.point.before(self.today)
        part = self._match("part", named.end)
        if part is None or span.end - span.start != timedelta(days=1):
            return named
        name = PARTS[part["part"]]
        return _ChinesePoint(mapped(named.point, lambda one: spans.day_part(one, name)), part.end(), named.loose)

    def _ago(self, at: int) -> _ChinesePoint | None:
        if self._before(at) in tuple("第每十百零0123456789.") or self._before(at) in DIGITS:
            return None
        match = self._match("ago", at) or self._match("half", at) or self._match("halfmonth", at)
        if match is None:
            return None
        groups = match.groupdict()
        unit = UNITS[groups["unit"].removeprefix("个")]
        low, high = read_amount(groups)
        more = groups.get("more") or ""
        low, high = (low + 0.5, high + 0.5) if more == "半" else (low, high)
        exact = low == high and more != "多"
        return _ChinesePoint(fixed(spans.units_ago(self.now, low, high, unit, exact)), match.end())

    def _rolling(self, at: int) -> _ChinesePoint | None:
        match = self._match("rolling", at)
        if match is None or (match["unit"] == "日" and match["number"] is None):
            return None
        unit = UNITS[match["unit"].removeprefix("个")]
        low, high = read_amount(match.groupdict())
        if match.group().startswith("这一"):  # “这一天”, “这一周”: said of any day
            return None
        return _ChinesePoint(fixed(spans.last_units(self.now, high, unit, low == high)), match.end())

    def _vague(self, at: int) -> _ChinesePoint | None:
        match = self._match("vague", at)
        if match is None or self.text.startswith(("一次", "的一次"), match.end()):
            return None
        first = self.today - timedelta(days=VAGUE[match.group()])
        return _ChinesePoint(fixed(spans.day_span(first, self.today).loose()), match.end())

    def _numeric(self, at: int) -> _ChinesePoint | None:
        match = self._match("numeric", at)
        if match is None or (self._before(at).isalnum() and self._before(at).isascii()):
            return None
        year, month = int(match["y"]), int(match["m"])
        if not 1 <= month <= 12 or (match["d"] is None and "-" not in match.group()):
            return None
        span = spans.day_span(date(year, month, int(match["d"]))) if match["d"] else _month_of(year, month)
        return _ChinesePoint(fixed(span), match.end())

    def _year(self, at: int) -> _ChinesePoint | None:
        match = self._match("year", at)
        if match is None or (match["which"] == "前" and self._before(at) in tuple("目以之年天月周")):
            return None
        year = self.today.year - YEARS[match["which"]] if match["which"] else read_number(match["number"])
        return _ChinesePoint(fixed(self._in_year(year, match.groupdict())), match.end())

    def _in_year(self, year: int, groups: dict[str, str | None]) -> Span:
        if groups["month"]:
            return _in_month(year * 12 + _checked_month(groups["month"]) - 1, groups)
        if groups["yshare"]:
            return _share_of_year(year, groups["yshare"])
        if groups["half"]:
            return spans.month_span(year * 12 + (6 if groups["half"] == "下半年" else 0), 6)
        if groups["quarter"]:
            return spans.month_span(year * 12 + 3 * read_number(groups["quarter"]) - 3, 3)
        if groups["season"]:
            return spans.season_span(year, SEASONS[groups["season"]])
        if groups["break"]:
            return spans.month_span(year * 12 + 6, 2)
        return holiday(groups["holiday"]).at(year) if groups["holiday"] else spans.year_span(year)

    def _month(self, at: int) -> _ChinesePoint | None:
        match = self._match("month", at)
        if match is None or self._before(at) in tuple("早晚日"):
            return None
        back = {"上上": 2, "上": 1}.get(match["which"].removesuffix("个"), 0)
        span = _in_month(spans.month_number(self.today) - back, match.groupdict())
        return _ChinesePoint(fixed(span), match.end())

    def _month_day(self, at: int) -> _ChinesePoint | None:
        before = self._before(at)
        match = self._match("monthday", at)
        if match is None or before in DIGITS or before in tuple("十百第每.0123456789"):
            return None
        month, groups = _checked_month(match["month"]), match.groupdict()
        return _ChinesePoint(spans.yearly(lambda year: _in_month(year * 12 + month - 1, groups)), match.end())

    def _week(self, at: int) -> _ChinesePoint | None:
        match = self._match("week", at)
        if match is None or (match["which"][0] in "上本" and self._before(at) in tuple("早晚日")):
            return None
        back = {"上上": 2, "上": 1}.get(match["which"], 0)
        week = spans.week_span(self.today - timedelta(days=7 * back))
        if match["end"]:
            return _ChinesePoint(fixed(spans.weekend_span(week.first)), match.end())
        if match["weekday"]:
            day = week.first + timedelta(days=WEEKDAYS[match["weekday"]])
            return _ChinesePoint(fixed(spans.day_span(day)), match.end())
        return _ChinesePoint(fixed(week), match.end())

    def _day(self, at: int) -> _ChinesePoint | None:
        match = self._match("night", at) or self._match("day", at)
        if match is None or (match["back"] == "前" and self._before(at) in tuple("目以之年天月周日")):
            return None
        span = spans.day_span(self.today - timedelta(days=DAYS[match["back"]]))
        part = match.groupdict().get("part")
        return _ChinesePoint(fixed(spans.day_part(span, PARTS[part]) if part else span), match.end())

    def _quarter(self, at: int) -> _ChinesePoint | None:
        match = self._match("quarter", at)
        if match:
            back = 3 if match["which"] == "上" else 0
            return _ChinesePoint(fixed(spans.quarter_span(spans.month_number(self.today) - back)), match.end())
        match = self._match("numbered", at)
        if match is None:
            return None
        first = 3 * read_number(match["number"]) - 3
        return _ChinesePoint(spans.yearly(lambda year: spans.month_span(year * 12 + first, 3)), match.end())

    def _year_part(self, at: int) -> _ChinesePoint | None:
        match = self._match("yearpart", at)
        if match is None or self._before(at) in DIGITS or self._before(at) in tuple("每0123456789十明来"):
            return None
        groups = {"month": None, "quarter": None, "season": None, "break": None, "holiday": None, **match.groupdict()}
        return _ChinesePoint(spans.yearly(lambda year: self._in_year(year, groups)), match.end())

    def _named(self, at: int) -> _ChinesePoint | None:
        """Seasons and feasts without a year: the latest one, and not surely meant as a time."""
        match = self._match("holiday", at)
        if match and self._before(at) not in tuple("每明下"):
            return _ChinesePoint(holiday(match["holiday"]), match.end(), loose=True)
        match = self._match("season", at)
        if match is None or self._before(at) in tuple("每明下"):
            return None
        season = SEASONS.get(match["season"] or "", "")
        at_year = (lambda year: spans.season_span(year, season)) if season else _summer_break
        return _ChinesePoint(spans.yearly(at_year), match.end(), loose=True)

    def _bare(self, at: int, after_joint: bool) -> _ChinesePoint | None:
        """A weekday, “周末” or a day's number with nothing before it that says which."""
        before = self._before(at)
        if not after_joint and (before.isalnum() and before not in "在于从自到至的和与这我你他她们了是有"):
            return None
        match = self._match("weekday", at)
        if match:
            if match["end"]:
                return _ChinesePoint(spans.weekends(), match.end(), loose=True)
            return self._with_part(_ChinesePoint(spans.weekly(WEEKDAYS[match["weekday"]]), match.end()))
        match = self._match("dayonly", at)
        if match is None or not 1 <= read_number(match["day"]) <= 31:
            return None
        day = read_number(match["day"])
        return self._with_part(
            _ChinesePoint(
                spans.monthly(lambda number: spans.month_day(number, day)), match.end(), loose=not after_joint
            )
        )


def _checked_month(text: str) -> int:
    month = read_number(text)
    if not 1 <= month <= 12:
        raise ValueError("no such month")
    return month


def _month_of(year: int, month: int) -> Span:
    return spans.month_span(year * 12 + month - 1)


def _in_month(number: int, groups: dict[str, str | None]) -> Span:
    day, part = groups.get("day"), groups.get("share")
    if day:
        return spans.month_day(number, read_number(day))
    return spans.tenth(spans.month_span(number), TENTHS[part]) if part else spans.month_span(number)


def _share_of_year(year: int, part: str) -> Span:
    """年初 is the first quarter, 年中 May to August, 年底 November and December."""
    first, count = {"初": (0, 3), "中": (4, 4)}.get(part, (10, 2))
    return spans.month_span(year * 12 + first, count)


def _summer_break(year: int) -> Span:
    return spans.month_span(year * 12 + 6, 2)

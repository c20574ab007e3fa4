"""Time phrases in English: the small grammar around the dates of `dates.py`.

    phrase := "between" date "and" date | ["from"] date ("to" | "until" | "through" | "-") date
            | ("since" | "before" | "prior to" | "after" | "until" | "up to" | "by") date
            | [preposition] date

A name that recurs is the latest one not after the day of asking; the far end of a range is the first one at
or after the near end. “Before X” ends where X begins, “after X” begins where X ends, “since”, “until” and
ranges include both ends. “By X” is a deadline: loosely, any time up to the nearest X; one that is still to come is
no time of a talk. “Last Tuesday” is the latest Tuesday before today; “last week” and “last month” are
the calendar's; “the last week”, “the past month” reach back from today.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache

from picomem.text.temporal import spans
from picomem.text.temporal.dates import Dates, is_day
from picomem.text.temporal.names import NamedPoint
from picomem.text.temporal.spans import EARLIEST, Phrase, Point, Span, hull
from picomem.text.temporal.words import (
    DAY_PARTS,
    MONTHS,
    NAMES,
    ORDINALS,
    QUANTITY_OPENERS,
    SEASONS,
    SHARES,
    UNITS,
    WEEKDAYS,
    read_number,
    read_ordinal,
    tokens,
)

_AFTER = {
    "month": {"in", "during", "throughout", "around", "of"},
    "year": {"in", "during", "throughout", "around", "of", "from", "year"},
    "season": {"in", "during", "throughout", "over", "around"},
    "holiday": {"on", "over", "at", "around", "during"},
    "weekday": {"on", "around", "from"},
    "on": {"on", "around"},
}
_NOT_MEANT = {"every", "each", "any", "next", "coming", "upcoming", "following", "later", "until next"}
_BOUNDS = {"since", "before", "after", "until", "till", "by"}
# After these, “about” and “over” belong to the verb: “what did we talk about two weeks ago”.
_PARTICLE_VERBS = frozenset((
    "talk", "talked", "talking", "chat", "chatted", "chatting", "speak", "spoke", "say", "said", "tell",
    "told", "think", "thought", "ask", "asked", "hear", "heard", "know", "knew", "learn", "learned",
    "write", "wrote", "read", "go", "went", "going", "conversation", "discussion", "discuss", "discussed",
))  # fmt: skip
_STARTING_KINDS = ("iso", "slash", "ordinal", "number", "word", "glue")
_TO = ("to", "until", "till", "through", "thru", "-", "–", "—")


@cache
def _openers() -> frozenset[str]:
    """The words with which a phrase can begin; nearly all others are passed over by this one look."""
    feasts = {re.split(r"[\s']", name)[0] for name in NAMES}
    return frozenset(
        {*_BOUNDS, "between", "from", "prior", "up", "around", "the", "this", "these", "last", "past", "previous"}
        | {"current", "today", "yesterday", "tonight", "first", "second", "recently", "lately", "just", "recent"}
        | {*SHARES, *DAY_PARTS, *UNITS, *MONTHS, *WEEKDAYS, *SEASONS, *QUANTITY_OPENERS, *ORDINALS}
        | {"weekend", "wed", "sat", "sun"}
        | feasts
    )


def read_phrases(text: str, now: datetime) -> list[Phrase]:
    """Every time phrase in the text, in order, as of the local time `now` (naive)."""
    grammar = _Grammar(Dates(tokens(text), now))
    phrases: list[Phrase] = []
    at = 0
    while at < len(grammar.dates.words):
        read = grammar.phrase(at, strict=True)
        if read is None:
            at += 1
            continue
        span, first, at = read
        phrases.append(grammar.located(span, first, at))
    return phrases


def read_whole(text: str, now: datetime) -> Span | None:
    """The time that the whole text names, where no surroundings are asked for (“May”, “tuesday”)."""
    words = tokens(text)
    start = 1 if words and words[0].low in ("in", "on", "during", "over", "the", "at") else 0
    for at in range(start + 1):
        read = _Grammar(Dates(words, now)).phrase(at, strict=False)
        if read and read[2] == len(words):
            return read[0]
    return None


class _Grammar:
    def __init__(self, dates: Dates) -> None:
        self.dates = dates

    def located(self, span: Span, first: int, after: int) -> Phrase:
        words = self.dates.words
        return Phrase(span, words[first].start, words[after - 1].end)

    def phrase(self, at: int, strict: bool) -> tuple[Span, int, int] | None:
        """A phrase that begins at token `at`: its span, its first token, and the token after it."""
        word = self.dates.words[at]
        if word.kind not in _STARTING_KINDS or (word.kind == "word" and word.low not in _openers()):
            return None
        if word.low in ("about", "over") and self.dates.low(at - 1) in _PARTICLE_VERBS:
            return None
        try:
            read = self._range(at, strict) or self._bound(at) or self._date(at, strict)
        except (ValueError, OverflowError):
            return None
        if read is None or (strict and self.dates.low(at - 1) in _NOT_MEANT):
            return None
        return read[0], at, read[1]

    def _date(self, at: int, strict: bool) -> tuple[Span, int] | None:
        around = self.dates.low(at) == "around"
        named = self.dates.read(at + 1 if around else at)
        if not named or (strict and not self._in_place(named, at + 1 if around else at)):
            return None
        span = named.point.before(self.dates.today)
        if around:
            margin = max(timedelta(days=2), (span.end - span.start) / 10)
            span = spans.day_span((span.start - margin).date(), (span.end + margin).date()).loose()
        listed = self._listed(named, span)
        return listed or (span, named.end)

    def _listed(self, named: NamedPoint, span: Span) -> tuple[Span, int] | None:
        """“in May and June”, “May 8th or 9th”: both, from the first to the last."""
        if self.dates.low(named.end) not in ("and", "or") or not named.point.recurs:
            return None
        other = self._far_end(named.end + 1)
        if other is None or not other.point.recurs or other.needs != named.needs:
            return None
        return hull(span, other.point.before(self.dates.today)), other.end

    def _in_place(self, named: NamedPoint, at: int) -> bool:
        if not named.needs:
            return True
        allowed = _AFTER.get(named.needs, set())
        before = self.dates.low(at - 1)
        if before == "the":
            before = self.dates.low(at - 2)
        if named.needs == "weekday" and self.dates.low(named.end) in ("'s", "’s"):
            return True
        return before in allowed

    def _bound(self, at: int) -> tuple[Span, int] | None:
        word, after = self.dates.low(at), at + 1
        if (word, self.dates.low(after)) in (("prior", "to"), ("up", "to"), ("up", "until")):
            word, after = ("before" if word == "prior" else "until"), after + 1
        if word not in _BOUNDS:
            return None
        named = self.dates.read(after)
        if named is None or named.needs == "never":
            return None
        span = named.point.before(self.dates.today)
        if word == "by":
            return self._deadline(named), named.end
        if self.dates.low(named.end) in ("'s", "’s"):
            return span.loose(), named.end  # “after last week's meeting”: the week, more or less
        end = spans.day_span(self.dates.today).end
        if word == "since":
            return Span(span.start, max(end, span.end), span.exact), named.end
        if word == "after":
            return Span(span.end, end, span.exact), named.end
        return Span(EARLIEST, span.start if word == "before" else span.end, span.exact), named.end

    def _deadline(self, named: NamedPoint) -> Span:
        today = self.dates.today
        past, coming = named.point.before(today), named.point.after(today)
        if today < coming.first and coming.first - today < today - past.last:
            return coming.loose()
        return Span(EARLIEST, past.end, exact=False)

    def _range(self, at: int, strict: bool) -> tuple[Span, int] | None:
        word = self.dates.low(at)
        opened = word in ("between", "from")
        near_at = at + 1 if opened else at
        near = self.dates.read(near_at) or self._bare_day(near_at)
        if near is None or near.needs == "never":
            return None
        joint = self.dates.low(near.end)
        if joint not in (("and",) if word == "between" else _TO):
            return None
        far = self._far_end(near.end + 1)
        if far is None or far.needs == "never":
            return None
        if near.needs == "day number" and (far.needs or not is_day(far.point, self.dates.today)):
            return None  # “5 to 8 people”
        if not opened and strict and (near.needs in ("weekday", "year") or far.needs in ("weekday", "year")):
            return None
        return self._joined(near.point, far.point), far.end

    def _joined(self, near: Point, far: Point) -> Span:
        today = self.dates.today
        if near.recurs and not far.recurs:
            end = far.at(0)
            start = near.before(end.first)
        elif near.recurs and near.index is not None and far.index is not None and _finer(near, far):
            end = far.before(today)
            start = near.before(end.first)
        else:
            start = near.before(today)
            end = far.after(start.first)
        if end.end <= start.start:
            start, end = end, start
        return hull(start, end)

    def _far_end(self, at: int) -> NamedPoint | None:
        """The second half of a range or list, which may be a bare day: “May 8 to 12”, “the 3rd and the
        8th”."""
        return self.dates.read(at) or self._bare_day(at)

    def _bare_day(self, at: int) -> NamedPoint | None:
        words = self.dates.words
        at = at + 1 if self.dates.low(at) == "the" else at
        day = read_ordinal(words, at) or read_number(words, at)
        if not day or not 1 <= day[0] <= 31 or words[at].kind == "word":
            return None
        return NamedPoint(spans.monthly(lambda number: spans.month_day(number, day[0])), day[1], "day number")


def _finer(near: Point, far: Point) -> bool:
    """Return whether the near end is a bare day of the month and the far end names its month: “the 3rd to the 8th of
    May”."""
    probe = datetime(2024, 5, 15).date()
    assert near.index is not None and far.index is not None
    return near.index(probe) == spans.month_number(probe) and far.index(probe) == probe.year

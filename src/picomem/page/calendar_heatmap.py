"""A calendar heatmap: a year of days as small squares, a column a week, darker where more was said. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from math import ceil, log1p

from markupsafe import Markup, escape

_STEP, _SIDE = 11, 9  # pixels
_TOP = 18  # pixels, for the names of the months
_LEVELS = 4
_LEAST_WEEKS = 3  # between the beginnings of two names of months, so that they do not touch
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def calendar_heatmap(
    first: date,
    last: date,
    counts: Mapping[str, int],
    *,
    chosen: str,
    address: Callable[[str], str],
    label: Callable[[str, int], str],
    month: Callable[[str], str],
) -> Markup:
    """The days from `first` to `last`.

    Those that have a count are links to their `address`; `label` says day and count on hover. The keyboard and screen
    readers pass over it, since the page has the same days as a list.
    """
    start = first - timedelta(days=first.weekday())
    most = max(counts.values(), default=0)
    squares: list[str] = []
    names: list[str] = []
    named = -_LEAST_WEEKS
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        week = (day - start).days // 7
        x, y = week * _STEP, _TOP + day.weekday() * _STEP
        if day.day == 1 and week - named >= _LEAST_WEEKS:
            named = week
            names.append(f'<text class="month" x="{x}" y="11">{escape(month(MONTHS[day.month - 1]))}</text>')
        name = day.isoformat()
        count = counts.get(name, 0)
        mark = " is-chosen" if name == chosen else ""
        shade = f"day day-{level(count, most)}{mark}"
        square = f'<rect class="{shade}" x="{x}" y="{y}" width="{_SIDE}" height="{_SIDE}" rx="2">'
        title = f"<title>{escape(label(name, count))}</title></rect>"
        if count:
            squares.append(f'<a href="{escape(address(name))}" tabindex="-1">{square}{title}</a>')
        else:
            squares.append(f"{square}{title}")
    width = ((last - start).days // 7 + 1) * _STEP
    height = _TOP + 7 * _STEP
    return Markup(
        f'<svg class="year" aria-hidden="true" viewBox="0 0 {width} {height}">{"".join(names)}{"".join(squares)}</svg>'
    )


def level(count: int, most: int) -> int:
    """How dark a day is, 0 to 4; steps of a logarithm, since a busy day has a hundred times as much as another."""
    return ceil(_LEVELS * log1p(count) / log1p(most)) if count > 0 else 0

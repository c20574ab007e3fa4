"""Numbers as marks: small pictures that the server draws. Pure.

Each has a title in words for screen readers. Colours come from the style sheet by class, so they follow light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from picomem.light_dataclass import dataclass
from picomem.text.inert_text import for_prompt

WIDTH = 60
_HEIGHT = 8
_COLUMN, _COLUMNS_HEIGHT = 20, 96  # the width of a day, and the height of the tallest
_BUDGET_WIDTH, _BUDGET_HEIGHT = 680, 16
_GAP = 1  # pixel, between the parts of a budget
_LONG_WIDTH = 180


def score_bar(parts: Sequence[tuple[str, float]], title: str) -> Markup:
    """A bar 60 px wide for a score in 0–1, in parts: the name of each, which is its class too, and its share."""
    pieces = [f'<rect class="bar-ground" width="{WIDTH}" height="{_HEIGHT}" rx="2"/>']
    left = 0.0
    for name, share in parts:
        width = max(0.0, min(share, 1.0) * WIDTH)
        if width >= 0.05 and left < WIDTH:
            width = min(width, WIDTH - left)
            pieces.append(f'<rect class="part-{name}" x="{left:.1f}" width="{width:.1f}" height="{_HEIGHT}"/>')
            left += width
    return Markup(
        f'<svg class="bar" role="img" width="{WIDTH}" height="{_HEIGHT}" viewBox="0 0 {WIDTH} {_HEIGHT}">'
        f"<title>{escape(title)}</title>{''.join(pieces)}</svg>"
    )


def columns(days: Sequence[tuple[str, int]], limit: int, title: str, limit_title: str) -> Markup:
    """A column for each day, with a line for the limit of a day, if there is one. `days` are dates and amounts."""
    tallest = max([1, limit, *(amount for _, amount in days)])
    width = len(days) * _COLUMN
    pieces: list[str] = []
    for place, (date, amount) in enumerate(days):
        height = max(2.0, amount / tallest * _COLUMNS_HEIGHT) if amount else 1.0
        shown = "column-over" if limit and amount >= limit else "column" if amount else "column-none"
        pieces.append(
            f'<rect class="{shown}" x="{place * _COLUMN + 2}" y="{_COLUMNS_HEIGHT - height:.1f}" width="{_COLUMN - 4}" '
            f'height="{height:.1f}" rx="1"><title>{escape(date)}: {amount:,}</title></rect>'
        )
    if limit:
        level = _COLUMNS_HEIGHT - limit / tallest * _COLUMNS_HEIGHT
        level = min(max(level, 1.0), _COLUMNS_HEIGHT - 1.0)
        pieces.append(
            f'<line class="column-limit" x1="0" x2="{width}" y1="{level:.1f}" y2="{level:.1f}">'
            f"<title>{escape(limit_title)}</title></line>"
        )
    return Markup(
        f'<svg class="columns" role="img" viewBox="0 0 {width} {_COLUMNS_HEIGHT}" preserveAspectRatio="none">'
        f"<title>{escape(title)}</title>{''.join(pieces)}</svg>"
    )


@dataclass(frozen=True, slots=True)
class BudgetPart:
    """A part of a budget: the class of its colour, how much it takes, and what is said of it on hover."""

    kind: str
    size: int
    title: str


def budget_bar(parts: Sequence[BudgetPart], budget: int, title: str) -> Markup:
    """A bar as wide as the text for a budget, with a thin gap between its parts; what is free stays empty."""
    whole = max(budget, sum(part.size for part in parts), 1)
    pieces = [f'<rect class="bar-ground" width="{_BUDGET_WIDTH}" height="{_BUDGET_HEIGHT}" rx="3"/>']
    left = 0.0
    for part in parts:
        width = part.size / whole * _BUDGET_WIDTH
        shown = max(0.5, width - _GAP)
        pieces.append(
            f'<rect class="origin-fill-{part.kind}" x="{left:.2f}" width="{shown:.2f}" height="{_BUDGET_HEIGHT}">'
            f"<title>{escape(for_prompt(part.title))}</title></rect>"
        )
        left += width
    return Markup(
        f'<svg class="budget" role="img" aria-label="{escape(title)}" viewBox="0 0 {_BUDGET_WIDTH} {_BUDGET_HEIGHT}"'
        f' preserveAspectRatio="none">{"".join(pieces)}</svg>'
    )


def threshold_bar(value: float, least: float, title: str) -> Markup:
    """A bar for a value in 0–1, with a line at the threshold that it must reach."""
    width, place = (max(0.0, min(share, 1.0)) * _LONG_WIDTH for share in (value, least))
    kind = "reached" if value >= least else "missed"
    return Markup(
        f'<svg class="threshold" role="img" width="{_LONG_WIDTH}" height="16" viewBox="0 0 {_LONG_WIDTH} 16">'
        f"<title>{escape(title)}</title>"
        f'<rect class="bar-ground" y="4" width="{_LONG_WIDTH}" height="8" rx="2"/>'
        f'<rect class="threshold-{kind}" y="4" width="{width:.1f}" height="8" rx="2"/>'
        f'<rect class="threshold-line" x="{max(0.0, place - 1):.1f}" width="2" height="16"/></svg>'
    )


def icon(path: str) -> Markup:
    """A line icon of the rail, which says nothing to screen readers: its label does."""
    return Markup(
        f'<svg class="icon" aria-hidden="true" width="20" height="20" viewBox="0 0 24 24"><path d="{path}"/></svg>'
    )

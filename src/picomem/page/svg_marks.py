"""Numbers as marks: small pictures that the server draws. Pure.

Each has a title in words for screen readers. Colours come from the style sheet by class, so they follow light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

WIDTH = 60
_HEIGHT = 8
_COLUMN, _COLUMNS_HEIGHT = 20, 96  # the width of a day, and the height of the tallest


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


def icon(path: str) -> Markup:
    """A line icon of the rail, which says nothing to screen readers: its label does."""
    return Markup(
        f'<svg class="icon" aria-hidden="true" width="20" height="20" viewBox="0 0 24 24"><path d="{path}"/></svg>'
    )

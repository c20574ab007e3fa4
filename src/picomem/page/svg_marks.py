"""Numbers as marks: small pictures that the server draws. Pure.

Each has a title in words for screen readers. Colours come from the style sheet by class, so they follow light and dark.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

WIDTH = 60
_HEIGHT = 8


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


def icon(path: str) -> Markup:
    """A line icon of the rail, which says nothing to screen readers: its label does."""
    return Markup(
        f'<svg class="icon" aria-hidden="true" width="20" height="20" viewBox="0 0 24 24"><path d="{path}"/></svg>'
    )

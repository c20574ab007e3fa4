"""Curves of one share over another as an SVG picture: linear axes, small, deterministic, and without a library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from xml.sax.saxutils import escape

from picomem.light_dataclass import dataclass

_WIDTH, _HEIGHT = 420.0, 280.0  # pixels of the plot
_LEFT, _RIGHT, _TOP, _BOTTOM = 50.0, 110.0, 30.0, 56.0
_COLOURS = ("#0072b2", "#d55e00", "#555555", "#007a56")  # told apart by the colour-blind as well
_DASHES = ("6 4", "", "2 3", "9 3 2 3")  # and in grey
_TICKS = 5


@dataclass(frozen=True, slots=True)
class ShareAxis:
    """What an axis shows, from 0 to `most`."""

    title: str
    most: float


def drawn_shares(
    curves: Mapping[str, Sequence[tuple[float, float]]],
    marks: Mapping[str, tuple[float, float]],
    across: ShareAxis,
    up: ShareAxis,
) -> str:
    """The curves by name, each of (across, up) with `across` rising, cut at the axis' end; `marks` is a point of each
    to be marked."""
    parts = list(_axes(across, up))
    for number, (name, points) in enumerate(curves.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        places = [_place(point, across, up) for point in points if point[0] <= across.most]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(
            f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{_DASHES[number % len(_DASHES)]}"/>'
        )
        x, y = _place(marks[name], across, up)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>')
        parts.append(_text(_LEFT + _WIDTH + 8, places[-1][1] + 4 + 15 * (number - 0.5), name, colour))
    width, height = _LEFT + _WIDTH + _RIGHT, _TOP + _HEIGHT + _BOTTOM
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" font-family="system-ui, sans-serif" font-size="12">\n'
        '<rect width="100%" height="100%" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _axes(across: ShareAxis, up: ShareAxis) -> Iterator[str]:
    for tick in range(_TICKS + 1):
        part = tick / _TICKS
        x, y = _LEFT + part * _WIDTH, _TOP + (1 - part) * _HEIGHT
        yield f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_LEFT + _WIDTH}" y2="{y:.1f}" stroke="#e4e4e4"/>'
        yield _text(_LEFT - 8, y + 4, f"{part * up.most:.1f}", "#444444", "end")
        yield _text(x, _TOP + _HEIGHT + 18, f"{part * across.most:.2f}", "#444444", "middle")
    yield _text(_LEFT - 36, _TOP - 12, up.title, "#222222")
    yield _text(_LEFT + _WIDTH / 2, _TOP + _HEIGHT + 42, across.title, "#222222", "middle")


def _place(point: tuple[float, float], across: ShareAxis, up: ShareAxis) -> tuple[float, float]:
    return _LEFT + point[0] / across.most * _WIDTH, _TOP + (1 - point[1] / up.most) * _HEIGHT


def _text(x: float, y: float, text: str, fill: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}">{escape(text)}</text>'

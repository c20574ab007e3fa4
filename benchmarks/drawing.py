"""Curves on logarithmic axes as an SVG picture: small, deterministic, and without a library.

Each curve is identified by its colour, its marks and the words at its end, so that it can also be read in grey.
Panels with the same unit share one axis, so that they can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from xml.sax.saxutils import escape

from picomem.light_dataclass import dataclass

_PLOT_HEIGHT, _DECADE = 240.0, 85.0  # pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, 152.0, 40.0, 66.0
_LEAST_WIDTH = 150.0
_LINE = 15.0  # of text
_COLOURS = ("#0072b2", "#d55e00", "#555555")  # told apart by the colour-blind as well
_DASHES = ("", "", "5 4")
_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through (size, value), sizes rising. `kind` chooses its colour and mark: the same in every panel."""

    name: str
    kind: int
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    unit: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True, slots=True)
class _Axis:
    """A logarithmic axis from `low` to `high` (exponents of ten), drawn from pixel `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, steps: Sequence[int]) -> Iterator[float]:
        """The numbers of these steps in every decade."""
        for exponent in range(floor(self.low), ceil(self.high) + 1):
            for step in steps:
                if self.low - 1e-9 <= log10(step * 10.0**exponent) <= self.high + 1e-9:
                    yield step * 10.0**exponent


def drawn(panels: Sequence[Panel], below: str, note: str) -> str:
    """The panels side by side, `below` under each axis of sizes and `note` under all."""
    sizes = [size for panel in panels for curve in panel.curves for size, _ in curve.points]
    decades = max(0.5, log10(max(sizes) / min(sizes)))
    width = max(_LEAST_WIDTH, decades * _DECADE)
    whole = _LEFT + width + _RIGHT
    height = _TOP + _PLOT_HEIGHT + _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole * len(panels):.0f} {height:.0f}" '
        f'width="{whole * len(panels):.0f}" height="{height:.0f}" font-family="system-ui, sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for number, panel in enumerate(panels):
        left = number * whole + _LEFT
        across = _Axis(log10(min(sizes)), log10(min(sizes)) + decades, left, left + width)
        alike = [
            value for other in panels if other.unit == panel.unit for curve in other.curves for _, value in curve.points
        ]
        up = _Axis(*_bounds(alike), _TOP + _PLOT_HEIGHT, _TOP)
        parts += _panel(panel, across, up, below)
    parts.append(_text(_LEFT, height - 10, note, fill="#777777"))
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, across: _Axis, up: _Axis, below: str) -> Iterator[str]:
    yield _text(across.start, _TOP - 18, panel.title, weight="600", fill="#222222")
    # With many decades, a line for each is enough.
    for tick in up.ticks(_STEPS if up.high - up.low <= 3 else (1,)):
        y = up.at(tick)
        yield _line(across.start, y, across.end, y, "#e4e4e4")
        yield _text(across.start - 7, y + 4, f"{tick:,.10g}", anchor="end")
    yield _text(across.start - 7, _TOP - 18, panel.unit, anchor="end")
    for tick in sorted({size for curve in panel.curves for size, _ in curve.points}):
        x = across.at(tick)
        yield _line(x, up.start, x, up.start + 5, "#777777")
        yield _text(x, up.start + 19, _short(tick), anchor="middle")
    yield _line(across.start, up.start, across.end, up.start, "#777777")
    yield _text((across.start + across.end) / 2, up.start + 38, below, anchor="middle")
    ends = [up.at(curve.points[-1][1]) for curve in panel.curves]
    for curve, y in zip(panel.curves, spread(ends, _LINE), strict=True):
        yield from _curve(curve, panel.unit, across, up, y)


def _curve(curve: Curve, unit: str, across: _Axis, up: _Axis, label: float) -> Iterator[str]:
    colour = _COLOURS[curve.kind % len(_COLOURS)]
    dash = f' stroke-dasharray="{_DASHES[curve.kind]}"' if _DASHES[curve.kind % len(_DASHES)] else ""
    places = [(across.at(size), up.at(value)) for size, value in curve.points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>'
    for (x, y), (size, value) in zip(places, curve.points, strict=True):
        yield _mark(curve.kind, x, y, colour, f"{curve.name}, {size:,}: {_figure(value)} {unit}")
    yield _text(places[-1][0] + 10, label + 4, f"{curve.name} {_figure(curve.points[-1][1])} {unit}", fill=colour)


def _mark(kind: int, x: float, y: float, colour: str, title: str) -> str:
    told = f"<title>{escape(title)}</title>"
    if kind == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">{told}</circle>'
    turned = f' transform="rotate(45 {x:.1f} {y:.1f})"' if kind == 2 else ""
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{colour}"{turned}>{told}</rect>'


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """The exponents between which an axis goes: at 1, 2 or 5 of a decade below all values, and above."""
    steps = [log10(step * 10.0**exponent) for exponent in range(-6, 12) for step in _STEPS]
    low = max(step for step in steps if step <= log10(min(values)) + 1e-9)
    high = min(step for step in steps if step >= log10(max(values)) - 1e-9)
    return (low, high) if high > low else (low, low + 1)


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Places for labels, each as near to the one wanted as can be with `gap` between them; in the order given."""
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    groups: list[list[int]] = []
    for number in order:
        groups.append([number])
        # A group that reaches into the one above it becomes one with it, around the middle of what all wanted.
        while len(groups) > 1 and _begin(groups[-2], wanted, gap) + len(groups[-2]) * gap > _begin(
            groups[-1], wanted, gap
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    placed = [0.0] * len(wanted)
    for group in groups:
        for place, number in enumerate(group):
            placed[number] = _begin(group, wanted, gap) + place * gap
    return placed


def _begin(group: Sequence[int], wanted: Sequence[float], gap: float) -> float:
    return sum(wanted[number] for number in group) / len(group) - (len(group) - 1) * gap / 2


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _short(size: int) -> str:
    for unit, letter in ((1_000_000, "M"), (1_000, "k")):
        if size >= unit:
            return f"{size / unit:g}{letter}"
    return f"{size}"


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "start", weight: str = "400", fill: str = "#444444") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}">'
        f"{escape(text)}</text>"
    )

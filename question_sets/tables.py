"""Tables of figures: for a terminal, and as Markdown for the documents. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def plain(rows: Sequence[Sequence[str]], left: int = 0) -> list[str]:
    """Lines in columns, the heading first; the first `left` columns are set to the left, the others to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            [
                "",
                *(
                    cell.ljust(size) if at < left else cell.rjust(size)
                    for at, (cell, size) in enumerate(zip(row, widths))
                ),
            ]
        ).rstrip()
        for row in rows
    ]


def markdown(rows: Sequence[Sequence[str]]) -> list[str]:
    """The same as a Markdown table."""
    lines = [f"| {' | '.join(cell.replace('|', '∣') for cell in row)} |" for row in rows]
    return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]


def share(value: float) -> str:
    """A share as the documents write it: .643, 1.000, −.012."""
    text = f"{abs(value):.3f}".removeprefix("0")
    return f"−{text}" if value <= -0.0005 else text


def chance(p: float) -> str:
    """A p-value: three places, and no more than the trials can tell."""
    return "<.001" if p < 0.001 else share(p)

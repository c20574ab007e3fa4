"""Shapes of secrets that agent transcripts hold, and benign lines that look like secrets.

`data/README.md` says how to use each set.
"""

from __future__ import annotations

from benchmarks.data_files import read_rows
from benchmarks.secret_patterns import HIDING, Shape

_TOKEN_FRAMES = tuple(row["text"] for row in read_rows("secret_shapes/token_frames"))


def read_shapes(name: str) -> tuple[Shape, ...]:
    """The shapes of the set of this name: tuned, held_out, fresh or recent."""
    return tuple(
        Shape(
            row["name"],
            row["secret"],
            tuple(row["frames"]) if "frames" in row else _TOKEN_FRAMES,
            HIDING[row["hide"]] if "hide" in row else None,
        )
        for row in read_rows(f"secret_shapes/{name}")
    )


TUNED, HELD_OUT, FRESH, RECENT = map(read_shapes, ("tuned", "held_out", "fresh", "recent"))
BENIGN, HELD_OUT_BENIGN = (
    tuple(row["text"] for row in read_rows(f"benign_lines/{name}")) for name in ("tuned", "held_out")
)

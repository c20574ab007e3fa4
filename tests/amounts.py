"""How much a test of reliability does: a part of it in CI, all of it in `make soak`.

The rows, R1–R18 and S1–S14, stand in docs/reliability.md with their full amounts. `SOAK=1` runs every test at its full
amount, `SOAK=0.5` at half; without it a test does what CI has time for.
"""

from __future__ import annotations

import os


def amount(ci: int, full: int) -> int:
    """So many in CI, or the share of `full` that `SOAK` names, and at least what CI does."""
    share = float(os.environ.get("SOAK", "0"))
    return max(ci, round(full * share))

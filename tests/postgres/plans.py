"""Which shards of which tables a plan touches, read from what EXPLAIN says."""

from __future__ import annotations

import re
from collections.abc import Iterable


def tasks(plan: Iterable[str]) -> int:
    """Over how many shards a statement goes: of a real Citus as it says, otherwise of the table of which it reads most."""
    steps = list(plan)
    if told := re.findall(r"Task Count: (\d+)", "\n".join(steps)):
        return max(map(int, told))
    return max(map(len, shards_touched(steps).values()), default=1)


def shards_touched(plan: Iterable[str]) -> dict[str, set[str]]:
    """The shards of each table, by the numbers that Citus gives them."""
    touched: dict[str, set[str]] = {}
    for step in plan:
        for table, shard in re.findall(r" on (\w+)_(\d{6}) ", f"{step} "):
            touched.setdefault(table, set()).add(shard)
    return touched

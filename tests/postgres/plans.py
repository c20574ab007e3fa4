"""Which shards of which tables a plan touches, read from what EXPLAIN says."""

from __future__ import annotations

import re
from collections.abc import Iterable


def shards_touched(plan: Iterable[str]) -> dict[str, set[str]]:
    """The shards of each table, by the numbers that Citus gives them."""
    touched: dict[str, set[str]] = {}
    for step in plan:
        for table, shard in re.findall(r" on (\w+)_(\d{6}) ", f"{step} "):
            touched.setdefault(table, set()).add(shard)
    return touched

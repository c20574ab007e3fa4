"""The numbers of a memory's versions as people count them.

A change may store several rows: the version that it names as opened, and before it the earlier versions again with a
shorter time. Those keep the number of the version that they shorten.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import audit, memories
from picomem.store.connector import Transaction


def version_numbers(
    tx: Transaction, scope: Scope, memory_id: str, versions: Sequence[Memory], opened: Collection[int] = ()
) -> dict[int, int]:
    """The numbers of some versions of a memory, oldest first, and of those `opened` by changes, by the stored numbers.
    Only these are read; the versions before them are counted."""
    first = min([*(version.version for version in versions), *opened], default=0)
    before = audit.count_opened(tx, scope, memory_id, first)
    ranks = {row: rank for rank, row in enumerate(audit.opened_since(tx, scope, memory_id, first), before + 1)}
    numbers = {row: ranks[row] for row in opened if row in ranks}
    by_content: dict[str, int] = {}
    for version in versions:
        number = ranks.get(version.version) or by_content.get(version.content)
        if number is None:  # it shortens an earlier version
            original = memories.last_opened_alike(tx, version)
            behind = original + 1 or version.version  # where that was purged
            number = ranks.get(original) or max(1, audit.count_opened(tx, scope, memory_id, behind))
        numbers[version.version] = by_content[version.content] = number
    return numbers

"""Rows as they stand in the file, whether or not they match their hash: for the doctor, a scrub and a purge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, NamedTuple, TypeVar

from picomem.store.connector import Row
from picomem.store.damaged_rows import legible
from picomem.store.row_hash import is_whole

Record = TypeVar("Record")


class Stored(NamedTuple, Generic[Record]):
    """A row: its record, as far as it can be read, and whether the row matches its hash."""

    record: Record
    is_whole: bool
    row: object  # the row itself, which only the store takes apart


def stored(table: str, record_of: Callable[[Row], Record], rows: Iterable[Row]) -> Iterator[Stored[Record]]:
    """Whole rows of a table as records; `record_of` is given a damaged row with plain values where it is unreadable."""
    for row in rows:
        whole = is_whole(table, row)
        yield Stored(record_of(row if whole else legible(table, row)), whole, row)

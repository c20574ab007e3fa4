"""Rows of memories as records, each checked against its hash."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import cast

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.kinds import Kind, Origin, Source, known
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import row_counts, row_hash
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import readable

USER_COLUMN, DOC_COLUMN = (row_hash.COLUMNS["memories"].index(name) for name in ("user_id", "doc"))


def count_missing(tx: Transaction, scope: Scope) -> int:
    """By how many the versions of a user, or the current ones, differ from the count that was kept when they were
    written: a row is lost, or missing from the table's index."""
    return max(abs(there - written) for there, written in zip(*row_counts.memories(tx, scope), strict=True))


def missing(what: str, asked: Iterable[int], rows: Iterable[int]) -> list[str]:
    """The placeholders of documents that the search index has and the table lacks."""
    return [f"{what} {doc}" for doc in sorted(set(asked).difference(rows))]


def visible(owner: Scope, reader: Scope) -> bool:
    """Return whether what belongs to `owner` is within `reader`: same user, and no part that contradicts."""
    project = reader.project if owner.project in reader.former_projects else owner.project
    return owner.user == reader.user and all(
        not asked or not has or asked == has
        for asked, has in (
            (reader.agent, owner.agent),
            (reader.project, project),
            (reader.session, owner.session),
        )
    )


def from_row(row: Row) -> Memory:
    """A row as a record. Raises Corrupt where the row does not match its hash."""
    if not is_whole(row):
        raise Corrupt(
            CodedText("failure.damaged_memory", name=str(row[0]), version=str(row[1]), command=Command("doctor")),
            id=str(row[0]),
        )
    return record_of(row)


def is_whole(row: Row) -> bool:
    """Return whether a row matches its hash."""
    return row_hash.is_whole("memories", row)


def unchecked(row: Row) -> Memory:
    """A row as a record, whatever its hash says; what cannot be read in it gets a plain value."""
    return record_of(readable("memories", row))


def record_of(row: Row) -> Memory:
    values = row_hash.by_name("memories", row)
    return row_hash.record_of(
        Memory,
        values,
        scope=Scope(values["user_id"], values["agent"], values["project"], values["session"]),
        kind=known(values["kind"], Kind.FACT),
        pinned=bool(values["pinned"]),
        tags=names_in(values["tags"]),
        related=names_in(values["related"]),
        origin=known(values["origin"], Origin.OTHER),
        source=known(values["source"], Source.MANUAL),
        path=values["path"] or "",
    )


def names_in(stored: str) -> tuple[str, ...]:
    """A list of names as it was stored; damaged, it is no name at all, and the row's hash tells."""
    if stored == "[]":
        return ()
    try:
        names = json.loads(stored)
    except ValueError:
        names = None
    return tuple(map(str, cast(list[object], names))) if isinstance(names, list) else ("(damaged)",)


def read_rows(rows: list[Row]) -> list[Memory]:
    return [from_row(row) for row in rows]


def whole_rows(rows: list[Row], scope: Scope, damaged: list[str]) -> list[Memory]:
    """The rows that match their hash and are the user's, as records; the ids of the others are put on `damaged`."""
    whole = [is_whole(row) and row[USER_COLUMN] == scope.user for row in rows]
    damaged += [str(row[0]) for row, good in zip(rows, whole, strict=True) if not good]
    return [record_of(row) for row, good in zip(rows, whole, strict=True) if good]


def rows_within(tx: Transaction, scope: Scope, rows: list[Row], damaged: list[str] | None) -> list[Memory]:
    """The rows that match their hash and are within the scope."""
    left_out: list[str] = []
    whole = whole_rows(rows, scope, left_out)
    if damaged is not None:
        damaged += left_out or [
            f"memory {number} of those that are not there" for number in range(count_missing(tx, scope))
        ]
    return [memory for memory in whole if visible(memory.scope, scope)]

"""Lists of memories: pages of the list, and the entries of the index page. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from picomem.clock import Micros
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store import row_counts, row_hash
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import legible, of_types
from picomem.store.sql_access import sql
from picomem.store.tables.memory_rows import rows_within
from picomem.store.tables.memory_statements import reader_values, rows_of_docs, rows_of_ids


class ListPlace(NamedTuple):
    """The place of a memory in the list, the most important first."""

    pinned: bool
    importance: float
    known_from: Micros
    key: str
    id: str
    version: int


class ListFilter(NamedTuple):
    """A filter for a list of memories; empty texts match all. A memory without a project belongs to every project."""

    kind: str = ""
    origin: str = ""
    tag: str = ""
    project: str = ""
    least: float = -1.0  # importance


class ListQuery(NamedTuple):
    """The page of a list that is asked for: of what is believed and true now, or `archived`, of what is no longer
    believed and of what has expired and waits to be archived; the page begins behind `after`."""

    filter: ListFilter
    after: ListPlace | None
    limit: int
    archived: bool = False


class EntryPlace(NamedTuple):
    """The place of a version of a memory in its section of the index page: lower values come first."""

    is_unpinned: int
    unimportance: float
    is_of_agent: int
    age: int
    key: str
    id: str
    version: int
    doc: int


class ListedPage(NamedTuple):
    """A page of the list: its memories, its last place, and how many there are behind it."""

    memories: list[Memory]
    last: ListPlace | None
    left_out: int


_BEFORE_ALL = ListPlace(True, 2.0, 2**62, "", "", 0)
_MOST = 2**31  # rows that are counted


def listed(tx: Transaction, scope: Scope, now: Micros, query: ListQuery, damaged: list[str]) -> ListedPage:
    """A page of a list of memories; `damaged` gets the damaged rows of this page."""
    lists = (_ARCHIVED, _ENDED, _EXPIRED) if query.archived else (_BELIEVED,)
    values: dict[str, object] = {
        **reader_values(scope, now),
        **query.filter._asdict(),
        "tag_in_json": json.dumps(query.filter.tag, ensure_ascii=False),
    }
    pages = [_rows_of_page(tx, values, query, statements) for statements in lists]
    rows = sorted((row for page in pages for row in page.rows), key=lambda row: _list_order(_list_place(row)))
    behind = sum(page.behind for page in pages) + len(rows[query.limit :])
    rows = rows[: query.limit]
    read = rows_within(tx, scope, rows, damaged)
    listed = read if query.archived else true_now(read, now, damaged)
    return ListedPage(listed, _list_place(rows[-1]) if rows else None, behind)


class _List(NamedTuple):
    """The names of the statements that read a page of a list, and that count what is behind it."""

    page: str
    rest: str


_BELIEVED = _List("listed_memories", "count_listed_memories")
_ARCHIVED = _List("listed_archived", "count_listed_archived")
_ENDED = _List("listed_ended", "count_listed_ended")
_EXPIRED = _List("listed_expired", "count_listed_expired")


class _RowsOfPage(NamedTuple):
    rows: list[Row]
    behind: int


def _rows_of_page(tx: Transaction, values: dict[str, object], query: ListQuery, statements: _List) -> _RowsOfPage:
    """Read the rows of a page of one list, and count those behind it."""
    rows = sql(tx).all(statements.page, **values, **_values(query.after or _BEFORE_ALL), limit=query.limit)
    if len(rows) < query.limit or not rows:
        return _RowsOfPage(rows, 0)
    counted = sql(tx).one(statements.rest, **values, **_values(_list_place(rows[-1])), limit=_MOST)
    return _RowsOfPage(rows, int(counted[0]) if counted else 0)


def best_entries(
    tx: Transaction, scope: Scope, now: Micros, kinds: Iterable[Kind], limit: int, but: Collection[str]
) -> list[EntryPlace]:
    """Return the places of the first `limit` memories of some kinds in the index page, in order, without the ids in
    `but`. The index alone is read."""
    without = json.dumps(sorted(but))
    places = [
        _entry_place(row)
        for kind in kinds
        for row in sql(tx).all("best_entries", **reader_values(scope, now), kind=kind.value, but=without, limit=limit)
    ]
    return sorted(places)[:limit]


def _entry_place(row: Iterable[object]) -> EntryPlace:
    return EntryPlace(*of_types(row, (int, float, int, int, str, str, int, int)))


def entries_by_id(tx: Transaction, scope: Scope, now: Micros, ids: Collection[str]) -> list[EntryPlace]:
    """Return the places of those of the memories that may stand in the index page, in order."""
    return sorted(_entry_place(row) for row in rows_of_ids(tx, "entries_by_id", scope, now, ids))


def entries(
    tx: Transaction, scope: Scope, now: Micros, places: Sequence[EntryPlace], damaged: list[str]
) -> list[Memory]:
    """Return the memories at these places, unordered. Damaged rows are left out and put on `damaged`, and so are
    those that a damaged index misplaces, and placeholders of rows that are lost."""
    read = rows_within(tx, scope, rows_of_docs(tx, scope, sorted({place.doc for place in places})), damaged)
    versions_read = {(memory.id, memory.version) for memory in read}
    damaged += sorted(
        {place.id for place in places if (place.id, place.version) not in versions_read}.difference(damaged)
    )
    return true_now(read, now, damaged)


def true_now(listed: Sequence[Memory], now: Micros, damaged: list[str]) -> list[Memory]:
    """Leave out what is not true now, although an index that is damaged says so, and put it on `damaged`."""
    true = [memory for memory in listed if memory.current(now)]
    damaged += [memory.id for memory in listed if not memory.current(now)]
    return true


def count_entries(tx: Transaction, scope: Scope, now: Micros) -> dict[str, int]:
    """Return how many memories of each kind may stand in the index page."""
    return row_counts.by_name(sql(tx).all("count_entries_by_kind", **reader_values(scope, now)))


def _list_place(row: Row) -> ListPlace:
    values = row_hash.by_name("memories", legible("memories", row))
    return ListPlace(
        bool(values["pinned"]),
        values["importance"],
        values["known_from"],
        values["key"],
        values["id"],
        values["version"],
    )


def _list_order(place: ListPlace) -> tuple[bool, float, int, str, str, int]:
    return (not place.pinned, -place.importance, -place.known_from, place.key, place.id, place.version)


def _values(place: ListPlace) -> dict[str, object]:
    return {**place._asdict(), "pinned": int(place.pinned)}

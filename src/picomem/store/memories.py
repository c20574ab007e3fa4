"""Memories and lineage: rows in, records out. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from picomem.clock import Micros
from picomem.errors import Ambiguous, Corrupt, NotFound
from picomem.light_dataclass import replace
from picomem.records.kinds import Kind, Origin, Source, known
from picomem.records.memory import Memory, Parent, contradicted_ids
from picomem.records.scope import Scope
from picomem.store import row_counts, row_hash, search, vector_rows
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import legible, of_types, readable
from picomem.store.reading_order import check_rises
from picomem.store.row_counts import VersionCounts
from picomem.store.search import Document
from picomem.store.sql_access import sql
from picomem.store.unchecked_rows import Stored, stored


class VersionLink(NamedTuple):
    """A row of lineage: what a version of a memory was made from, and the change that recorded it."""

    version: int
    parent: Parent
    change_id: str


class FromEpisodes(NamedTuple):
    """The last version of a memory, with the ids of the episodes from which some version of it was made."""

    memory: Memory
    episode_ids: list[str]


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


class Undecided(NamedTuple):
    """A memory that may wait for a person's decision, without its words."""

    id: str
    known_from: Micros
    change_id: str


class Doubtful(NamedTuple):
    """A memory that may contradict others, or that others may contradict, without its words."""

    id: str
    version: int
    valid_from: Micros
    known_from: Micros
    contradicts: tuple[str, ...]  # ids
    is_entry: bool  # whether it may stand in the index page


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
_FOREVER = 2**63 - 1  # the end of what has none
_MOST = 2**31  # rows that are counted
_NAMED_IDS = 2  # of those that begin with what was written; one more is read, to see whether there are more
_USER, _DOC = (row_hash.COLUMNS["memories"].index(name) for name in ("user_id", "doc"))


def insert(tx: Transaction, memory: Memory, parents: Sequence[Parent] = ()) -> Memory:
    """Store a version, its full-text entry and its lineage; returned with its number in the index. Full text has only
    what is believed."""
    scope = memory.scope
    doc = sql(tx).next_docs(scope)
    values = {name: getattr(memory, name) for name in Memory.__slots__ if name != "scope"}
    values |= {name: getattr(memory, name).value for name in ("kind", "origin", "source")}
    values |= {name: json.dumps(getattr(memory, name), ensure_ascii=False) for name in ("tags", "related")}
    values |= {"doc": doc, "pinned": int(memory.pinned), "closed_by": None, "path": memory.path or None}
    sql(tx).run(
        "insert_memory",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        session=scope.session,
        **values,
    )
    added = replace(memory, doc=doc)
    if memory.searchable:
        search.of(tx).add(scope, "memory", [document(added)])
    _count(tx, memory, 1)
    add_lineage(tx, scope, "memory", memory.id, memory.version, parents, memory.change_id)
    return added


def add_lineage(
    tx: Transaction, scope: Scope, kind: str, child: str, version: int, parents: Sequence[Parent], change_id: str
) -> None:
    """Record what a memory version (or a change that holds a refused text) was made from."""
    for parent in parents:
        sql(tx).run(
            "insert_lineage",
            user=scope.user,
            child_kind=kind,
            child_id=child,
            child_version=version,
            parent_kind=parent.kind,
            parent_id=parent.id,
            parent_version=parent.version,
            role=parent.role,
            change_id=change_id,
        )


def document(memory: Memory) -> Document:
    """A memory as full text indexes it: what it is called, and what it says."""
    return Document(memory.doc, f"{memory.content}\n{memory.context}", " ".join([memory.key, *memory.tags]))


def close(tx: Transaction, memory: Memory, at: Micros, change_id: str) -> None:
    """End our belief in a version, by a change. It leaves full text and the vectors, so that what was revised often
    costs a search no more than what was said once. Nothing else of it changes."""
    end = max(at, memory.known_from)  # a clock that was set back gives no negative span
    if sql(tx).run(
        "close_version", user=memory.scope.user, id=memory.id, version=memory.version, known_to=end, closed_by=change_id
    ):
        row_counts.add_memories(tx, memory.scope, VersionCounts(0, -1, -int(memory.searchable)))
        if memory.searchable:
            _unindex(tx, memory)


def by_key(tx: Transaction, scope: Scope, key: str) -> Memory | None:
    """The memory that this very owner believes now under that key."""
    row = sql(tx).one(
        "memory_by_key",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        session=scope.session,
        key=key,
    )
    return None if row is None else from_row(row)


def by_path(tx: Transaction, scope: Scope, path: str) -> Memory | None:
    """The file that this very owner has under that path; the newest, should there be several."""
    row = sql(tx).one(
        "memory_by_path",
        user=scope.user,
        agent=scope.agent,
        project=scope.project,
        session=scope.session,
        path=path,
    )
    return None if row is None else from_row(row)


def files(tx: Transaction, scope: Scope) -> list[Memory]:
    """The files of this very owner; damaged rows are left out."""
    return _whole(sql(tx).all("files", **_owner(scope)), scope, [])


def of_graph(tx: Transaction, scope: Scope, damaged: list[str]) -> list[Memory]:
    """The parts of this very owner's graph (memory/graph_mapping.py); damaged rows are left out, and their ids put on
    `damaged`."""
    return _whole(sql(tx).all("graph", **_owner(scope)), scope, damaged)


def _owner(scope: Scope) -> dict[str, str]:
    return {"user": scope.user, "agent": scope.agent, "project": scope.project, "session": scope.session}


def holder(tx: Transaction, version: Memory) -> Memory | None:
    """The other memory that an owner believes under the key, or the path, of a version."""
    holders = [by_key(tx, version.scope, version.key)]
    holders += [by_path(tx, version.scope, version.path)] if version.path else []
    return next((memory for memory in holders if memory is not None and memory.id != version.id), None)


def versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Memory]:
    return _read(_versions(tx, scope, memory_id))


def last_opened_alike(tx: Transaction, version: Memory) -> int:
    """The number of the last row before a version that says the same and that a change names as opened; -1 if there is
    none."""
    values = {"user": version.scope.user, "id": version.id, "version": version.version, "content": version.content}
    row = sql(tx).one("last_opened_alike", **values)
    return int(row[0]) if row else -1


def believed_versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Memory]:
    """The versions of a memory that no change has closed, in order."""
    return _read(sql(tx).all("believed_versions", user=scope.user, id=memory_id))


def believed_since(
    tx: Transaction, scope: Scope, memory_id: str, since: Micros = _FOREVER - 1, until: Micros | None = None
) -> list[Memory]:
    """The believed versions of a memory that hold at some time of [since, until), in order; those without an end, if no
    time is given. A memory that was revised often has a believed version of each past time."""
    end = _FOREVER if until is None else until
    return _read(sql(tx).all("believed_since", user=scope.user, id=memory_id, since=since, until=end))


def last_version(tx: Transaction, scope: Scope, memory_id: str) -> int:
    """The number of a memory's newest version. Raises Corrupt where the table has no version of it."""
    row = sql(tx).one("last_version", user=scope.user, id=memory_id)
    if row is None or row[0] is None:
        raise Corrupt(
            f"Memory {memory_id} is missing from its table or from an index: the file was damaged. Run `picomem doctor "
            "--repair`.",
            id=memory_id,
        )
    return int(row[0])


def ids_after(tx: Transaction, scope: Scope, after: str, limit: int) -> list[str]:
    """The ids of the user's memories behind the id `after`, in order. Raises Corrupt where they are out of order."""
    ids = [str(row[0]) for row in sql(tx).all("memory_ids_after", user=scope.user, after=after, limit=limit)]
    if ids:
        check_rises(after, ids[-1], "memories")
    return ids


def whole_versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Memory] | None:
    """Every version of a memory; None where one of them does not match its hash."""
    rows = _versions(tx, scope, memory_id)
    return [_record(row) for row in rows] if all(map(is_whole, rows)) else None


def unchecked_versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Memory]:
    """Every version of a memory, the damaged ones as far as they can be read."""
    return [unchecked(row) for row in _versions(tx, scope, memory_id)]


def versions_after(tx: Transaction, scope: Scope, memory_id: str, after: int) -> list[Memory]:
    """The versions of a memory behind the number `after`, in order."""
    return _read(sql(tx).all("versions_after", user=scope.user, id=memory_id, after=after))


def versions_of_numbers(tx: Transaction, scope: Scope, memory_id: str, numbers: Collection[int]) -> list[Memory]:
    """The versions of a memory that have these numbers, in order."""
    return _read(_numbered(tx, scope, memory_id, numbers))


def unchecked_versions_of_numbers(
    tx: Transaction, scope: Scope, memory_id: str, numbers: Collection[int]
) -> list[Memory]:
    """The same, the damaged ones as far as they can be read."""
    return [unchecked(row) for row in _numbered(tx, scope, memory_id, numbers)]


def lasting_of_key(tx: Transaction, scope: Scope, key: str) -> list[Memory]:
    """The believed versions without an end under a key, of whatever owner below this user."""
    return _read(sql(tx).all("lasting_of_key", user=scope.user, key=key))


def of_key(tx: Transaction, scope: Scope, key: str) -> list[Memory]:
    """Every version under a key, of whatever owner below this user."""
    return _read(sql(tx).all("memories_of_key", user=scope.user, key=key))


def by_docs(tx: Transaction, scope: Scope, docs: Iterable[int], damaged: list[str]) -> list[Memory]:
    """The versions that match their hash. `damaged` gets the ids of the others, and each number that the index has
    and the table lacks."""
    asked = list(docs)
    rows = _by_docs(tx, scope, asked)
    damaged += missing("memory", asked, (row[_DOC] for row in rows))
    return _whole(rows, scope, damaged)


def has_docs(tx: Transaction, scope: Scope, docs: Iterable[int]) -> bool:
    """Return whether a version, damaged or not, has one of the numbers."""
    return bool(_by_docs(tx, scope, list(docs)))


def current(tx: Transaction, scope: Scope, now: Micros, damaged: list[str] | None = None) -> list[Memory]:
    """The versions that are believed and true now, within the scope. Damaged rows are left out and put on `damaged`."""
    rows = sql(tx).all("current_memories", user=scope.user, now=now)
    return _within(tx, scope, rows, damaged)


def listed(tx: Transaction, scope: Scope, now: Micros, query: ListQuery, damaged: list[str]) -> ListedPage:
    """A page of a list of memories; `damaged` gets the damaged rows of this page."""
    lists = (_ARCHIVED, _ENDED, _EXPIRED) if query.archived else (_BELIEVED,)
    values: dict[str, object] = {
        **_reader(scope, now),
        **query.filter._asdict(),
        "tag_in_json": json.dumps(query.filter.tag, ensure_ascii=False),
    }
    pages = [_rows_of_page(tx, values, query, statements) for statements in lists]
    rows = sorted((row for page in pages for row in page.rows), key=lambda row: _list_order(_list_place(row)))
    behind = sum(page.behind for page in pages) + len(rows[query.limit :])
    rows = rows[: query.limit]
    read = _within(tx, scope, rows, damaged)
    listed = read if query.archived else _true_now(read, now, damaged)
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


def contradicting(tx: Transaction, scope: Scope, now: Micros) -> list[Doubtful]:
    """Return the current memories that may contradict others, and these others."""
    linking = [_doubtful(row) for row in sql(tx).all("contradicting_memories", **_reader(scope, now))]
    targets = {target for memory in linking for target in memory.contradicts}
    rows = _of_ids(tx, "contradicted_memories", scope, now, targets)
    return list({memory.id: memory for memory in [*linking, *map(_doubtful, rows)]}.values())


def _doubtful(row: Row) -> Doubtful:
    id_, version, valid_from, known_from, related, is_entry = of_types(row, (str, int, int, int, str, int))
    return Doubtful(id_, version, valid_from, known_from, contradicted_ids(names_in(related)), bool(is_entry))


def _of_ids(tx: Transaction, statement: str, scope: Scope, now: Micros, ids: Collection[str]) -> list[Row]:
    return sql(tx).all(statement, **_reader(scope, now), ids=json.dumps(sorted(ids))) if ids else []


def undecided(tx: Transaction, scope: Scope, now: Micros) -> list[Undecided]:
    """Return the current memories that came from tools, the web or others."""
    rows = sql(tx).all("undecided_memories", **_reader(scope, now))
    return [Undecided(*of_types(row, (str, int, str))) for row in rows]


def believed(
    tx: Transaction, scope: Scope, now: Micros, ids: Collection[str], damaged: list[str] | None = None
) -> dict[str, Memory]:
    """Return those of the memories that are current, by id; damaged rows are left out and put on `damaged`."""
    rows = sql(tx).all("believed_by_id", user=scope.user, ids=json.dumps(sorted(ids))) if ids else []
    read = _whole(rows, scope, [] if damaged is None else damaged)
    return {memory.id: memory for memory in read if memory.current(now) and visible(memory.scope, scope)}


def best_entries(
    tx: Transaction, scope: Scope, now: Micros, kinds: Iterable[Kind], limit: int, but: Collection[str]
) -> list[EntryPlace]:
    """Return the places of the first `limit` memories of some kinds in the index page, in order, without the ids in
    `but`. The index alone is read."""
    without = json.dumps(sorted(but))
    places = [
        _entry_place(row)
        for kind in kinds
        for row in sql(tx).all("best_entries", **_reader(scope, now), kind=kind.value, but=without, limit=limit)
    ]
    return sorted(places)[:limit]


def _entry_place(row: Iterable[object]) -> EntryPlace:
    return EntryPlace(*of_types(row, (int, float, int, int, str, str, int, int)))


def entries_by_id(tx: Transaction, scope: Scope, now: Micros, ids: Collection[str]) -> list[EntryPlace]:
    """Return the places of those of the memories that may stand in the index page, in order."""
    return sorted(_entry_place(row) for row in _of_ids(tx, "entries_by_id", scope, now, ids))


def entries(
    tx: Transaction, scope: Scope, now: Micros, places: Sequence[EntryPlace], damaged: list[str]
) -> list[Memory]:
    """Return the memories at these places, unordered. Damaged rows are left out and put on `damaged`, and so are
    those that a damaged index misplaces, and placeholders of rows that are lost."""
    read = _within(tx, scope, _by_docs(tx, scope, sorted({place.doc for place in places})), damaged)
    versions_read = {(memory.id, memory.version) for memory in read}
    damaged += sorted(
        {place.id for place in places if (place.id, place.version) not in versions_read}.difference(damaged)
    )
    return _true_now(read, now, damaged)


def _true_now(listed: Sequence[Memory], now: Micros, damaged: list[str]) -> list[Memory]:
    """Leave out what is not true now, although an index that is damaged says so, and put it on `damaged`."""
    true = [memory for memory in listed if memory.current(now)]
    damaged += [memory.id for memory in listed if not memory.current(now)]
    return true


def count_entries(tx: Transaction, scope: Scope, now: Micros) -> dict[str, int]:
    """Return how many memories of each kind may stand in the index page."""
    return row_counts.by_name(sql(tx).all("count_entries_by_kind", **_reader(scope, now)))


def _reader(scope: Scope, now: Micros) -> dict[str, object]:
    """The values of a statement on what is believed now, within a scope."""
    return {
        "user": scope.user,
        "agent": scope.agent,
        "scope_project": scope.project,
        "former_projects": json.dumps(scope.former_projects),
        "session": scope.session,
        "now": now,
    }


def at(
    tx: Transaction, scope: Scope, known_at: Micros, valid_at: Micros, damaged: list[str] | None = None
) -> list[Memory]:
    """The versions believed at `known_at` to be true at `valid_at`; damaged rows as in `current`."""
    rows = sql(tx).all("memories_at", user=scope.user, known_at=known_at, valid_at=valid_at)
    return _within(tx, scope, rows, damaged)


def archived(tx: Transaction, scope: Scope, damaged: list[str] | None = None) -> list[Memory]:
    """The last version of everything that is believed no longer; damaged rows as in `current`."""
    return _within(tx, scope, _archived(tx, scope), damaged)


def expired(tx: Transaction, scope: Scope, now: Micros) -> list[Memory]:
    """The versions that have expired and are still believed; the expiry of a damaged row is unknown."""
    return _whole(_expired(tx, scope, now), scope, [])


def stored_versions(tx: Transaction, scope: Scope) -> Iterator[Stored[Memory]]:
    """Every version that the user has, by id and number."""
    return stored("memories", _record, sql(tx).all("all_memories", user=scope.user))


def count_by_kind(tx: Transaction, scope: Scope, now: Micros) -> dict[str, int]:
    """Return how many memories of each kind the user believes now."""
    return row_counts.by_name(sql(tx).all("count_memories", user=scope.user, now=now))


def count_no_longer_believed(tx: Transaction, scope: Scope, now: Micros) -> int:
    """Return how many memories are archived or have expired, damaged rows included."""
    rows = [sql(tx).one("count_archived", user=scope.user), sql(tx).one("count_expired", user=scope.user, now=now)]
    return sum(int(row[0]) for row in rows if row)


def count_missing(tx: Transaction, scope: Scope) -> int:
    """By how many the versions of a user, or the current ones, differ from the count that was kept when they were
    written: a row is lost, or missing from the table's index."""
    return max(abs(there - written) for there, written in zip(*row_counts.memories(tx, scope), strict=True))


def missing(what: str, asked: Iterable[int], rows: Iterable[int]) -> list[str]:
    """The placeholders of documents that the search index has and the table lacks."""
    return [f"{what} {doc}" for doc in sorted(set(asked).difference(rows))]


def key_of(tx: Transaction, scope: Scope, memory_id: str, damaged: list[str] | None = None) -> str:
    """The key of a memory's newest version; empty where there is no such memory.

    The key of a damaged row is left out as well, and its id put on `damaged`; without such a list it raises Corrupt. No
    change outlives its memory, so one whose memory is not found shows that this is lost.
    """
    row = sql(tx).one("newest_version", user=scope.user, id=memory_id) if memory_id else None
    if row is None:
        if memory_id and damaged is not None:
            damaged.append(memory_id)
        return ""
    if damaged is None:
        return from_row(row).key
    return "".join(memory.key for memory in _whole([row], scope, damaged))


def newest_keys(tx: Transaction, scope: Scope, limit: int) -> list[str]:
    """Keys of what is believed and visible, the newest first."""
    rows = sql(tx).all("newest_keys", user=scope.user, limit=limit)
    return [
        str(key)
        for key, agent, project, session in rows
        if visible(Scope(user=scope.user, agent=str(agent), project=str(project), session=str(session)), scope)
    ]


def find_id(tx: Transaction, scope: Scope, prefix: str) -> str:
    """The one memory id that begins so. Raises NotFound for none, and Ambiguous for several."""
    return unique_id(sql(tx).all("memory_ids_like", user=scope.user, **id_range(prefix)), prefix, "memory")


def id_range(prefix: str) -> dict[str, str]:
    return {"from": prefix.lower(), "to": prefix.lower() + "\uffff"}


def unique_id(rows: list[Row], prefix: str, what: str) -> str:
    """The one id among rows that begins so. Raises NotFound for none, and Ambiguous for several."""
    if len(rows) > 1:
        known = ", ".join(str(row[0]) for row in rows[:_NAMED_IDS]) + (" …" if len(rows) > _NAMED_IDS else "")
        raise Ambiguous(f"Several {what} ids begin with “{prefix[:40]}”; write more of the id: {known}")
    if not rows:
        raise NotFound(
            f"There is no {what} “{prefix[:80]}”; `picomem recall` and `picomem timeline` show what is there."
        )
    return str(rows[0][0])


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


def closers(tx: Transaction, scope: Scope, memory_id: str) -> dict[int, str]:
    """The change that closed each closed version of a memory."""
    return dict(sql(tx).all("closing_changes", user=scope.user, id=memory_id))


def closer(tx: Transaction, version: Memory) -> str:
    """The change that closed a version; empty where none did."""
    row = sql(tx).one("closing_change", user=version.scope.user, id=version.id, version=version.version)
    return str(row[0]) if row and row[0] else ""


def rekey(tx: Transaction, old: Memory, key: str) -> None:
    """Let a version stand under another key, in its row and in full text."""
    _move(tx, old, old.scope.project, key)


def move(tx: Transaction, old: Memory, project: str) -> None:
    """Let a version stand in another project, under a key that is free there, in its row and in full text."""
    _move(tx, old, project, free_key(tx, replace(old.scope, project=project), old.key, old.id))


def _move(tx: Transaction, old: Memory, project: str, key: str) -> None:
    sql(tx).run("move_version", user=old.scope.user, id=old.id, version=old.version, project=project, key=key)
    reindex(tx, old, replace(old, key=key))


def free_key(tx: Transaction, owner: Scope, key: str, holder_id: str = "") -> str:
    """The key, or else one like it with a number, under which `owner` believes no memory but that of `holder_id`.

    The number is the least above one that is taken. Few numbers are looked at, because thousands of statements may
    suggest one key.
    """
    from picomem.text.memory_keys import numbered  # with the words of keys, which a recall does not need

    taken, free = 0, 1
    while _is_taken(tx, owner, numbered(key, free), holder_id):
        taken, free = free, 2 * free
    while free - taken > 1:
        between = (taken + free) // 2
        if _is_taken(tx, owner, numbered(key, between), holder_id):
            taken = between
        else:
            free = between
    return numbered(key, free)


def _is_taken(tx: Transaction, owner: Scope, key: str, holder_id: str) -> bool:
    memory = by_key(tx, owner, key)
    return memory is not None and memory.id != holder_id


def reindex(tx: Transaction, old: Memory, new: Memory) -> None:
    """Replace the words of a version in full text, which has it if it is believed; `old` must say what it said when it
    was indexed."""
    if old.searchable:
        index = search.of(tx)
        index.remove(old.scope, "memory", [document(old)])
        index.add(new.scope, "memory", [document(new)])


def rewrite_text(tx: Transaction, version: Stored[Memory], new: Memory) -> None:
    """Store other words, tags or related entries for a version, without touching full text. Tags and related entries
    that are the same stay as they were stored: damaged ones may be no list of names."""
    old, row = version.record, readable("memories", cast(Row, version.row))
    sql(tx).run(
        "rewrite_memory_text",
        user=new.scope.user,
        id=new.id,
        version=new.version,
        content=new.content,
        context=new.context,
        tags=row[12] if new.tags == old.tags else json.dumps(new.tags, ensure_ascii=False),
        related=row[13] if new.related == old.related else json.dumps(new.related, ensure_ascii=False),
        path=new.path or None,
        tokens=new.tokens,
    )


def purge_version(tx: Transaction, memory: Memory) -> None:
    """Delete a version for good, with all that is derived from it."""
    scope = memory.scope
    if memory.searchable:
        _unindex(tx, memory)
    if sql(tx).run("purge_version", user=scope.user, id=memory.id, version=memory.version):
        _count(tx, memory, -1)
    purge_lineage(tx, scope, "memory", memory.id, memory.version)


def _unindex(tx: Transaction, memory: Memory) -> None:
    search.of(tx).remove(memory.scope, "memory", [document(memory)])
    vector_rows.remove(tx, memory.scope, "memory", memory.doc)


def purge_lineage(tx: Transaction, scope: Scope, kind: str, id_: str, version: int = 0) -> None:
    """Delete what is known of what a thing was made from, and of what was made from it."""
    purge_parents(tx, scope, kind, id_, version)
    sql(tx).run("purge_lineage_from", user=scope.user, kind=kind, id=id_, version=version)


def purge_parents(tx: Transaction, scope: Scope, kind: str, id_: str, version: int = 0) -> None:
    """Delete what is known of what a thing was made from."""
    sql(tx).run("purge_lineage_of", user=scope.user, kind=kind, id=id_, version=version)


def purge_all_lineage(tx: Transaction, scope: Scope) -> None:
    """Delete all lineage of the user."""
    sql(tx).run("purge_lineage", user=scope.user)


def links_of(
    tx: Transaction, scope: Scope, memory_id: str, damaged: list[str] | None = None, after: int = 0
) -> list[VersionLink]:
    """The lineage of every version of a memory behind the number `after`. Damaged rows are left out, and the memory's
    id is put on `damaged` for each; without such a list they raise Corrupt."""
    left_out: list[str] = []
    links = links_of_each(tx, scope, [memory_id], left_out, after).get(memory_id, [])
    if left_out and damaged is None:
        raise Corrupt(
            f"What memory {memory_id} was made from does not match its own hash: the file was damaged or edited by "
            "hand. Run `picomem doctor --repair`.",
            id=memory_id,
        )
    if damaged is not None:
        damaged += left_out
    return links


def links_of_each(
    tx: Transaction, scope: Scope, memory_ids: Sequence[str], damaged: list[str], after: int = 0
) -> dict[str, list[VersionLink]]:
    """Do what `links_of` does, for several memories at once, by their ids; those without lineage are left out."""
    values = {"user": scope.user, "ids": json.dumps(list(memory_ids)), "after": after}
    return _links(sql(tx).all("parents_of_memories", **values), damaged) if memory_ids else {}


def latest_sources(
    tx: Transaction, scope: Scope, docs: Collection[int], before: int, damaged: list[str]
) -> dict[str, list[VersionLink]]:
    """Return by memory what the versions with these documents, and `before` versions up to each, were made from.
    Damaged rows are left out and put on `damaged`."""
    asked = json.dumps(list(docs))
    return _links(sql(tx).all("latest_sources", user=scope.user, docs=asked, before=before), damaged) if docs else {}


def _links(rows: Iterable[Row], damaged: list[str]) -> dict[str, list[VersionLink]]:
    links: dict[str, list[VersionLink]] = {}
    for row in rows:
        values = row_hash.by_name("lineage", row)
        if row_hash.is_whole("lineage", row):
            parent = Parent(
                kind=values["parent_kind"],
                id=values["parent_id"],
                role=values["role"],
                version=values["parent_version"],
            )
            links.setdefault(values["child_id"], []).append(
                VersionLink(values["child_version"], parent, values["change_id"])
            )
        else:
            damaged.append(values["child_id"])
    return links


def made_from_episodes(tx: Transaction, scope: Scope, episode_ids: Sequence[str]) -> list[FromEpisodes]:
    """The memories that were made from some of the episodes; damaged rows are left out."""
    parents: dict[str, list[str]] = {}
    links = sql(tx).all("children_of_episodes", user=scope.user, ids=json.dumps(episode_ids)) if episode_ids else []
    for link in links:
        values = row_hash.by_name("lineage", link)
        if values["child_kind"] == "memory" and row_hash.is_whole("lineage", link):
            parents.setdefault(values["child_id"], []).append(values["parent_id"])
    rows = sql(tx).all("newest_versions", user=scope.user, ids=json.dumps(list(parents))) if parents else []
    return [FromEpisodes(memory, parents[memory.id]) for memory in _whole(rows, scope, [])]


def _versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Row]:
    return sql(tx).all("memory_versions", user=scope.user, id=memory_id)


def _numbered(tx: Transaction, scope: Scope, memory_id: str, numbers: Collection[int]) -> list[Row]:
    asked = json.dumps(sorted(numbers))
    return sql(tx).all("numbered_versions", user=scope.user, id=memory_id, numbers=asked) if numbers else []


def _by_docs(tx: Transaction, scope: Scope, docs: list[int]) -> list[Row]:
    return sql(tx).all("memories_by_doc", user=scope.user, docs=json.dumps(docs))


def _archived(tx: Transaction, scope: Scope) -> list[Row]:
    return sql(tx).all("archived_memories", user=scope.user)


def _expired(tx: Transaction, scope: Scope, now: Micros) -> list[Row]:
    return sql(tx).all("expired_memories", user=scope.user, now=now)


def from_row(row: Row) -> Memory:
    """A row as a record. Raises Corrupt where the row does not match its hash."""
    if not is_whole(row):
        raise Corrupt(
            f"Memory {row[0]} version {row[1]} does not match its own hash: the file was damaged or edited by hand. "
            "Run `picomem doctor`.",
            id=str(row[0]),
        )
    return _record(row)


def is_whole(row: Row) -> bool:
    """Return whether a row matches its hash."""
    return row_hash.is_whole("memories", row)


def unchecked(row: Row) -> Memory:
    """A row as a record, whatever its hash says; what cannot be read in it gets a plain value."""
    return _record(readable("memories", row))


def _record(row: Row) -> Memory:
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


def _read(rows: list[Row]) -> list[Memory]:
    return [from_row(row) for row in rows]


def _whole(rows: list[Row], scope: Scope, damaged: list[str]) -> list[Memory]:
    """The rows that match their hash and are the user's, as records; the ids of the others are put on `damaged`."""
    whole = [is_whole(row) and row[_USER] == scope.user for row in rows]
    damaged += [str(row[0]) for row, good in zip(rows, whole, strict=True) if not good]
    return [_record(row) for row, good in zip(rows, whole, strict=True) if good]


def _within(tx: Transaction, scope: Scope, rows: list[Row], damaged: list[str] | None) -> list[Memory]:
    """The rows that match their hash and are within the scope."""
    left_out: list[str] = []
    whole = _whole(rows, scope, left_out)
    if damaged is not None:
        damaged += left_out or [
            f"memory {number} of those that are not there" for number in range(count_missing(tx, scope))
        ]
    return [memory for memory in whole if visible(memory.scope, scope)]


def _count(tx: Transaction, version: Memory, count: int) -> None:
    """Count a version that came, 1, or went, -1, so that one which is lost is missed."""
    counts = VersionCounts(count, count * (version.known_to is None), count * version.searchable)
    row_counts.add_memories(tx, version.scope, counts)

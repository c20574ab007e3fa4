"""Memories and lineage: rows in, records out. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Ambiguous, Corrupt, NotFound
from picomem.light_dataclass import replace
from picomem.records.memory import Memory, Parent
from picomem.records.scope import Scope
from picomem.store import row_counts, search
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import readable
from picomem.store.reading_order import check_rises
from picomem.store.row_counts import VersionCounts
from picomem.store.search import Document
from picomem.store.sql_access import sql
from picomem.store.tables import vector_rows
from picomem.store.tables.memory_lineage import add_lineage, purge_lineage
from picomem.store.tables.memory_rows import (
    DOC_COLUMN,
    from_row,
    is_whole,
    missing,
    read_rows,
    record_of,
    rows_within,
    unchecked,
    visible,
    whole_rows,
)
from picomem.store.tables.memory_statements import FOREVER, rows_of_docs
from picomem.store.unchecked_rows import Stored, stored

_NAMED_IDS = 2  # of those that begin with what was written; one more is read, to see whether there are more


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
    return whole_rows(sql(tx).all("files", **_owner(scope)), scope, [])


def of_graph(tx: Transaction, scope: Scope, damaged: list[str]) -> list[Memory]:
    """The parts of this very owner's graph (emulation/graph_mapping.py); damaged rows are left out, and their ids are
    put on `damaged`."""
    return whole_rows(sql(tx).all("graph", **_owner(scope)), scope, damaged)


def _owner(scope: Scope) -> dict[str, str]:
    return {"user": scope.user, "agent": scope.agent, "project": scope.project, "session": scope.session}


def holder(tx: Transaction, version: Memory) -> Memory | None:
    """The other memory that an owner believes under the key, or the path, of a version."""
    holders = [by_key(tx, version.scope, version.key)]
    holders += [by_path(tx, version.scope, version.path)] if version.path else []
    return next((memory for memory in holders if memory is not None and memory.id != version.id), None)


def versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Memory]:
    return read_rows(_versions(tx, scope, memory_id))


def last_opened_alike(tx: Transaction, version: Memory) -> int:
    """The number of the last row before a version that says the same and that a change names as opened; -1 if there is
    none."""
    values = {"user": version.scope.user, "id": version.id, "version": version.version, "content": version.content}
    row = sql(tx).one("last_opened_alike", **values)
    return int(row[0]) if row else -1


def believed_versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Memory]:
    """The versions of a memory that no change has closed, in order."""
    return read_rows(sql(tx).all("believed_versions", user=scope.user, id=memory_id))


def believed_since(
    tx: Transaction, scope: Scope, memory_id: str, since: Micros = FOREVER - 1, until: Micros | None = None
) -> list[Memory]:
    """The believed versions of a memory that hold at some time of [since, until), in order; those without an end, if no
    time is given. A memory that was revised often has a believed version of each past time."""
    end = FOREVER if until is None else until
    return read_rows(sql(tx).all("believed_since", user=scope.user, id=memory_id, since=since, until=end))


def last_version(tx: Transaction, scope: Scope, memory_id: str) -> int:
    """The number of a memory's newest version. Raises Corrupt where the table has no version of it."""
    row = sql(tx).one("last_version", user=scope.user, id=memory_id)
    if row is None or row[0] is None:
        raise Corrupt(
            CodedText("failure.missing_memory", name=memory_id, command=Command("doctor", repair=True)),
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
    return [record_of(row) for row in rows] if all(map(is_whole, rows)) else None


def unchecked_versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Memory]:
    """Every version of a memory, the damaged ones as far as they can be read."""
    return [unchecked(row) for row in _versions(tx, scope, memory_id)]


def versions_after(tx: Transaction, scope: Scope, memory_id: str, after: int) -> list[Memory]:
    """The versions of a memory behind the number `after`, in order."""
    return read_rows(sql(tx).all("versions_after", user=scope.user, id=memory_id, after=after))


def versions_of_numbers(
    tx: Transaction, scope: Scope, memory_id: str, numbers: Collection[int], damaged: list[str] | None = None
) -> list[Memory]:
    """The versions of a memory that have these numbers, in order. Damaged rows are left out and put on `damaged`;
    without it they are an error."""
    rows = _numbered(tx, scope, memory_id, numbers)
    return read_rows(rows) if damaged is None else whole_rows(rows, scope, damaged)


def unchecked_versions_of_numbers(
    tx: Transaction, scope: Scope, memory_id: str, numbers: Collection[int]
) -> list[Memory]:
    """The same, the damaged ones as far as they can be read."""
    return [unchecked(row) for row in _numbered(tx, scope, memory_id, numbers)]


def lasting_of_key(tx: Transaction, scope: Scope, key: str) -> list[Memory]:
    """The believed versions without an end under a key, of whatever owner below this user."""
    return read_rows(sql(tx).all("lasting_of_key", user=scope.user, key=key))


def of_key(tx: Transaction, scope: Scope, key: str) -> list[Memory]:
    """Every version under a key, of whatever owner below this user."""
    return read_rows(sql(tx).all("memories_of_key", user=scope.user, key=key))


def by_docs(tx: Transaction, scope: Scope, docs: Iterable[int], damaged: list[str]) -> list[Memory]:
    """The versions that match their hash. `damaged` gets the ids of the others, and each number that the index has
    and the table lacks."""
    asked = list(docs)
    rows = rows_of_docs(tx, scope, asked)
    damaged += missing("memory", asked, (row[DOC_COLUMN] for row in rows))
    return whole_rows(rows, scope, damaged)


class MemoryHead(NamedTuple):
    """What limits of a recall ask of a version, as its row has it: `tags` are JSON, times UTC microseconds."""

    doc: int
    agent: str
    project: str
    session: str
    kind: str
    origin: str
    importance: float
    tags: str
    valid_from: int
    known_from: int


def heads(tx: Transaction, scope: Scope, docs: Sequence[int]) -> list[MemoryHead]:
    """The heads of the versions that are there, which cost a tenth of the versions; no hash is checked."""
    return [MemoryHead(*row) for row in sql(tx).all("heads_of_docs", user=scope.user, docs=json.dumps(docs))]


def docs_around(tx: Transaction, scope: Scope, docs: Sequence[int]) -> list[int]:
    """Those of the numbers whose version the scope's owner holds, or one around it, in the same order."""
    around = {
        head.doc
        for head in heads(tx, scope, docs)
        if head.agent in ("", scope.agent)
        and head.project in ("", scope.project)
        and head.session in ("", scope.session)
    }
    return [doc for doc in docs if doc in around]


def has_docs(tx: Transaction, scope: Scope, docs: Iterable[int]) -> bool:
    """Return whether a version, damaged or not, has one of the numbers."""
    return bool(rows_of_docs(tx, scope, list(docs)))


def current(tx: Transaction, scope: Scope, now: Micros, damaged: list[str] | None = None) -> list[Memory]:
    """The versions that are believed and true now, within the scope. Damaged rows are left out and put on `damaged`."""
    rows = sql(tx).all("current_memories", user=scope.user, now=now)
    return rows_within(tx, scope, rows, damaged)


def believed(
    tx: Transaction, scope: Scope, now: Micros, ids: Collection[str], damaged: list[str] | None = None
) -> dict[str, Memory]:
    """Return those of the memories that are current, by id; damaged rows are left out and put on `damaged`."""
    rows = sql(tx).all("believed_by_id", user=scope.user, ids=json.dumps(sorted(ids))) if ids else []
    read = whole_rows(rows, scope, [] if damaged is None else damaged)
    return {memory.id: memory for memory in read if memory.current(now) and visible(memory.scope, scope)}


def at(
    tx: Transaction, scope: Scope, known_at: Micros, valid_at: Micros, damaged: list[str] | None = None
) -> list[Memory]:
    """The versions believed at `known_at` to be true at `valid_at`; damaged rows as in `current`."""
    rows = sql(tx).all("memories_at", user=scope.user, known_at=known_at, valid_at=valid_at)
    return rows_within(tx, scope, rows, damaged)


def archived(tx: Transaction, scope: Scope, damaged: list[str] | None = None) -> list[Memory]:
    """The last version of everything that is believed no longer; damaged rows as in `current`."""
    return rows_within(tx, scope, _archived(tx, scope), damaged)


def expired(tx: Transaction, scope: Scope, now: Micros) -> list[Memory]:
    """The versions that have expired and are still believed; the expiry of a damaged row is unknown."""
    return whole_rows(_expired(tx, scope, now), scope, [])


def stored_versions(tx: Transaction, scope: Scope) -> Iterator[Stored[Memory]]:
    """Every version that the user has, by id and number."""
    return stored("memories", record_of, sql(tx).all("all_memories", user=scope.user))


def count_by_kind(tx: Transaction, scope: Scope, now: Micros) -> dict[str, int]:
    """Return how many memories of each kind the user believes now."""
    return row_counts.by_name(sql(tx).all("count_memories", user=scope.user, now=now))


def count_no_longer_believed(tx: Transaction, scope: Scope, now: Micros) -> int:
    """Return how many memories are archived or have expired, damaged rows included."""
    rows = [sql(tx).one("count_archived", user=scope.user), sql(tx).one("count_expired", user=scope.user, now=now)]
    return sum(int(row[0]) for row in rows if row)


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
    return "".join(memory.key for memory in whole_rows([row], scope, damaged))


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
            CodedText(
                "failure.nothing_of_name",
                what=what,
                name=prefix[:80],
                recall=Command("recall"),
                timeline=Command("timeline"),
            )
        )
    return str(rows[0][0])


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
    from picomem.text.memory_keys import numbered  # noqa: PLC0415 - a recall needs no words of keys

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


def _versions(tx: Transaction, scope: Scope, memory_id: str) -> list[Row]:
    return sql(tx).all("memory_versions", user=scope.user, id=memory_id)


def _numbered(tx: Transaction, scope: Scope, memory_id: str, numbers: Collection[int]) -> list[Row]:
    asked = json.dumps(sorted(numbers))
    return sql(tx).all("numbered_versions", user=scope.user, id=memory_id, numbers=asked) if numbers else []


def _archived(tx: Transaction, scope: Scope) -> list[Row]:
    return sql(tx).all("archived_memories", user=scope.user)


def _expired(tx: Transaction, scope: Scope, now: Micros) -> list[Row]:
    return sql(tx).all("expired_memories", user=scope.user, now=now)


def _count(tx: Transaction, version: Memory, count: int) -> None:
    """Count a version that came, 1, or went, -1, so that one which is lost is missed."""
    counts = VersionCounts(count, count * (version.known_to is None), count * version.searchable)
    row_counts.add_memories(tx, version.scope, counts)

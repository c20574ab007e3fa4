"""What versions of memories were made from: rows of lineage. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.memory import Memory, Parent
from picomem.records.scope import Scope
from picomem.store import row_hash
from picomem.store.connector import Row, Transaction
from picomem.store.sql_access import sql
from picomem.store.tables.memory_rows import whole_rows


class VersionLink(NamedTuple):
    """A row of lineage: what a version of a memory was made from, and the change that recorded it."""

    version: int
    parent: Parent
    change_id: str


class FromEpisodes(NamedTuple):
    """The last version of a memory, with the ids of the episodes from which some version of it was made."""

    memory: Memory
    episode_ids: list[str]


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
            CodedText("failure.damaged_sources", name=memory_id, command=Command("doctor", repair=True)),
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
    return [FromEpisodes(memory, parents[memory.id]) for memory in whole_rows(rows, scope, [])]


def made_from_transcript(tx: Transaction, scope: Scope, transcript_id: str) -> set[str]:
    """The ids of the memories that were made from episodes of a transcript."""
    rows = sql(tx).all("memories_made_from_transcript", user=scope.user, transcript_id=transcript_id)
    return {str(child_id) for (child_id,) in rows}

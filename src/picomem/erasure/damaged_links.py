"""Damaged rows in the plan of a purge. A plan follows ids from row to row; a flipped bit breaks that path. Pure.

A row in which a single bit flipped is planned as it was stored. Other damaged rows may belong to what is purged without
anything that says so. They cannot be erased by a guess, so the result of the purge has to mention them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from picomem.erasure.plan import Plan, PurgeInventory
from picomem.light_dataclass import replace
from picomem.store.retention_rows import DamagedRow, Link, RefusalAge

_Columns = Mapping[str, Any]
_ALSO_LINKS = {
    "changes": ("memory_id",),
    "consolidations": ("session_id",),
    "transcript_consolidations": ("transcript_id",),
}  # by table, the columns that a purge reads without the plan


def restore_links(held: PurgeInventory, damaged: Sequence[DamagedRow]) -> PurgeInventory:
    """An inventory in which each row that can be restored has the links and the times that it was stored with. Its key
    stays as it reads, because the row is found by it."""
    rows: dict[tuple[object, ...], _Columns] = {}
    links: dict[Link, Link] = {}
    for row in damaged:
        if row.table == "lineage" and row.restored is not None:
            links[_link(row.columns)] = _link(row.restored)
        elif row.has_its_key and row.restored is not None:
            rows[_key(row.table, row.columns)] = row.restored
    refusals = [refusal for refusal in held.refusals if ("changes", refusal.id) not in rows]
    refusals += [
        RefusalAge(columns["id"], columns["at"])
        for (table, *_), columns in rows.items()
        if table == "changes" and columns["decision"] == "refuse"
    ]
    return replace(
        held,
        transcripts=[
            row._replace(session=was["session"], parent_session=was["parent_session"], at=_at(was, "updated_at"))
            if (was := rows.get(("transcripts", row.id)))
            else row
            for row in held.transcripts
        ],
        episodes=[
            row._replace(transcript=was["transcript_id"], at=_at(was, "created_at"), identity=was["identity"])
            if (was := rows.get(("episodes", row.id)))
            else row
            for row in held.episodes
        ],
        sessions=[
            row._replace(forked_from=was["forked_from"], at=was["last_active_at"])
            if (was := rows.get(("sessions", row.id)))
            else row
            for row in held.sessions
        ],
        messages=[
            row._replace(id=was["id"], at=was["created_at"])
            if (was := rows.get(("messages", row.session, row.seq)))
            else row
            for row in held.messages
        ],
        versions=[
            row._replace(session=was["session"], content=was["content"], context=was["context"])
            if (was := rows.get(("memories", row.id, row.version)))
            else row
            for row in held.versions
        ],
        refusals=refusals,
        links=[links.get(link, link) for link in held.links],
        damaged=damaged,
    )


def may_remain(held: PurgeInventory, plan: Plan) -> bool:
    """Return whether a damaged row that the plan does not take may belong to what it takes."""
    if plan.everything:
        return False
    return any(_may_remain(row, plan) for row in held.damaged) or _has_orphan(held, plan)


def _may_remain(row: DamagedRow, plan: Plan) -> bool:
    if row.restored is None:
        return not _is_taken(row, plan)
    if row.table == "lineage":
        return False  # the plan has followed it as it was stored
    restored = row.restored
    return not row.has_its_key or any(row.columns[name] != restored[name] for name in _ALSO_LINKS.get(row.table, ()))


def _is_taken(row: DamagedRow, plan: Plan) -> bool:
    columns = row.columns
    if row.table == "changes":
        return columns["id"] in plan.refusals or not (columns["reason"] or columns["candidate"])
    if row.table == "messages":
        return (columns["session_id"], columns["seq"]) in plan.messages
    if row.table == "memories":
        return (columns["id"], columns["version"]) in plan.versions
    if row.table == "consolidations":
        return columns["session_id"] in plan.sessions | plan.shortened | plan.summaries
    if row.table == "transcript_consolidations":
        return columns["transcript_id"] in plan.transcripts | plan.trimmed
    if row.table == "session_summaries":
        return columns["session_id"] in plan.summaries
    if row.table == "lineage":
        return False
    taken = {"transcripts": plan.transcripts, "episodes": plan.episodes, "sessions": plan.sessions}
    return columns["id"] in taken[row.table]


def _has_orphan(held: PurgeInventory, plan: Plan) -> bool:
    """Return whether an episode stays whose transcript is not there: one of the two ids is damaged."""
    transcripts = {transcript.id for transcript in held.transcripts}
    return any(episode.transcript not in transcripts and episode.id not in plan.episodes for episode in held.episodes)


def _key(table: str, columns: _Columns) -> tuple[object, ...]:
    if table == "messages":
        return table, columns["session_id"], columns["seq"]
    if table == "memories":
        return table, columns["id"], columns["version"]
    return table, columns.get("id", "")


def _at(columns: _Columns, otherwise: str) -> int:
    """The time by which the age of a transcript or an episode counts."""
    times = (columns["ended_at"], columns["started_at"], columns[otherwise])
    return next(time for time in times if time is not None)


def _link(columns: _Columns) -> Link:
    return Link(
        (columns["child_kind"], columns["child_id"], columns["child_version"]),
        (columns["parent_kind"], columns["parent_id"], columns["parent_version"]),
        columns["role"],
    )

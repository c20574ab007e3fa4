"""Undoes the effects of a consolidation on its conversation, and undoes such an undo.

The facts of a run are undone like any other change (`undo.py`).

A run and its undo are the same operation in two directions, so one function does both: it restores the previous pointer
and summary, and removes or restores the timeline entry. The record of the run holds what this needs
(`consolidations.Record`). An undo replaces this record, under the run of the undo, by one that leads back. So one
record at a time describes the relation of a conversation to a consolidation:

    change             run   decision      on record
    c  consolidate     R     consolidate   R: messages 1–6, the entry's id
    d  undo c          U     reopen        U: the entry itself; the conversation is due again
    e  undo d          V     consolidate   V: messages 1–6, the entry's id

Only the latest step of a conversation can be undone, because each step begins where the previous one ended. Facts that
were undone count as forgotten, so consolidating the conversation again does not store them again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from picomem.coded_text import CodedText
from picomem.errors import Conflict
from picomem.light_dataclass import replace
from picomem.memory.remember import Writer
from picomem.memory.vectors import Vectors
from picomem.memory.version_history import applied
from picomem.records.episode import Episode
from picomem.records.memory import Change, Parent
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.tables import audit, consolidations, episodes, memory_lineage, session_rows

CONSOLIDATED, REOPENED = "consolidate", "reopen"  # decisions: a conversation was consolidated, and that was undone


def check_latest(tx: Transaction, scope: Scope, change: Change, undoes: Mapping[str, str]) -> None:
    """Raises Conflict where what a change did to its conversation was taken back already, or something happened to the
    conversation since, or nobody knows any more how it was."""
    latest = _latest(change, undoes)
    if applied(latest, undoes)[1] != applied(change.id, undoes)[1]:
        raise Conflict(
            f"Run {change.run} was undone already, by {latest}; undo that to have it again.", change_id=latest
        )
    kept = _record(tx, scope, latest)
    pointer, later = _pointer(tx, scope, kept) if kept else (None, "")
    if kept is not None and pointer is not None and pointer != kept.last:
        raise Conflict(
            f"Run {change.run} cannot be undone yet: the conversation was consolidated further by run {later}; undo "
            "that first.",
            run=later,
        )
    if kept is None and change.decision == REOPENED:
        raise Conflict(
            f"Run {change.run} cannot be undone: what it took back is past its time or was purged; `picomem "
            "consolidate` takes the conversation up anew, if it is still there."
        )


def on_record(tx: Transaction, scope: Scope, change: Change, undoes: Mapping[str, str]) -> bool:
    """Return whether it is known how the conversation was before a change; not where it was purged since."""
    return _record(tx, scope, _latest(change, undoes)) is not None


def turn_back(
    tx: Transaction,
    writer: Writer,
    scope: Scope,
    change: Change,
    reason: str,
    undoes: Mapping[str, str],
    vectors: Vectors | None,
) -> Change:
    """Put pointer, summary and timeline entry of a conversation back to what they were before a change; the change
    that says so."""
    kept = _record(tx, scope, _latest(change, undoes))
    done = writer.record(
        tx,
        scope,
        REOPENED if change.decision == CONSOLIDATED else CONSOLIDATED,
        reason or CodedText("reason.consolidation_taken_back", reason=change.reason),
        before=change.after,
        after=change.before,
        undoes=change.id,
    )
    if kept is None or _pointer(tx, scope, kept)[0] is None:
        return done  # the conversation was purged since
    session = session_rows.session(tx, scope, kept.session) if kept.session else None
    removed = _removed(tx, scope, kept.episodes)
    stored = _stored(tx, scope, kept, done, vectors)
    summary = session_rows.summary(tx, scope, kept.session) if kept.summarised else None
    if kept.summarised:
        _summarise(tx, scope, kept, done)
    if kept.transcript:
        consolidations.forget(tx, scope, kept.run)  # the pointer is where the latest run on record ended
    else:
        consolidations.move_back(tx, scope, kept)
    back = replace(
        kept,
        run=writer.run,
        change_id=done.id,
        last=kept.before_seq,
        before_seq=kept.last,
        before_at=session.last_consolidated_at if session else None,
        before_failures=session.consolidation_failures if session else 0,
        summary=summary,
        episodes=tuple(entry.id for entry in stored),
        entries=tuple(removed),
        at=writer.now,
    )
    consolidations.record(tx, scope, back)
    return done


def _latest(change: Change, undoes: Mapping[str, str]) -> str:
    """The last of the changes that did, undid and redid what a change is about."""
    base, _ = applied(change.id, undoes)
    return next((change_id for change_id in reversed(tuple(undoes)) if applied(change_id, undoes)[0] == base), base)


def _record(tx: Transaction, scope: Scope, change_id: str) -> consolidations.Record | None:
    recorded = audit.change(tx, scope, change_id)
    return consolidations.of_run(tx, scope, recorded.run) if recorded else None


def _pointer(tx: Transaction, scope: Scope, kept: consolidations.Record) -> tuple[int | None, str]:
    """Return up to where the conversation of a run is consolidated now, and its latest run; None if it was purged."""
    if kept.transcript:
        latest = consolidations.latest_of_transcript(tx, scope, kept.transcript)
        return (latest.last, latest.run) if latest else (None, "")
    session = session_rows.session(tx, scope, kept.session)
    return (session.last_consolidated_seq if session else None), consolidations.latest(tx, scope, kept.session)


def _removed(tx: Transaction, scope: Scope, ids: Sequence[str]) -> list[Episode]:
    removed = []
    for episode_id in ids:
        entry = episodes.episode(tx, scope, episode_id)
        if entry is not None:  # else it was past its time
            episodes.delete(tx, scope, entry)
            memory_lineage.purge_lineage(tx, scope, "episode", entry.id)
            removed.append(entry)
    return removed


def _stored(
    tx: Transaction, scope: Scope, kept: consolidations.Record, done: Change, vectors: Vectors | None
) -> list[Episode]:
    stored = episodes.insert_all(tx, scope, kept.entries)
    if kept.transcript:
        parents = _episodes_of(tx, scope, kept) if stored else []
    else:
        parents = _parents(tx, scope, kept, kept.entries[0].first_turn, kept.entries[0].last_turn + 1) if stored else []
    for entry in stored:
        memory_lineage.add_lineage(tx, scope, "episode", entry.id, 0, parents, done.id)
        if vectors is not None:
            vectors.store_text(tx, scope, "episode", entry.doc, episodes.meaning_of(entry))
    return stored


def _summarise(tx: Transaction, scope: Scope, kept: consolidations.Record, done: Change) -> None:
    """Let the summary be what it was before; there may have been none."""
    memory_lineage.purge_lineage(tx, scope, "summary", kept.session)
    if kept.summary is None:
        session_rows.delete_summary(tx, scope, kept.session)
        return
    session_rows.put_summary(tx, scope, kept.summary)
    parents = _parents(tx, scope, kept, 0, kept.summary.covered_seq)
    memory_lineage.add_lineage(tx, scope, "summary", kept.session, 0, parents, done.id)


def _parents(tx: Transaction, scope: Scope, kept: consolidations.Record, after: int, last: int) -> list[Parent]:
    """The messages of the conversation behind a number, up to another."""
    said = session_rows.messages_after(tx, scope, kept.session, after).messages
    return [Parent(kind="message", id=message.id) for message in said if message.seq <= last]


def _episodes_of(tx: Transaction, scope: Scope, kept: consolidations.Record) -> list[Parent]:
    """Return the episodes of the turns that a run consolidated."""
    entry = kept.entries[0]
    there = episodes.of_transcript(tx, scope, kept.transcript, [])
    return [
        Parent(kind="episode", id=episode.id)
        for episode in there
        if episode.category == "transcript" and entry.first_turn <= episode.last_turn <= entry.last_turn
    ]

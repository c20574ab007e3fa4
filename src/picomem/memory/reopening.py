"""Taking back what a consolidation did to its conversation; its facts are taken back like any other change (`undo.py`).

The timeline entry goes (it is derived, and made anew), the summary becomes what it was, and the pointer goes back to
where it was, so that the conversation is due again. Facts that were taken back with it are forgotten since, so the next
run does not store them again. Only the latest run of a session can be taken back: what came later began where it ended.
"""

from __future__ import annotations

from picomem.errors import Conflict
from picomem.memory.remember import Writer
from picomem.records.memory import Change
from picomem.records.scope import Scope
from picomem.store import consolidations, episodes, memories, sessions
from picomem.store.connector import Transaction

CONSOLIDATED, REOPENED = "consolidate", "reopen"  # decisions: of a run's own change, and of the change that undoes it


def check_latest(tx: Transaction, scope: Scope, change: Change, undoes: dict[str, str]) -> None:
    """Raises Conflict where a run was taken back already, or the conversation went on being consolidated."""
    by = next((undo for undo, undone in undoes.items() if undone == change.id), "")
    if by:
        raise Conflict(
            f"Run {change.run} was undone already, by {by}; `picomem consolidate` does it anew.", change_id=by
        )
    kept = consolidations.of_run(tx, scope, change.run)
    session = sessions.session(tx, scope, kept.session) if kept else None
    if kept is not None and session is not None and session.last_consolidated_seq != kept.last:
        later = consolidations.latest(tx, scope, kept.session)
        raise Conflict(
            f"Run {change.run} cannot be undone yet: the conversation was consolidated further by run {later}; undo "
            "that first.",
            run=later,
        )


def reopen(tx: Transaction, writer: Writer, scope: Scope, change: Change, reason: str) -> Change:
    """Take back timeline entry, summary and pointer of a run; the change that says so."""
    kept = consolidations.of_run(tx, scope, change.run)
    done = writer.record(
        tx,
        scope,
        REOPENED,
        reason or f"taken back: {change.reason}",
        before=change.after,
        after=change.before,
        undoes=change.id,
    )
    if kept is None:
        return done  # the conversation was purged since
    for episode_id in kept.episodes:
        entry = episodes.episode(tx, scope, episode_id)
        if entry is not None:  # else it was past its time
            episodes.delete(tx, scope, entry)
            memories.purge_lineage(tx, scope, "episode", entry.id)
    if kept.summarised and kept.summary is not None:
        sessions.put_summary(tx, scope, kept.summary)
    elif kept.summarised:
        tx.run("purge_summary", user=scope.user, session_id=kept.session)
        memories.purge_lineage(tx, scope, "summary", kept.session)
    consolidations.move_back(tx, scope, kept)
    return done

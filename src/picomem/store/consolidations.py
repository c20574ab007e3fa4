"""Runs of consolidation, the pointer of a session, and what models cost: rows in, records out."""

from __future__ import annotations

import json
from collections.abc import Sequence

from picomem.clock import DAY, Micros
from picomem.records.ids import content_hash
from picomem.records.scope import Scope
from picomem.records.session import Session, Summary
from picomem.records.spend import Spend
from picomem.store import sessions
from picomem.store.connector import Transaction
from picomem.values import asdict, dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One consolidation, as it is kept for whoever takes it back. `before` is the session as it was; `before_summary`
    the summary as it was, if this run wrote one (`summarised`) and there was one."""

    id: str
    change_id: str
    before: Session
    before_summary: Summary | None
    summarised: bool
    generator: str
    first: int
    last: int
    episodes: tuple[str, ...]
    at: Micros


def waiting(tx: Transaction, scope: Scope) -> list[Session]:
    """The sessions of a scope with messages that no consolidation has read, the one that waits longest first."""
    rows = tx.all("sessions_to_consolidate", user=scope.user, agent=scope.agent, project=scope.project)
    return [found for row in rows if (found := sessions.from_row(scope, row)) is not None]


def move_pointer(tx: Transaction, session: Session, seq: int, at: Micros) -> bool:
    """Move the pointer from where `session` says that it is, and begin to count failures anew; whether it was there."""
    return bool(
        tx.run(
            "move_pointer",
            user=session.scope.user,
            id=session.id,
            before=session.last_consolidated_seq,
            seq=seq,
            at=at,
            failures=0,
        )
    )


def count_failure(tx: Transaction, session: Session) -> None:
    """One more failure in a row, if the pointer is still where `session` says."""
    tx.run("count_failure", user=session.scope.user, id=session.id, before=session.last_consolidated_seq)


def record(tx: Transaction, run: Run) -> None:
    """Keep what a run did, and what was there before it."""
    before = run.before
    summary = "" if run.before_summary is None else json.dumps(asdict(run.before_summary), ensure_ascii=False)
    tx.run(
        "insert_consolidation",
        user=before.scope.user,
        run=run.id,
        session_id=before.id,
        change_id=run.change_id,
        generator=run.generator,
        first_seq=run.first,
        last_seq=run.last,
        before_seq=before.last_consolidated_seq,
        before_at=before.last_consolidated_at,
        before_failures=before.consolidation_failures,
        before_summary=summary,
        summarised=int(run.summarised),
        episodes=json.dumps(run.episodes),
        at=run.at,
        content_hash=content_hash(run.id, before.id, summary),
    )


def add_spending(tx: Transaction, scope: Scope, at: Micros, model: str, spend: Spend) -> None:
    """Put what a model costs on the books of a day; a negative amount takes back what was put there too much."""
    tx.run("add_spending", user=scope.user, day=at // DAY, model=model, **asdict(spend))


def spent_on(tx: Transaction, scope: Scope, at: Micros) -> Spend:
    """What all models have cost on the day of a time."""
    calls, given, taken = tx.one("spent_on", user=scope.user, day=at // DAY) or (0, 0, 0)
    return Spend(int(calls), int(given), int(taken))


def spent_in_all(tx: Transaction, scope: Scope) -> Sequence[tuple[str, Spend]]:
    """What each model has cost since the beginning."""
    rows = tx.all("spent_in_all", user=scope.user)
    return [(model, Spend(int(calls), int(given), int(taken))) for model, calls, given, taken in rows]

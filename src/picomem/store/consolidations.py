"""Runs of consolidation, the pointer of a session, and what models cost: rows in, records out."""

from __future__ import annotations

import json
from collections.abc import Sequence

from picomem.clock import DAY, Micros
from picomem.errors import Corrupt
from picomem.records.ids import content_hash
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.records.session import Session, Summary
from picomem.records.spend import Spend
from picomem.store import sessions
from picomem.store.connector import Row, Transaction
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is on record of a run, for whoever takes it back: where the pointer went and was, and the summary before."""

    run: str
    session: str
    last: int
    before_seq: int
    before_at: Micros | None
    before_failures: int
    summary: Summary | None
    summarised: bool
    episodes: tuple[str, ...]


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
        content_hash=_hash(run.id, before.id, summary),
    )


def of_run(tx: Transaction, scope: Scope, run: str) -> Kept | None:
    """What is on record of a run; None where nothing is. Raises Corrupt for a damaged row."""
    row = tx.one("consolidation", user=scope.user, run=run)
    if row is None:
        return None
    if not is_whole(row):
        raise Corrupt(f"The record of consolidation {run} does not match its own hash; run `picomem doctor`.", id=run)
    return Kept(
        run=row[0],
        session=row[1],
        last=row[3],
        before_seq=row[4],
        before_at=row[5],
        before_failures=row[6],
        summary=_summary(row[7]),
        summarised=bool(row[8]),
        episodes=tuple(json.loads(row[9])),
    )


def latest(tx: Transaction, scope: Scope, session_id: str) -> str:
    """The latest run of a session; empty where there is none."""
    row = tx.one("latest_consolidation", user=scope.user, session_id=session_id)
    return str(row[0]) if row else ""


def move_back(tx: Transaction, scope: Scope, kept: Kept) -> None:
    """Put the pointer back to where it was before a run, and forget the run."""
    tx.run(
        "move_pointer_back",
        user=scope.user,
        id=kept.session,
        last=kept.last,
        seq=kept.before_seq,
        at=kept.before_at,
        failures=kept.before_failures,
    )
    tx.run("delete_consolidation", user=scope.user, run=kept.run)


def is_whole(row: Row) -> bool:
    """Whether a record of a run matches its hash."""
    return row[10] == _hash(row[0], row[1], row[7])


def rewrite(tx: Transaction, scope: Scope, row: Row, summary: str) -> None:
    """Store another text for the summary before a run; a damaged row stays one."""
    digest = _hash(row[0], row[1], summary) if is_whole(row) else ""
    tx.run("rewrite_consolidation_text", user=scope.user, run=row[0], before_summary=summary, content_hash=digest)


def _summary(stored: str) -> Summary | None:
    if not stored:
        return None
    given = json.loads(stored)
    return Summary(**{**given, "origin": Origin(given["origin"])})


def _hash(run: str, session: str, summary: str) -> str:
    return content_hash(run, session, summary)


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

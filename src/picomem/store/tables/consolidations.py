"""Runs of consolidation, the pointer of a session, and the cost of models: rows in, records out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from picomem.clock import DAY, Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.light_dataclass import asdict, dataclass
from picomem.records.episode import Episode
from picomem.records.kinds import Origin
from picomem.records.scope import Scope
from picomem.records.session import Session, Summary
from picomem.records.spend import Spend
from picomem.store import row_hash
from picomem.store.connector import Row, Transaction
from picomem.store.sql_access import sql
from picomem.store.tables import session_rows
from picomem.store.unchecked_rows import Stored, stored


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The effect of a run on its conversation, for the undo. `run` made it with the change `change_id`.

    Of a conversation with PicoBot `session` is the id, and the numbers are of messages. Of a transcript `transcript`
    is, the numbers are of turns, counted from 1, and `generation` is that of the transcript.

    A run that took messages up moved the pointer to `last`, stored the timeline entry `episodes` (ids) and, if
    `summarised`, the summary. One that took that back moved the pointer as well and removed the entry, which is then
    kept whole in `entries`. Pointer, failures and `summary` (None: there was none) are those before the run.
    """

    run: str
    change_id: str
    session: str
    generator: str
    first: int
    last: int
    before_seq: int
    before_at: Micros | None
    before_failures: int
    summary: Summary | None
    summarised: bool
    episodes: tuple[str, ...] = ()
    entries: tuple[Episode, ...] = ()
    at: Micros
    transcript: str = ""
    generation: int = 0


class RunText(NamedTuple):
    """The texts that are kept of a run, as they are stored (JSON): the summary before it, and its timeline entries,
    which hold text only where the run removed one. `session` is empty where the run was of a transcript."""

    run: str
    session: str
    transcript: str
    summary: str
    episodes: str

    @property
    def texts(self) -> list[str]:
        """The texts that the row holds."""
        return [self.summary, self.episodes] if _holds_text(self.episodes) else [self.summary]


class UnreadTranscript(NamedTuple):
    """A transcript with so many episodes that no consolidation has read, and their tokens."""

    id: str
    episodes: int
    tokens: int


class DistilledUpTo(NamedTuple):
    """How many turns of a transcript a model has seen, in which generation of its file."""

    turns: int
    generation: int


def waiting(tx: Transaction, scope: Scope) -> list[Session]:
    """The sessions of a scope with messages that no consolidation has read, the one that waits longest first."""
    rows = sql(tx).all("sessions_to_consolidate", user=scope.user, agent=scope.agent, project=scope.project)
    return [session for row in rows if (session := session_rows.from_row(scope, row)) is not None]


def move_pointer(tx: Transaction, session: Session, seq: int, at: Micros) -> bool:
    """Move the pointer from where `session` says that it is, and begin to count failures anew; whether it was there."""
    return bool(
        sql(tx).run(
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
    sql(tx).run("count_failure", user=session.scope.user, id=session.id, before=session.last_consolidated_seq)


def record(tx: Transaction, scope: Scope, made: Record) -> None:
    """Keep what a run did, and what was there before it."""
    if made.transcript:
        _record_of_transcript(tx, scope, made)
        return
    summary = "" if made.summary is None else json.dumps(asdict(made.summary), ensure_ascii=False)
    entries = json.dumps([*made.episodes, *map(asdict, made.entries)], ensure_ascii=False)
    sql(tx).run(
        "insert_consolidation",
        user=scope.user,
        run=made.run,
        session_id=made.session,
        change_id=made.change_id,
        generator=made.generator,
        first_seq=made.first,
        last_seq=made.last,
        before_seq=made.before_seq,
        before_at=made.before_at,
        before_failures=made.before_failures,
        before_summary=summary,
        summarised=int(made.summarised),
        episodes=entries,
        at=made.at,
    )


def _record_of_transcript(tx: Transaction, scope: Scope, made: Record) -> None:
    sql(tx).run(
        "insert_transcript_consolidation",
        user=scope.user,
        run=made.run,
        transcript_id=made.transcript,
        change_id=made.change_id,
        generator=made.generator,
        first_turn=made.first,
        last_turn=made.last,
        before_turn=made.before_seq,
        generation=made.generation,
        episodes=json.dumps([*made.episodes, *map(asdict, made.entries)], ensure_ascii=False),
        at=made.at,
    )


def of_run(tx: Transaction, scope: Scope, run: str) -> Record | None:
    """The record of a run; None if there is none. Raises Corrupt for a damaged row."""
    row = sql(tx).one("consolidation", user=scope.user, run=run)
    if row is None:
        return _of_transcript(sql(tx).one("transcript_consolidation", user=scope.user, run=run))
    if not row_hash.is_whole("consolidations", row):
        raise Corrupt(CodedText("failure.damaged_consolidation", name=run, command=Command("doctor")), id=run)
    values = row_hash.by_name("consolidations", row)
    entries: list[str | dict[str, Any]] = json.loads(values["episodes"])
    return Record(
        run=values["run"],
        session=values["session_id"],
        first=values["first_seq"],
        last=values["last_seq"],
        before_seq=values["before_seq"],
        before_at=values["before_at"],
        before_failures=values["before_failures"],
        summary=_summary(values["before_summary"]),
        summarised=bool(values["summarised"]),
        episodes=tuple(entry for entry in entries if isinstance(entry, str)),
        entries=tuple(_entry(entry) for entry in entries if not isinstance(entry, str)),
        change_id=values["change_id"],
        generator=values["generator"],
        at=values["at"],
    )


def _of_transcript(row: Row | None) -> Record | None:
    if row is None:
        return None
    if not row_hash.is_whole("transcript_consolidations", row):
        raise Corrupt(
            CodedText("failure.damaged_consolidation", name=str(row[0]), command=Command("doctor")), id=str(row[0])
        )
    values = row_hash.by_name("transcript_consolidations", row)
    entries: list[str | dict[str, Any]] = json.loads(values["episodes"])
    return Record(
        run=values["run"],
        session="",
        transcript=values["transcript_id"],
        first=values["first_turn"],
        last=values["last_turn"],
        before_seq=values["before_turn"],
        generation=values["generation"],
        episodes=tuple(entry for entry in entries if isinstance(entry, str)),
        entries=tuple(_entry(entry) for entry in entries if not isinstance(entry, str)),
        change_id=values["change_id"],
        generator=values["generator"],
        at=values["at"],
        before_at=None,
        before_failures=0,
        summary=None,
        summarised=False,
    )


def latest_of_transcript(tx: Transaction, scope: Scope, transcript_id: str) -> Record | None:
    """The latest run of a transcript; None where there is none. Raises Corrupt for a damaged row."""
    return _of_transcript(sql(tx).one("latest_transcript_consolidation", user=scope.user, transcript_id=transcript_id))


def of_transcript(tx: Transaction, scope: Scope, transcript_id: str) -> list[Record]:
    """The runs of a transcript, the latest first. Raises Corrupt for a damaged row."""
    rows = sql(tx).all("transcript_consolidations_of", user=scope.user, transcript_id=transcript_id)
    return [record for row in rows if (record := _of_transcript(row)) is not None]


def distilled(tx: Transaction, scope: Scope) -> dict[str, DistilledUpTo]:
    """Up to where a model has distilled transcripts, by their ids."""
    rows = sql(tx).all("distilled_transcripts", user=scope.user)
    return {str(transcript_id): DistilledUpTo(int(turns), int(generation)) for transcript_id, turns, generation in rows}


def waiting_transcripts(tx: Transaction, scope: Scope, most_tokens: int) -> list[UnreadTranscript]:
    """The transcripts of a scope with episodes that no consolidation has read, the latest first. Each episode counts
    with at most so many tokens."""
    rows = sql(tx).all(
        "transcripts_to_consolidate", user=scope.user, agent=scope.agent, project=scope.project, most=most_tokens
    )
    return [UnreadTranscript(*row) for row in rows]


def latest(tx: Transaction, scope: Scope, session_id: str) -> str:
    """The latest run of a session; empty where there is none."""
    row = sql(tx).one("latest_consolidation", user=scope.user, session_id=session_id)
    return str(row[0]) if row else ""


def move_back(tx: Transaction, scope: Scope, made: Record) -> None:
    """Put the pointer back to where it was before a run, and forget the run."""
    sql(tx).run(
        "move_pointer_back",
        user=scope.user,
        id=made.session,
        last=made.last,
        seq=made.before_seq,
        at=made.before_at,
        failures=made.before_failures,
    )
    forget(tx, scope, made.run)


def forget(tx: Transaction, scope: Scope, run: str) -> None:
    """Delete what is on record of a run: it cannot be taken back any more."""
    sql(tx).run("delete_consolidation", user=scope.user, run=run)
    sql(tx).run("delete_transcript_consolidation", user=scope.user, run=run)


def forget_entries(tx: Transaction, scope: Scope, before: Micros) -> None:
    """Forget the runs that keep a timeline entry which was made before a time."""
    for text, whole, _ in stored_runs(tx, scope):
        if whole and _holds_text(text.episodes) and _is_any_older(text.episodes, before):
            forget(tx, scope, text.run)


def stored_runs(tx: Transaction, scope: Scope) -> Iterator[Stored[RunText]]:
    """The texts that are kept of every run of the user, by run."""
    yield from stored("consolidations", _run_text, sql(tx).all("all_consolidations", user=scope.user))
    rows = sql(tx).all("all_transcript_consolidations", user=scope.user)
    yield from stored("transcript_consolidations", _transcript_run_text, rows)


def _run_text(row: Row) -> RunText:
    values = row_hash.by_name("consolidations", row)
    return RunText(
        run=values["run"],
        session=values["session_id"],
        transcript="",
        summary=values["before_summary"],
        episodes=values["episodes"],
    )


def _transcript_run_text(row: Row) -> RunText:
    values = row_hash.by_name("transcript_consolidations", row)
    return RunText(
        run=values["run"], session="", transcript=values["transcript_id"], summary="", episodes=values["episodes"]
    )


def rewrite_text(tx: Transaction, scope: Scope, text: RunText) -> None:
    """Store other texts for a run; a damaged row stays one."""
    if text.transcript:
        statement = "rewrite_transcript_consolidation_text"
        sql(tx).run(statement, user=scope.user, run=text.run, episodes=text.episodes)
        return
    sql(tx).run(
        "rewrite_consolidation_text",
        user=scope.user,
        run=text.run,
        before_summary=text.summary,
        episodes=text.episodes,
    )


def delete_of_session(tx: Transaction, scope: Scope, session_id: str) -> None:
    """Delete what is on record of every run of a session."""
    sql(tx).run("purge_consolidations", user=scope.user, session_id=session_id)


def delete_spending(tx: Transaction, scope: Scope) -> None:
    """Delete what models have cost the user."""
    sql(tx).run("purge_spending", user=scope.user)


def _summary(stored: str) -> Summary | None:
    if not stored:
        return None
    fields: dict[str, Any] = json.loads(stored)
    fields["origin"] = Origin(fields["origin"])
    return Summary(**fields)


def _entry(stored: dict[str, Any]) -> Episode:
    fields: dict[str, Any] = {**stored, "origin": Origin(stored["origin"])}
    return Episode(**fields)


def _is_any_older(entries: str, before: Micros) -> bool:
    return any(entry["created_at"] < before for entry in json.loads(entries))


def _holds_text(stored: str) -> bool:
    """Return whether the column of episodes holds entries, and not only ids, which are no text."""
    return "{" in stored


def add_spending(tx: Transaction, scope: Scope, at: Micros, model: str, spend: Spend) -> None:
    """Put what a model costs on the books of a day; a negative amount takes back what was put there too much."""
    sql(tx).run("add_spending", user=scope.user, day=at // DAY, model=model, **asdict(spend))


def spent_on(tx: Transaction, scope: Scope, at: Micros) -> Spend:
    """The cost of all models on the day of a time."""
    calls, given, taken = sql(tx).one("spent_on", user=scope.user, day=at // DAY) or (0, 0, 0)
    return Spend(int(calls), int(given), int(taken))


def spent_by_day(tx: Transaction, scope: Scope, since: Micros) -> dict[int, int]:
    """The tokens of all models on each day since a time on which there were any, by the day's number since 1970."""
    rows = sql(tx).all("spent_by_day", user=scope.user, first=since // DAY)
    return {int(day): int(tokens) for day, tokens in rows}


def spent_in_all(tx: Transaction, scope: Scope) -> dict[str, Spend]:
    """The total cost of each model."""
    rows = sql(tx).all("spent_in_all", user=scope.user)
    return {model: Spend(int(calls), int(given), int(taken)) for model, calls, given, taken in rows}

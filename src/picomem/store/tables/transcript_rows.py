"""Transcripts: rows in, records out. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.errors import Corrupt
from picomem.records.episode import BY_PERSON, KnownFolder, Transcript
from picomem.records.scope import Scope
from picomem.store import row_counts, row_hash
from picomem.store.connector import Row, Transaction
from picomem.store.sql_access import sql
from picomem.store.tables.memories import id_range
from picomem.store.unchecked_rows import Stored, stored


class HostCount(NamedTuple):
    """The transcripts of a host: the number of `files`, their total size in bytes, and when something new was read from
    one last."""

    host: str
    files: int
    turns: int
    bytes: int
    read_at: Micros


class TranscriptTurns(NamedTuple):
    """How many turns of a transcript were read."""

    path: str
    session: str
    turns: int


def put_transcript(tx: Transaction, scope: Scope, transcript: Transcript) -> None:
    values = {name: getattr(transcript, name) for name in Transcript.__slots__}
    sql(tx).run("put_transcript", user=scope.user, **values)


def transcripts_at(tx: Transaction, scope: Scope, path: str) -> list[Transcript]:
    """The transcripts that a file holds, in order of their ids."""
    at_path = [_transcript(row) for row in sql(tx).all("transcripts_at_path", user=scope.user, path=path)]
    return sorted(at_path, key=_id_of)


def turns_of_host(tx: Transaction, scope: Scope, host: str) -> list[TranscriptTurns]:
    """The number of turns of each transcript of a host."""
    return [TranscriptTurns(*row) for row in sql(tx).all("turns_of_host", user=scope.user, host=host)]


def transcript_at(tx: Transaction, scope: Scope, path: str, session: str) -> Transcript | None:
    row = sql(tx).one("transcript_at_path", user=scope.user, path=path, session=session)
    return None if row is None else _transcript(row)


def transcripts_of_session(tx: Transaction, scope: Scope, host: str, session: str) -> list[Transcript]:
    """The transcripts of a session, in order of their ids."""
    rows = sql(tx).all("transcripts_of_session", user=scope.user, host=host, session=session)
    return sorted((_transcript(row) for row in rows), key=_id_of)


def longest_transcript(tx: Transaction, scope: Scope, session: str) -> str:
    """The id of the transcript with the most turns of a session that is known to have one."""
    row = sql(tx).one("longest_transcript", user=scope.user, session=session)
    assert row is not None
    return str(row[0])


def transcript(tx: Transaction, scope: Scope, transcript_id: str) -> Transcript | None:
    row = sql(tx).one("transcript", user=scope.user, id=transcript_id)
    return None if row is None else _transcript(row)


def projects(tx: Transaction, scope: Scope) -> list[str]:
    """The projects that something of the user belongs to, but for withheld sessions."""
    return [str(project) for (project,) in sql(tx).all("projects", user=scope.user)]


def known_folders(tx: Transaction, scope: Scope, *, latest_last: bool = False) -> list[KnownFolder]:
    """The folders of the user's sessions: the one with the first session first, or the one with the latest last."""
    rows = sql(tx).all("known_folders", user=scope.user)
    return [KnownFolder(*row[:3]) for row in (sorted(rows, key=itemgetter(3)) if latest_last else rows)]


def agents(tx: Transaction, scope: Scope) -> list[str]:
    """The agents that something of the user belongs to, but for withheld sessions."""
    return [str(agent) for (agent,) in sql(tx).all("agents", user=scope.user)]


def transcripts(tx: Transaction, scope: Scope) -> list[Transcript]:
    """Every transcript of the user, by id. Raises Corrupt where a row is damaged."""
    return [_transcript(row) for row in _transcripts(tx, scope)]


def stored_transcripts(tx: Transaction, scope: Scope) -> Iterator[Stored[Transcript]]:
    """Every transcript of the user, by id."""
    return stored("transcripts", _transcript_record, _transcripts(tx, scope))


def _transcripts(tx: Transaction, scope: Scope) -> list[Row]:
    return sql(tx).all("transcripts", user=scope.user)


def count_by_host(tx: Transaction, scope: Scope) -> list[HostCount]:
    """Return how many transcripts there are of each host, but for withheld sessions."""
    rows = sql(tx).all("count_transcripts", user=scope.user)
    return [HostCount(host, files, turns or 0, size or 0, read_at) for host, files, turns, size, read_at in rows]


def count_shown(tx: Transaction, scope: Scope) -> int:
    """Return how many episodes there are, but for withheld sessions."""
    row = sql(tx).one("count_withheld_episodes", user=scope.user)
    return row_counts.episodes(tx, scope) - (int(row[0]) if row else 0)


def any_withheld(tx: Transaction, scope: Scope) -> bool:
    """Return whether the user withheld any transcript."""
    return sql(tx).one("denied_transcript", user=scope.user) is not None


def allowed_transcripts(tx: Transaction, scope: Scope) -> set[str]:
    """The ids of the transcripts within a scope that the user did not withhold."""
    rows = sql(tx).all("allowed_transcripts", **reader_values(scope))
    return {transcript_id for (transcript_id,) in rows}


def latest_sessions(tx: Transaction, scope: Scope, limit: int) -> list[Transcript]:
    """The transcripts of people within a scope that ended last and were not withheld, the latest first. Damaged rows
    are left out."""
    rows = sql(tx).all("latest_sessions", **reader_values(scope), limit=limit)
    return [_transcript_record(row) for row in rows if row_hash.is_whole("transcripts", row)]


def count_past_sessions(tx: Transaction, scope: Scope) -> int:
    """Return how many transcripts of people there are within a scope, but for withheld ones."""
    (count,) = sql(tx).one("count_past_sessions", **reader_values(scope)) or (0,)
    return int(count)


def reader_values(scope: Scope) -> dict[str, object]:
    """The values of a statement on what is within a scope."""
    return {
        "user": scope.user,
        "project": scope.project,
        "former_projects": json.dumps(scope.former_projects),
        "agent": scope.agent,
        "session": scope.session,
    }


def transcripts_in_order(tx: Transaction, scope: Scope, now: Micros, quiet: Micros) -> list[str]:
    """The ids of the transcripts of people within a scope that were not withheld and began by `now`, the first to
    begin first. Those that ended behind `quiet` are left out, as going on."""
    rows = sql(tx).all(
        "sessions_in_order",
        user=scope.user,
        project=scope.project,
        agent=scope.agent,
        session=scope.session,
        now=now,
        quiet=quiet,
    )
    return [transcript_id for (transcript_id,) in rows]


def retell_transcript(tx: Transaction, scope: Scope, transcript: Transcript) -> None:
    """Store another title for a transcript, and another state of its reader."""
    sql(tx).run("retell_transcript", user=scope.user, id=transcript.id, title=transcript.title, state=transcript.state)


def retitle_transcript(tx: Transaction, scope: Scope, transcript: Transcript) -> None:
    """Store another title for a transcript."""
    sql(tx).run("retitle_transcript", user=scope.user, id=transcript.id, title=transcript.title)


def purge_transcript(tx: Transaction, scope: Scope, transcript_id: str) -> None:
    """Delete the record of a transcript."""
    sql(tx).run("purge_transcript", user=scope.user, id=transcript_id)


class TranscriptPolicy(NamedTuple):
    """The send policy of a transcript, and who decided on it (None: nobody); `parent` is the session that set it to
    work."""

    id: str
    path: str
    session: str
    parent: str
    policy: str
    by: str | None


def policies(tx: Transaction, scope: Scope, host: str, *, decided_only: bool) -> list[TranscriptPolicy]:
    """The send policies of a host's transcripts, damaged or not: all, or those on which somebody decided."""
    name = "decided_policies_of_host" if decided_only else "policies_of_host"
    return [TranscriptPolicy(*row) for row in sql(tx).all(name, user=scope.user, host=host)]


def set_policy(tx: Transaction, scope: Scope, transcript_id: str, policy: str, by: str | None) -> None:
    """Set the send policy of one transcript."""
    sql(tx).run("set_policy_of_transcript", user=scope.user, id=transcript_id, policy=policy, by=by)


def withheld_by(tx: Transaction, scope: Scope, transcript: Transcript) -> str | None:
    """Who withheld the session of a transcript, or the session that set it to work; None if nobody did."""
    asked = {"session": transcript.session, "parent": transcript.parent_session}
    row = sql(tx).one("withheld", user=scope.user, **asked)
    return None if row is None else row[0] or BY_PERSON


def set_send_policy(tx: Transaction, scope: Scope, session: str, policy: str, by: str) -> int:
    """Set whether answers may use the transcripts of a session (its id, or its beginning), and who decided so; return
    how many they are."""
    return sql(tx).run("set_send_policy", user=scope.user, policy=policy, by=by, **id_range(session))


def _id_of(transcript: Transcript) -> str:
    return transcript.id


def _transcript_record(row: Row) -> Transcript:
    return row_hash.record_of(Transcript, row_hash.by_name("transcripts", row))


def _transcript(row: Row) -> Transcript:
    """A row as a record. Raises Corrupt where it does not match its hash."""
    if not row_hash.is_whole("transcripts", row):
        raise Corrupt(
            CodedText("failure.damaged_transcript", name=str(row[2]), command=Command("doctor")), id=str(row[0])
        )
    return _transcript_record(row)

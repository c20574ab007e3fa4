"""A user's rows, with their age and lineage, for the plan of a purge. Every call takes a scope."""

from __future__ import annotations

from typing import Any, NamedTuple

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.damaged_rows import legible, of_types, readable
from picomem.store.row_hash import by_name, is_whole
from picomem.store.sql_access import sql

Node = tuple[str, str, int]  # kind, id, and of a memory the version
_LINKING = {
    "transcripts": "transcripts",
    "episodes": "all_episodes",
    "sessions": "all_sessions",
    "messages": "all_messages",
    "session_summaries": "all_summaries",
    "memories": "all_memories",
    "changes": "whole_changes",
    "lineage": "all_lineage",
    "consolidations": "all_consolidations",
    "transcript_consolidations": "all_transcript_consolidations",
}  # by table, the statement that reads a user's rows with their hashes


class Link(NamedTuple):
    """One row of lineage."""

    child: Node
    parent: Node
    role: str


class TranscriptAge(NamedTuple):
    """A transcript and when it was last active."""

    id: str
    host: str
    session: str
    parent_session: str
    path: str
    title: str
    size: int
    at: Micros


class EpisodeAge(NamedTuple):
    """An episode and when it was last said."""

    id: str
    transcript: str
    at: Micros
    identity: str


class SessionAge(NamedTuple):
    """A conversation and when it was last active."""

    id: str
    forked_from: str
    at: Micros


class MessageAge(NamedTuple):
    """A message and when it was said."""

    session: str
    seq: int
    id: str
    at: Micros


class VersionText(NamedTuple):
    """A version of a memory: what it is called, the session that it belongs to, and what it says."""

    id: str
    version: int
    key: str
    session: str
    content: str
    context: str


class RefusalAge(NamedTuple):
    """A change that refused a text and when it was made."""

    id: str
    at: Micros


class DamagedRow(NamedTuple):
    """A row that does not match its hash, with its columns as they read."""

    table: str
    columns: dict[str, Any]


def damaged(tx: Transaction, scope: Scope) -> list[DamagedRow]:
    """The damaged rows that tell what belongs to what, or may hold text."""
    return [
        DamagedRow(table, by_name(table, legible(table, row)))
        for table, statement in _LINKING.items()
        for row in sql(tx).all(statement, user=scope.user)
        if not is_whole(table, row)
    ]


def transcripts(tx: Transaction, scope: Scope) -> list[TranscriptAge]:
    """Every transcript, by id."""
    return [
        TranscriptAge(*of_types(row, (str, str, str, str, str, str, int, int)))
        for row in sql(tx).all("transcript_ages", user=scope.user)
    ]


def episodes(tx: Transaction, scope: Scope) -> list[EpisodeAge]:
    """Every episode, by id."""
    return [EpisodeAge(*of_types(row, (str, str, int, str))) for row in sql(tx).all("episode_ages", user=scope.user)]


def sessions(tx: Transaction, scope: Scope) -> list[SessionAge]:
    """Every conversation, by id."""
    return [SessionAge(*of_types(row, (str, str, int))) for row in sql(tx).all("session_ages", user=scope.user)]


def messages(tx: Transaction, scope: Scope) -> list[MessageAge]:
    """Every message, in the order of the conversations."""
    return [MessageAge(*of_types(row, (str, int, str, int))) for row in sql(tx).all("message_ages", user=scope.user)]


def versions(tx: Transaction, scope: Scope) -> list[VersionText]:
    """Every version of a memory, by id and number."""
    return [
        VersionText(*of_types(row, (str, int, str, str, str, str)))
        for row in sql(tx).all("version_texts", user=scope.user)
    ]


def refusals(tx: Transaction, scope: Scope) -> list[RefusalAge]:
    """Every change that refused a text, oldest first."""
    return [RefusalAge(*of_types(row, (str, int))) for row in sql(tx).all("refusal_ages", user=scope.user)]


def links(tx: Transaction, scope: Scope) -> list[Link]:
    """All lineage, the damaged rows as far as they can be read."""
    rows = (readable("lineage", row) for row in sql(tx).all("all_lineage", user=scope.user))
    return [Link((row[0], row[1], row[2]), (row[3], row[4], row[5]), row[6]) for row in rows]

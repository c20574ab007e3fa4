"""All texts in the database that remain after a purge: those of users, and those about the file itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql

_ROWS = (
    "all_memories", "all_episodes", "transcripts", "whole_changes", "handouts", "all_lineage", "all_messages",
    "all_sessions", "all_summaries", "all_consolidations", "all_transcript_consolidations", "all_note_sections",
    "note_files", "exports", "count_vectors", "access_tokens", "jobs", "channel_messages", "contacts", "pairings",
)  # fmt: skip
_OF_THE_FILE = ("schema_texts", "all_meta")


def texts(tx: Transaction, users: Iterable[Scope]) -> Iterator[str]:
    """A text of each row that these users have, and of each that belongs to nobody, damaged or not."""
    for name in _OF_THE_FILE:
        for row in sql(tx).all(name):
            yield "\n".join(map(str, row))
    for user in users:
        for name in _ROWS:
            for row in sql(tx).all(name, user=user.user):
                yield "\n".join(map(str, row))

"""The timeline: the episodes of a scope, by time, and the messages behind an entry of a conversation with PicoBot."""

from __future__ import annotations

from typing import NamedTuple

from picomem.clock import Micros
from picomem.errors import Corrupt
from picomem.ingest.transcript_pointer import Opened
from picomem.policy.redact import Redactor
from picomem.recall.hits import episode_hit
from picomem.records.episode import Episode, Transcript
from picomem.records.hit import Hit
from picomem.records.scope import Scope
from picomem.records.transcript import Turn
from picomem.store.connector import Transaction
from picomem.store.tables import episodes, session_rows, transcript_rows
from picomem.store.tables.episodes import TimelinePlace
from picomem.store.tables.project_names import with_former_projects


class TimelineHits(NamedTuple):
    """Episodes as hits, latest first; `last` is the place of the last one if there are more behind it."""

    hits: list[Hit]
    last: TimelinePlace | None


def timeline(
    tx: Transaction,
    scope: Scope,
    since: Micros | None,
    until: Micros | None,
    limit: int,
    damaged: list[str],
    after: TimelinePlace | None = None,
    tag: str = "",
) -> TimelineHits:
    """At most `limit` episodes that began in [since, until), and with a tag, from the one behind `after`, latest first.

    The ids of damaged rows go on `damaged`.
    """
    reader = with_former_projects(tx, scope)
    entries, last = episodes.timeline(tx, reader, since, until, limit, damaged, after, tag)
    ids = dict.fromkeys(episode.transcript_id for episode in entries)
    transcripts: dict[str, Transcript] = {}
    for name in ids:
        try:
            transcript = transcript_rows.transcript(tx, scope, name)
        except Corrupt:
            transcript = None
        if transcript is None:  # damaged, or lost: nobody knows whether its user withheld it
            damaged.append(name)
        else:
            transcripts[name] = transcript
    hits = [
        episode_hit(episode, transcripts[episode.transcript_id], 0.0, "")
        for episode in entries
        if episode.transcript_id in transcripts
    ]
    return TimelineHits(hits, last)


def opened(tx: Transaction, scope: Scope, entry: Episode, session: str, redactor: Redactor) -> Opened:
    """The messages that a timeline entry was made of, from the session itself."""
    messages = session_rows.messages_after(tx, scope, session, entry.start - 1).messages
    turns = [
        Turn(
            index=message.seq - 1,
            role=message.role,
            text=redactor.redact(
                message.content or f"(it used {', '.join(tool_call.name for tool_call in message.tool_calls)})"
            ).text,
            at=message.created_at,
            origin=message.origin,
            start=message.seq,
            end=message.seq + 1,
        )
        for message in messages
        if message.seq < entry.end
    ]
    if not turns:
        return Opened("gone", (), "The messages of the conversation are gone; only the entry is left.")
    return Opened("open", tuple(turns))

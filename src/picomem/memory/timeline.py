"""The timeline: the episodes of a scope, by time."""

from __future__ import annotations

from picomem.clock import Micros
from picomem.errors import Corrupt
from picomem.recall.recall import episode_hit
from picomem.records.episode import Transcript
from picomem.records.hit import Hit
from picomem.records.scope import Scope
from picomem.store import episodes
from picomem.store.connector import Transaction


def timeline(
    tx: Transaction, scope: Scope, since: Micros | None, until: Micros | None, limit: int, damaged: list[str]
) -> list[Hit]:
    """At most `limit` episodes that began in [since, until), latest first; the ids of damaged rows go on `damaged`."""
    found = episodes.timeline(tx, scope, since, until, limit, damaged)
    ids = dict.fromkeys(episode.transcript_id for episode in found)
    transcripts = {each: _transcript(tx, scope, each, damaged) for each in ids}
    return [episode_hit(episode, transcripts[episode.transcript_id], 0.0, "") for episode in found]


def _transcript(tx: Transaction, scope: Scope, transcript_id: str, damaged: list[str]) -> Transcript | None:
    """The record of a transcript; None where it is damaged, for its episodes are whole."""
    try:
        return episodes.transcript(tx, scope, transcript_id)
    except Corrupt:
        damaged.append(transcript_id)
        return None

"""The times of events that episodes mention: rows in, times out. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql
from picomem.text.temporal.event_times import COARSEST, EventTime


def put_all(tx: Transaction, scope: Scope, events: Mapping[int, EventTime]) -> None:
    """Store the events of new episodes, by document."""
    if events:
        rows = (
            {"user": scope.user, "doc": doc, "since": event.since, "until": event.until}
            for doc, event in events.items()
        )
        sql(tx).run_many("put_episode_event", rows)


def replace(tx: Transaction, scope: Scope, doc: int, event: EventTime | None) -> None:
    """Store the event of an episode whose words have changed; None if they date none."""
    remove(tx, scope, doc)
    put_all(tx, scope, {doc: event} if event else {})


def remove(tx: Transaction, scope: Scope, doc: int) -> None:
    sql(tx).run("delete_episode_event", user=scope.user, doc=doc)


def of_docs(tx: Transaction, scope: Scope, docs: Iterable[int]) -> dict[int, EventTime]:
    """The events of episodes, by document."""
    rows = sql(tx).all("episode_events_of", user=scope.user, docs=json.dumps(list(docs)))
    return {doc: EventTime(since, until) for doc, since, until in rows}


def within(tx: Transaction, scope: Scope, since: int, until: int, limit: int) -> dict[int, EventTime]:
    """The events that may lie in [since, until), the latest `limit` of them, by document."""
    rows = sql(tx).all(
        "episode_events_within",
        user=scope.user,
        earliest=since - COARSEST,
        since=since,
        until=until,
        limit=limit,
    )
    return {doc: EventTime(begin, end) for doc, begin, end in rows}

"""The record of what was handed to agents: which memories and episodes, by their ids. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Iterable

from picomem.clock import Micros
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql
from picomem.store.tables.chains import HANDOUTS, ChainPlace

_ALL = 2**63 - 1  # a number of a row


def record(tx: Transaction, scope: Scope, actor: str, verb: str, ids: Iterable[str], now: Micros) -> None:
    """Record what an operation has handed to an actor."""
    handout_id, listed = new_id(), json.dumps(list(ids))
    facts = f"{len(actor)} {handout_id} {now} {verb} {actor}"
    values = HANDOUTS.next_link(tx, scope, HANDOUTS.last(tx, scope), facts, listed, now)
    sql(tx).run("insert_handout", user=scope.user, id=handout_id, at=now, actor=actor, verb=verb, ids=listed, **values)


def delete_before(tx: Transaction, scope: Scope, before: Micros, now: Micros) -> None:
    """Delete what was handed out before a time, up to the first row since. The chain begins behind it."""
    first = HANDOUTS.first_from(tx, scope, -_ALL)
    if first is None or first.at >= before:
        return
    (kept,) = sql(tx).one("first_handout_since", user=scope.user, since=before) or (None,)
    last = HANDOUTS.last(tx, scope) if kept is None else HANDOUTS.first_from(tx, scope, kept - 1)
    if last is not None:
        HANDOUTS.turn(tx, scope, now, "expired", at=ChainPlace(last.seq, last.link))
        sql(tx).run("delete_handouts", user=scope.user, seq=last.seq)


def purge(tx: Transaction, scope: Scope, now: Micros) -> None:
    """Delete everything that was recorded of a user."""
    HANDOUTS.turn(tx, scope, now, "erased")
    sql(tx).run("delete_handouts", user=scope.user, seq=_ALL)

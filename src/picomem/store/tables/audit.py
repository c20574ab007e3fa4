"""The audit trail, every decision about memory: rows in, records out. Every call takes a scope."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from picomem.clock import Micros
from picomem.coded_text import CodedText, Command, code_of, read_stored, stored_form
from picomem.errors import Corrupt, NotFound
from picomem.light_dataclass import asdict, replace
from picomem.records.ids import content_hash, new_id
from picomem.records.memory import ANY_CHANGE, Change, ChangeFilter
from picomem.records.scope import Scope
from picomem.store import chain_links, row_counts
from picomem.store.connector import Row, Transaction
from picomem.store.row_hash import by_name, is_whole, record_of
from picomem.store.sql_access import sql
from picomem.store.tables.chains import CHANGES, link_of_changed
from picomem.store.tables.memories import id_range, unique_id
from picomem.store.unchecked_rows import Stored, stored

_BEHIND_ALL = "\uffff"  # ids are hexadecimal
_PURGED = CodedText("reason.purged")  # the reason of a change whose own was erased


def record(tx: Transaction, scope: Scope, change: Change) -> Change:
    """Record a change; one without an id gets one behind all others. Ids, not times, give the order: clocks are set
    back."""
    last = CHANGES.last(tx, scope)
    if not change.id:
        change = replace(change, id=new_id(after=last.id if last else ""))
    values = {**asdict(change), "reason": stored_form(change.reason)}
    values["content_hash"] = content_hash(values["reason"], change.candidate)
    values |= {name: values[name] or None for name in ("idempotency_key", "request_hash")}
    values |= CHANGES.next_link(tx, scope, last, chain_links.facts(values), chain_links.content(values), change.at)
    sql(tx).run("insert_change", user=scope.user, **values)
    return change


def of_memory(tx: Transaction, scope: Scope, memory_id: str, damaged: list[str] | None = None) -> list[Change]:
    """The changes of a memory. Damaged rows are left out and put on `damaged`; without it they raise Corrupt."""
    return _read(sql(tx).all("changes_of_memory", user=scope.user, memory_id=memory_id), damaged)


class LatestChanges(NamedTuple):
    """The latest changes of a memory, oldest first, and how many there are before them."""

    changes: list[Change]
    left_out: int


def latest_of_memory(tx: Transaction, scope: Scope, memory_id: str, limit: int) -> LatestChanges:
    """The latest `limit` changes of a memory. Raises Corrupt for a damaged row."""
    values = {"user": scope.user, "memory_id": memory_id}
    changes = _read(sql(tx).all("latest_changes_of_memory", **values, limit=limit), None)
    (count,) = sql(tx).one("count_changes_of_memory", **values) or (0,)
    return LatestChanges(changes[::-1], count - len(changes))


def count_opened(tx: Transaction, scope: Scope, memory_id: str, before: int) -> int:
    """How many versions of a memory, of a number below `before`, were opened by changes."""
    (count,) = sql(tx).one("count_opened", user=scope.user, memory_id=memory_id, before=before) or (0,)
    return int(count)


def opened_since(tx: Transaction, scope: Scope, memory_id: str, since: int) -> list[int]:
    """The numbers of the versions of a memory that were opened by changes, from the number `since` on, in order."""
    rows = sql(tx).all("opened_since", user=scope.user, memory_id=memory_id, since=since)
    return [int(row[0]) for row in rows]


def latest(
    tx: Transaction,
    scope: Scope,
    limit: int,
    before: str = "",
    damaged: list[str] | None = None,
    wanted: ChangeFilter = ANY_CHANGE,
) -> list[Change]:
    """The latest changes, or the latest before the change with the id `before`; damaged rows as in `of_memory`."""
    values: dict[str, object] = {"user": scope.user, "before": before or _BEHIND_ALL, "limit": limit}
    values |= {"actor": wanted.actor, "verb": wanted.verb}
    if (wanted.since, wanted.until) == (ANY_CHANGE.since, ANY_CHANGE.until):
        return _read(sql(tx).all("latest_changes", **values), damaged)
    rows = sql(tx).all("latest_changes_between", **values, since=wanted.since, until=wanted.until)
    return _read(rows, damaged)


def last_id(tx: Transaction, scope: Scope) -> str:
    """The id of the last change, empty where there is none. Ids, not times, give the order: clocks are set back."""
    row = sql(tx).one("last_change_id", user=scope.user)
    return str(row[0]) if row else ""


def change(tx: Transaction, scope: Scope, change_id: str) -> Change | None:
    """The change of that very id. Raises Corrupt where its row is damaged."""
    rows = sql(tx).all("change", user=scope.user, id=change_id)
    return _read(rows, None)[0] if rows else None


def of_verb(tx: Transaction, scope: Scope, verb: str, ids: Iterable[str]) -> set[str]:
    """Return those of the changes with these ids that are of a verb."""
    rows = sql(tx).all("changes_of_verb", user=scope.user, verb=verb, ids=json.dumps(list(ids)))
    return {str(row[0]) for row in rows}


def every(tx: Transaction, scope: Scope) -> list[Change]:
    """Every change, oldest first, the damaged ones as far as they can be read: for a purge, which takes them all."""
    return [row.record for row in stored_changes(tx, scope)]


def stored_changes(tx: Transaction, scope: Scope) -> Iterator[Stored[Change]]:
    """Every change, oldest first."""
    return stored("changes", _change, sql(tx).all("whole_changes", user=scope.user))


def count_by_decision(tx: Transaction, scope: Scope) -> dict[str, int]:
    """Return how many changes there are of each decision."""
    return row_counts.by_name(sql(tx).all("count_changes", user=scope.user))


def of_run(tx: Transaction, scope: Scope, run: str) -> list[Change]:
    """The changes of a run, oldest first. Raises Corrupt where a row is damaged."""
    return _read(sql(tx).all("changes_of_run", user=scope.user, run=run), None)


def of_idempotency_key(tx: Transaction, scope: Scope, key: str) -> list[Change]:
    """The changes of the request with that key, oldest first. Raises Corrupt where a row is damaged."""
    return _read(sql(tx).all("changes_of_idempotency_key", user=scope.user, key=key), None)


def named(tx: Transaction, scope: Scope, name: str) -> list[Change]:
    """The change that an id or the beginning of one means, or all changes of the run that it means, oldest first.

    Raises NotFound where it means nothing, or several things.
    """
    exact = change(tx, scope, name)
    if exact is not None:
        return [exact]
    ids = [row[0] for row in sql(tx).all("change_ids_like", user=scope.user, **id_range(name))]
    runs = [row[0] for row in sql(tx).all("runs_like", user=scope.user, **id_range(name))]
    whole = of_run(tx, scope, runs[0]) if len(runs) == 1 else []
    # A run gets its id right before its first change does, so the beginning of the one is often that of the other.
    if not ids or [recorded.id for recorded in whole] == ids:
        ids = runs
    elif not runs:
        whole = [stored_change for change_id in ids if (stored_change := change(tx, scope, change_id)) is not None]
    if not ids:
        raise NotFound(CodedText("failure.no_change", name=name[:80], command=Command("changes")))
    unique_id([(candidate,) for candidate in dict.fromkeys([*ids, *runs])], name, "change")
    return whole


def undoing(tx: Transaction, scope: Scope, damaged: list[str] | None = None) -> dict[str, str]:
    """Every change that undoes another, with the one that it undoes, oldest first; damaged rows as in `of_memory`."""
    changes = _read(sql(tx).all("undoing_changes", user=scope.user), damaged)
    return {change.id: change.undoes for change in sorted(changes, key=lambda change: change.id)}


def blank(tx: Transaction, scope: Scope, change: Change) -> str:
    """Let a change keep only that it was made, when, by whom, and what `change` says it is about; its link."""
    return _change_content(
        tx, scope, "blank_change", replace(change, reason=_PURGED, candidate="", idempotency_key="", request_hash="")
    )


def is_blank(change: Change) -> bool:
    """Return whether what a change did was purged."""
    return code_of(change.reason) == _PURGED.code


def rewrite_text(tx: Transaction, scope: Scope, change: Change) -> None:
    """Store another reason and another candidate for a change."""
    _change_content(tx, scope, "rewrite_change_text", change)


def _change_content(tx: Transaction, scope: Scope, statement: str, change: Change) -> str:
    values = {**asdict(change), "reason": stored_form(change.reason)}
    values["content_hash"] = content_hash(values["reason"], change.candidate)
    values |= {name: values[name] or None for name in ("idempotency_key", "request_hash")}
    salt, link = link_of_changed(tx, scope, change.id, chain_links.content(values))
    sql(tx).run(statement, user=scope.user, salt=salt, **values)
    return link


def purge(tx: Transaction, scope: Scope, now: Micros) -> None:
    """Delete every change of the user. The chain goes on behind the last."""
    CHANGES.turn(tx, scope, now, "erased")
    sql(tx).run("purge_changes", user=scope.user)


def was_refused(tx: Transaction, scope: Scope, reason: str, candidate: str) -> bool:
    """Return whether this very refusal is on record already: a second run need not write it again."""
    row = sql(tx).one("refused_candidate", user=scope.user, content_hash=content_hash(stored_form(reason), candidate))
    return row is not None


def _read(rows: list[Row], damaged: list[str] | None) -> list[Change]:
    whole = [row for row in rows if is_whole("changes", row)]
    left_out = [str(row[0]) for row in rows if row not in whole] if len(whole) < len(rows) else []
    if left_out and damaged is None:
        raise Corrupt(
            CodedText("failure.damaged_change", name=left_out[0], command=Command("doctor")),
            id=left_out[0],
        )
    if damaged is not None:
        damaged += left_out
    return [_change(row) for row in whole]


def _change(row: Row) -> Change:
    values = by_name("changes", row)
    return record_of(
        Change,
        values,
        reason=read_stored(values["reason"]),
        idempotency_key=values["idempotency_key"] or "",
        request_hash=values["request_hash"] or "",
    )

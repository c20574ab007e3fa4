"""Memories that wait for a decision of a person, or may contradict others. Every call takes a scope."""

from __future__ import annotations

from typing import NamedTuple

from picomem.clock import Micros
from picomem.records.memory import contradicted_ids, newer_by_older
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.damaged_rows import of_types
from picomem.store.sql_access import sql
from picomem.store.tables.memory_rows import names_in
from picomem.store.tables.memory_statements import reader_values, rows_of_ids


class Undecided(NamedTuple):
    """A memory that may wait for a person's decision, without its words."""

    id: str
    known_from: Micros
    change_id: str


class Doubtful(NamedTuple):
    """A memory that may contradict others, or that others may contradict, without its words."""

    id: str
    version: int
    valid_from: Micros
    known_from: Micros
    contradicts: tuple[str, ...]  # ids
    is_entry: bool  # whether it may stand in the index page


def contradicting(tx: Transaction, scope: Scope, now: Micros) -> list[Doubtful]:
    """Return the current memories that may contradict others, and these others."""
    linking = [_doubtful(row) for row in sql(tx).all("contradicting_memories", **reader_values(scope, now))]
    targets = {target for memory in linking for target in memory.contradicts}
    rows = rows_of_ids(tx, "contradicted_memories", scope, now, targets)
    return list({memory.id: memory for memory in [*linking, *map(_doubtful, rows)]}.values())


def outdated_entries(tx: Transaction, scope: Scope, now: Micros) -> dict[str, str]:
    """Return, by the ids of memories of the index page that may be outdated, the ids of those that may replace them."""
    return newer_by_older(memory for memory in contradicting(tx, scope, now) if memory.is_entry)


def _doubtful(row: Row) -> Doubtful:
    id_, version, valid_from, known_from, related, is_entry = of_types(row, (str, int, int, int, str, int))
    return Doubtful(id_, version, valid_from, known_from, contradicted_ids(names_in(related)), bool(is_entry))


def undecided(tx: Transaction, scope: Scope, now: Micros) -> list[Undecided]:
    """Return the current memories that came from tools, the web or others."""
    rows = sql(tx).all("undecided_memories", **reader_values(scope, now))
    return [Undecided(*of_types(row, (str, int, str))) for row in rows]


def count_undecided(tx: Transaction, scope: Scope, now: Micros) -> int:
    """Return how many memories `undecided` has."""
    (count,) = sql(tx).one("count_undecided", **reader_values(scope, now)) or (0,)
    return int(count)


def undecided_of_verb(tx: Transaction, scope: Scope, now: Micros, verb: str) -> set[str]:
    """Return the changes that made those memories which `undecided` has, as far as they are of a verb."""
    return {str(id_) for (id_,) in sql(tx).all("undecided_of_verb", **reader_values(scope, now), verb=verb)}

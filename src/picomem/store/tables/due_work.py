"""Finds the users with due background work, in one statement for all users."""

from __future__ import annotations

from typing import NamedTuple

from picomem.clock import Micros
from picomem.errors import InvalidInput
from picomem.light_dataclass import asdict, dataclass
from picomem.records.scope import Scope
from picomem.store.connector import Row, Transaction
from picomem.store.sql_access import sql

LAST_USER = "\U0010ffff"  # no user's id is greater


@dataclass(frozen=True, slots=True, kw_only=True)
class JobSearch:
    """The users from `first` to `last` whose job of that name may begin now: it does not rest, and nobody has its
    `lease`. A rest or a lease that ends after `longest_rest` or `longest_lease` is not honoured."""

    first: str
    last: str
    job: str
    lease: str
    now: Micros
    longest_rest: Micros
    longest_lease: Micros


class Reach(NamedTuple):
    """A user, and a value that differs once a row was stored, or a vector of the model rewritten or taken out."""

    user: str
    value: str


def left_running(tx: Transaction, search: JobSearch) -> list[str]:
    """The users whose job is running as its row says, though no process has the lease on it."""
    return _ids(sql(tx).all("left_running", **asdict(search)))


def to_consolidate(tx: Transaction, search: JobSearch, idle_before: Micros, turns: int, tokens: int) -> list[str]:
    """The users with a conversation that is probably due: nobody has said anything in it since `idle_before`, or it has
    so many new turns, or more than so many new tokens."""
    rows = sql(tx).all("due_to_consolidate", **asdict(search), idle_before=idle_before, turns=turns, tokens=tokens)
    return _ids(rows)


def to_consolidate_transcripts(tx: Transaction, search: JobSearch, idle_before: Micros) -> list[str]:
    """The users with a transcript that has something new, in which nothing was said since `idle_before`."""
    rows = sql(tx).all("due_to_consolidate_transcripts", **asdict(search), idle_before=idle_before)
    return _ids(rows)


def to_retain(tx: Transaction, search: JobSearch, timeline_before: Micros, sessions_before: Micros) -> list[str]:
    """The users with an expired memory, a timeline entry made before a time, or a conversation that rests since one."""
    values = {"timeline_before": timeline_before, "sessions_before": sessions_before}
    return _ids(sql(tx).all("due_to_retain", **asdict(search), **values))


def to_embed(tx: Transaction, search: JobSearch, model: str) -> list[Reach]:
    """Every user with documents, and how far they have come."""
    rows = sql(tx).all("due_to_embed", **asdict(search), model=model)
    return [Reach(user, value) for user, value in rows if _is_id(user)]


def _ids(rows: list[Row]) -> list[str]:
    return [user for (user,) in rows if _is_id(user)]


def _is_id(user: str) -> bool:
    """Return whether it is a user's id: a damaged row may hold something else, which is for the doctor."""
    try:
        Scope(user)
    except InvalidInput:
        return False
    return True

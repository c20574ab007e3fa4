"""The chain over a user's record of changes, as chain_links.py defines it: its rows, its turns, and a walk over it.

A write holds the lock of its user, so nobody else links a row between the question for the last link and the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store import chain_links
from picomem.store.chain_key import ChainKeyFile
from picomem.store.chain_links import Broken, ChainKey, Row, Turn, TurnReason, Walk
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql
from picomem.store.tables import user_entries

_CHAIN = "changes"
_PAGE = 2_000  # rows
_BEFORE_ALL = -(2**63)  # numbers of rows begin with 1


class Place(NamedTuple):
    """A place in a chain: the number and the link of a row."""

    seq: int
    link: str


class ChainState(NamedTuple):
    """What a walk over a chain has found. `begins` is the turn behind which it begins, if any. It is whole up to the
    row `last`, and `broken` is the one behind that, where it is not as it was written."""

    turns: tuple[Turn, ...]
    begins: Turn | None
    last: Place
    broken: Broken | None


def next_link(tx: Transaction, scope: Scope, facts: str, content: str, now: Micros) -> dict[str, Any]:
    """The columns of the chain for a row that is written next."""
    key = key_file(tx).find_or_make()
    last = last_place(tx, scope) or Place(0, chain_links.beginning(key, _CHAIN, scope.user))
    if not goes_on(tx, scope, key, last):
        turn(tx, scope, now, "key")
    salt = chain_links.new_salt()
    sealed = chain_links.seal(salt, content)
    link = chain_links.link(key, last.link, sealed, facts)
    return {"seq": last.seq + 1, "salt": salt, "sealed": sealed, "link": link}


def salt_of_changed(tx: Transaction, scope: Scope, change_id: str, content: str) -> tuple[str, str]:
    """What takes the place of the salt of a change that is about to get other content, and the link, which stays."""
    key = key_file(tx).find_or_make()
    row = sql(tx).one("chain_row", user=scope.user, id=change_id)
    if row is None:
        return "", ""
    _, salt, sealed, link, _, before = row
    is_sealed = chain_links.is_sealed(key, salt, sealed, link, before)
    return chain_links.left(key, link, content) if is_sealed else "", link


def last_place(tx: Transaction, scope: Scope) -> Place | None:
    """The last row of a user's chain, or where it was before it was erased; None where there was none."""
    row = sql(tx).one("last_link", user=scope.user)
    if row is not None:
        return Place(*row)
    turns = chain_links.turns_of(_stored_turns(tx, scope))
    return Place(turns[-1].seq, turns[-1].link) if turns else None


def goes_on(tx: Transaction, scope: Scope, key: ChainKey, last: Place) -> bool:
    """Return whether the chain was linked with a key up to its last row, or begins behind that."""
    if key.made(last.link):
        return True
    text = _stored_turns(tx, scope)
    begins = chain_links.begin(chain_links.turns_of(text))
    return begins is not None and begins.seq == last.seq and chain_links.is_whole_text(key, scope.user, _CHAIN, text)


def turn(tx: Transaction, scope: Scope, now: Micros, reason: TurnReason, earlier: tuple[Turn, ...] = ()) -> None:
    """Record why the chain does not run on from its first row; nothing where there is no row yet. `earlier` are turns
    that are known from elsewhere."""
    last = last_place(tx, scope)
    if last is None:
        return
    key = key_file(tx).find_or_make()
    if reason == "restored" and not goes_on(tx, scope, key, last):
        reason = "moved"  # the backup is of a store with another key
    text = _stored_turns(tx, scope)
    # Turns under another key cannot be checked, and stand before the place where this one begins.
    is_whole = not key.made(last.link) or chain_links.is_whole_text(key, scope.user, _CHAIN, text)
    turns = (*earlier, *chain_links.turns_of(text), Turn(*last, now, reason))
    text = chain_links.turns_text(key, scope.user, _CHAIN, turns, is_whole=is_whole)
    user_entries.put(tx, scope, user_entries.CHAIN, text)


def walk(tx: Transaction, scope: Scope, key: ChainKey) -> ChainState:
    """Verify a user's chain, up to the first row that is not as it was written."""
    text = _stored_turns(tx, scope)
    turns = chain_links.turns_of(text)
    begins = chain_links.begin(turns)
    first = Place(begins.seq, begins.link) if begins else Place(0, chain_links.beginning(key, _CHAIN, scope.user))
    if not chain_links.is_whole_text(key, scope.user, _CHAIN, text):
        return ChainState(turns, begins, first, Broken(first.seq, "beginning"))
    # Only of another key, or in another store, are there rows that are not walked over.
    behind = first.seq if begins is not None and begins.reason != "erased" else _BEFORE_ALL
    walked = Walk(key, *first)
    for page in _pages(tx, scope, behind):
        if (wrong := walked.pass_over(page)) is not None:
            if wrong == "changed":
                rest = [row for behind in _pages(tx, scope, walked.seq) for row in behind]
                wrong = walked.kind_of_break(rest)
            return ChainState(turns, begins, Place(walked.seq, walked.link), Broken(walked.seq + 1, wrong))
    last = Place(walked.seq, walked.link)
    (count,) = sql(tx).one("count_chain_rows", user=scope.user, seq=behind) or (0,)
    # A page ends with a number, so it may miss another row of that number.
    return ChainState(turns, begins, last, None if count == last.seq - first.seq else Broken(last.seq, "inserted"))


class RowName(NamedTuple):
    """A change by its number, with its link, its id and its time."""

    seq: int
    link: str
    id: str
    at: Micros


def first_from(tx: Transaction, scope: Scope, seq: int) -> RowName | None:
    """The first change from a number on; None where there is none."""
    row = sql(tx).one("changes_of_seq", user=scope.user, seq=seq)
    return RowName(*row) if row else None


def _pages(tx: Transaction, scope: Scope, seq: int) -> Iterator[list[Row]]:
    while page := sql(tx).all("chain_rows", user=scope.user, seq=seq, limit=_PAGE):
        yield page
        seq = page[-1][0]


def turns(tx: Transaction, scope: Scope) -> tuple[Turn, ...]:
    """The turns of a user's chain, unchecked."""
    return chain_links.turns_of(_stored_turns(tx, scope))


def key_file(tx: Transaction) -> ChainKeyFile:
    """The file of the key of the chains."""
    return sql(tx).chain_key


def _stored_turns(tx: Transaction, scope: Scope) -> str | None:
    row = sql(tx).one("user_mark", user=scope.user, name=user_entries.CHAIN)
    return row[1] if row else None

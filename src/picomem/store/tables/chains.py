"""A user's chains, as chain_links.py defines them: over the record of changes, and over that of what was handed out.

A write holds the lock of its user, so nobody else links a row between the question for the last link and the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from picomem.clock import Micros
from picomem.records.scope import Scope
from picomem.store import chain_links
from picomem.store.chain_key import ChainKeyFile
from picomem.store.chain_links import Broken, ChainKey, ChainTurn, Row, TurnReason, Walk
from picomem.store.connector import Transaction
from picomem.store.sql_access import sql
from picomem.store.tables import user_entries

_PAGE = 2_000  # rows
_BEFORE_ALL = -(2**63)  # numbers of rows begin with 1


class ChainPlace(NamedTuple):
    """A place in a chain: the number and the link of a row; of the last one also the last id of all rows."""

    seq: int
    link: str
    id: str = ""


class LinkedRow(NamedTuple):
    """A row of a chain: its place, its id and its time."""

    seq: int
    link: str
    id: str
    at: Micros


class ChainState(NamedTuple):
    """What a walk over a chain has found. `begins` is the turn behind which it begins, if any. It is whole up to the
    row `last`, and `broken` is the one behind that, where it is not as it was written."""

    turns: tuple[ChainTurn, ...]
    begins: ChainTurn | None
    last: ChainPlace
    broken: Broken | None


class Chain(NamedTuple):
    """A chain of each user: its name, the entry of its turns, and the statements that read its rows."""

    name: str
    entry: str
    rows: str
    counted: str
    last_row: str
    from_number: str

    def next_link(
        self, tx: Transaction, scope: Scope, last: ChainPlace | None, facts: str, content: str, now: Micros
    ) -> dict[str, Any]:
        """The columns of the chain for a row that is written next, behind the `last`."""
        key = key_file(tx).find_or_make()
        last = last or self._beginning(scope, key)
        if not self.goes_on(tx, scope, key, last):
            for chain in CHAINS:
                chain.turn(tx, scope, now, "key")
        salt = chain_links.new_salt()
        sealed = chain_links.seal(salt, content)
        link = chain_links.link(key, last.link, sealed, facts)
        return {"seq": last.seq + 1, "salt": salt, "sealed": sealed, "link": link}

    def last(self, tx: Transaction, scope: Scope) -> ChainPlace | None:
        """The place of a user's last row, or where it was before it was erased; None where there was none."""
        row = sql(tx).one(self.last_row, user=scope.user)
        if row is not None:
            return ChainPlace(*row)
        turns = self.turns(tx, scope)
        return ChainPlace(turns[-1].seq, turns[-1].link) if turns else None

    def goes_on(self, tx: Transaction, scope: Scope, key: ChainKey, last: ChainPlace) -> bool:
        """Return whether the chain was linked with a key up to its last row, or begins behind that."""
        if key.made(last.link):
            return True
        begins = chain_links.begin(self.turns(tx, scope))
        return begins is not None and begins.seq == last.seq and self._has_whole_turns(tx, scope, key)

    def turn(
        self,
        tx: Transaction,
        scope: Scope,
        now: Micros,
        reason: TurnReason,
        *,
        earlier: tuple[ChainTurn, ...] = (),
        at: ChainPlace | None = None,
    ) -> None:
        """Record why the chain does not run on from its first row: at its last row, or another; nothing where there was
        no row yet, unless in a backup. `earlier` are turns that are known from elsewhere."""
        last = at or self.last(tx, scope) or (ChainPlace(*earlier[-1][:2]) if earlier else None)
        if last is None and reason != "restored":
            return
        key = key_file(tx).find_or_make()
        last = last or self._beginning(scope, key)
        if reason == "restored" and not self.goes_on(tx, scope, key, last):
            reason = "moved"  # the backup is of a store with another key
        # Turns under another key cannot be checked, and stand before the place where this one begins.
        is_whole = not key.made(last.link) or self._has_whole_turns(tx, scope, key)
        before = (*earlier, *self.turns(tx, scope))
        if reason == "expired":
            before = tuple(turn for turn in before if turn.reason != "expired")
        turns = (*before, ChainTurn(last.seq, last.link, now, reason))
        text = chain_links.turns_text(key, scope.user, self.name, turns, is_whole=is_whole)
        user_entries.put(tx, scope, self.entry, text)

    def turns(self, tx: Transaction, scope: Scope) -> tuple[ChainTurn, ...]:
        """The turns of a user's chain, unchecked."""
        return chain_links.turns_of(self._stored_turns(tx, scope))

    def walk(self, tx: Transaction, scope: Scope, key: ChainKey) -> ChainState:
        """Verify a user's chain, up to the first row that is not as it was written."""
        turns = self.turns(tx, scope)
        begins = chain_links.begin(turns)
        first = ChainPlace(begins.seq, begins.link) if begins else self._beginning(scope, key)
        if not self._has_whole_turns(tx, scope, key):
            return ChainState(turns, begins, first, Broken(first.seq, "beginning"))
        # Only of another key, or in another store, are there rows that are not walked over.
        behind = first.seq if begins is not None and begins.reason in ("key", "moved") else _BEFORE_ALL
        walked = Walk(key, first.seq, first.link)
        for page in self._pages(tx, scope, behind):
            if (wrong := walked.pass_over(page)) is not None:
                if wrong == "changed":
                    wrong = walked.kind_of_break([row for rest in self._pages(tx, scope, walked.seq) for row in rest])
                return ChainState(turns, begins, ChainPlace(walked.seq, walked.link), Broken(walked.seq + 1, wrong))
        last = ChainPlace(walked.seq, walked.link)
        (count,) = sql(tx).one(self.counted, user=scope.user, seq=behind) or (0,)
        # A page ends with a number, so it may miss another row of that number.
        return ChainState(turns, begins, last, None if count == last.seq - first.seq else Broken(last.seq, "inserted"))

    def first_from(self, tx: Transaction, scope: Scope, seq: int) -> LinkedRow | None:
        """The first row from a number on; None where there is none."""
        row = sql(tx).one(self.from_number, user=scope.user, seq=seq)
        return LinkedRow(*row) if row else None

    def _beginning(self, scope: Scope, key: ChainKey) -> ChainPlace:
        return ChainPlace(0, chain_links.beginning(key, self.name, scope.user))

    def _pages(self, tx: Transaction, scope: Scope, seq: int) -> Iterator[list[Row]]:
        while page := sql(tx).all(self.rows, user=scope.user, seq=seq, limit=_PAGE):
            yield page
            seq = page[-1][0]

    def _stored_turns(self, tx: Transaction, scope: Scope) -> str | None:
        row = sql(tx).one("user_mark", user=scope.user, name=self.entry)
        return row[1] if row else None

    def _has_whole_turns(self, tx: Transaction, scope: Scope, key: ChainKey) -> bool:
        return chain_links.is_whole_text(key, scope.user, self.name, self._stored_turns(tx, scope))


CHANGES = Chain("changes", user_entries.CHAIN, "chain_rows", "count_chain_rows", "last_link", "changes_of_seq")
HANDOUTS = Chain(
    "handouts", user_entries.HANDOUT_CHAIN, "handout_rows", "count_handout_rows", "last_handout", "handouts_of_seq"
)
CHAINS = (CHANGES, HANDOUTS)


class ChangedLink(NamedTuple):
    """What takes the place of the salt of a change that gets other content, and its link, which stays."""

    salt: str
    link: str


def link_of_changed(tx: Transaction, scope: Scope, change_id: str, content: str) -> ChangedLink:
    """The columns of the chain of a change that is about to get other content."""
    key = key_file(tx).find_or_make()
    row = sql(tx).one("chain_row", user=scope.user, id=change_id)
    if row is None:
        return ChangedLink("", "")
    _, salt, sealed, link, _, before = row
    is_sealed = chain_links.is_sealed(key, salt, sealed, link, before)
    return ChangedLink(chain_links.left(key, link, content) if is_sealed else "", link)


def key_file(tx: Transaction) -> ChainKeyFile:
    """The file of the key of the chains."""
    return sql(tx).chain_key

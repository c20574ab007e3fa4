"""Moving users from one store to another, of whatever kind of database: every row, as it stands.

    source: the user's lock, nothing written ─▶ target: one transaction a user
                                                 copy → number → compare with the source → mark as moved → commit

A user's rows are in the target whole or not at all, whenever the process is killed. The mark is how a further run knows
who was moved already. An empty target takes the key of the source over, because tombstones, marks of secrets and the
identities of turns are made with it. So two stores with keys of their own cannot be merged.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Literal

from picomem.clock import Micros, iso
from picomem.coded_text import CodedText, Command
from picomem.errors import Conflict, InvalidInput, NotFound, StoreError
from picomem.light_dataclass import dataclass, field
from picomem.records.channel_message import DIRECTORY
from picomem.records.scope import Scope
from picomem.store import doc_numbers, moved_rows
from picomem.store.connector import Connector, Transaction
from picomem.store.tables import meta, user_entries, users
from picomem.store.tables.chains import CHAINS

MoveState = Literal["movable", "moved", "moved before", "changed since", "not empty"]
MoveProgress = Callable[[int, int, str], None]  # rows done, of how many, and whose


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedUser:
    """A user, the rows that they have in the source, and what became of them.

    `state` is "moved"; "movable" after a dry run; "moved before", and every row is the same; "changed since" they were
    moved, on either side; or "not empty": the target has other rows of theirs. Nothing was written for the last three.
    `damaged` counts rows that do not match their hash, which were moved as they are.
    """

    user: str
    state: MoveState
    rows: int
    moved_at: str = ""
    damaged: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedStore:
    """What came of a move, or would come. `tables` counts the rows of these users in the source."""

    source: str
    target: str  # empty after a dry run to a store that is not there yet
    users: list[MovedUser]
    tables: dict[str, int]
    not_moved: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Whether the target has, or would have, all that these users have in the source."""
        return all(user.state in ("movable", "moved", "moved before") for user in self.users)


@dataclass(frozen=True, slots=True, kw_only=True)
class MovePlan:
    """Who is to be moved, in order, with the number of their rows by table, and the key of the source. `is_of_one` says
    that one user was chosen."""

    users: dict[Scope, dict[str, int]]
    key: bytes
    is_of_one: bool

    def rows_of(self, scope: Scope) -> int:
        """Return how many rows a user has."""
        return sum(self.users[scope].values())

    def tables(self) -> dict[str, int]:
        """The number of rows by table."""
        tables: dict[str, int] = {}
        for counts in self.users.values():
            for name, count in counts.items():
                tables[name] = tables.get(name, 0) + count
        return tables


def planned_move(source: Connector, chosen: Scope | None) -> MovePlan:
    """What a move of a user, or of all, would copy. Raises NotFound for a user without rows, and StoreError."""
    with source.read() as tx:
        counts = {scope: moved_rows.counts(tx, scope) for scope in _in_order(tx, chosen)}
        return MovePlan(users=counts, key=meta.key(tx), is_of_one=chosen is not None)


def move(
    source: Connector,
    target: Connector | None,
    planned: MovePlan,
    now: Micros,
    *,
    dry_run: bool = False,
    progress: MoveProgress | None = None,
) -> MovedStore:
    """Copy users to another store, and compare every row. The source is not changed.

    `target` is None for a dry run to a store that is not there yet. Raises Conflict where the target has a key of its
    own and holds something, InvalidInput where both are the same store, and StoreError.
    """
    if target is None:
        users_done = [_movable(scope, planned.rows_of(scope)) for scope in planned.users]
        return _result(source, "", planned, users_done)
    if source.maintenance.place() == target.maintenance.place():
        raise InvalidInput(f"{source.name} and {target.name} are the same store; name another one to move to.")
    _agree_on_key(target, planned.key, dry_run=dry_run)
    told = _Told(progress, 2 * sum(planned.tables().values()))
    done: list[MovedUser] = []
    for scope in planned.users:
        rows = planned.rows_of(scope)
        if dry_run:
            done.append(_previewed(target, scope, rows))
        else:
            done.append(_moved(source, target, scope, rows, now, told.of(scope.user)))
        told.next_user(2 * rows)
    return _result(source, target.name, planned, done)


def _result(source: Connector, target: str, planned: MovePlan, done: list[MovedUser]) -> MovedStore:
    return MovedStore(
        source=source.name, target=target, users=done, tables=planned.tables(), not_moved=_not_moved(planned)
    )


@dataclass(slots=True)
class _Told:
    """Adds up the rows that were copied and compared."""

    progress: MoveProgress | None
    total: int
    before: int = 0  # rows of the users before
    rows: int = 0

    def of(self, user: str) -> Callable[[int], None]:
        def tell(count: int) -> None:
            self.rows += count
            if self.progress is not None:
                self.progress(min(self.before + self.rows, self.total), self.total, user)

        return tell

    def next_user(self, rows: int) -> None:
        self.before, self.rows = self.before + rows, 0


def _in_order(tx: Transaction, chosen: Scope | None) -> list[Scope]:
    """The users, by their numbers of documents: a fresh file then gives them the same ones in most cases."""
    scopes = users.scopes(tx)
    if chosen is None:
        return sorted(scopes, key=lambda scope: doc_numbers.lowest_taken(tx, scope))
    if chosen not in scopes:
        raise NotFound(f"The source has no rows of user {chosen.user}; without --user all users are moved.")
    return [chosen]


def _agree_on_key(target: Connector, key: bytes, *, dry_run: bool) -> None:
    """Let an empty target take the key over. Raises Conflict for one that holds something under another key."""
    with target.read() as tx:
        if meta.key(tx) == key:
            return
    # As a repair: a store in a file is known again by its key, and this connector must know the new one.
    with target.read() if dry_run else target.maintenance.repair() as tx:
        if users.ids(tx):
            raise Conflict(
                f"{target.name} holds users under a key of its own, so what they purged could come back after a move; "
                "name a store that is empty, or one to which users of the same source were moved."
            )
        if not dry_run:
            meta.put(tx, meta.REDACTION_KEY, key.hex())


def _movable(scope: Scope, rows: int) -> MovedUser:
    return MovedUser(user=scope.user, state="movable", rows=rows)


def _previewed(target: Connector, scope: Scope, rows: int) -> MovedUser:
    with target.read() as tx:
        if at := _moved_at(tx, scope):
            return MovedUser(user=scope.user, state="moved before", rows=rows, moved_at=at)
        if moved_rows.has_any(tx, scope):
            return MovedUser(user=scope.user, state="not empty", rows=rows)
    return _movable(scope, rows)


def _moved(
    source: Connector, target: Connector, scope: Scope, rows: int, now: Micros, tell: Callable[[int], None]
) -> MovedUser:
    with _held(source, scope) as before, target.write(scope) as tx:
        if at := _moved_at(tx, scope):
            shift = moved_rows.shift_between(before, tx, scope)
            compared = moved_rows.compare(before, tx, scope, shift, tell)
            state: MoveState = "changed since" if compared.differs_in else "moved before"
            return MovedUser(user=scope.user, state=state, rows=rows, moved_at=at, damaged=compared.damaged)
        if moved_rows.has_any(tx, scope):
            return MovedUser(user=scope.user, state="not empty", rows=rows)
        shift = moved_rows.shift(before, tx, scope)
        moved_rows.copy(before, tx, scope, shift, tell)
        compared = moved_rows.compare(before, tx, scope, shift, tell)
        if compared.differs_in:
            raise StoreError(
                CodedText(
                    "failure.copies_differ",
                    user=scope.user,
                    tables=compared.differs_in,
                    command=Command("doctor"),
                    source=source.name,
                    target=target.name,
                )
            )
        user_entries.put(tx, scope, user_entries.MOVED, str(now))
        for chain in CHAINS:
            chain.turn(tx, scope, now, "moved", earlier=chain.turns(before, scope))
    return MovedUser(user=scope.user, state="moved", rows=rows, moved_at=iso(now), damaged=compared.damaged)


def _held(source: Connector, scope: Scope) -> AbstractContextManager[Transaction]:
    """The rows of a user while nobody writes them. Where nothing can be written, nobody needs to be kept out."""
    return source.read() if source.read_only else source.write(scope)


def _moved_at(tx: Transaction, scope: Scope) -> str:
    at = user_entries.value(tx, scope, user_entries.MOVED)
    return iso(int(at)) if at else ""


def _not_moved(planned: MovePlan) -> list[str]:
    left = [
        "copies of transcripts (`keep` in `[ingest]`), which are files beside a store in a file",
        "leases, which end by themselves, so work that ran at the source begins anew",
    ]
    if planned.is_of_one and Scope(DIRECTORY) not in planned.users:
        left.append("the ids of channels by which the user is known; accept their senders again with `picomem pair`")
    return left

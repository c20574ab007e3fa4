"""The interface of a database: open it, read from it, write to it in one transaction.

There are two implementations, SQLite (`sqlite/`) and PostgreSQL (`postgres/`). Everything above this package gets a
`Transaction` and passes it to the functions of this package. It never sees a connection, a statement or a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from enum import Enum
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from picomem.clock import Micros
from picomem.light_dataclass import dataclass
from picomem.records.caller import Caller
from picomem.records.scope import Scope
from picomem.store.chain_key import ChainKeyFile

Row = tuple[Any, ...]


class Everyone(Enum):
    """The marker for a transaction that writes rows of all users."""

    EVERYONE = "everyone"


EVERYONE: Final = Everyone.EVERYONE


class Several(NamedTuple):
    """A transaction that writes rows of some users, and holds the lock of each."""

    users: tuple[str, ...]


# How long a request that only reads waits to write what it derived: another may hold the lock for half a minute.
BRIEF_WAIT: Final = 0.2


class CitusChoice(NamedTuple):
    """That Citus divides a new store among its machines, into so many shards; 0: as many as Citus does by itself."""

    shards: int = 0


@dataclass(frozen=True, slots=True)
class ServerStore:
    """A store on a server: into how many shards Citus divides each table, 0 without Citus, and on how many machines."""

    store: str
    shards: int
    machines: int


class Transaction:
    """A consistent view of the database; in a write, all of it is kept or none.

    It has no methods: only the modules of this package run statements in it (see sql_access.py).
    """

    __slots__ = ()


class Maintenance(Protocol):
    """Work on a database as a whole, for all users at once: that of the doctor, and after a purge.

    A server does some of it by itself, and leaves it to its administrators: there `files` is empty, `give_up_ballast`
    has nothing to give, and `leave_no_trace` rewrites the tables alone.
    """

    def place(self) -> str:
        """The same text for the same database, by whatever name it was opened."""
        ...

    def size(self) -> int:
        """Bytes on disk."""
        ...

    def files(self) -> list[Path]:
        """The files that hold the data, where there are such."""
        ...

    def is_sealed(self) -> bool:
        """Return whether the files are encrypted with a key of picomem's; never of a server."""
        ...

    def copy_to(self, target: Path) -> None:
        """Copy everything, as it is at this moment, to a new file. Raises InvalidInput where there can be none."""
        ...

    def integrity(self) -> list[str]:
        """The problems of the database itself, a sentence each."""
        ...

    def left_alone(self) -> list[str]:
        """Those of them that no repair settles."""
        ...

    def silent_machines(self) -> list[str]:
        """The machines of the store that do not answer, where it lies on several: what they hold can be neither read
        nor written, and what is asked of all users is asked of the others."""
        ...

    def words_integrity(self, source: str) -> str:
        """The problem of a full-text index ("memory", "episode" or "note"); empty if there is none."""
        ...

    def has_damaged_index(self) -> bool:
        """Return whether an index of a table of users differs from the table; never of a server, which keeps its own.
        It reads the tables as a whole: 2 s for 100,000 memories."""
        ...

    def copy_daily(self, now: Micros, most_bytes: int) -> None:
        """Once a day, copy a store of at most so many bytes, and check the copy (see files/daily_copies.py); a larger
        store is checked without one. A warning of damage is logged, and again whenever a store is opened whose file is
        damaged. Nothing where the store cannot be written, or of a server. Raises StoreError."""
        ...

    def restore_command(self) -> str:
        """The command that restores the newest of these copies that is whole; empty where there is none."""
        ...

    def repair(self) -> AbstractContextManager[Transaction]:
        """A write transaction over everybody's rows for the doctor."""
        ...

    def give_up_ballast(self) -> bool:
        """Free what is kept for the day on which the disk is full, so that something can be deleted; whether there was
        anything."""
        ...

    def leave_no_trace(self, wait_seconds: float, scope: Scope | None = None) -> None:
        """Write everything anew, so that nothing is left of what was deleted: not in free space, not in full text, not
        in a log. It waits for others who read or write, so long at most. Where only rows of the user of `scope` were
        deleted, Citus writes the shards of that user alone. Raises Locked, ReadOnly or DiskFull."""
        ...

    def copies_out_of_reach(self) -> str:
        """Return where copies of what was deleted may be that `leave_no_trace` does not reach; empty if nowhere."""
        ...


class _RolledBack(Exception):
    """Ends a transaction that is to leave nothing behind."""


@contextmanager
def rolled_back(connector: Connector, scope: Scope | Several | Everyone) -> Iterator[Transaction]:
    """A write transaction of which nothing is kept: for a dry run."""
    with suppress(_RolledBack), connector.write(scope) as tx:
        yield tx
        raise _RolledBack


class Connector(Protocol):
    """One database."""

    name: str
    read_only: bool

    @property
    def chain_key(self) -> ChainKeyFile:
        """The file of the key of the record of changes."""
        ...

    @property
    def maintenance(self) -> Maintenance:
        """Maintenance of the database as a whole."""
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent snapshot."""
        ...

    def write(
        self, scope: Scope | Several | Everyone, *, wait_seconds: float | None = None
    ) -> AbstractContextManager[Transaction]:
        """A write transaction that holds the lock of the user of `scope`; nested calls join the outer one.

        It waits for the lock as long as `wait_seconds` says, by default half a minute, and then raises Locked.

        Two of the same user never run at once; nothing may depend on two of different users not doing so. With
        EVERYONE no other runs at all. A statement, or a nested call, with another user's id is a mistake in the program
        and raises RuntimeError.

        SQLite has one writer, so there every lock is that of the file. PostgreSQL locks a row of the user's, and for
        EVERYONE the table of these rows.
        """
        ...

    def close(self) -> None: ...


def erasing(connector: Connector, *scopes: Scope) -> Several | Everyone:
    """Whose write an erasure is: everyone's, because full text of a damaged row is made anew with that of all users.
    While a machine of others does not answer it is that of these users alone."""
    users = tuple(sorted(scope.user for scope in scopes))
    return Several(users) if connector.maintenance.silent_machines() else EVERYONE


class PermittedConnector:
    """A database as far as a caller may read it and write to it: each transaction raises Forbidden otherwise."""

    def __init__(self, connector: Connector, caller: Caller, what: str, *, read: str, write: str) -> None:
        """`read` and `write` are the permissions that `what` needs."""
        self._connector, self._caller, self._what = connector, caller, what
        self._read, self._write = read, write
        self.name, self.read_only, self.chain_key = connector.name, connector.read_only, connector.chain_key

    @property
    def maintenance(self) -> Maintenance:
        """See `Connector.maintenance`."""
        return self._connector.maintenance

    def read(self) -> AbstractContextManager[Transaction]:
        """See `Connector.read`."""
        self._caller.require(self._read, self._what)
        return self._connector.read()

    def write(
        self, scope: Scope | Several | Everyone, *, wait_seconds: float | None = None
    ) -> AbstractContextManager[Transaction]:
        """See `Connector.write`."""
        self._caller.require(self._write, self._what)
        return self._connector.write(scope, wait_seconds=wait_seconds)

    def close(self) -> None:
        """See `Connector.close`."""
        self._connector.close()


# A database that could not be opened, for programs that continue without it.
#
# Each call tries again, so a server need not be restarted when the file is available again; until then each call raises
# the error of the opening.


class LateConnector:
    """`open_store` opens the database of that name, or raises StoreError."""

    def __init__(self, name: str, open_store: Callable[[], Connector]) -> None:
        self.name = name
        self._open_store = open_store
        self.read_only = True
        self._connector: Connector | None = None

    def read(self) -> AbstractContextManager[Transaction]:
        return self._opened().read()

    def write(
        self, scope: Scope | Several | Everyone, *, wait_seconds: float | None = None
    ) -> AbstractContextManager[Transaction]:
        return self._opened().write(scope, wait_seconds=wait_seconds)

    @property
    def maintenance(self) -> Maintenance:
        return self._opened().maintenance

    @property
    def chain_key(self) -> ChainKeyFile:
        return self._opened().chain_key

    def close(self) -> None:
        if self._connector is not None:
            self._connector.close()

    def _opened(self) -> Connector:
        if self._connector is None:
            self._connector = self._open_store()
            self.read_only = self._connector.read_only
        return self._connector

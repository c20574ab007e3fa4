"""What the store asks of a database: to open it, to read from it, to write to it in one transaction.

Two implementations are meant to exist, SQLite (`sqlite.py`) and PostgreSQL. Everything above this file speaks to a
`Transaction`: it runs named statements and hands back rows as tuples. It never sees a connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from typing import Any, Final, Protocol

from picomem.records.scope import Scope

Row = tuple[Any, ...]


class Everyone(Enum):
    """Whose rows a transaction writes that works on all users'."""

    EVERYONE = "everyone"


EVERYONE: Final = Everyone.EVERYONE


class Transaction(Protocol):
    """A consistent view of the database; in a write, all of it is kept or none.

    Whatever it writes to a row that has a hash, it keeps the hash in step with (see seals.py). A text that cannot be
    decoded, because the file is damaged, is given as far as it can be; its row does not match its hash.
    """

    def all(self, name: str, /, **values: object) -> list[Row]:
        """The rows of the statement `name`."""
        ...

    def one(self, name: str, /, **values: object) -> Row | None:
        """The first row, or None."""
        ...

    def run(self, name: str, /, **values: object) -> int:
        """Run a statement that writes; how many rows it changed."""
        ...

    def run_many(self, name: str, rows: Iterable[Mapping[str, object]], /) -> None:
        """Run a statement that writes once for each row of values."""
        ...

    def next_docs(self, scope: Scope, count: int = 1) -> int:
        """Take `count` consecutive numbers for a user's documents in the search index; the first of them. They rise,
        and none is given out twice, whatever is deleted. Raises Corrupt."""
        ...

    def last_doc(self, scope: Scope) -> int:
        """The last number that a user got from `next_docs`; 0 where there was none."""
        ...


class RepairTransaction(Transaction, Protocol):
    """A transaction over everybody's rows that also sees rows and indexes as they stand in the file."""

    def undecoded(self, table: str) -> Iterator[Row]:
        """Every row of a table, of whatever user: all columns in the order of row_hash.py, with each text as bytes and
        the hash at the end."""
        ...

    def restore(self, table: str, was: Row, row: Row) -> int:
        """Write a row, with its hash, over the damaged one that `undecoded` gave as `was`; how many rows that were."""
        ...

    def indexed_words(self, source: str) -> Iterator[Row]:
        """All that full text holds of a source ("memory" or "episode"): each word as (word, document, column, place),
        and the size of each document as (document, column, number of words)."""
        ...

    def rebuild_indexes(self) -> bool:
        """Make the indexes of the tables anew from the rows, full text excepted. False where the rows do not let it."""
        ...


class Maintenance(Protocol):
    """What is done to a database as a whole, for all users at once, by its doctor and after a purge.

    A server does some of it by itself, and leaves it to its administrators: there `files` is empty, `give_up_ballast`
    has nothing to give, and `leave_no_trace` is a VACUUM of the tables.
    """

    def size(self) -> int:
        """Bytes on disk."""
        ...

    def files(self) -> list[Path]:
        """The files that hold the data, where there are such."""
        ...

    def integrity(self) -> list[str]:
        """What is wrong with the database itself, a sentence each."""
        ...

    def words_integrity(self, source: str) -> str:
        """What is wrong with a full-text index ("memory", "episode" or "note"); empty where nothing is."""
        ...

    def examine(self) -> AbstractContextManager[RepairTransaction]:
        """A consistent snapshot for the doctor."""
        ...

    def repair(self) -> AbstractContextManager[RepairTransaction]:
        """A write transaction over everybody's rows for the doctor."""
        ...

    def give_up_ballast(self) -> bool:
        """Free what is kept for the day on which the disk is full, so that something can be deleted; whether there was
        anything."""
        ...

    def leave_no_trace(self, wait_seconds: float) -> None:
        """Write everything anew, so that nothing is left of what was deleted: not in free space, not in full text, not
        in a log. It waits for others who read or write, so long at most. Raises Locked, ReadOnly or DiskFull."""
        ...


class Connector(Protocol):
    """One database."""

    name: str
    read_only: bool

    @property
    def maintenance(self) -> Maintenance:
        """What is done to the database as a whole."""
        ...

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent snapshot."""
        ...

    def write(self, scope: Scope | Everyone) -> AbstractContextManager[Transaction]:
        """A write transaction that holds the lock of the user of `scope`; nested calls join the outer one.

        Two of the same user never run at once; nothing may depend on two of different users not doing so. With
        EVERYONE no other runs at all. A statement, or a nested call, with another user's id is a mistake in the program
        and raises RuntimeError.

        SQLite has one writer, so there every lock is that of the file. PostgreSQL takes an advisory lock of the
        transaction: an exclusive one on a hash of the user's id, under a shared one on the store, which EVERYONE takes
        exclusively.
        """
        ...

    def close(self) -> None: ...

"""What the store asks of a database: to open it, to read from it, to write to it in one transaction.

Two implementations are meant to exist, SQLite (`sqlite.py`) and PostgreSQL. Everything above this package is given a
`Transaction` and hands it on to the functions of this package. It never sees a connection, a statement or a row.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

Row = tuple[Any, ...]


class Transaction:
    """A consistent view of the database; in a write, all of it is kept or none.

    It has no methods: only the modules of this package run statements in it (see sql_access.py).
    """

    __slots__ = ()


class Connector(Protocol):
    """One database."""

    name: str
    read_only: bool

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent snapshot."""
        ...

    def write(self, *, rebuilding: bool = False) -> AbstractContextManager[Transaction]:
        """The one write transaction at a time; nested calls join the outer one. `rebuilding` says that full text is
        made anew, so that it may be of another version."""
        ...

    def integrity(self) -> list[str]:
        """What is wrong with the file itself, a sentence each."""
        ...

    def words_integrity(self, source: str) -> str:
        """What is wrong with a full-text index ("memory" or "episode"); empty where nothing is."""
        ...

    def size(self) -> int:
        """Bytes on disk."""
        ...

    def files(self) -> list[Path]:
        """The files that hold the data, where there are such."""
        ...

    def give_up_ballast(self) -> bool:
        """Free what is kept for the day on which the disk is full, so that something can be deleted; whether there was
        anything."""
        ...

    def leave_no_trace(self, wait_seconds: float) -> None:
        """Write everything anew, so that nothing is left of what was deleted: not in free space, not in full text, not
        in a log. It waits for others who read or write, so long at most. Raises Locked, ReadOnly or DiskFull."""
        ...

    def close(self) -> None: ...

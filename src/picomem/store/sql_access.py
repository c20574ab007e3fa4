"""Runs statements and unpacks rows; only for the modules of this package.

All other code is given a `Transaction`, which has no methods, and passes it to a function of this package. That
function has typed arguments, runs one statement, and returns typed values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol, cast

from picomem.records.scope import Scope
from picomem.store.chain_key import ChainKeyFile
from picomem.store.connector import Row, Transaction


class Statements(Protocol):
    """The statements that a transaction can run.

    Whatever it writes to a row that has a hash, it keeps the hash in step (see hash_upkeep.py). A text that cannot be
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

    @property
    def chain_key(self) -> ChainKeyFile:
        """The file of the key of the store's chains."""
        ...


class Repairs(Statements, Protocol):
    """The operations of a repair."""

    def overwrite(self, table: str, row: Row) -> int:
        """Write a row, all columns in the order of row_hash.py and its hash, over the one that has its key; how many
        rows that were."""
        ...

    def rebuild_indexes(self) -> bool:
        """Make the indexes of the tables anew from the rows, and full text that is gone, empty. Triggers, views and
        indexes that do not belong to the store are removed. False where the rows do not let it."""
        ...


class TableRows(Protocol):
    """Whole tables of a user, for a move: the statements are made from the schema (moved_rows.py)."""

    def rows_of(self, text: str, values: Mapping[str, object], /) -> list[Row]:
        """The rows of a statement that reads."""
        ...

    def put_rows(self, text: str, rows: list[Mapping[str, object]], /) -> None:
        """Run a statement that stores a row, once for each of the rows, whose hashes are among their values."""
        ...

    def doc_shift(self, lowest: int, /) -> int:
        """What the numbers of documents from `lowest` on are to be raised by, so that no other user has them."""
        ...


def sql(tx: Transaction) -> Statements:
    """The statements of a transaction."""
    return cast(Statements, tx)


def repairs(tx: Transaction) -> Repairs:
    """The operations for a repair."""
    return cast(Repairs, tx)


def table_rows(tx: Transaction) -> TableRows:
    """The operations on whole tables of a user."""
    return cast(TableRows, tx)

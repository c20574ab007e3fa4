"""Transactions on one SQLite connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import apsw

from picomem.records.scope import Scope
from picomem.store import doc_numbers
from picomem.store.chain_key import ChainKeyFile
from picomem.store.connector import Row, Transaction
from picomem.store.hash_upkeep import hashed_write, overwrite, write
from picomem.store.sql_statements import statement
from picomem.store.sqlite.errors import translation
from picomem.store.sqlite.fts5 import Fts5Search, varints
from picomem.store.sqlite.schema import mend
from picomem.store.tolerant_text import rows_of


class SqliteTransaction(Transaction):
    """A transaction on one connection."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        user: str | None = None,
        chain_key: ChainKeyFile | None = None,
    ) -> None:
        """`user` is the one whose rows alone may be read and written; None: everyone's."""
        self._connection = connection
        self._path = path
        self._user = user
        self._chain_key = chain_key

    @property
    def search(self) -> Fts5Search:
        return Fts5Search(self)

    def all(self, name: str, /, **values: object) -> list[Row]:
        self._refuse_others(name, values)
        return self.rows_of(statement(name), values)

    def one(self, name: str, /, **values: object) -> Row | None:
        self._refuse_others(name, values)
        try:
            return next(iter(self._connection.execute(statement(name), values)), None)  # type: ignore[arg-type]
        except UnicodeDecodeError:
            return next(iter(self.rows_of(statement(name), values)), None)
        except apsw.Error as error:
            raise translation(error, self._path) from error

    def run(self, name: str, /, **values: object) -> int:
        self._refuse_others(name, values)
        if (written := hashed_write(name)) is not None:
            return write(written, statement(name), values, self.rows_of, self._run)
        return self._run(statement(name), values)

    def run_many(self, name: str, rows: Iterable[Mapping[str, object]], /) -> None:
        written = hashed_write(name)
        if self._user is not None:
            rows = self._own_rows(name, rows)
        self.put_rows(statement(name), rows if written is None else map(written.with_hash, rows))

    def rows_of(self, text: str, values: Mapping[str, object], /) -> list[Row]:
        try:
            return rows_of(self._connection, text, values)
        except apsw.Error as error:
            raise translation(error, self._path) from error

    def put_rows(self, text: str, rows: Iterable[Mapping[str, object]], /) -> None:
        try:
            self._connection.executemany(text, rows)  # type: ignore[arg-type]
        except apsw.Error as error:
            raise translation(error, self._path) from error

    def doc_shift(self, lowest: int, /) -> int:
        return doc_numbers.shift(self, lowest)

    def next_docs(self, scope: Scope, count: int = 1) -> int:
        return doc_numbers.take(self, scope, count)

    def last_doc(self, scope: Scope) -> int:
        return doc_numbers.last(self, scope)

    def indexed_words(self, source: str) -> Iterator[Row]:
        """All that full text holds of a source: each word as (word, document, column, place), and the size of each
        document as (document, column, number of words)."""
        connection = self._connection
        query_only = connection.pragma("query_only")
        try:
            connection.pragma("query_only", False)  # of the temporary table alone
            connection.execute(
                f"CREATE VIRTUAL TABLE temp.instances USING fts5vocab (main, {source}_words, 'instance')"
            )
            try:
                yield from connection.execute("SELECT term, doc, col, offset FROM temp.instances")
            finally:
                connection.execute("DROP TABLE temp.instances")
            for doc, sizes in connection.execute(f"SELECT id, sz FROM {source}_words_docsize"):
                for column, size in enumerate(varints(sizes)):
                    yield doc, column, size
        except UnicodeDecodeError:
            yield ("a word that is no UTF-8",)
        except apsw.Error as error:
            raise translation(error, self._path) from error
        finally:
            connection.pragma("query_only", query_only)

    @property
    def chain_key(self) -> ChainKeyFile:
        assert self._chain_key is not None
        return self._chain_key

    def overwrite(self, table: str, row: Row) -> int:
        return overwrite(table, row, self._run)

    def rebuild_indexes(self) -> bool:
        try:
            mend(self._connection)
            self._connection.execute("REINDEX")
        except (apsw.CorruptError, apsw.ConstraintError):
            return False
        return True

    def _own_rows(self, name: str, rows: Iterable[Mapping[str, object]]) -> Iterator[Mapping[str, object]]:
        for values in rows:
            self._refuse_others(name, values)
            yield values

    def _refuse_others(self, name: str, values: Mapping[str, object]) -> None:
        if self._user is not None and values.get("user", self._user) != self._user:
            raise RuntimeError(f"The statement {name} is of user {values['user']}, its transaction of {self._user}.")

    def _run(self, sql: str, values: Mapping[str, object]) -> int:
        try:
            self._connection.execute(sql, values)  # type: ignore[arg-type]
        except apsw.Error as error:
            raise translation(error, self._path) from error
        return self._connection.changes()

"""Transactions on one connection to PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import sql as quoted

from picomem.errors import Corrupt, Unreachable
from picomem.records.scope import Scope
from picomem.store import doc_numbers
from picomem.store.chain_key import ChainKeyFile
from picomem.store.connector import EVERYONE, Everyone, Row, Transaction
from picomem.store.hash_upkeep import hashed_write, overwrite, write
from picomem.store.postgres import search as postgres_search
from picomem.store.postgres.dialect import translated_statement
from picomem.store.postgres.errors import postgres_translation
from picomem.store.postgres.machines import users_that_answer
from picomem.store.postgres.search import PostgresSearch
from picomem.store.sql_statements import is_of_everyone, statement

DATABASE = "postgres"  # whose statements

_RANGE = "u.user_id >= :first AND u.user_id <= :last"  # of the users of whom due work is asked
Message = str | tuple[str, Mapping[str, object]]  # a statement, and its values where it has any


class OpenTransaction:
    """A transaction of the server that is under way, and whose rows it sees at this moment.

    The server shows the rows of the user that is named in the setting `picomem.user_id`, or of nobody. The setting ends
    with the transaction, because behind a pool the next transaction of a connection may be of another program.
    """

    def __init__(
        self,
        store: str,
        sees: str | Everyone | None = None,
        connection: psycopg.Connection[Any] | None = None,
        begin: Callable[[Sequence[Message]], psycopg.Connection[Any]] | None = None,
        restart: Callable[[psycopg.Connection[Any]], object] | None = None,
    ) -> None:
        """It has begun on a connection, or begins with its first statement, which spares a round trip.

        Then `begin` takes the statements that say whose rows are seen, if any, and gives the connection, and `restart`
        begins it anew there, with nobody's rows."""
        self.store = store
        self._restart = restart
        self.connection = connection
        self._begin = begin
        self._sees = sees

    @property
    def is_snapshot(self) -> bool:
        """Whether it only reads, and goes on after an error."""
        return self._restart is not None

    def execute(self, text: str, values: Mapping[str, object], sees: str | Everyone | None) -> psycopg.Cursor[Any]:
        """Run a statement that sees the rows of a user, of everyone, or as far as that matters of nobody."""
        try:
            cursor = self.see(sees).cursor(binary=True)
            return cursor.execute(translated_statement(text).encode(), values)
        except psycopg.Error as error:
            translation = postgres_translation(error, self.store)
            is_passed_over = isinstance(translation, Corrupt | Unreachable)
            if is_passed_over and self._restart is not None and self.connection is not None:
                # The server ends a transaction with its first error, and a recall goes on without what is damaged, as
                # does what is asked of everyone without those whose machine does not answer.
                self._restart(self.connection)
                self._sees = None
            raise translation from error

    def execute_many(self, text: str, rows: list[Mapping[str, object]], sees: str | Everyone | None) -> None:
        """Run a statement once for each of the values."""
        try:
            with self.see(sees).cursor() as cursor:
                cursor.executemany(translated_statement(text).encode(), rows)
        except psycopg.Error as error:
            raise postgres_translation(error, self.store) from error

    def see(self, whose: str | Everyone | None) -> psycopg.Connection[Any]:
        """Let the following statements see the rows of a user, or of everyone; None changes nothing."""
        is_new = whose is not None and whose != self._sees
        shown = seeing(whose) if is_new and whose is not None else ()
        if self.connection is None:
            assert self._begin is not None
            self.connection = self._begin(shown)
        elif shown:
            send(self.connection, shown)
        if is_new:
            self._sees = whose
        return self.connection


# How a transaction begins: what is set after it reaches the machines of Citus too. A plain server passes over it.
PROPAGATE = "SET LOCAL citus.propagate_set_commands TO 'local'"


def seeing(whose: str | Everyone) -> tuple[str, str]:
    """The statements by which the server shows the rows of a user, or of everyone, until the transaction ends.

    Of all that sets a value, Citus passes on SET LOCAL with a literal alone."""
    user, everyone = ("", "on") if isinstance(whose, Everyone) else (whose, "")
    name = quoted.Literal(user).as_string(None).strip()
    return f"SET LOCAL picomem.user_id TO {name}", f"SET LOCAL picomem.everyone TO '{everyone}'"


def send(connection: psycopg.Connection[Any], messages: Sequence[Message]) -> psycopg.Cursor[Any]:
    """Run statements in one round trip, and return the last one's cursor.

    Each is a message of its own: of several in one message Citus would pass on the whole text to its machines."""
    cursor = connection.cursor()
    with connection.pipeline():
        for message in messages:
            text, values = (message, None) if isinstance(message, str) else message
            cursor = connection.execute(text.encode(), values, prepare=False)
    return cursor


class PostgresTransaction(Transaction):
    """A transaction on one connection."""

    def __init__(self, opened: OpenTransaction, chain_key: ChainKeyFile, user: str | None = None) -> None:
        """`user` is the one whose rows alone may be read and written; None: everyone's."""
        self._opened = opened
        self._chain_key = chain_key
        self._user = user

    @property
    def search(self) -> PostgresSearch:
        return PostgresSearch(self)

    def all(self, name: str, /, **values: object) -> list[Row]:
        self._refuse_others(name, values)
        text = statement(name, DATABASE)
        try:
            return self._opened.execute(text, values, _whose(name, values)).fetchall()
        except Unreachable:
            if not self._opened.is_snapshot or not is_of_everyone(name):
                raise
            answered = self._of_those_that_answer(name, text, values)
            if answered is None:
                raise
            return answered

    def _of_those_that_answer(self, name: str, text: str, values: Mapping[str, object]) -> list[Row] | None:
        """What a statement of everyone gives without the users whose machine does not answer; None for one that has to
        see all rows."""
        if name != "users" and _RANGE not in text:
            return None
        users = users_that_answer(self._opened.see(None))
        if name == "users":
            return [(user, len(user.encode())) for user in users]
        chosen = [user for user in users if str(values["first"]) <= user <= str(values["last"])]
        of_one = text.replace(_RANGE, "u.user_id = :user")
        return [
            row for user in chosen for row in self._opened.execute(of_one, {**values, "user": user}, user).fetchall()
        ]

    def one(self, name: str, /, **values: object) -> Row | None:
        self._refuse_others(name, values)
        return self._opened.execute(statement(name, DATABASE), values, _whose(name, values)).fetchone()

    def run(self, name: str, /, **values: object) -> int:
        self._refuse_others(name, values)
        if (written := hashed_write(name, DATABASE)) is not None:
            return write(written, statement(name, DATABASE), values, self.rows_of, self._run)
        return self._opened.execute(statement(name, DATABASE), values, _whose(name, values)).rowcount

    def run_many(self, name: str, rows: Iterable[Mapping[str, object]], /) -> None:
        written = hashed_write(name, DATABASE)
        of_user: dict[str | Everyone | None, list[Mapping[str, object]]] = {}
        for values in rows:
            self._refuse_others(name, values)
            whole = values if written is None else written.with_hash(values)
            of_user.setdefault(_whose(name, values), []).append(whole)
        for whose, several in of_user.items():
            self._opened.execute_many(statement(name, DATABASE), several, whose)

    def rows_of(self, text: str, values: Mapping[str, object], /) -> list[Row]:
        return self._opened.execute(text, values, _owner(values)).fetchall()

    def put_rows(self, text: str, rows: list[Mapping[str, object]], /) -> None:
        if rows:
            self._opened.execute_many(text, rows, _owner(rows[0]))

    def doc_shift(self, lowest: int, /) -> int:  # noqa: ARG002 - of the protocol
        """None, for the numbers of documents are each user's own."""
        return 0

    def next_docs(self, scope: Scope, count: int = 1) -> int:
        return doc_numbers.take(self, scope, count, with_ranges=False)

    def last_doc(self, scope: Scope) -> int:
        return doc_numbers.last(self, scope)

    @property
    def chain_key(self) -> ChainKeyFile:
        return self._chain_key

    def overwrite(self, table: str, row: Row) -> int:
        return overwrite(table, row, self._run)

    def rebuild_indexes(self) -> bool:
        """Make full text that is incomplete anew, empty. The server keeps its indexes; an administrator runs REINDEX
        where one is damaged."""
        connection = self._opened.see(EVERYONE)
        try:
            if postgres_search.incomplete(connection):
                postgres_search.make_anew(connection)
        except psycopg.Error as error:
            raise postgres_translation(error, self._opened.store) from error
        return False

    def _refuse_others(self, name: str, values: Mapping[str, object]) -> None:
        if self._user is not None and values.get("user", self._user) != self._user:
            raise RuntimeError(f"The statement {name} is of user {values['user']}, its transaction of {self._user}.")

    def _run(self, text: str, values: Mapping[str, object]) -> int:
        return self._opened.execute(text, values, _owner(values)).rowcount


def _whose(name: str, values: Mapping[str, object]) -> str | Everyone | None:
    return EVERYONE if is_of_everyone(name) else _owner(values)


def _owner(values: Mapping[str, object]) -> str | None:
    """The user of a statement's values; None where it names none, and so sees what the one before it saw."""
    owner = values.get("user", values.get("user_id"))
    return None if owner is None else str(owner)

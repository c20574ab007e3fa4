"""PostgreSQL, through psycopg 3.

How it is used, and why:

- One schema, `picomem`, whose tables are those of SQLite (`postgres_schema.py`), partitioned by the hash of `user_id`.
  So a database can hold other programs' tables, and a heavy user is one partition's. Citus takes the same tables.
- The statements are those of SQLite, translated by `postgres_dialect.py`, which lists all that differs; full text is
  `postgres_search.py`.
- The lock of a write is the user's own: `SELECT … FOR UPDATE` on their row in `user_locks`. It is taken before anything
  is read, and the transaction is READ COMMITTED, so each statement sees what the writer before it committed. (Under
  REPEATABLE READ the snapshot would be older than the lock.) `EVERYONE` locks the table `user_locks`, which waits for
  all of them. Advisory locks would hold on one node of Citus only.
- A read is REPEATABLE READ, READ ONLY: one snapshot, taken by its first statement.
- Rows are isolated twice. Each statement has an equality on `user_id`, and the server shows only rows of the user whom
  the transaction names (row-level security, forced, and nothing without a name). A superuser is not subject to it, so
  picomem should have a role of its own.
- Nothing belongs to a session of the server: settings end with the transaction, and no statement is prepared. So a pool
  in transaction mode may stand in front.
- What begins a transaction is one message, with the settings, the lock and the version of full text. Only that message
  is sent a second time, where a connection turns out to be broken, since nothing was written before it.

A thread has at most one transaction that writes and one that reads, as on SQLite; nested calls join them.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Any

import psycopg
from psycopg import sql as quoted
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from picomem import errors
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE, Everyone
from picomem.store.postgres_dialect import SCHEMA
from picomem.store.postgres_errors import LOCK_SECONDS, postgres_translated
from picomem.store.postgres_maintenance import PostgresMaintenance
from picomem.store.postgres_schema import prepare
from picomem.store.postgres_transaction import OpenTransaction, PostgresRepair, PostgresTransaction, seeing
from picomem.store.postgres_values import adapt
from picomem.text.terms import VERSION as TERMS_VERSION

PARTITIONS = 32
_CONNECTIONS = 10  # of a process at most
_CONNECT_SECONDS = 10
_ATTEMPTS = 3  # to begin a transaction, where connections turn out to be broken

_PATH = f"SET LOCAL search_path TO {SCHEMA}"
_TABLES = (
    f"SELECT relname FROM pg_class WHERE relnamespace = to_regnamespace('{SCHEMA}') "
    "AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname"
)
_READERS = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
    "AND age(backend_xmin) >= age(%s::xid)"
)
_TERMS = "SELECT value FROM meta WHERE name = 'terms_version'"

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # each failure becomes an error of ours


class PostgresConnector:
    """A store on a server. Raises NoStore, NewerSchema or StoreError on opening."""

    read_only = False

    def __init__(self, address: str, *, create: bool = True, partitions: int = PARTITIONS) -> None:
        """`partitions` is how many a new store gets."""
        try:
            parts = conninfo_to_dict(address)
        except psycopg.ProgrammingError as error:
            raise errors.InvalidInput(
                "The address of the database cannot be read; write postgresql://USER@HOST/DATABASE."
            ) from error
        self.name = _shown(parts)
        self._local = threading.local()
        self._is_closed = False
        self._connection_string = make_conninfo(address, **_defaults(parts))
        with postgres_translated(self.name):
            with psycopg.connect(self._connection_string, autocommit=True) as connection:
                prepare(connection, self.name, partitions, create=create)
            self._pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
                self._connection_string,
                min_size=0,
                max_size=_CONNECTIONS,
                kwargs={"autocommit": True, "prepare_threshold": None},
                configure=adapt,
                timeout=LOCK_SECONDS,
                reconnect_timeout=_CONNECT_SECONDS,
                open=True,
            )

    @contextmanager
    def read(self) -> Iterator[PostgresTransaction]:
        """A snapshot. Inside a write of the same thread it sees what that write has done so far."""
        with self._snapshot() as opened:
            yield PostgresTransaction(opened)

    @contextmanager
    def write(self, scope: Scope | Everyone, *, wait_seconds: float | None = None) -> Iterator[PostgresTransaction]:
        """One transaction: all of it or nothing. Raises Locked or StoreError."""
        user = scope.user if isinstance(scope, Scope) else None
        with self._begun(user, wait_seconds) as (opened, terms):
            if terms != TERMS_VERSION:
                raise errors.StoreError(
                    f"The full text in {self.name} was made by another version of picomem; nothing can be stored until "
                    "`picomem doctor --repair` has made it anew."
                )
            yield PostgresTransaction(opened, user)

    @contextmanager
    def examine(self) -> Iterator[PostgresRepair]:
        """See `Maintenance.examine`."""
        with self._snapshot() as opened:
            yield PostgresRepair(opened)

    @contextmanager
    def repair(self) -> Iterator[PostgresRepair]:
        """See `Maintenance.repair`. Full text may be of another version, because a repair makes it anew."""
        with self._begun(None) as (opened, _):
            yield PostgresRepair(opened)

    @property
    def maintenance(self) -> PostgresMaintenance:
        """Maintenance of the database as a whole."""
        return PostgresMaintenance(self)

    def one_number(self, text: str) -> int:
        """The number that a statement about the database itself gives."""
        with self._snapshot() as opened:
            row = opened.execute(text, {}, None).fetchone()
        return int(row[0]) if row else 0

    def rewrite_tables(self, wait_seconds: float) -> None:
        """Write every table and its indexes anew, waiting so long at most for each. Raises Locked and DiskFull."""
        milliseconds = max(1, round(wait_seconds * 1000))
        with self._explained(), psycopg.connect(self._connection_string, autocommit=True) as connection:
            tables = connection.execute(_TABLES.encode()).fetchall()
            self._wait_for_readers(connection, wait_seconds)
            connection.execute(f"SET lock_timeout = {milliseconds}".encode())  # ends with the connection
            for (table,) in tables:
                connection.execute(f"VACUUM (FULL, ANALYZE) {SCHEMA}.{table}".encode())

    def _wait_for_readers(self, connection: psycopg.Connection[Any], wait_seconds: float) -> None:
        """Wait until nobody reads from a moment before this one: rows that somebody still sees would be kept."""
        deadline = monotonic() + wait_seconds
        (now,) = connection.execute("SELECT pg_current_xact_id()::xid::text").fetchone() or ("",)
        while connection.execute(_READERS.encode(), (now,)).fetchone() != (0,):
            if monotonic() > deadline:
                raise errors.Locked(
                    f"{self.name} is being read by another process, so its tables cannot be written anew yet and still "
                    "hold what was taken out. Run `picomem purge` again when that has finished."
                )
            sleep(0.02)

    def close(self) -> None:
        """Close every connection."""
        self._is_closed = True
        if hasattr(self, "_pool"):
            self._pool.close()

    @contextmanager
    def _snapshot(self) -> Iterator[OpenTransaction]:
        outer = getattr(self._local, "write", None) or getattr(self._local, "read", None)
        if outer is not None:
            with self._explained():
                yield outer[0]
            return
        with self._transaction(f"BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; {_PATH}", None) as (opened, _):
            self._local.read = (opened, None)
            try:
                yield opened
            finally:
                self._local.read = None

    @contextmanager
    def _begun(
        self, user: str | None, wait_seconds: float | None = None
    ) -> Iterator[tuple[OpenTransaction, str | None]]:
        """The transaction of a user, or of everyone, and the version of full text; nested calls join the outer one."""
        outer = getattr(self._local, "write", None)
        if outer is not None:
            if self._local.user not in (None, user):
                raise RuntimeError(f"A transaction of {user or 'everyone'} begins within one of {self._local.user}.")
            with self._explained():
                yield outer
            return
        whose = EVERYONE if user is None else user
        locking = "LOCK TABLE user_locks IN EXCLUSIVE MODE"
        if user is not None:
            locking = f"SELECT 1 FROM user_locks WHERE user_id = {_literal(user)} FOR UPDATE"
        wait = round((LOCK_SECONDS if wait_seconds is None else wait_seconds) * 1000)
        begin = f"BEGIN; {_PATH}; SET LOCAL lock_timeout = '{wait}ms'; {seeing(whose)}; {locking}; {_TERMS}"
        with self._transaction(begin, whose) as (opened, cursor):
            rows = list(_results(cursor))
            if user is not None and not rows[1]:
                self._add_lock(opened, user)
            terms = str(rows[-1][0][0]) if rows[-1] else None
            self._local.write, self._local.user = (opened, terms), user
            try:
                yield opened, terms
            finally:
                self._local.write = None

    def _add_lock(self, opened: OpenTransaction, user: str) -> None:
        """Make the row of a new user, and lock it: another process may make it at the same moment."""
        opened.connection.execute(
            f"INSERT INTO user_locks (user_id) VALUES ({_literal(user)}) ON CONFLICT DO NOTHING".encode()
        )
        opened.connection.execute(f"SELECT 1 FROM user_locks WHERE user_id = {_literal(user)} FOR UPDATE".encode())

    @contextmanager
    def _transaction(
        self, begin: str, sees: str | Everyone | None
    ) -> Iterator[tuple[OpenTransaction, psycopg.Cursor[Any]]]:
        if self._is_closed:
            raise errors.StoreError(f"{self.name} was closed; open it again.")
        with self._explained():
            connection, cursor = self._began(begin)
            try:
                yield OpenTransaction(connection, self.name, sees), cursor
                ended = connection.execute("COMMIT")
                if ended.statusmessage != "COMMIT":  # the server rolls back where a statement had failed
                    raise errors.StoreError(f"A statement had failed in {self.name}; nothing was written.")
            except BaseException:
                with suppress(psycopg.Error):
                    connection.execute("ROLLBACK")
                raise
            finally:
                self._pool.putconn(connection)

    def _began(self, begin: str) -> tuple[psycopg.Connection, psycopg.Cursor[Any]]:
        for attempt in range(1, _ATTEMPTS + 1):
            connection = self._pool.getconn()
            try:
                return connection, connection.execute(begin.encode())
            except BaseException as error:
                if not connection.closed:
                    with suppress(psycopg.Error):
                        connection.execute("ROLLBACK")
                self._pool.putconn(connection)
                if not isinstance(error, psycopg.OperationalError) or not connection.closed or attempt == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with postgres_translated(self.name):
                yield
        except UnicodeEncodeError as error:
            raise errors.InvalidInput(
                "A text or a name is not valid Unicode, so no database can hold it; give it as UTF-8."
            ) from error


def _results(cursor: psycopg.Cursor[Any]) -> Iterator[list[Any]]:
    """The rows of each statement of a message that has any."""
    while True:
        if cursor.description is not None:
            yield cursor.fetchall()
        if not cursor.nextset():
            return


def _literal(text: str) -> str:
    return quoted.Literal(text).as_string(None)


def _defaults(parts: dict[str, Any]) -> dict[str, Any]:
    """What is added to an address that does not say otherwise."""
    usual = {"connect_timeout": _CONNECT_SECONDS, "application_name": "picomem"}
    return {"client_encoding": "UTF8"} | {name: value for name, value in usual.items() if not parts.get(name)}


def _shown(parts: dict[str, Any]) -> str:
    """An address as sentences name it, without user and password."""
    host = str(parts.get("host") or parts.get("hostaddr") or "")
    port = f":{parts['port']}" if parts.get("port") and not host.startswith("/") else ""
    return f"postgresql://{host}{port}/{parts.get('dbname') or ''}"

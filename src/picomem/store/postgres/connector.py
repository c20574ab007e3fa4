"""PostgreSQL, through psycopg 3.

How it is used, and why:

- One schema, `picomem`, whose tables are those of SQLite (`schema.py`), so a database can hold other programs'
  tables. Where `picomem postgres init --citus` made them, Citus divides each among its machines by the hash of
  `user_id` (`machines.py`); all else here is the same for both.
- The statements are those of SQLite, translated by `dialect.py`, which lists all that differs; full text is
  `search.py`.
- The lock of a write is the user's own row in `user_locks`, which the write changes (`commit.py`). It is taken
  before anything is read, and the transaction is READ COMMITTED, so each statement sees what the writer before it
  committed. (Under REPEATABLE READ the snapshot would be older than the lock.) `EVERYONE` locks the table `user_locks`,
  which waits for all of them. Advisory locks would hold on one node of Citus only.
- A read is REPEATABLE READ, READ ONLY: one snapshot, taken by its first statement. With Citus each machine has its own,
  so a user's read is of one moment, and a read of everyone is of one for each machine.
- Rows are isolated twice. Each statement has an equality on `user_id`, and the server shows only rows of the user whom
  the transaction names (row-level security, and nothing without a name). A superuser is not subject to it, and on Citus
  the owner of the tables is not, so picomem should have a role of its own.
- Nothing belongs to a session of the server: settings end with the transaction, and statements are prepared only on a
  connection to the server itself. So a pool in transaction mode may stand in front.
- What begins a transaction is one round trip, with the settings, the lock and the version of full text. Only that is
  sent a second time, where the connection breaks meanwhile, since nothing was written before it; and not a third time,
  because it may be what broke the server. Where COMMIT fails, another connection looks whether the server has it.

A thread has at most one transaction that writes and one that reads, as on SQLite; nested calls join them.
"""

from __future__ import annotations

import logging
import selectors
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import psycopg
from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper, NumericBinaryLoader, NumericLoader
from psycopg.types.string import StrDumper
from psycopg_pool import ConnectionPool

from picomem import errors
from picomem.blake2b import blake2b
from picomem.coded_text import CodedText, Command
from picomem.paths import data_dir
from picomem.records.scope import Scope
from picomem.store.chain_key import SUFFIX, ChainKeyFile
from picomem.store.connector import EVERYONE, CitusChoice, Everyone, ServerStore, Several
from picomem.store.postgres import commit as postgres_commit
from picomem.store.postgres import search as postgres_search
from picomem.store.postgres.dialect import SCHEMA
from picomem.store.postgres.errors import LOCK_SECONDS, postgres_translated
from picomem.store.postgres.machines import division, drop_moved_copies, rewrite, table_parts, wait_for_readers
from picomem.store.postgres.schema import PostgresMaintenance, prepare
from picomem.store.postgres.transaction import (
    PROPAGATE,
    Message,
    OpenTransaction,
    PostgresTransaction,
    seeing,
    send,
)
from picomem.text.terms import VERSION as TERMS_VERSION

CONNECTIONS = 10  # of a process at most
_CONNECT_SECONDS = 10
_ATTEMPTS = 2  # to begin a transaction
_PREPARED_AFTER = 1  # runs of a statement on a connection
_MOST_PREPARED = 200  # statements of a connection
_MOST_PIECES = 8  # of what a server says that nobody asked
_MOST_IDLE_SECONDS = 600  # of a write, whose lock others wait for: its process or its machine may be gone

_PATH = f"SET LOCAL search_path TO {SCHEMA}"
_SNAPSHOT = ("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", PROPAGATE, _PATH)
_IDLE = f"SET LOCAL idle_in_transaction_session_timeout TO '{_MOST_IDLE_SECONDS}s'"
_TERMS = "SELECT value FROM meta WHERE name = 'terms_version'"

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # each failure becomes an error of ours


class PostgresConnector:
    """A store on a server. Raises NoStore, NewerSchema or StoreError on opening."""

    read_only = False

    def __init__(self, address: str, *, create: bool = True, citus: CitusChoice | None = None) -> None:
        """With `citus` a new store is divided among the machines of Citus; a store that is there must be."""
        try:
            parts = conninfo_to_dict(address)
        except psycopg.ProgrammingError as error:
            raise errors.InvalidInput(
                "The address of the database cannot be read; write postgresql://USER@HOST/DATABASE."
            ) from error
        self.name = _shown(parts)
        self.chain_key = ChainKeyFile(data_dir() / f"{blake2b(self.name.encode(), digest_size=8).hexdigest()}{SUFFIX}")
        self._local = threading.local()
        self._is_closed = False
        self._connection_string = make_conninfo(address, **_defaults(parts))
        with postgres_translated(self.name):
            with psycopg.connect(self._connection_string, autocommit=True) as connection:
                prepare(connection, self.name, create=create, citus=citus)
            self._pool: ConnectionPool[psycopg.Connection[Any]] = ConnectionPool(
                self._connection_string,
                min_size=0,
                max_size=CONNECTIONS,
                kwargs={"autocommit": True, "prepare_threshold": None},
                configure=_configured,
                timeout=LOCK_SECONDS,
                reconnect_timeout=LOCK_SECONDS,
                open=True,
            )

    @contextmanager
    def read(self) -> Iterator[PostgresTransaction]:
        """A snapshot. Inside a write of the same thread it sees what that write has done so far."""
        with self._snapshot() as opened:
            yield PostgresTransaction(opened, self.chain_key)

    @contextmanager
    def write(
        self, scope: Scope | Several | Everyone, *, wait_seconds: float | None = None
    ) -> Iterator[PostgresTransaction]:
        """One transaction: all of it or nothing. Raises Locked or StoreError."""
        user = scope.user if isinstance(scope, Scope) else None
        several = scope.users if isinstance(scope, Several) else ()
        with self._begun(user, wait_seconds, several) as (opened, terms):
            if terms != TERMS_VERSION:
                raise errors.StoreError(
                    CodedText("failure.other_full_text", place=self.name, command=Command("doctor", repair=True))
                )
            yield PostgresTransaction(opened, self.chain_key, user)

    @contextmanager
    def repair(self) -> Iterator[PostgresTransaction]:
        """See `Maintenance.repair`. Full text may be of another version, because a repair makes it anew."""
        with self._begun(None) as (opened, _):
            yield PostgresTransaction(opened, self.chain_key)

    @property
    def maintenance(self) -> PostgresMaintenance:
        """Maintenance of the database as a whole."""
        return PostgresMaintenance(self)

    def incomplete_full_text(self) -> list[str]:
        """The tables of full text that are not complete."""
        with self.asking() as connection:
            return postgres_search.incomplete(connection)

    @contextmanager
    def asking(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection for questions about the database itself."""
        with self._snapshot() as opened:
            yield opened.see(None)

    def described(self) -> ServerStore:
        """How the store is divided."""
        with self.asking() as connection:
            return ServerStore(self.name, *division(connection))

    def rewrite_tables(self, wait_seconds: float, user: str | None = None) -> None:
        """Write the tables with their indexes anew, of Citus the shards of a user alone, waiting so long at most for
        each.

        Raises StoreError, as Locked or DiskFull. CLUSTER writes a table anew as VACUUM FULL does, and does so in a
        transaction: then the time that it waits ends with the transaction, and a pool may stand in front.
        """
        with self._explained(), psycopg.connect(self._connection_string, autocommit=True) as connection:
            connection.prepare_threshold = None
            parts = table_parts(connection, user)
            wait_for_readers(connection, self.name, parts, wait_seconds)
            for part in parts:
                rewrite(connection, part, wait_seconds)
            drop_moved_copies(connection, self.name, wait_seconds)

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
        opened = OpenTransaction(self.name, begin=self._begin_snapshot, restart=_restart_snapshot)
        with self._ended(opened, _all_was_read):
            self._local.read = (opened, None)
            try:
                yield opened
            finally:
                self._local.read = None

    def _begin_snapshot(self, first: Sequence[Message]) -> psycopg.Connection[Any]:
        return self._began([*_SNAPSHOT, *first])[0]

    @contextmanager
    def _begun(
        self, user: str | None, wait_seconds: float | None = None, several: Sequence[str] = ()
    ) -> Iterator[tuple[OpenTransaction, str | None]]:
        """The transaction of a user, of several or of everyone, and the version of full text; nested calls join the
        outer one."""
        outer = getattr(self._local, "write", None)
        if outer is not None:
            if self._local.user not in (None, user):
                raise RuntimeError(f"A transaction of {user or 'everyone'} begins within one of {self._local.user}.")
            with self._explained():
                yield outer
            return
        locked = several if user is None else (user,)
        whose = locked[-1] if locked else EVERYONE
        token = postgres_commit.new_token()
        locks: list[Message] = [
            text for name in locked for text in (*seeing(name), postgres_commit.locking(name, token))
        ]
        locks = locks or [*seeing(EVERYONE), "LOCK TABLE user_locks IN EXCLUSIVE MODE"]
        wait = max(1, round((LOCK_SECONDS if wait_seconds is None else wait_seconds) * 1000))  # 0 would wait forever
        limit = f"SET LOCAL lock_timeout TO '{wait}ms'"
        with self._explained():
            connection, cursor = self._began(["BEGIN", PROPAGATE, _PATH, limit, _IDLE, *locks, _TERMS])
        opened = OpenTransaction(self.name, whose, connection)
        with self._ended(opened, partial(self._settle, locked[0] if locked else None, token)):
            row = cursor.fetchone()
            terms = str(row[0]) if row else None
            self._local.write, self._local.user = (opened, terms), user
            try:
                yield opened, terms
            finally:
                self._local.write = None

    def _settle(self, user: str | None, token: int) -> None:
        postgres_commit.settle(self._connection_string, self.name, user, token)

    @contextmanager
    def _ended(self, opened: OpenTransaction, settle: Callable[[], None]) -> Iterator[None]:
        """Commit a transaction, or roll it back where an error ends it, and give the connection back.

        `settle` is called where COMMIT is not answered, and raises unless it was stored."""
        with self._explained():
            try:
                yield
                if opened.connection is not None:
                    self._commit(opened.connection, settle)
            except BaseException:
                if opened.connection is not None:
                    with suppress(psycopg.Error):
                        opened.connection.execute("ROLLBACK")
                raise
            finally:
                if opened.connection is not None:
                    self._pool.putconn(opened.connection)

    def _commit(self, connection: psycopg.Connection[Any], settle: Callable[[], None]) -> None:
        try:
            ended = connection.execute("COMMIT", prepare=False)
        except (psycopg.OperationalError, psycopg.InternalError):  # which Citus says of a machine that did not answer
            settle()
        else:
            if ended.statusmessage != "COMMIT":  # the server rolls back where a statement had failed
                raise errors.StoreError(f"A statement had failed in {self.name}; nothing was written.")

    def _began(self, begin: Sequence[Message]) -> tuple[psycopg.Connection[Any], psycopg.Cursor[Any]]:
        """A connection on which a transaction has begun, and what the last of the messages gave."""
        if self._is_closed:
            raise errors.StoreError(f"{self.name} was closed; open it again.")
        for attempt in range(1, _ATTEMPTS + 1):
            connection = self._open_connection()
            try:
                return connection, send(connection, begin)
            except BaseException as error:
                if not connection.closed:
                    with suppress(psycopg.Error):
                        connection.execute("ROLLBACK")
                self._pool.putconn(connection)
                if not isinstance(error, psycopg.OperationalError) or not connection.closed or attempt == _ATTEMPTS:
                    raise
        raise AssertionError("unreachable")

    def _open_connection(self) -> psycopg.Connection[Any]:
        """A connection that the server has not closed since it was used last: after a restart all are."""
        for _ in range(CONNECTIONS):
            connection = self._pool.getconn()
            if not _was_closed(connection):
                return connection
            connection.close()
            self._pool.putconn(connection)
        return self._pool.getconn()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            with postgres_translated(self.name):
                yield
        except UnicodeEncodeError as error:
            raise errors.InvalidInput(
                "A text or a name is not valid Unicode, so no database can hold it; give it as UTF-8."
            ) from error


def _configured(connection: psycopg.Connection[Any]) -> None:
    """Make a new connection ready. Its statements are prepared unless a pool stands in front.

    Behind a pool each transaction may get another process of the server, and the one that answers is not the one that
    the connection began with."""
    adapt(connection)
    if connection.execute("SELECT pg_backend_pid()").fetchone() == (connection.info.backend_pid,):
        connection.prepare_threshold = _PREPARED_AFTER
        connection.prepared_max = _MOST_PREPARED


def _was_closed(connection: psycopg.Connection[Any]) -> bool:
    """Return whether the server has closed a connection that nobody uses, without asking it anything."""
    with selectors.DefaultSelector() as selector:
        selector.register(connection.fileno(), selectors.EVENT_READ)
        for _ in range(_MOST_PIECES):  # its last words, and then the end
            if not selector.select(0):
                return False
            try:
                connection.pgconn.consume_input()
            except psycopg.OperationalError:
                return True
    return False


def _restart_snapshot(connection: psycopg.Connection[Any]) -> None:
    """Begin a snapshot anew on a connection whose transaction an error has ended."""
    send(connection, ["ROLLBACK", *_SNAPSHOT])


def _all_was_read() -> None:
    """A snapshot has nothing to store, so its COMMIT needs no answer."""


def _defaults(parts: dict[str, Any]) -> dict[str, Any]:
    """What is added to an address that does not say otherwise.

    Of several servers it is the one that takes writes. A connection whose other end is gone is given up in a minute."""
    usual: dict[str, Any] = {"connect_timeout": _CONNECT_SECONDS, "application_name": "picomem"}
    usual |= {"keepalives_idle": 20, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
    if "," in f"{parts.get('host') or ''}{parts.get('hostaddr') or ''}":
        usual["target_session_attrs"] = "read-write"
    return {"client_encoding": "UTF8"} | {name: value for name, value in usual.items() if not parts.get(name)}


def _shown(parts: dict[str, Any]) -> str:
    """An address as sentences name it, without user and password."""
    hosts = str(parts.get("host") or parts.get("hostaddr") or "").split(",")
    ports = str(parts.get("port") or "").split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    places = [f"{host}:{port}" if port and not host.startswith("/") else host for host, port in zip(hosts, ports)]
    return f"postgresql://{','.join(places)}/{parts.get('dbname') or ''}"


# How values pass between Python and PostgreSQL, so that both databases give and take the same ones.
#
# SQLite's numbers are whole numbers of 64 bits or doubles, and a truth value is 0 or 1. Each value is sent with its
# type, so a text never becomes a number by accident, as in the STRICT tables of SQLite. The sum of whole numbers, which
# PostgreSQL gives as a decimal number, is a whole number again.


class _TruthDumper(Dumper):
    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _SumLoader(NumericLoader):
    def load(self, data: Buffer) -> Any:
        return int(super().load(data))


class _BinarySumLoader(NumericBinaryLoader):
    def load(self, data: Buffer) -> Any:
        return int(super().load(data))


def adapt(context: AdaptContext) -> None:
    """Let a connection send and read values so."""
    adapters = context.adapters
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _TruthDumper)
    adapters.register_dumper(str, StrDumper)
    adapters.register_loader("numeric", _SumLoader)
    adapters.register_loader("numeric", _BinarySumLoader)

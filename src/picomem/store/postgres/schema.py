"""The schema of a store on PostgreSQL: the tables of `schema/` in PostgreSQL's words, and of search; and its upkeep."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg

from picomem import errors
from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE, CitusChoice
from picomem.store.postgres import machines as postgres_machines
from picomem.store.postgres.dialect import SCHEMA, translated_schema, translated_statement
from picomem.store.postgres.machines import HERE, CitusMachine, division, is_distributed, machines, told_by
from picomem.store.postgres.transaction import PROPAGATE, seeing
from picomem.store.row_hash import row_hash
from picomem.store.schema_versions import (
    FIRST_FILES,
    AddedColumns,
    latest_version,
    refuse_newer,
    steps_after,
    unreleased_layout,
)
from picomem.store.sql_statements import schema, statement
from picomem.store.tables.meta import REDACTION_KEY
from picomem.text.terms import VERSION as TERMS_VERSION

if TYPE_CHECKING:
    from picomem.store.postgres.connector import PostgresConnector
    from picomem.store.postgres.transaction import PostgresTransaction


OLDEST = 160_000  # PostgreSQL 16
_OLDEST_CITUS = 14  # the only one that was tried
_VERSION = "schema"
_UNRELEASED = "schema_version"  # held the version in stores from before the first release
_LOCK = 0x7069636F  # of the transaction that makes the tables: two processes may begin at once


def prepare(
    connection: psycopg.Connection, store: str, *, create: bool = True, citus: CitusChoice | None = None
) -> None:
    """Make the tables, or bring them up to date, in one transaction.

    Raises NoStore, NewerSchema, StoreError (also for a store from before the first release), and with `citus` or on one
    of its workers Unsupported and Conflict.
    """
    _check_server(connection, store)
    version = _version(connection, store)
    if citus is not None:
        _check_citus(connection, store, citus)
    if version == latest_version():
        return
    # The version is asked again, because another process may have made all tables between the first two questions.
    if version == 0 and _holds_tables(connection) and _version(connection, store) == 0:
        raise errors.StoreError(
            f"The schema {SCHEMA} of {store} holds tables that are not picomem's; make a database for picomem alone."
        )
    if version == 0 and not create:
        raise errors.NoStore(
            CodedText("failure.no_store_in", place=store, remember=Command("remember"), ingest=Command("ingest"))
        )
    if version < latest_version() and not _may_change(connection):
        raise errors.ReadOnly(
            f"{store} is not up to date, and this role does not own it; run picomem once with the role that does."
        )
    if is_distributed(connection):
        _refuse_worker(connection, store)
    if version == 0:
        # In a transaction of its own: in that of the first table Citus would alter the role on its machines, which
        # only a superuser may.
        with _alone(connection):
            _execute(connection, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    with _alone(connection):
        version = _version(connection, store)
        refuse_newer(store, version)
        _execute(connection, PROPAGATE)
        _execute(connection, f"SET LOCAL search_path TO {SCHEMA}")
        if version == 0:
            _make_first(connection, citus)
            version = 1
        _take_steps(connection, version)


@contextmanager
def _alone(connection: psycopg.Connection) -> Iterator[None]:
    """A transaction that no other process makes or changes tables in."""
    with connection.transaction():
        _execute(connection, f"SELECT pg_advisory_xact_lock({_LOCK})")
        yield


def _take_steps(connection: psycopg.Connection, version: int) -> None:
    for_citus = is_distributed(connection)
    for text in seeing(EVERYONE):
        _execute(connection, text)
    for step in steps_after(version):
        for text in translated_schema(schema(step.file), for_citus=for_citus):
            _execute(connection, text)
        for added in step.added:
            _hash_anew(connection, added)
    _put(connection, _VERSION, str(latest_version()))


def _check_server(connection: psycopg.Connection, store: str) -> None:
    if connection.info.server_version < OLDEST:
        raise errors.StoreError(f"{store} is older than PostgreSQL 16; use a newer server.")
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise errors.StoreError(f"{store} is not encoded in UTF8; make the database with ENCODING 'UTF8'.")


def _check_citus(connection: psycopg.Connection, store: str, citus: CitusChoice) -> None:
    """Raise Unsupported where Citus cannot divide a store, and Conflict where one is there that it does not."""
    row = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'citus'").fetchone()
    if row is None:
        raise errors.Unsupported(f"{store} has no Citus; make its extension there, or leave out --citus.")
    if int(str(row[0]).partition(".")[0]) < _OLDEST_CITUS:
        raise errors.Unsupported(f"{store} has Citus {row[0]}; picomem needs Citus {_OLDEST_CITUS} or newer.")
    _refuse_worker(connection, store)
    counted = "SELECT count(*), count(*) FILTER (WHERE shouldhaveshards) FROM pg_dist_node WHERE noderole = 'primary'"
    known, taking = connection.execute(counted).fetchone() or (0, 0)
    if known and not taking:  # without any the coordinator takes them itself
        raise errors.Unsupported(f"No machine of {store} takes shards; add one with citus_add_node.")
    if _version(connection, store) == 0:
        return
    if not is_distributed(connection):
        raise errors.Conflict(
            f"{store} holds a store that Citus does not divide; make another in an empty database, and move the users."
        )
    shards, _ = division(connection)
    if citus.shards not in (0, shards):
        raise errors.Conflict(f"The tables of {store} have {shards} shards already; leave out --shards.")


def _refuse_worker(connection: psycopg.Connection, store: str) -> None:
    if connection.execute("SELECT citus_is_coordinator()").fetchone() != (True,):
        raise errors.Unsupported(
            f"{store} is a worker of Citus, where no tables can be made or changed; run it at the coordinator."
        )


def _hash_anew(connection: psycopg.Connection, added: AddedColumns) -> None:
    rows = connection.execute(added.select().encode()).fetchall()
    for values in added.new_hashes(rows):
        connection.execute(translated_statement(added.update()).encode(), values)


def _version(connection: psycopg.Connection, store: str) -> int:
    """The version of the schema; 0 where there is no store. Raises StoreError for one from before the first release."""
    (table,) = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.meta",)).fetchone() or (None,)
    if table is None:
        return 0
    entries = f"SELECT name, value FROM {SCHEMA}.meta WHERE name IN (%s, %s)"
    versions = dict(connection.execute(entries.encode(), (_VERSION, _UNRELEASED)).fetchall())
    if _UNRELEASED in versions:
        raise unreleased_layout(store)
    return int(versions.get(_VERSION, 0))


def _holds_tables(connection: psycopg.Connection) -> bool:
    """Return whether there is anything in the schema: picomem makes all of it at once."""
    listed = "SELECT FROM pg_class WHERE relnamespace = to_regnamespace(%s) LIMIT 1"
    return connection.execute(listed, (SCHEMA,)).fetchone() is not None


def _may_change(connection: psycopg.Connection) -> bool:
    """Return whether the role owns the schema, where there is one."""
    owned = f"SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = '{SCHEMA}'"
    row = connection.execute(owned.encode()).fetchone()
    return row is None or bool(row[0])


def _make_first(connection: psycopg.Connection, citus: CitusChoice | None) -> None:
    if citus is not None and citus.shards:
        _execute(connection, f"SET LOCAL citus.shard_count TO {citus.shards:d}")
    for name in (*FIRST_FILES, "search_postgres"):
        for text in translated_schema(schema(name), for_citus=citus is not None):
            _execute(connection, text)
    _put(connection, REDACTION_KEY, os.urandom(32).hex())
    _put(connection, "terms_version", TERMS_VERSION)


def _put(connection: psycopg.Connection, name: str, value: str) -> None:
    values = {"name": name, "value": value, "row_hash": row_hash("meta", (name, value))}
    connection.execute(translated_statement(statement("set_meta")).encode(), values)


def _execute(connection: psycopg.Connection, text: str) -> None:
    connection.execute(text.encode())


# Maintenance of a store on PostgreSQL, as far as it is picomem's: the rest is the administrators'.

_LOG = (
    "SELECT CAST(json_build_array(pg_walfile_name(pg_current_wal_lsn()), "
    "(SELECT ceil(CAST(setting AS float) / 60) FROM pg_settings WHERE name = 'checkpoint_timeout'), "
    "current_setting('archive_mode') <> 'off', EXISTS (SELECT FROM pg_replication_slots) "
    "OR (SELECT setting <> '0' FROM pg_settings WHERE name = 'wal_keep_size'), "
    "(SELECT count(*) FROM pg_stat_replication)) AS text)"
)
_PASSES = "SELECT CAST(rolsuper OR rolbypassrls AS text) FROM pg_roles WHERE rolname = current_user"
# Whether row-level security holds for the role in every table of users; of the owner only where it is forced.
_IS_FENCED = (
    "SELECT coalesce(bool_and(row_security_active(t.oid)), true) FROM pg_class AS t "
    "JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attname = 'user_id' "
    f"WHERE t.relnamespace = to_regnamespace('{SCHEMA}') AND t.relkind IN ('r', 'p') AND NOT t.relispartition"
)


class PostgresMaintenance:
    """The database of a connector, as a whole."""

    def __init__(self, connector: PostgresConnector) -> None:
        self._connector = connector

    def place(self) -> str:
        """The database, and the moment at which its server was started."""
        with self._connector.read() as tx:
            return str(tx.rows_of("SELECT current_database(), CAST(pg_postmaster_start_time() AS text)", {})[0])

    def size(self) -> int:
        """Bytes of the tables and indexes."""
        with self._connector.asking() as connection:
            return postgres_machines.size(connection)

    def is_sealed(self) -> bool:
        return False

    def files(self) -> list[Path]:
        """None: the files are the server's."""
        return []

    def copy_to(self, target: Path) -> None:
        """Refuse: a server is backed up by its own tools."""
        raise errors.Unsupported(
            f"picomem does not back up PostgreSQL, so {target.name} was not written; use pg_dump as a superuser, or "
            "the server's own backups."
        )

    def integrity(self) -> list[str]:
        """What is wrong with the role, and with the tables of full text. The server checks its own pages, and the rows
        are checked by their hashes."""
        return [*map(_lacking, self._connector.incomplete_full_text()), *self.left_alone()]

    def left_alone(self) -> list[str]:
        """What is wrong with the role, which is changed by who runs the server; and the machines that do not answer."""
        problems: list[str] = []
        with self._connector.asking() as connection:
            passes = connection.execute(_IS_FENCED.encode()).fetchone() != (True,)
            for machine in machines(connection):
                try:
                    passes |= told_by(connection, machine, _PASSES) == "true"
                except errors.StoreError as error:
                    problems.append(f"the machine {machine} of the store cannot be asked: {error}")
        if passes:
            problems.append(
                "the role passes over row-level security, which keeps the users apart; connect with a role that is no "
                "superuser, has no BYPASSRLS and owns no table of the store"
            )
        return problems

    def silent_machines(self) -> list[str]:
        """The machines of Citus that do not answer."""
        with self._connector.asking() as connection:
            return list(map(str, postgres_machines.silent_machines(connection)))

    def words_integrity(self, source: str) -> str:  # noqa: ARG002 - of the protocol
        """Whether the tables are complete; their rows are compared with those of the memories."""
        return "; ".join(map(_lacking, self._connector.incomplete_full_text()))

    def has_damaged_index(self) -> bool:
        return False

    def copy_daily(self, now: Micros, most_bytes: int) -> None:
        """Nothing: the server's administrators check its indexes and make its backups."""

    def restore_command(self) -> str:
        return ""

    def repair(self) -> AbstractContextManager[PostgresTransaction]:
        return self._connector.repair()

    def give_up_ballast(self) -> bool:
        """Nothing is kept for a full disk."""
        return False

    def leave_no_trace(self, wait_seconds: float, scope: Scope | None = None) -> None:
        """Write the tables and their indexes anew, of Citus the shards of the user; the server locks each meanwhile."""
        self._connector.rewrite_tables(wait_seconds, None if scope is None else scope.user)

    def copies_out_of_reach(self) -> str:
        """What of the servers still holds what was deleted by now, and until when."""
        with self._connector.asking() as connection:
            logs = {machine: _log_of(connection, machine) for machine in machines(connection)}
        known = [log for log in logs.values() if log is not None]
        others = ["its backups until they are deleted", "the statistics of its planner until they are made anew"]
        if any(log.is_archived for log in known):
            others.append("the archive of its log until that is deleted")
        if replicas := sum(log.replicas for log in known):
            others.append(f"its replicas ({replicas}) until they have recycled their log")
        is_kept = any(log.is_kept for log in known)
        later = ", and later, because wal_keep_size or a replication slot keeps it" if is_kept else ""
        minutes = max((log.minutes for log in known), default=0)
        segments = ", ".join(
            f"{'' if machine == HERE else f'{machine} '}{log.segment if log else '(does not answer)'}"
            for machine, log in logs.items()
        )
        return (
            f"The server's log holds what was purged in the segments up to {segments}, until the server removes or "
            f"overwrites them; its next two checkpoints free them, at most {minutes:.0f} minutes apart while something "
            f"is written{later}. What was purged may also be in {', '.join(others)}. picomem examined no file of "
            "the server."
        )


class _Log(NamedTuple):
    """Where the log of a machine is, and what keeps it."""

    segment: str
    minutes: float
    is_archived: bool
    is_kept: bool
    replicas: int


def _log_of(connection: psycopg.Connection[Any], machine: CitusMachine) -> _Log | None:
    """The log of a machine; None where it does not answer. Every machine is asked: a shard may have been moved."""
    try:
        return _Log(*json.loads(told_by(connection, machine, _LOG)))
    except errors.StoreError:
        return None


def _lacking(table: str) -> str:
    return f"the table {table} of full text is gone, or lacks a column or its key"

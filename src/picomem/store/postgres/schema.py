"""The schema of a store on PostgreSQL: the tables of `schema/` in PostgreSQL's words, and of search; and its upkeep."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from picomem import errors
from picomem.clock import Micros
from picomem.coded_text import CodedText, Command
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE
from picomem.store.postgres.dialect import SCHEMA, translated_schema, translated_statement
from picomem.store.postgres.transaction import seeing
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
_VERSION = "schema"
_UNRELEASED = "schema_version"  # held the version in stores from before the first release
_LOCK = 0x7069636F  # of the transaction that makes the tables: two processes may begin at once


def prepare(connection: psycopg.Connection, store: str, partitions: int, *, create: bool) -> None:
    """Make the tables, or bring them up to date, in one transaction.

    Raises NoStore, NewerSchema, StoreError (also for a store from before the first release), or Unsupported where the
    tables were distributed with Citus.
    """
    _check_server(connection, store)
    version = _version(connection, store)
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
    with connection.transaction():
        _execute(connection, f"SELECT pg_advisory_xact_lock({_LOCK})")
        version = _version(connection, store)
        refuse_newer(store, version)
        if version == 0:
            _make_first(connection, partitions)
            version = 1
        partitions = _partitions(connection)
        _execute(connection, f"SET LOCAL search_path TO {SCHEMA}")
        _execute(connection, seeing(EVERYONE))
        for step in steps_after(version):
            for text in translated_schema(schema(step.file), partitions):
                _execute(connection, text)
            for added in step.added:
                _hash_anew(connection, added)
        _put(connection, _VERSION, str(latest_version()))


def _check_server(connection: psycopg.Connection, store: str) -> None:
    if connection.info.server_version < OLDEST:
        raise errors.StoreError(f"{store} is older than PostgreSQL 16; use a newer server.")
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise errors.StoreError(f"{store} is not encoded in UTF8; make the database with ENCODING 'UTF8'.")
    if _is_distributed(connection):
        raise errors.Unsupported(
            f"The tables of {store} were distributed with Citus, where a purge would leave the text on the workers; "
            "move the store to a database without Citus."
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


def _partitions(connection: psycopg.Connection) -> int:
    """Return how many partitions the tables have, whatever the settings say by now."""
    counted = "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass(%s)"
    (count,) = connection.execute(counted, (f"{SCHEMA}.memories",)).fetchone() or (0,)
    return int(count)


def _holds_tables(connection: psycopg.Connection) -> bool:
    """Return whether there is anything in the schema: picomem makes all of it at once."""
    listed = "SELECT FROM pg_class WHERE relnamespace = to_regnamespace(%s) LIMIT 1"
    return connection.execute(listed, (SCHEMA,)).fetchone() is not None


def _is_distributed(connection: psycopg.Connection) -> bool:
    """Return whether Citus has divided the tables among machines. There CLUSTER, by which a purge writes a table anew,
    does nothing but warn."""
    if connection.execute("SELECT to_regclass('pg_dist_partition')").fetchone() == (None,):
        return False
    listed = "SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(%s)"
    return connection.execute(listed, (f"{SCHEMA}.memories",)).fetchone() is not None


def _may_change(connection: psycopg.Connection) -> bool:
    """Return whether the role owns the schema, where there is one."""
    owned = f"SELECT pg_has_role(nspowner, 'USAGE') FROM pg_namespace WHERE nspname = '{SCHEMA}'"
    row = connection.execute(owned.encode()).fetchone()
    return row is None or bool(row[0])


def _make_first(connection: psycopg.Connection, partitions: int) -> None:
    _execute(connection, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    _execute(connection, f"SET LOCAL search_path TO {SCHEMA}")
    for name in (*FIRST_FILES, "search_postgres"):
        _execute(connection, "\n".join(translated_schema(schema(name), partitions)))
    _put(connection, REDACTION_KEY, os.urandom(32).hex())
    _put(connection, "terms_version", TERMS_VERSION)


def _put(connection: psycopg.Connection, name: str, value: str) -> None:
    values = {"name": name, "value": value, "row_hash": row_hash("meta", (name, value))}
    connection.execute(translated_statement(statement("set_meta")).encode(), values)


def _execute(connection: psycopg.Connection, text: str) -> None:
    connection.execute(text.encode())


# Maintenance of a store on PostgreSQL, as far as it is picomem's: the rest is the administrators'.

_LOG = (
    "SELECT pg_walfile_name(pg_current_wal_lsn()), "
    "(SELECT ceil(CAST(setting AS float) / 60) FROM pg_settings WHERE name = 'checkpoint_timeout'), "
    "current_setting('archive_mode') <> 'off', EXISTS (SELECT FROM pg_replication_slots) "
    "OR (SELECT setting <> '0' FROM pg_settings WHERE name = 'wal_keep_size'), "
    "(SELECT count(*) FROM pg_stat_replication)"
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
        return self._connector.one_number(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class AS c "
            f"WHERE c.relnamespace = to_regnamespace('{SCHEMA}') AND c.relkind = 'r'"
        )

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
        """What is wrong with the role, which is changed by who runs the server."""
        (passes,) = self._connector.one_row(
            "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
        )
        if not passes:
            return []
        return [
            "the role passes over row-level security, which keeps the users apart; connect with a role that is no "
            "superuser and has no BYPASSRLS"
        ]

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
        """Write the partitions of a user, or all tables, and their indexes anew; the server locks each meanwhile."""
        self._connector.rewrite_tables(wait_seconds, None if scope is None else scope.user)

    def copies_out_of_reach(self) -> str:
        """What of the server still holds what was deleted by now, and until when."""
        segment, minutes, is_archived, is_kept, replicas = self._connector.one_row(_LOG)
        others = ["its backups until they are deleted", "the statistics of its planner until they are made anew"]
        if is_archived:
            others.append("the archive of its log until that is deleted")
        if replicas:
            others.append(f"its replicas ({replicas}) until they have recycled their log")
        later = ", and later, because wal_keep_size or a replication slot keeps it" if is_kept else ""
        return (
            f"The server's log holds what was purged in the segments up to {segment}, until the server removes or "
            f"overwrites them; its next two checkpoints free them, at most {minutes:.0f} minutes apart while something "
            f"is written{later}. What was purged may also be in {', in '.join(others)}. picomem examined no file of "
            "the server."
        )


def _lacking(table: str) -> str:
    return f"the table {table} of full text is gone, or lacks a column, its key or a partition"

"""The schema of a store on PostgreSQL: the tables of SQLite's script in PostgreSQL's words, and those of search."""

from __future__ import annotations

import os

import psycopg

from picomem import errors
from picomem.store.connector import EVERYONE
from picomem.store.meta import DOCS_BEFORE_RANGES, REDACTION_KEY
from picomem.store.postgres_dialect import SCHEMA, translated_schema, translated_statement
from picomem.store.postgres_transaction import seeing
from picomem.store.row_hash import COLUMNS, KEYS, row_hash
from picomem.store.sql_statements import schema, statement
from picomem.store.sqlite_migrations import FRESH_VERSION, SCHEMA_VERSION, STEPS, Added
from picomem.text.terms import VERSION as TERMS_VERSION

OLDEST = 160_000  # PostgreSQL 16
_VERSION = "schema_version"
_LOCK = 0x7069636F  # of the transaction that makes the tables: two processes may begin at once


def prepare(connection: psycopg.Connection, store: str, partitions: int, *, create: bool) -> None:
    """Make the tables, or bring them up to date, in one transaction.

    Raises NoStore, NewerSchema, StoreError, or Unsupported where the tables were distributed with Citus.
    """
    if connection.info.server_version < OLDEST:
        raise errors.StoreError(f"{store} is older than PostgreSQL 16; use a newer server.")
    if connection.info.parameter_status("server_encoding") != "UTF8":
        raise errors.StoreError(f"{store} is not encoded in UTF8; make the database with ENCODING 'UTF8'.")
    if _is_distributed(connection):
        raise errors.Unsupported(
            f"The tables of {store} were distributed with Citus, where a purge would leave the text on the workers; "
            "move the store to a database without Citus."
        )
    version = _version(connection)
    if version == SCHEMA_VERSION:
        return
    # The version is asked again, because another process may have made all tables between the first two questions.
    if version == 0 and _holds_tables(connection) and _version(connection) == 0:
        raise errors.StoreError(
            f"The schema {SCHEMA} of {store} holds tables that are not picomem's; make a database for picomem alone."
        )
    if version == 0 and not create:
        raise errors.NoStore(
            f"There is no store in {store}; check the address, or make one there with `picomem remember` or "
            "`picomem ingest`."
        )
    if version < SCHEMA_VERSION and not _may_change(connection):
        raise errors.ReadOnly(
            f"{store} is not up to date, and this role does not own it; run picomem once with the role that does."
        )
    with connection.transaction():
        _execute(connection, f"SELECT pg_advisory_xact_lock({_LOCK})")
        version = _version(connection)
        if version > SCHEMA_VERSION:
            raise errors.NewerSchema(
                f"{store} was written by a newer picomem (schema {version}, this one knows {SCHEMA_VERSION}); upgrade "
                "picomem to open it."
            )
        if version == 0:
            _make_fresh(connection, partitions)
            version = FRESH_VERSION
        partitions = _partitions(connection)
        _execute(connection, f"SET LOCAL search_path TO {SCHEMA}")
        for step in STEPS[version:]:
            for name in (*step.files, *step.postgres):
                for text in translated_schema(schema(name), partitions):
                    _execute(connection, text)
            for added in step.added:
                _hash_anew(connection, added)
        _put(connection, _VERSION, str(SCHEMA_VERSION))


def _hash_anew(connection: psycopg.Connection, added: Added) -> None:
    """Give the rows of a table the hash over columns that were added; a damaged row stays damaged."""
    _execute(connection, seeing(EVERYONE))
    keys = " AND ".join(f"{name} = %({name})s" for name in KEYS[added.table])
    there = COLUMNS[added.table].index(added.columns[-1]) + 1  # a later step adds the others
    columns = COLUMNS[added.table][:there]
    rows = connection.execute(f"SELECT {', '.join(columns)}, row_hash FROM {added.table}".encode()).fetchall()
    for *values, stored in rows:
        if stored == row_hash(added.table, values[: -len(added.columns)]):
            row = dict(zip(columns, values, strict=True)) | {"row_hash": row_hash(added.table, values)}
            connection.execute(f"UPDATE {added.table} SET row_hash = %(row_hash)s WHERE {keys}".encode(), row)


def _version(connection: psycopg.Connection) -> int:
    """The version of the schema; 0 where there is no store."""
    (table,) = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.meta",)).fetchone() or (None,)
    if table is None:
        return 0
    row = connection.execute(f"SELECT value FROM {SCHEMA}.meta WHERE name = %s", (_VERSION,)).fetchone()
    return int(row[0]) if row else 0


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


def _make_fresh(connection: psycopg.Connection, partitions: int) -> None:
    _execute(connection, f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
    _execute(connection, f"SET LOCAL search_path TO {SCHEMA}")
    for name in (f"fresh_sqlite_{FRESH_VERSION:04}", "search_postgres"):
        _execute(connection, "\n".join(translated_schema(schema(name), partitions)))
    entries = {DOCS_BEFORE_RANGES: "0", REDACTION_KEY: os.urandom(32).hex(), "terms_version": TERMS_VERSION}
    for name, value in entries.items():
        _put(connection, name, value)


def _put(connection: psycopg.Connection, name: str, value: str) -> None:
    values = {"name": name, "value": value, "row_hash": row_hash("meta", (name, value))}
    connection.execute(translated_statement(statement("set_meta")).encode(), values)


def _execute(connection: psycopg.Connection, text: str) -> None:
    connection.execute(text.encode())

"""The schema of a SQLite store, brought up to date step by step.

A fresh database is made by one script, in a quarter of the time of the steps, because SQLite checks the whole schema
for each column that a step renames. A test compares a fresh database with a migrated one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import apsw

from picomem import errors
from picomem.store.file_bytes import database_head
from picomem.store.meta import DOCS_BEFORE_RANGES, REDACTION_KEY
from picomem.store.row_hash import row_hash
from picomem.store.sql_statements import schema, statement
from picomem.text.terms import VERSION as TERMS_VERSION

APPLICATION_ID = 0x5069636F  # "Pico": how `file` and we know the database


class Added(NamedTuple):
    """Columns that a table got as its last ones, so that its rows are hashed anew."""

    table: str
    columns: tuple[str, ...]


class Step(NamedTuple):
    """A step from one version of the schema to the next: files of `schema/`, then what is to be hashed anew, or a
    function for what SQL cannot do. All of it runs in the transaction of the whole migration.

    PostgreSQL takes the steps behind FRESH_VERSION too, so these have no function. `postgres` names files that it alone
    takes, after the others.
    """

    files: tuple[str, ...]
    function: Callable[[apsw.Connection], None] | None = None
    added: tuple[Added, ...] = ()
    postgres: tuple[str, ...] = ()


def _name_the_store(connection: apsw.Connection) -> None:
    connection.execute(statement("first_meta"), {"key": _new_key(), "terms": TERMS_VERSION})
    connection.pragma("application_id", APPLICATION_ID)


def _new_key() -> str:
    return os.urandom(32).hex()


def _make_fresh(connection: apsw.Connection) -> None:
    connection.execute(schema(f"fresh_sqlite_{FRESH_VERSION:04}"))
    entries = {DOCS_BEFORE_RANGES: "0", REDACTION_KEY: _new_key(), "terms_version": TERMS_VERSION}
    for name, value in entries.items():
        digest = row_hash("meta", (name, value))
        connection.execute(statement("set_meta"), {"name": name, "value": value, "row_hash": digest})
    connection.pragma("application_id", APPLICATION_ID)


def _hash_rows(connection: apsw.Connection) -> None:
    from picomem.store.row_hash_migration import hash_rows

    hash_rows(connection)


def _move_user_rows(connection: apsw.Connection) -> None:
    from picomem.store.user_rows_migration import move_user_rows

    move_user_rows(connection)


def _move_to_columns(connection: apsw.Connection) -> None:
    from picomem.store.file_columns_migration import move_to_columns

    move_to_columns(connection)


STEPS = (
    Step(("0001", "search_sqlite"), _name_the_store),
    Step(("0002",)),
    Step(("0003", "search_sqlite_0003")),
    Step(("0004",)),
    Step(("0005",)),
    Step(("0006",), _hash_rows),
    Step(("0007",)),
    Step(("0008", "search_sqlite_0008"), _move_user_rows),
    Step(("0009",), added=(Added("episodes", ("actions",)),)),
    Step(("0010",), _move_to_columns),
    Step(("0011",)),
    Step(("0012",)),
    Step(("0013",)),
    Step(("0014",)),
    Step(("0015",)),
    Step(("0016",), added=(Added("contacts", ("sender", "revoked_at")),)),
    Step(("0017",)),
    Step(("0018",)),
    Step(("0019",), postgres=("postgres_0019",)),
    Step(("0020",)),
    Step(("0021",), added=(Added("transcripts", ("policy_by",)),)),
    Step(("0022",), added=(Added("episodes", ("outcomes",)), Added("transcripts", ("repository",)))),
    Step(("0023",)),
    Step(("0024",)),
    Step(("0025",), added=(Added("episodes", ("suggested",)),)),
    Step(("0026",), added=(Added("episodes", ("tags",)),)),
)
SCHEMA_VERSION = len(STEPS)
FRESH_VERSION = 18  # what schema/fresh_sqlite_0018.sql makes; later steps follow it


def migrate(connection: apsw.Connection, path: Path) -> None:
    """Bring a database to the schema of this version, in one transaction. Raises NewerSchema or NotADatabase."""
    if connection.pragma("user_version") == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster: the version counts from inside the lock.
        check_version(connection, path)
        version = int(connection.pragma("user_version"))  # type: ignore[arg-type]
        if version == 0 and FRESH_VERSION <= SCHEMA_VERSION:
            _make_fresh(connection)
            version = FRESH_VERSION
        for step in STEPS[version:]:
            for name in step.files:
                connection.execute(schema(name))
            for added in step.added:
                _hash_anew(connection, added)
            if step.function is not None:
                step.function(connection)
        connection.pragma("user_version", SCHEMA_VERSION)
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():  # SQLite rolls back by itself where the disk failed
            connection.execute("ROLLBACK")
        raise


def _hash_anew(connection: apsw.Connection, added: Added) -> None:
    from picomem.store.row_hash_migration import hash_anew  # which a new store does not need

    hash_anew(connection, added.table, added.columns)


def refuse_another_programs(path: Path) -> None:
    """Refuse a database of another program by its header alone, so that not even its log is touched.

    The header (sqlite.org/fileformat.html) holds the schema cookie at 40, user_version at 60 and application_id at
    68, each 4 bytes, big-endian. All three are 0 in a database whose making has not left the log yet; what the log
    holds is for `check_version`.
    """
    try:
        head = database_head(path, 72)
    except apsw.Error:
        return  # opening says it better
    cookie, version, application = (int.from_bytes(head[at : at + 4], "big") for at in (40, 60, 68))
    if head.startswith(b"SQLite format 3\0") and application != APPLICATION_ID and (cookie or version or application):
        raise errors.NotADatabase(
            f"{path} is a database of another program; name another file with --db, and nothing of it is touched."
        )


def check_version(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file that is not ours (unless it is empty) and one that a newer picomem wrote."""
    with connection:  # one snapshot: another process may be making the database
        ours = connection.pragma("application_id") == APPLICATION_ID
        version = int(connection.pragma("user_version"))  # type: ignore[arg-type]
        if not ours and (version or connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()):
            raise errors.NotADatabase(
                f"{path} is a database of another program; name another file with --db, and nothing of it is touched."
            )
        if version > SCHEMA_VERSION:
            raise errors.NewerSchema(
                f"{path} was written by a newer picomem (schema {version}, this one knows {SCHEMA_VERSION}); "
                "upgrade picomem to open it."
            )

"""The schema of a SQLite store: makes it in a new file, and applies the steps that an older store lacks."""

from __future__ import annotations

import os
from pathlib import Path

import apsw

from picomem import errors
from picomem.store.file_bytes import database_head
from picomem.store.meta import REDACTION_KEY
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
from picomem.store.tolerant_text import rows_of
from picomem.text.terms import VERSION as TERMS_VERSION

APPLICATION_ID = 0x5069636D  # "Picm", by which `file` and picomem know the database
_UNRELEASED = 0x5069636F  # of stores from before the first release


def prepare(connection: apsw.Connection, path: Path) -> None:
    """Make the tables in an empty database, or bring them up to date, in one transaction.

    Raises NewerSchema or NotADatabase, and StoreError for a store from before the first release.
    """
    if _version(connection) == latest_version():
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have been faster: the version counts from inside the lock.
        check_version(connection, path)
        version = _version(connection)
        if version == 0:
            _make_first(connection)
            version = 1
        for step in steps_after(version):
            connection.execute(schema(step.file))
            for added in step.added:
                _hash_anew(connection, added)
        connection.pragma("user_version", latest_version())
        connection.execute("COMMIT")
    except BaseException:
        if not connection.get_autocommit():  # SQLite rolls back by itself where the disk failed
            connection.execute("ROLLBACK")
        raise


def _version(connection: apsw.Connection) -> int:
    return int(connection.pragma("user_version"))  # type: ignore[arg-type]


def _make_first(connection: apsw.Connection) -> None:
    for name in (*FIRST_FILES, "search_sqlite"):
        connection.execute(schema(name))
    for name, value in ((REDACTION_KEY, os.urandom(32).hex()), ("terms_version", TERMS_VERSION)):
        digest = row_hash("meta", (name, value))
        connection.execute(statement("set_meta"), {"name": name, "value": value, "row_hash": digest})
    connection.pragma("application_id", APPLICATION_ID)


def _hash_anew(connection: apsw.Connection, added: AddedColumns) -> None:
    for values in added.new_hashes(rows_of(connection, added.select(), {})):
        connection.execute(added.update(), values)


def refuse_another_programs(path: Path) -> None:
    """Refuse a database of another program by its header alone, so that not even its log is touched; also a store from
    before the first release.

    The header (sqlite.org/fileformat.html) holds the schema cookie at 40, user_version at 60 and application_id at
    68, each 4 bytes, big-endian. All three are 0 in a database whose making has not left the log yet; what the log
    holds is for `check_version`.
    """
    try:
        head = database_head(path, 72)
    except apsw.Error:
        return  # opening says it better
    cookie, version, application = (int.from_bytes(head[at : at + 4], "big") for at in (40, 60, 68))
    if head.startswith(b"SQLite format 3\0"):
        _refuse_anothers(path, application, is_empty=not (cookie or version or application))


def check_version(connection: apsw.Connection, path: Path) -> None:
    """Refuse a file that is not ours (unless it is empty), or is from before the first release, or of a newer
    picomem."""
    with connection:  # one snapshot: another process may be making the database
        version = _version(connection)
        is_empty = not version and not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        _refuse_anothers(path, connection.pragma("application_id"), is_empty=is_empty)
        refuse_newer(str(path), version)


def _refuse_anothers(path: Path, application: object, *, is_empty: bool) -> None:
    if application == _UNRELEASED:
        raise unreleased_layout(str(path))
    if application != APPLICATION_ID and not is_empty:
        raise errors.NotADatabase(
            f"{path} is a database of another program; name another file with --db, and nothing of it is touched."
        )

"""The schema of a SQLite store: makes it in a new file, adds what an older store lacks, and compares it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import apsw

from picomem import errors
from picomem.blake2b import blake2b
from picomem.light_dataclass import dataclass, field
from picomem.store.connector import Row
from picomem.store.files.file_bytes import database_head
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
from picomem.store.tolerant_text import rows_of
from picomem.text.inert_text import one_line
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


# Compares the schema of a SQLite file with the one that picomem makes.
#
# A file that was copied or restored may hold a trigger, a view or a table of somebody else. No trigger and no view runs
# in a connection of picomem's (sqlite.py), and no statement names a foreign table. What is part of a table of ours
# would run, such as an index on an expression: then nothing is written until a repair.

# Of the schema of the latest version (schema_versions.py). Another schema is compared part by part, which takes a
# hundred times as long; so after a new step opening is slow until this is what a test says.
DIGEST = "c598e2c49e0820a3399057aece0e1baf"
_FULL_TEXT = ("memory", "episode", "note")
_SHADOWS = ("data", "idx", "content", "docsize", "config")  # SQLite's own tables of a full text
_FULL_TEXT_TABLES = frozenset(f"{source}_{end}" for source in _FULL_TEXT for end in ("words", "vocabulary"))
_VECTOR_TABLES = frozenset({"vectors", "vector_spaces", "vector_rewrites"})
_SHADOW_TABLES = frozenset(f"{source}_words_{end}" for source in _FULL_TEXT for end in _SHADOWS)
_WRITING = re.compile(r'[\s"]+')  # what another version of SQLite may write otherwise
_LONGEST_NAME = 80  # characters of a name that are shown


class SchemaPart(NamedTuple):
    """A table, index, trigger or view. `table` is the one that it is on; `text` is its statement without blanks and
    quotes, and empty for SQLite's own tables of full text, which another version may write in other words."""

    kind: str
    name: str
    table: str
    text: str

    def __str__(self) -> str:
        name = f"{self.kind} {one_line(self.name[:_LONGEST_NAME])}"
        return name if self.table == self.name else f"{name} on {one_line(self.table[:_LONGEST_NAME])}"


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """What a schema has that the known one has not, and the reverse; a part that differs is in both. `statements` make
    the parts of the known schema, by name."""

    foreign: frozenset[SchemaPart] = frozenset()
    missing: frozenset[SchemaPart] = frozenset()
    statements: Mapping[str, str] = field(default_factory=dict)

    def problems(self) -> list[str]:
        """A phrase for each difference."""
        expected = {part[:2] for part in self.missing}
        there = {part[:2] for part in self.foreign}
        return [
            f"the {part} is not as picomem makes it"
            if part[:2] in expected
            else f"the {part} does not belong to the store"
            for part in sorted(self.foreign)
        ] + [
            f"the {part} is missing"
            for part in sorted(self.missing)
            # A full text that is gone has taken its own tables along.
            if part[:2] not in there and not any(part.name.startswith(f"{other.name}_") for other in self.missing)
        ]

    def left_alone(self) -> list[str]:
        """The phrases for what `mend` leaves: tables that somebody else made, and ours that are changed or gone."""
        derived = _FULL_TEXT_TABLES | _SHADOW_TABLES | _VECTOR_TABLES
        foreign, missing = (
            frozenset(part for part in parts if part.kind == "table" and part.name not in derived)
            for parts in (self.foreign, self.missing)
        )
        return SchemaDifference(foreign, missing).problems()

    def can_be_mended(self) -> bool:
        """Whether `mend` takes something out or makes something: it leaves the tables that somebody else made or
        changed."""
        changed = {part.name for part in self.foreign if part.kind == "table"}
        derived = (_FULL_TEXT_TABLES | _VECTOR_TABLES) - changed
        made = [part for part in self.missing if part.kind == "index" or part.name in derived]
        return bool(made) or any(part.kind != "table" for part in self.foreign)

    def would_run(self) -> list[str]:
        """The foreign parts that SQLite runs when a table of ours is written: an index, or a definition that was
        changed."""
        ours = self.statements.keys() - _FULL_TEXT_TABLES
        return [str(part) for part in sorted(self.foreign) if part.kind in ("index", "table") and part.table in ours]


def difference(connection: apsw.Connection) -> SchemaDifference:
    """Compare the schema that a connection sees with the known one. Raises apsw.Error."""
    parts = _parts(_rows(connection))
    if digest(parts) == DIGEST:
        return SchemaDifference()
    known = apsw.Connection(":memory:")
    prepare(known, Path(":memory:"))
    rows = _rows(known)
    ours = _parts(rows)
    return SchemaDifference(parts - ours, ours - parts, {str(name): str(text) for _, name, _, text in rows})


def digest(parts: Iterable[SchemaPart]) -> str:
    """A short name of a schema."""
    return blake2b(repr(sorted(parts)).encode("utf-8", "replace"), digest_size=16).hexdigest()


def mend(connection: apsw.Connection) -> None:
    """Take out foreign triggers, views and indexes, and make missing indexes, full-text tables, which a rebuild fills,
    and tables of vectors, which are filled as after a change of the model. A foreign table is left: it may hold
    somebody's data. Within a transaction. Raises apsw.Error."""
    differing = difference(connection)
    for part in differing.foreign:
        if part.kind != "table":
            connection.execute('DROP {} "{}"'.format(part.kind, part.name.replace('"', '""')))
    if any(part.name in _FULL_TEXT_TABLES | _SHADOW_TABLES for part in differing.missing):
        _make_full_text(connection)
    if any(part.name in _VECTOR_TABLES for part in differing.missing - differing.foreign):
        for table in sorted(_VECTOR_TABLES):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
        connection.execute(schema("vectors"))
    for part in differing.missing:
        if part.kind == "index":
            connection.execute(differing.statements[part.name])


def _rows(connection: apsw.Connection) -> list[Row]:
    return rows_of(connection, statement("schema_parts"), {})


def _parts(rows: Iterable[Row]) -> frozenset[SchemaPart]:
    return frozenset(
        SchemaPart(str(kind), str(name), str(table), "" if name in _SHADOW_TABLES else _WRITING.sub("", str(text)))
        for kind, name, table, text in rows
    )


def _make_full_text(connection: apsw.Connection) -> None:
    for source in _FULL_TEXT:
        words = f"{source}_words"
        connection.execute(f"DROP TABLE IF EXISTS {source}_vocabulary")
        # Without its configuration, SQLite refuses even to drop a full text.
        connection.execute(f"CREATE TABLE IF NOT EXISTS {words}_config (k PRIMARY KEY, v) WITHOUT ROWID")
        connection.execute(f"INSERT OR IGNORE INTO {words}_config VALUES ('version', 4)")
        for table in (words, *(f"{words}_{end}" for end in _SHADOWS)):
            connection.execute(f"DROP TABLE IF EXISTS {table}")
    connection.execute(schema("search_sqlite"))

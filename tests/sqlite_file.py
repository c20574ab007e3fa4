"""What tests of the SQLite file may use besides the engine; such a test is marked `sqlite_file`."""

from __future__ import annotations

import hashlib
from contextlib import closing
from pathlib import Path

import apsw

from picomem.engine.engine import Engine
from picomem.records.scope import Scope
from picomem.store.sql_statements import schema, statement
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.sqlite.transaction import SqliteTransaction
from picomem.store.tables import episodes, memories, memory_rows, note_rows
from tests.engine_parts import connector_of


def connection_of(engine: Engine) -> apsw.Connection:
    """The connection that an engine writes with."""
    connector = connector_of(engine)
    assert isinstance(connector, SqliteConnector)
    return connector.connection()


def disagreements(path: Path) -> list[str]:
    """Where full text or vectors differ from what the rows would give, a sentence each.

    The postings are compared term by term with those of an index made anew from the rows: SQLite's own check of a
    contentless index cannot see that a posting is missing or belongs to other text.
    """
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as stored:
        problems = _words_disagreements(stored)
        for source, table in (("memory", "memories"), ("episode", "episodes")):
            orphans = (
                f"SELECT count(*) FROM vectors AS v JOIN vector_spaces AS s USING (user_id, space) WHERE source = ? AND NOT EXISTS "
                f"(SELECT 1 FROM {table} AS r WHERE r.user_id = v.user_id AND r.doc = v.doc)"
            )
            ((count,),) = stored.execute(orphans, (source,)).fetchall()
            problems += [f"{count} vectors of {table} have no row"] if count else []
    return problems


def _words_disagreements(stored: apsw.Connection) -> list[str]:
    with closing(apsw.Connection(":memory:")) as made:
        made.execute(schema("search_sqlite"))
        search = SqliteTransaction(made, Path(":memory:")).search
        for user, _ in stored.execute(statement("users")).fetchall():
            scope = Scope(str(user))
            for row in stored.execute(statement("all_memories"), {"user": user}):
                memory = memory_rows.unchecked(row)
                if memory.searchable:
                    search.add(scope, "memory", [memories.document(memory)])
            for row in stored.execute(statement("all_episodes"), {"user": user}):
                search.add(scope, "episode", [episodes.document(episodes.unchecked(row))])
            for row in stored.execute(statement("all_note_sections"), {"user": user}):
                placed = note_rows.unchecked(row)
                search.add(scope, "note", [note_rows.document(placed.doc, placed.path, placed.section)])
        problems = []
        for table in ("memory_words", "episode_words", "note_words"):
            missing = _postings(made, table) - _postings(stored, table)
            extra = _postings(stored, table) - _postings(made, table)
            if missing or extra:
                shown = f"{sorted(missing)[:3]} missing, {sorted(extra)[:3]} extra"
                problems.append(f"{table}: {len(missing)} postings missing, {len(extra)} extra: {shown}")
        return problems


def _postings(connection: apsw.Connection, table: str) -> set[tuple]:
    connection.execute(
        f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{table}_instances USING fts5vocab (main, {table}, instance)"
    )
    return set(connection.execute(f"SELECT term, doc, col, offset FROM temp.{table}_instances"))


def rows_of(path: Path, statement: str) -> list[tuple]:
    """The rows of a statement that runs on the file beside picomem."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        connection.set_busy_timeout(10_000)
        return connection.execute(statement).fetchall()


def digests(path: Path, user: str) -> dict[str, str]:
    """For each table a digest of the rows of all users but one."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        tables = connection.execute(
            "SELECT m.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c "
            "WHERE c.name = 'user_id' AND m.type = 'table'"
        ).fetchall()
        made = {}
        for (table,) in tables:
            rows = sorted(connection.execute(f"SELECT * FROM {table} WHERE user_id <> ?", (user,)), key=repr)
            made[str(table)] = hashlib.sha256(repr(rows).encode("utf-8", "surrogatepass")).hexdigest()
        return made

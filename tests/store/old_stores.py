"""Stores as earlier versions of picomem left them, with rows in them."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw

from picomem.models.static_embedder import StaticEmbedder
from picomem.store import sqlite_migrations as migrations
from picomem.store.row_hash_migration import OLD_HASHES, old_text_hash
from picomem.store.sqlite_migrations import STEPS


def stop_at(version: int, monkeypatch) -> None:
    """Let picomem know only the first migrations."""
    monkeypatch.setattr(migrations, "STEPS", STEPS[:version])
    monkeypatch.setattr(migrations, "SCHEMA_VERSION", version)


def filled(path: Path, folder: Path, open_engine) -> None:
    """Make a store of today with memories, episodes, changes and vectors."""
    lines = [
        {"role": "user", "content": f"Violin {number} for the concert was tuned by Marta", "timestamp": 1_777_000_000}
        for number in range(30)
    ]
    (folder / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    engine = open_engine(path, embedder=StaticEmbedder())
    engine.remember("The harbour keeps its walnut ledgers dry", key="harbour")
    engine.remember("Anton mends the lute on Fridays", key="lute")
    engine.ingest([folder / "talk.jsonl"])
    engine.close()


def as_version_1(new: Path, old: Path, open_engine, monkeypatch) -> None:
    """The rows of a store of today, in the tables of the first version."""
    with monkeypatch.context() as then:
        stop_at(1, then)
        open_engine(old).close()
    with closing(apsw.Connection(str(old))) as connection:
        connection.execute("ATTACH ? AS new", (str(new),))
        connection.execute("DELETE FROM main.meta; INSERT INTO main.meta SELECT name, value FROM new.meta")
        connection.execute(
            "UPDATE main.meta SET name = 'next_doc', value = (SELECT max(last_doc) FROM new.doc_ranges) "
            "WHERE name = 'docs_before_ranges'"
        )
        connection.execute("INSERT INTO main.meta SELECT name || ' ' || user_id, value FROM new.user_marks")
        for table in ("memories", "changes", "lineage", "transcripts", "episodes"):
            old_columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            new_columns = {row[1] for row in connection.execute(f"PRAGMA new.table_info({table})")}
            given = [name if name in new_columns else "''" for name in old_columns]
            connection.execute(
                f"INSERT INTO main.{table} ({', '.join(old_columns)}) SELECT {', '.join(given)} FROM new.{table}"
            )
            _hash_as_before(connection, table)
        connection.execute(
            "INSERT INTO main.vectors SELECT user_id, source, model, doc, scale, vector "
            "FROM new.vectors JOIN new.vector_spaces USING (user_id, space)"
        )
        connection.execute("DETACH new")
        connection.execute("UPDATE main.meta SET value = 'to be made' WHERE name = 'terms_version'")
    # The rows are there and the words are not: the doctor of the next version makes those.


def _hash_as_before(connection: apsw.Connection, table: str) -> None:
    """Give the rows the hash that they had until schema 0006."""
    if table not in OLD_HASHES:
        return
    columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
    for rowid, *values in connection.execute(f"SELECT rowid, * FROM main.{table}").fetchall():
        digest = old_text_hash(table, dict(zip(columns, values, strict=True)))
        connection.execute(f"UPDATE main.{table} SET content_hash = ? WHERE rowid = ?", (digest, rowid))


def as_version(version: int, new: Path, old: Path, open_engine, monkeypatch) -> None:
    """The rows of a store of today in the tables of an earlier version; version 0 is an empty file."""
    if not version:
        old.touch(mode=0o600)
        return
    as_version_1(new, old, open_engine, monkeypatch)
    with monkeypatch.context() as then:
        stop_at(version, then)
        open_engine(old).close()

"""A store of an older schema, with rows in it, opens and answers as one that was made today."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from picomem.models.static import StaticEmbedder
from picomem.store import sqlite
from picomem.store.row_hash_migration import OLD_HASHES, old_text_hash
from picomem.store.sqlite import MIGRATIONS

QUESTIONS = ("walnut ledgers of the harbour", "violins for the concert", "who mends the lute")


def _filled(path: Path, folder: Path, open_engine) -> dict[str, list]:
    """A store of today, and its answers."""
    lines = [
        {"role": "user", "content": f"Violin {number} for the concert was tuned by Marta", "timestamp": 1_777_000_000}
        for number in range(30)
    ]
    (folder / "talk.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    engine = open_engine(path, embedder=StaticEmbedder())
    engine.remember("The harbour keeps its walnut ledgers dry", key="harbour")
    engine.remember("Anton mends the lute on Fridays", key="lute")
    engine.ingest([folder / "talk.jsonl"])
    answers = _answers(engine)
    engine.close()
    return answers


def _answers(engine) -> dict[str, list]:
    return {each: [(hit.text, hit.score, hit.why) for hit in engine.recall(each).hits] for each in QUESTIONS}


def _as_version_1(new: Path, old: Path, open_engine, monkeypatch) -> None:
    """The rows of a store of today, in the tables of the first version."""
    with monkeypatch.context() as then:
        then.setattr(sqlite, "MIGRATIONS", MIGRATIONS[:1])
        then.setattr(sqlite, "SCHEMA_VERSION", 1)
        open_engine(old).close()
    with closing(apsw.Connection(str(old))) as connection:
        connection.execute("ATTACH ? AS new", (str(new),))
        connection.execute("DELETE FROM main.meta; INSERT INTO main.meta SELECT name, value FROM new.meta")
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


@pytest.mark.requirement("X1")
def test_a_store_of_the_first_version_is_migrated_with_its_rows(tmp_path, open_engine, monkeypatch, disagreements):
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    expected = _filled(new, tmp_path, open_engine)
    _as_version_1(new, old, open_engine, monkeypatch)
    engine = open_engine(old, embedder=StaticEmbedder())
    assert {finding.check for finding in engine.doctor().findings} == {"full text"}
    assert engine.doctor(repair=True).healthy
    assert _answers(engine) == expected
    assert engine.status().episodes == 30
    assert engine.remember("Ilse keeps the cellar keys", key="cellar").memory
    assert engine.recall("cellar keys").hits[0].key == "cellar"
    engine.close()
    assert disagreements(old) == []


@pytest.mark.requirement("X1", "X2")
def test_a_row_that_was_damaged_before_its_migration_is_so_afterwards(tmp_path, open_engine, monkeypatch):
    """The new hash is made of what a row says, so it must not be made for one that says something else by now."""
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    _filled(new, tmp_path, open_engine)
    _as_version_1(new, old, open_engine, monkeypatch)
    with closing(apsw.Connection(str(old))) as connection:
        connection.execute(
            "UPDATE memories SET content = 'The harbour keeps its walnut ledgers wet' WHERE key = 'harbour'"
        )
        connection.execute("UPDATE episodes SET preview = CAST(x'c328' AS TEXT) WHERE first_turn = 0")
        connection.execute("UPDATE changes SET reason = 'x' WHERE decision = 'add'")
    engine = open_engine(old)
    damaged: list[str] = []
    assert [memory.key for memory in engine.memories(damaged=damaged)] == ["lute"]
    assert len(damaged) == 1
    assert engine.changes(damaged=[]) == []
    problems = [finding.problem for finding in engine.doctor().findings if finding.check == "row"]
    assert len(problems) == 4, problems

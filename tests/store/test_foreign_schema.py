"""A file that was copied or restored may hold a schema that is not ours: it is named, and nothing of it runs."""

from __future__ import annotations

import logging
from contextlib import closing

import apsw
import pytest

import picomem
from picomem.engine.backup_files import back_up, restore
from picomem.errors import Corrupt, StoreError
from picomem.operations.table import operation
from picomem.store.sqlite import schema as sqlite_schema
from picomem.store.sqlite.connector import SqliteConnector

pytestmark = pytest.mark.sqlite_file("changes the schema of the file")

TEXT = "The billing service uses PostgreSQL 16"
INERT = {
    "trigger harm on memories": "CREATE TRIGGER harm AFTER INSERT ON memories BEGIN UPDATE memories SET content = 'x'; END",
    "trigger harm on changes": "CREATE TRIGGER harm BEFORE INSERT ON changes BEGIN DELETE FROM memories; END",
    "view shown": "CREATE VIEW shown AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
}
RUNNING = {
    "index heavy on memories": "CREATE INDEX heavy ON memories (hex(zeroblob(length(content))))",
    "index only on memories": "CREATE UNIQUE INDEX only ON memories (user_id)",
    "table memories": "ALTER TABLE memories ADD COLUMN extra TEXT CHECK (length(hex(zeroblob(1000))) > 1)",
}


@pytest.fixture
def store(tmp_path):
    path = tmp_path / "store.db"
    with picomem.open(path, embedder="none") as memory:
        memory.remember(TEXT, kind="decision")
    return path


def _run(path, statement):
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(statement)


@pytest.mark.parametrize("named", INERT)
def test_a_trigger_or_a_view_is_named_and_never_runs_and_a_repair_removes_it(named, store, caplog):
    _run(store, INERT[named])

    with picomem.open(store, embedder="none") as memory:
        assert f"the {named} does not belong to the store" in caplog.text
        assert "run `picomem doctor --repair` on that store" in caplog.text
        memory.remember("Lunch is at noon on Fridays", kind="fact")
        assert {stored.content for stored in memory.memories()} == {TEXT, "Lunch is at noon on Fridays"}
        problems = [finding.problem for finding in memory.doctor().findings]
        assert problems == [f"the {named} does not belong to the store"]
        doctor = operation("doctor")
        assert "`picomem doctor --repair`" in str(doctor.present(doctor.run(memory, doctor.request())).next_steps)
        repaired = doctor.run(memory, doctor.request(repair=True))
        assert [(finding.problem, finding.repaired) for finding in repaired.findings] == [
            (f"the {named} does not belong to the store: this was put right", True)
        ]
        assert memory.doctor().findings == []


@pytest.mark.parametrize("table", ["vectors", "vector_spaces", "vector_rewrites"])
def test_a_table_of_vectors_that_is_gone_is_made_again_and_filled(table, tmp_path):
    """Issue 37, 3.12: vectors are derived, as full text is."""
    path = tmp_path / "store.db"
    with picomem.open(path) as memory:
        memory.remember(TEXT, kind="decision")
    _run(path, f"DROP TABLE {table}")
    with picomem.open(path) as memory:
        assert [finding.problem for finding in memory.doctor().findings] == [f"the table {table} is missing"]
        assert memory.doctor(repair=True).healthy
        memory.embed()
        assert memory.doctor().findings == []
        assert memory.recall(TEXT).warnings == ()
        memory.remember("Lunch is at noon on Fridays", kind="fact")


@pytest.mark.parametrize("statement", ["CREATE TABLE theirs (x)", "ALTER TABLE memories ADD COLUMN theirs TEXT"])
def test_a_repair_is_not_advised_for_a_table_that_no_repair_touches(statement, store):
    _run(store, statement)
    doctor = operation("doctor")
    with picomem.open(store, embedder="none") as memory:
        for repair in (False, True):
            result = doctor.run(memory, doctor.request(repair=repair))
            steps = str(doctor.present(result).next_steps)
            assert [finding.repaired for finding in result.findings] == [False]
            assert "--repair" not in steps and "picomem restore" in steps


@pytest.mark.parametrize("named", RUNNING)
def test_what_would_run_at_a_write_is_named_and_nothing_is_written(named, store, caplog):
    _run(store, RUNNING[named])

    with picomem.open(store, embedder="none") as memory:
        assert named in caplog.text
        with pytest.raises(StoreError, match=named):
            memory.remember("Lunch is at noon on Fridays", kind="fact")
        assert [hit.text for hit in memory.recall("which database does billing use?").hits] == [TEXT]
        assert memory.doctor(repair=True).healthy is (named != "table memories")


def test_a_table_of_somebody_else_is_named_and_left(store, caplog):
    _run(store, "CREATE TABLE theirs (x)")
    with picomem.open(store, embedder="none") as memory:
        memory.remember("Lunch is at noon on Fridays", kind="fact")
        (finding,) = memory.doctor(repair=True).findings

    assert caplog.text.endswith(
        "the table theirs does not belong to the store; picomem neither reads nor removes it.\n"
    )
    assert (finding.problem, finding.repaired) == ("the table theirs does not belong to the store", False)


def test_a_backup_with_a_trigger_is_not_restored_unless_it_is_asked_for(store, tmp_path, caplog):
    with picomem.open(store, embedder="none") as memory:
        back_up(memory, tmp_path / "backup.db")
    _run(tmp_path / "backup.db", INERT["trigger harm on memories"])

    with picomem.open(store, embedder="none") as memory, pytest.raises(Corrupt, match="trigger harm on memories"):
        restore(memory, tmp_path / "backup.db")
    assert not caplog.text  # of the copy that was examined, which nobody can repair


@pytest.mark.parametrize(
    "statement",
    ["DROP INDEX memories_known", "DROP TABLE memory_words", "DROP TABLE episode_vocabulary"]
    + [f"DROP TABLE memory_words_{end}" for end in ("data", "idx", "docsize", "config")],
)
def test_what_is_derived_and_gone_is_made_again_and_recall_works_until_then(statement, store):
    _run(store, statement)

    with picomem.open(store, embedder="none") as memory:
        answer = memory.recall("which database does the billing service use?")
        assert [hit.text for hit in answer.hits] == [TEXT]
        assert not memory.doctor().healthy
        assert memory.doctor(repair=True).healthy
        assert memory.doctor().findings == []
        memory.remember("Lunch is at noon on Fridays", kind="fact")
        assert "substring" not in memory.recall("lunch on Fridays").legs["memories by words"]


def test_opening_compares_the_schema_without_making_it(store, monkeypatch):
    """If this fails after a new step of the schema, `DIGEST` is to be what the message says."""
    connector = SqliteConnector(store)
    rows = sqlite_schema._rows(connector.connection())
    connector.close()
    assert sqlite_schema.digest(sqlite_schema._parts(rows)) == sqlite_schema.DIGEST


def test_a_healthy_store_says_nothing(store, caplog):
    with caplog.at_level(logging.WARNING), picomem.open(store, embedder="none") as memory:
        assert memory.doctor().findings == []
    assert caplog.text == ""

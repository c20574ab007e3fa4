"""A store of an older schema, with rows in it, opens and answers as one that was made today."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest
from tests.store.old_stores import as_version_1, filled

from picomem.models.static import StaticEmbedder

QUESTIONS = ("walnut ledgers of the harbour", "violins for the concert", "who mends the lute")


def _answers(engine) -> dict[str, list]:
    return {each: [(hit.text, hit.score, hit.why) for hit in engine.recall(each).hits] for each in QUESTIONS}


@pytest.mark.requirement("X1")
def test_a_store_of_the_first_version_is_migrated_with_its_rows(tmp_path, open_engine, monkeypatch, disagreements):
    new, old = tmp_path / "new.db", tmp_path / "old.db"
    filled(new, tmp_path, open_engine)
    engine = open_engine(new, embedder=StaticEmbedder())
    expected = _answers(engine)
    engine.close()
    as_version_1(new, old, open_engine, monkeypatch)
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
    filled(new, tmp_path, open_engine)
    as_version_1(new, old, open_engine, monkeypatch)
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

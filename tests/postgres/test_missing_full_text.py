"""Full text on PostgreSQL is derived: recall goes on without it, and a repair makes it again (O12, invariant 6)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres_server import GRANTS, rows_of

import picomem
from picomem.engine.engine import Engine
from picomem.errors import Corrupt
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.postgres.connector import PostgresConnector

pytestmark = pytest.mark.requirement("O12")

CELLAR = "The cellar under the harbour is dry"
TALK = "Shall the exporter run at night?"
GONE = {
    "both tables": "DROP TABLE picomem.word_postings; DROP TABLE picomem.word_totals",
    "the postings": "DROP TABLE picomem.word_postings",
    "the totals": "DROP TABLE picomem.word_totals",
    "the index": "ALTER TABLE picomem.word_postings DROP CONSTRAINT word_postings_pkey",
    "a column": "ALTER TABLE picomem.word_postings DROP COLUMN frequency",
}
ANSWERED = ("the index",)  # without which full text answers


@pytest.fixture
def owner(address: str) -> Iterator[Engine]:
    """The same store as `opened`, for the role that may make tables."""
    with picomem.open(address, embedder="none") as memory:
        yield memory


@pytest.fixture
def opened(connector: PostgresConnector, tmp_path: Path) -> Engine:
    runtime = Runtime(connector, Settings(recall=RecallSettings(embedder="none", timezone="UTC")))
    engine = runtime.engine()
    engine.remember(CELLAR, key="cellar")
    engine.remember("Bread is baked on Fridays", key="bread")
    (tmp_path / "talk.jsonl").write_text(json.dumps({"role": "user", "content": TALK}))
    engine.ingest([tmp_path / "talk.jsonl"])
    return engine


@pytest.mark.parametrize("what", GONE)
def test_recall_answers_while_full_text_is_gone_and_a_repair_makes_it_again(
    what: str, opened: Engine, owner: Engine, tmp_path: Path
) -> None:
    """Issue 37, 3.12."""
    rows_of(tmp_path, GONE[what])
    if what not in ANSWERED:
        for question, leg in (("is the cellar dry?", "memories"), ("exporter", "episodes")):
            answer = opened.recall(question)
            assert answer.hits[0].text == (CELLAR if leg == "memories" else TALK)
            assert "by substring; full text failed" in answer.legs[f"{leg} by words"]
    if what in ("both tables", "the postings"):
        with pytest.raises(Corrupt, match="picomem doctor --repair"):
            opened.remember("Lunch is at noon")

    assert not opened.doctor().healthy
    owner.doctor(repair=True)
    for grant in GRANTS:
        rows_of(tmp_path, grant)
    assert opened.doctor().findings == []
    answer = opened.recall("is the cellar dry?")
    assert answer.hits[0].text == CELLAR
    assert "substring" not in answer.legs["memories by words"]
    assert opened.recall("exporters").hits[0].source == "episode"
    opened.remember("Lunch is at noon")
    assert opened.recall("lunch").hits[0].text == "Lunch is at noon"


def test_a_table_that_is_no_full_text_is_not_made_again(opened: Engine, tmp_path: Path) -> None:
    rows_of(tmp_path, "DROP TABLE picomem.memories CASCADE")
    assert not opened.doctor(repair=True).healthy

"""The doctor: what it finds in changes, transcripts, index pages and references; a file that it cannot read."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from picomem.engine.engine import Engine
from picomem.errors import Corrupt, StoreError


@pytest.fixture
def filled(engine: Engine, tmp_path: Path) -> Engine:
    path = tmp_path / "talk.jsonl"
    rows = [{"role": "user", "content": f"Crane number {number} is painted yellow"} for number in range(3)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    engine.ingest([path])
    engine.remember("The harbor crane lifts 40 tons", key="crane")
    engine.revise("crane", "The harbor crane lifts 50 tons")
    engine.index()
    assert engine.doctor().findings == []
    return engine


def sql(db: Path, *texts: str) -> None:
    """Change the file behind the engine's back."""
    with closing(apsw.Connection(str(db))) as connection:
        for text in texts:
            connection.execute(text)


@pytest.mark.sqlite_file("damages rows in the file")
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE changes SET reason = 'because' WHERE decision = 'add'", "change .* does not match its hash"),
        ("UPDATE transcripts SET title = 'other'", "transcript .* does not match its hash"),
        ("UPDATE transcripts SET cursor = -1", "transcript .* does not match its hash"),
        ("UPDATE index_pages SET page = 'other'", "index pages"),
        ("DELETE FROM changes WHERE decision = 'add'", "no change tells of"),
        ("UPDATE memories SET closed_by = 'gone' WHERE closed_by IS NOT NULL", "change that is not there"),
        ("UPDATE changes SET memory_id = 'gone' WHERE decision = 'add'", "about a memory that is not there"),
        ("UPDATE lineage SET child_version = child_version + 70", "no version of it"),
        ("UPDATE memories SET valid_to = valid_from - 1 WHERE version = 2", "memory .* does not match its hash"),
        ("UPDATE episodes SET end_offset = -1", "episode .* does not match its hash"),
        ("PRAGMA foreign_keys = 0; DELETE FROM transcripts", "lost the row it belongs to"),
    ],
)
def test_damage_and_dangling_references_are_told(filled: Engine, db: Path, damage: str, said: str) -> None:
    import re

    sql(db, damage)
    problems = [finding.problem for finding in filled.doctor().findings]
    assert any(re.search(said, problem) for problem in problems), problems


def test_a_cursor_beyond_the_end_of_a_file_is_no_damage(filled: Engine, tmp_path: Path) -> None:
    (tmp_path / "talk.jsonl").write_bytes((tmp_path / "talk.jsonl").read_bytes()[:-7])
    assert filled.doctor().findings == []


@pytest.mark.sqlite_file("damages rows in the file")
def test_a_damaged_index_page_is_taken_away_by_a_repair(filled: Engine, db: Path) -> None:
    sql(db, "UPDATE index_pages SET page = 'other'")
    assert filled.doctor(repair=True).healthy
    assert filled.doctor().findings == []
    assert "crane" in filled.index().text


@pytest.mark.sqlite_file("damages rows in the file")
@pytest.mark.parametrize("change", ["UPDATE meta SET value = '0'", "DELETE FROM meta"])
def test_a_store_of_another_analyser_takes_nothing_in_until_it_is_repaired(
    filled: Engine, db: Path, change: str
) -> None:
    sql(db, f"{change} WHERE name = 'terms_version'")
    with pytest.raises(StoreError, match="doctor --repair"):
        filled.remember("The crane is red", key="colour")
    assert filled.recall("crane").hits
    assert "crane" in filled.index().text
    assert filled.doctor(repair=True).healthy
    assert filled.remember("The crane is red", key="colour").decision == "add"
    assert filled.doctor().findings == []


@pytest.mark.sqlite_file("damages rows in the file")
def test_the_doctor_reports_on_a_file_whose_rows_it_cannot_read(filled: Engine, db: Path, open_engine) -> None:
    filled.close()
    with closing(apsw.Connection(str(db))) as connection:
        ((root, size),) = connection.execute(
            "SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'memories'"
        )
    data = bytearray(db.read_bytes())
    data[(root - 1) * size : root * size] = b"\xff" * size
    db.write_bytes(data)
    engine = open_engine()
    for repair in (False, True):
        diagnosis = engine.doctor(repair=repair)
        assert not diagnosis.healthy
        assert "not all rows can be read" in diagnosis.findings[-1].problem
        assert not any(finding.repaired for finding in diagnosis.findings)


@pytest.mark.sqlite_file("damages rows in the file")
def test_a_file_that_is_too_damaged_to_open_does_not_send_its_owner_to_the_doctor(
    filled: Engine, db: Path, open_engine
) -> None:
    filled.close()
    data = db.read_bytes()
    db.write_bytes(data[:4096])
    with pytest.raises(Corrupt, match="too damaged to be opened") as error:
        open_engine()
    assert "doctor" not in str(error.value)

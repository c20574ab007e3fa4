"""Once a day a verified copy of the store is kept beside it, from which a damaged store is restored (R10, R14)."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.engine_parts import connector_of
from tests.sealed_stores import stored_bytes
from tests.sqlite_file import connection_of

from picomem import app
from picomem.clock import DAY, HOUR
from picomem.engine.engine import Engine
from picomem.errors import Corrupt
from picomem.operations.table import operation
from picomem.records.caller import PERMISSIONS
from picomem.settings import Settings
from picomem.settings_tables import DataSettings

pytestmark = [
    pytest.mark.reliability("R10"),
    pytest.mark.requirement("X2"),
    pytest.mark.sqlite_file("looks at the files beside the store"),
]

TEXT = "The amber harbour keeps its ledgers in a dry cellar"


def _copies(db: Path) -> list[Path]:
    return sorted(db.parent.glob(f"{db.name}.daily-*"))


def _next_day(engine: Engine, clock) -> None:
    clock.now += DAY
    engine.tidy()


@pytest.fixture
def kept(engine: Engine, clock) -> Engine:
    """An engine of a store with one memory, of which a copy is kept."""
    engine.remember(TEXT, key="harbour")
    engine.tidy()
    _next_day(engine, clock)
    return engine


def _damage(engine: Engine, statement: str = "UPDATE changes SET reason = 'x'") -> None:
    with closing(apsw.Connection(connector_of(engine).name)) as connection:
        connection.execute(statement)


def test_the_newest_two_copies_are_kept_and_hold_what_the_store_held(kept, db, clock, open_engine, disagreements):
    clock.now += HOUR
    kept.tidy()
    assert len(_copies(db)) == 1
    for number in range(3):
        kept.remember(f"The bronze herring {number} warns the fleet", key=f"herring{number}")
        _next_day(kept, clock)
    older, newer = _copies(db)
    assert {memory.key for memory in open_engine(older).memories()} == {"harbour", "herring0", "herring1"}
    assert len(open_engine(newer).memories()) == 4
    assert disagreements(newer) == []


def test_what_a_killed_process_left_of_a_copy_goes_with_the_next_one(kept, db, clock):
    unfinished = db.with_name(f".{db.name}.daily-1")
    unfinished.write_bytes(b"half of a copy")
    _next_day(kept, clock)
    assert not unfinished.exists()
    assert len(_copies(db)) == 2


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_a_copy_is_private(kept, db):
    (copy,) = _copies(db)
    assert copy.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("damage", "count"),
    [
        ("UPDATE changes SET reason = 'x'", 2),
        ("UPDATE memories SET content = CAST(x'ff' AS TEXT)", 2),
        ("UPDATE memory_words_data SET block = zeroblob(9) WHERE id > 10", 1),
    ],
)
def test_a_damaged_store_takes_no_whole_copy_s_place_and_is_told(damage, count, kept, db, clock, caplog):
    """One whose rows alone are damaged is copied beside it, because more may be lost."""
    (copy,) = _copies(db)
    _damage(kept, damage)
    for _ in range(3):
        _next_day(kept, clock)
        assert kept.doctor().restore_with == f"picomem restore {copy} --db {db}"
    assert len(_copies(db)) == count
    assert "run `picomem doctor --repair`" in caplog.text


@pytest.mark.plain_file("damages a row in the file")
def test_the_doctor_names_the_newest_whole_copy_and_the_command_restores_it(kept, db, clock, open_engine):
    _next_day(kept, clock)
    older, newer = _copies(db)
    _damage(kept)
    newer.write_bytes(newer.read_bytes().replace(TEXT.encode(), TEXT.encode().upper()))
    doctor, restore = operation("doctor"), operation("restore")
    with app.open_engine(db, embedder="none", permissions=PERMISSIONS) as operator:
        result = doctor.call(operator, doctor.request(repair=True))
        assert result.restore_with == f"picomem restore {older} --db {db}"
        (step,) = doctor.presentation(result).next_steps
        assert f"`{result.restore_with}`" in step
        assert restore.call(operator, restore.request(backup=str(older))).state == "restored"
    whole = open_engine()
    assert [memory.content for memory in whole.memories()] == [TEXT]
    assert whole.doctor().healthy


def test_a_store_that_cannot_be_opened_says_which_copy_to_restore(kept, db, open_engine):
    (copy,) = _copies(db)
    kept.close()
    with open(db, "r+b") as file:
        file.write(b"\xff" * 30_000)
        file.seek(0)
        file.write(copy.read_bytes()[:100])
    with pytest.raises(Corrupt, match=f"`picomem restore {copy} --db {db}`"):
        open_engine()


@pytest.mark.requirement("X5")
def test_a_purge_removes_the_copies_and_the_next_write_makes_one_without_what_went(kept, db, clock, open_engine):
    unfinished = db.with_name(f".{db.name}.daily-1")  # of a process that makes one at this moment, or was killed
    unfinished.write_bytes(_copies(db)[0].read_bytes())
    purged = kept.purge(everything=True)
    assert purged.scan is not None and purged.scan.clean
    assert _copies(db) == [] and not unfinished.exists()
    kept.remember("The southern ferry rusts beside the quay", key="ferry")
    clock.now += HOUR
    kept.tidy(when_due=True)
    (copy,) = _copies(db)
    assert [memory.key for memory in open_engine(copy).memories()] == ["ferry"]
    assert TEXT.encode() not in stored_bytes(copy)


def test_a_store_that_is_too_large_or_has_no_room_is_checked_without_a_copy(engine, db, clock, monkeypatch, caplog):
    engine.remember(TEXT, key="harbour")
    connection_of(engine).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    engine.close()
    settings = Settings(data=DataSettings(daily_copy_mb=0))
    with app.open_engine(db, settings=settings, embedder="none", clock=clock) as small:
        small.tidy()
        _next_day(small, clock)
        assert _copies(db) == []
        _damage(small)
        _next_day(small, clock)
        assert "run `picomem doctor --repair`" in caplog.text
    monkeypatch.setattr("picomem.store.files.ballast.free_bytes", lambda _folder: 1_000_000)
    with app.open_engine(db, embedder="none", clock=clock) as full:
        _next_day(full, clock)
    assert _copies(db) == []

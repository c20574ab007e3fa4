"""A damaged log loses nothing in silence (X2).

SQLite's recovery ends at the first frame of a log that does not match its checksum. What was committed after that frame
is gone for SQLite, which says nothing and overwrites it. The log itself, and the index that a killed process leaves
beside it, still show that there was more.
"""

from __future__ import annotations

import os
import random
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.amounts import amount
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine
from picomem.errors import ReadOnly
from picomem.store.log_damage import FRAME_HEADER, LOG_HEADER

pytestmark = [
    pytest.mark.requirement("X2"),
    pytest.mark.sqlite_file("damages the log beside the file"),
]

COUNT = 12
KEYS = sorted(f"box{number}" for number in range(COUNT))


def _remember(engine: Engine, count: int = COUNT) -> None:
    for number in range(count):
        engine.remember(f"The zorkmid{number} box lies in hall {number * 7}", key=f"box{number}")


@pytest.fixture
def crashed(engine: Engine, db: Path, tmp_path: Path) -> Path:
    """The files that a killed writer of twelve memories leaves, which are in the log alone."""
    connection_of(engine).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    _remember(engine)
    return _copy(db, tmp_path / "crashed")


def _copy(path: Path, folder: Path, *, suffixes: tuple[str, ...] = ("", "-wal", "-shm")) -> Path:
    folder.mkdir(parents=True)
    for suffix in suffixes:
        shutil.copy(f"{path}{suffix}", folder / f"memory.db{suffix}")
    return folder / "memory.db"


def _log(path: Path) -> Path:
    return Path(f"{path}-wal")


def _kept(path: Path) -> list[bytes]:
    return [copy.read_bytes() for copy in sorted(path.parent.glob("memory.db-wal-damaged*"))]


def _flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 1 << (place % 8)
    file.write_bytes(content)


def _keys(engine: Engine) -> list[str]:
    return sorted(memory.key for memory in engine.memories())


def _is_said(engine: Engine) -> bool:
    return any("damaged log" in finding.problem for finding in engine.doctor().findings)


def test_a_flipped_bit_in_the_log_is_said_and_nothing_is_overwritten(crashed, open_engine, caplog):
    _flip(_log(crashed), _log(crashed).stat().st_size // 2)
    damaged = _log(crashed).read_bytes()
    engine = open_engine(crashed)
    assert "doctor --repair" in caplog.text
    assert 0 < len(_keys(engine)) < COUNT
    with pytest.raises(ReadOnly, match=r"log .* is damaged.*doctor --repair"):
        engine.remember("The amber harbour keeps its ledgers in a dry cellar")
    assert _is_said(engine)
    engine.close()
    assert _log(crashed).read_bytes() == damaged
    assert _kept(crashed) == [damaged]
    caplog.clear()
    open_engine(crashed)  # nor does the next program pass it over
    assert "doctor --repair" in caplog.text


def test_a_repair_goes_on_without_what_was_lost_and_keeps_the_log(crashed, open_engine, caplog, disagreements):
    _flip(_log(crashed), _log(crashed).stat().st_size // 2)
    damaged = _log(crashed).read_bytes()
    waiting = open_engine(crashed)
    engine = open_engine(crashed)
    left = _keys(engine)
    diagnosis = engine.doctor(repair=True)
    assert [finding.repaired for finding in diagnosis.findings] == [True]
    assert "memory.db-wal-damaged.1" in diagnosis.findings[0].problem
    assert _kept(crashed) == [damaged]
    for again in (engine, waiting):
        again.remember("The amber harbour keeps its ledgers in a dry cellar", key="harbour")
    engine.close()
    waiting.close()
    caplog.clear()
    later = open_engine(crashed)
    assert _keys(later) == sorted([*left, "harbour"])
    assert later.doctor().findings == []
    assert not caplog.records
    later.close()
    assert disagreements(crashed) == []


def test_a_purge_takes_the_kept_log_with_it(crashed, open_engine):
    _flip(_log(crashed), _log(crashed).stat().st_size // 2)
    engine = open_engine(crashed)
    engine.doctor(repair=True)
    assert _kept(crashed)
    purged = engine.purge(everything=True)
    assert purged.scan is not None
    assert purged.scan.clean
    assert _kept(crashed) == []


@pytest.mark.parametrize("seed", range(amount(30, 1_000)))
def test_damage_anywhere_in_the_log_of_a_killed_process_is_never_silent(seed, crashed, tmp_path, open_engine):
    """With the index of the log beside it the last change too is missed, and a log that was cut."""
    rng = random.Random(seed)
    log = _log(crashed)
    content = bytearray(log.read_bytes())
    place = rng.randrange(len(content))
    kind = rng.choice(("flip", "cut", "zeros"))
    if kind == "flip":
        content[place] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        place = max(place, LOG_HEADER)  # a log without its header may have been emptied on purpose
        del content[place:]
    else:
        content[place : place + 512] = bytes(len(content[place : place + 512]))
    log.write_bytes(content)
    engine = open_engine(crashed)
    keys = _keys(engine)
    assert keys == KEYS or _is_said(engine), f"{kind} at {place}"


def test_without_the_index_two_lost_changes_are_said(crashed, tmp_path, open_engine):
    rng = random.Random(1)
    frame = FRAME_HEADER + 4096
    size = _log(crashed).stat().st_size
    for number in range(amount(12, 200)):
        path = _copy(crashed, tmp_path / str(number), suffixes=("", "-wal"))
        place = rng.randrange(LOG_HEADER + frame, size)
        _flip(_log(path), place)
        engine = open_engine(path)
        keys = _keys(engine)
        assert len(KEYS) - len(keys) < 2 or _is_said(engine), place


def test_a_flipped_bit_in_the_header_of_the_log_is_said(crashed, tmp_path, open_engine):
    for bit in range(0, LOG_HEADER * 8, 5):
        path = _copy(crashed, tmp_path / str(bit), suffixes=("", "-wal"))
        content = bytearray(_log(path).read_bytes())
        content[bit // 8] ^= 1 << bit % 8
        _log(path).write_bytes(content)
        engine = open_engine(path)
        with pytest.raises(ReadOnly, match="damaged"):
            engine.remember("The amber harbour keeps its ledgers in a dry cellar")
        engine.close()
        assert _log(path).read_bytes() == content


def test_a_store_of_which_nothing_is_left_without_its_log_is_not_opened(engine, db, tmp_path, open_engine):
    """Its process was killed before the log of the new store was merged."""
    path = _copy(db, tmp_path / "crashed")
    with closing(apsw.Connection(str(tmp_path / "begun.db"))) as begun:
        begun.pragma("journal_mode", "wal")
    (tmp_path / "begun.db").replace(path)
    _flip(_log(path), LOG_HEADER + FRAME_HEADER)
    damaged = _log(path).read_bytes()
    with pytest.raises(ReadOnly, match=r"cannot be used; .* move memory\.db-wal away"):
        open_engine(path)
    assert _log(path).read_bytes() == damaged
    _log(path).rename(tmp_path / "away")
    assert open_engine(path).memories() == []


def test_a_header_that_was_cut_off_while_the_log_was_begun_anew_is_no_damage(engine, db, tmp_path, open_engine, caplog):
    """All that the log held is in the database by then; the frames of the last round lie behind the torn header."""
    _remember(engine)
    connection_of(engine).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
    for suffixes in (("", "-wal"), ("", "-wal", "-shm")):
        path = _copy(db, tmp_path / str(len(suffixes)), suffixes=suffixes)
        content = bytearray(_log(path).read_bytes())
        content[12:LOG_HEADER] = random.Random(1).randbytes(LOG_HEADER - 12)
        _log(path).write_bytes(content)
        assert _keys(open_engine(path)) == KEYS
    assert not caplog.records


def test_one_change_that_a_power_cut_tore_is_no_damage(crashed, tmp_path, open_engine, caplog):
    path = _copy(crashed, tmp_path / "torn", suffixes=("", "-wal"))
    _flip(_log(path), _log(path).stat().st_size - 100)
    assert _keys(open_engine(path)) == sorted(set(KEYS) - {"box11"})
    assert not caplog.records


def test_a_log_that_others_write_to_and_begin_anew_is_no_damage(engine, db, open_engine, caplog):
    connection_of(engine).wal_autocheckpoint(20)
    for number in range(amount(25, 500)):
        engine.remember(f"The velvet anchor number {number} hums beneath copper moon {number * 3}", key=f"n{number}")
        other = open_engine()
        assert len(other.memories()) == number + 1
        other.remember(f"The bronze herring {number} warns fleet {number * 5}", key="other")
        other.forget("other")
        other.close()
    assert not caplog.records


def test_a_killed_process_that_left_a_whole_log_is_no_damage(crashed, open_engine, caplog):
    assert _keys(open_engine(crashed)) == KEYS
    assert not caplog.records


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
def test_the_copy_of_the_log_is_private(crashed, open_engine):
    _flip(_log(crashed), _log(crashed).stat().st_size // 2)
    open_engine(crashed)
    (copy,) = crashed.parent.glob("memory.db-wal-damaged*")
    assert copy.stat().st_mode & 0o777 == 0o600

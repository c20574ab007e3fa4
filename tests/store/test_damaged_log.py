"""A log that was damaged after its process was killed is told, and the store goes on without what is lost (R11, X2).

SQLite's recovery ends at the first page of a log that does not match its checksum, as after a power cut. The index that
the killed process left beside the log shows that there was more.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import apsw
import pytest
from tests.amounts import amount
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine

pytestmark = [
    pytest.mark.reliability("R11"),
    pytest.mark.requirement("X2"),
    pytest.mark.sqlite_file("damages the log beside the file"),
]

COUNT = 12
KEYS = sorted(f"box{number}" for number in range(COUNT))
SAID = "what was stored last, before the program that used it ended without closing it, is lost"


@pytest.fixture
def crashed(engine: Engine, db: Path, tmp_path: Path) -> Path:
    """The files that a killed writer of twelve memories leaves, which are in the log alone."""
    connection_of(engine).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    for number in range(COUNT):
        engine.remember(f"The zorkmid{number} box lies in hall {number * 7}", key=f"box{number}")
    (tmp_path / "crashed").mkdir()
    for suffix in ("", "-wal", "-shm"):
        shutil.copy(f"{db}{suffix}", tmp_path / "crashed" / f"memory.db{suffix}")
    return tmp_path / "crashed" / "memory.db"


def _keys(engine: Engine) -> list[str]:
    return sorted(memory.key for memory in engine.memories())


@pytest.mark.parametrize("seed", range(amount(10, 1_000)))
def test_damage_in_the_log_of_a_killed_process_is_told_and_the_store_goes_on(
    seed, crashed, open_engine, caplog, disagreements
):
    """Unless nothing of the log can be read: one that was begun anew looks the same."""
    rng, log = random.Random(seed), Path(f"{crashed}-wal")
    content = bytearray(log.read_bytes())
    place = rng.randrange(len(content))
    kind = rng.choice(("flip", "cut", "zeros"))
    if kind == "flip":
        content[place] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del content[place:]
    else:
        content[place : place + 512] = bytes(len(content[place : place + 512]))
    log.write_bytes(content)
    engine = open_engine(crashed)
    keys = _keys(engine)
    assert keys in (KEYS, []) or SAID in caplog.text, f"{kind} at {place}"
    engine.remember("The amber harbour keeps its ledgers in a dry cellar", key="harbour")
    engine.close()
    caplog.clear()
    later = open_engine(crashed)
    assert _keys(later) == sorted([*keys, "harbour"])
    assert later.doctor().findings == []
    assert not caplog.records
    later.close()
    assert disagreements(crashed) == []


def test_a_log_that_others_write_to_and_begin_anew_is_no_damage(engine, db, open_engine, caplog):
    connection_of(engine).wal_autocheckpoint(20)
    for number in range(amount(10, 500)):
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

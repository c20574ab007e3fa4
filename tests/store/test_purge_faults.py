"""A purge on a disk that fails: nothing is gone, or it says that it is not finished and the next run finishes it (R3, R6)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.engine_parts import caller_context_of
from tests.sealed_stores import stored_bytes

from picomem.errors import PicomemError

from .power_cut import Fault, watched_disk

pytestmark = [
    pytest.mark.reliability("R3"),
    pytest.mark.sqlite_file("makes the disk under SQLite fail"),
]

SECRET = "zwyxquorvalpuntigam"
STRIDE = 7  # of all operations that can fail every so many-th is made to


@pytest.fixture
def template(tmp_path: Path, open_engine) -> Path:
    """A folder with a closed database: one session that is to go, and a memory that stays."""
    folder = tmp_path / "template"
    engine = open_engine(folder / "memory.db")
    engine.remember("A beacon burns above the northern cliff", key="beacon")
    talk = tmp_path / "talk.jsonl"
    said = [f"Remember that the vault opens with {SECRET}", f"{SECRET} " * 200]
    talk.write_text("".join(json.dumps({"role": "user", "content": text}) + "\n" for text in said))
    engine.ingest([talk])
    engine.close()
    return folder


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_a_purge_on_a_full_disk_is_whole_absent_or_finished_by_the_next(
    template: Path, tmp_path: Path, open_engine, disagreements, lasting: bool
) -> None:
    unfinished = 0
    with watched_disk("faulty") as disk:
        for at in range(1, 2_000, STRIDE):
            path = Path(shutil.copytree(template, tmp_path / f"trial{at}")) / "memory.db"
            engine = open_engine(path, vfs="faulty")
            caller_context_of(engine).redactor()
            disk.fault = fault = Fault(at, full=True, lasting=lasting)
            try:
                purged = engine.purge(session="talk")
            except PicomemError:
                purged = None
            finally:
                disk.fault = None
            if purged is not None and not purged.unfinished:
                assert not fault.hit or not lasting, at
            if purged is None:
                assert engine.status().episodes > 0, at
                purged = engine.purge(session="talk")
            elif purged.unfinished:
                unfinished += 1
                assert engine.status().purge_unfinished, at
                purged = engine.purge()
            assert (purged.finished, engine.doctor().findings) == (True, []), at
            engine.close()
            assert SECRET[4:].encode() not in b"".join(stored_bytes(file) for file in path.parent.iterdir()), at
            assert disagreements(path) == [], at
            if not fault.hit:
                break
        else:
            pytest.fail("the purge never got through")
    assert unfinished or not lasting  # where the disk is full but once, giving up the ballast is enough

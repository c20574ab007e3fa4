"""A write, sync or truncate that fails leaves the store as it was, and says so in picomem's own words (R3).

Each verb is run with its first disk operation failing, then its second, and so on until it gets through. Afterwards
the store must hold what a model holds: all of the step where the verb returned, nothing of it where it raised.

Checkpoints are done apart from the verbs. SQLite does one behind a commit that is complete already and swallows its
failure; apsw, which carries a Python file system's error upwards, would report it for the commit.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.engine_parts import caller_context_of
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine
from picomem.errors import DiskFull, PicomemError, StoreError
from picomem.paths import open_databases

from .power_cut import Fault, watched_disk

pytestmark = [
    pytest.mark.reliability("R3"),
    pytest.mark.sqlite_file("makes the disk under SQLite fail"),
]

State = tuple[dict[str, str], int]

KNOWN = {"anchor": "The anchor chain lies rusting in the basin", "beacon": "A beacon burns above the northern cliff"}
WIDEST = 200  # more operations than any of the verbs makes
MAKING = 1_000  # more than a new database takes


def _remember(engine: Engine, folder: Path) -> None:
    engine.remember("Walnut orchards prefer quiet tractors", key="cargo")


def _revise(engine: Engine, folder: Path) -> None:
    engine.revise("anchor", "An anchor of bronze replaced every chain")


def _forget(engine: Engine, folder: Path) -> None:
    engine.forget("beacon")


def _ingest(engine: Engine, folder: Path) -> None:
    engine.ingest([folder / "talk.jsonl"])


BEFORE: State = (KNOWN, 0)
AFTER: dict[Callable[[Engine, Path], None], State] = {
    _remember: ({**KNOWN, "cargo": "Walnut orchards prefer quiet tractors"}, 0),
    _revise: ({**KNOWN, "anchor": "An anchor of bronze replaced every chain"}, 0),
    _forget: ({"anchor": KNOWN["anchor"]}, 0),
    _ingest: (KNOWN, 2),
}
VERBS = pytest.mark.parametrize("verb", AFTER, ids=lambda verb: verb.__name__.strip("_"))


def _state(engine: Engine) -> State:
    episodes = engine.timeline(limit=100)
    return {memory.key: memory.content for memory in engine.memories()}, len(episodes)


@pytest.fixture
def template(tmp_path: Path, open_engine) -> Path:
    """A folder with a closed database of two memories, and a transcript that becomes two episodes."""
    folder = tmp_path / "template"
    engine = open_engine(folder / "memory.db")
    for key, content in KNOWN.items():
        engine.remember(content, key=key)
    engine.close()
    records = [{"role": role, "content": f"{role} says " + "lantern " * 180} for role in ("user", "assistant")]
    (folder / "talk.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


class _Trial:
    """One copy of the template behind a disk that can fail, without checkpoints of its own accord."""

    def __init__(self, template: Path, folder: Path, open_engine, disk, vfs: str) -> None:
        self.path = Path(shutil.copytree(template, folder)) / "memory.db"
        self.disk = disk
        self.engine = open_engine(self.path, vfs=vfs)
        connection_of(self.engine).wal_autocheckpoint(0)
        caller_context_of(self.engine).redactor()  # what it reads once it has read now

    def fails(self, fault: Fault, verb: Callable[[Engine, Path], None]) -> PicomemError | None:
        """Run a verb under a fault; what it raised. Any other error than picomem's own ends the test."""
        self.disk.fault = fault
        try:
            verb(self.engine, self.path.parent)
        except PicomemError as error:
            return error
        finally:
            self.disk.fault = None
        return None


@VERBS
@pytest.mark.parametrize("full", [False, True], ids=["EIO", "ENOSPC"])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_a_failing_disk_operation_is_told_and_changes_nothing(
    verb, full, lasting, template, tmp_path, open_engine, disagreements
):
    with watched_disk("faulty") as disk:
        for at in range(1, WIDEST):
            trial = _Trial(template, tmp_path / f"trial{at}", open_engine, disk, "faulty")
            fault = Fault(at, full=full, lasting=lasting)
            error = trial.fails(fault, verb)
            place = f"operation {at}, {fault}, {error!r}"
            if error is None:
                assert _state(trial.engine) == AFTER[verb], place
                if not fault.hit:
                    break
                assert full, place
                assert verb is _forget, place  # the ballast was given up, and it was done at the second try
                trial.engine.close()
                continue
            assert type(error) is (DiskFull if full else StoreError), place
            assert _state(trial.engine) == BEFORE, place
            verb(trial.engine, trial.path.parent)
            assert _state(trial.engine) == AFTER[verb], place
            trial.engine.close()
            after = open_engine(trial.path)
            assert (_state(after), after.doctor().findings) == (AFTER[verb], []), place
            after.close()
            assert disagreements(trial.path) == [], place
        else:
            pytest.fail("the verb never got through")
        assert at > 10, "the verb hardly wrote"


@VERBS
def test_what_failed_to_sync_is_whole_or_absent_after_a_restart(verb, template, tmp_path, open_engine):
    """Whether the bytes of a commit that could not be synced reached the disk nobody can say; half of them is wrong."""
    with watched_disk("faulty") as disk:
        trial = _Trial(template, tmp_path / "trial", open_engine, disk, "faulty")
        error = trial.fails(Fault(1, operations=frozenset({"sync"})), verb)
        assert isinstance(error, StoreError)
        copy = tmp_path / "copy"
        copy.mkdir()
        for file in ("memory.db", "memory.db-wal"):
            shutil.copy(trial.path.with_name(file), copy)
    after = open_engine(copy / "memory.db")
    assert _state(after) in (BEFORE, AFTER[verb])
    assert after.doctor().findings == []


@pytest.mark.parametrize("full", [False, True], ids=["EIO", "ENOSPC"])
def test_a_database_that_could_not_be_made_is_made_the_next_time(full, tmp_path, open_engine, disagreements):
    """What the next opening does follows from the files that the failure left. Nearly all failures leave the same files,
    which are opened once."""
    opened: set[frozenset[tuple[str, bytes]]] = set()
    with watched_disk("faulty") as disk:
        for at in range(1, MAKING):
            path = tmp_path / str(at) / "memory.db"
            disk.fault = fault = Fault(at, full=full)
            made, failed = None, None
            try:
                made = open_engine(path, vfs="faulty")
            except PicomemError as error:
                failed = error
                assert type(error) is (DiskFull if full else StoreError), f"operation {at}, {error!r}"
            disk.fault = None
            if made is not None:
                made.close()
            assert path not in open_databases(), f"operation {at}, {failed!r}"
            left = frozenset((file.name, file.read_bytes()) for file in path.parent.iterdir())
            if left not in opened:
                opened.add(left)
                engine = open_engine(path)
                engine.remember("A beacon burns above the northern cliff", key="beacon")
                assert engine.doctor().findings == [], f"operation {at}, {failed!r}"
                engine.close()
                assert disagreements(path) == []
            if not fault.hit:
                break
        else:
            pytest.fail("the database was never made without a fault")
        assert at > 50


def test_a_checkpoint_that_fails_anywhere_loses_nothing(template, tmp_path, open_engine, disagreements):
    with watched_disk("faulty") as disk:
        for at in range(1, WIDEST):
            trial = _Trial(template, tmp_path / f"trial{at}", open_engine, disk, "faulty")
            for verb in AFTER:
                verb(trial.engine, trial.path.parent)
            expected = _state(trial.engine)
            disk.fault = fault = Fault(at)
            try:
                connection_of(trial.engine).wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.Error:
                assert fault.hit
            disk.fault = None
            assert _state(trial.engine) == expected, at
            trial.engine.close()
            after = open_engine(trial.path)
            assert (_state(after), after.doctor().findings) == (expected, []), at
            after.close()
            assert disagreements(trial.path) == [], at
            if not fault.hit:
                break
        assert at > 10


def test_reading_goes_on_while_the_disk_is_full(template, tmp_path, open_engine):
    with watched_disk("faulty") as disk:
        trial = _Trial(template, tmp_path / "trial", open_engine, disk, "faulty")
        disk.fault = Fault(1, full=True, lasting=True)
        engine = trial.engine
        assert [hit.key for hit in engine.recall("the rusting anchor chain").hits] == ["anchor"]
        assert len(engine.history("beacon")) == 1
        assert engine.doctor().findings == []
        with pytest.raises(DiskFull):
            engine.remember("Walnut orchards prefer quiet tractors")
        assert "beacon" in engine.index().text

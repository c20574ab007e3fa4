"""SQLite's locks on a database that stays open hold, whatever else this process does (R8, R9).

POSIX drops all locks of a process on a file when the process closes any descriptor of it. One plain `open` of the
database beside SQLite lets other processes write in the middle of a transaction, and lets the last of them that
closes throw the log away. `conftest.py` watches every `open` of the whole suite for that; here the locks themselves
are compared.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from picomem.engine.engine import Engine
from picomem.engine.transcripts import import_sessions
from picomem.errors import PicomemError
from picomem.store.files.copying import copy_store

pytestmark = [
    pytest.mark.reliability("R8"),
    pytest.mark.sqlite_file("is about SQLite's locks on the file"),
]

# Not /proc/locks: while other processes lock and unlock, it lists a line twice or leaves one out.
DESCRIPTORS = Path("/proc/self/fdinfo")
FILES = ("memory.db", "memory.db-wal", "memory.db-shm")

Job = Callable[[Engine, Path], object]


def _locks(folder: Path) -> set[tuple[str, ...]]:
    """The POSIX locks that this process has on the files of the database: kind, inode, and range of bytes."""
    inodes = {str((folder / name).stat().st_ino) for name in FILES}
    locks = set()
    for descriptor in DESCRIPTORS.iterdir():
        # The listing of the folder has a descriptor of its own, which is gone by the time it is read.
        with suppress(FileNotFoundError):
            for line in descriptor.read_text().splitlines():
                if line.startswith("lock:"):
                    *_, kind, _, mode, _, place, first, last = line.split()
                    inode = place.rpartition(":")[2]
                    if kind == "POSIX" and inode in inodes:
                        locks.add((mode, inode, first, last))
    return locks


def _purge_a_session(engine: Engine, folder: Path) -> None:
    transcript = folder / "talk.jsonl"
    said = {"role": "user", "content": "The velvet anchor hums beneath nine copper moons"}
    transcript.write_text(json.dumps(said) + "\n")
    engine.ingest([transcript])
    (episode,) = engine.timeline(limit=1)
    assert engine.purge(session=episode.session).finished


def _import_sessions_from_the_database(engine: Engine, folder: Path) -> None:
    for name in FILES:
        with suppress(PicomemError):
            import_sessions(engine, folder / name)


def _migrate_from_the_database(engine: Engine, folder: Path) -> None:
    for name in FILES:
        with suppress(PicomemError):
            engine.migrate([folder / name])


def _export_over_the_database(engine: Engine, folder: Path) -> None:
    for name in FILES:
        with pytest.raises(PicomemError):
            engine.export_index(folder / name)


JOBS: dict[str, Job] = {
    "purge of a session": _purge_a_session,
    "purge of everything": lambda engine, _: engine.purge(everything=True),
    "scrub": lambda engine, _: engine.scrub(),
    "doctor": lambda engine, _: engine.doctor(repair=True),
    "second opening": lambda _, folder: Engine.close(_opened_again(folder)),
    "copy": lambda _, folder: copy_store(folder / "memory.db", folder / "copy.db"),
    "ingest of its folder": lambda engine, folder: engine.ingest([folder]),
    "ingest of its files": lambda engine, folder: engine.ingest([folder / name for name in FILES]),
    "export of the index": lambda engine, folder: engine.export_index(folder / "INDEX.md"),
    "export of the index over it": _export_over_the_database,
    "import of it as a snapshot": _import_sessions_from_the_database,
    "migration of it as notes": _migrate_from_the_database,
}


def _opened_again(folder: Path) -> Engine:
    from picomem import open as open_memory

    return open_memory(folder / "memory.db", embedder="none")


@pytest.mark.skipif(not DESCRIPTORS.exists(), reason="only Linux lists the locks of a process")
@pytest.mark.requirement("X10")
@pytest.mark.parametrize("job", JOBS.values(), ids=JOBS)
def test_a_job_leaves_the_locks_of_the_open_database_in_place(job: Job, engine: Engine, db: Path, tmp_path: Path):
    engine.remember("The amber harbour keeps its ledgers in a dry cellar", key="ledgers")
    engine.recall("harbour")
    before = _locks(tmp_path)
    assert before
    job(engine, tmp_path)
    engine.recall("harbour")
    assert _locks(tmp_path) == before

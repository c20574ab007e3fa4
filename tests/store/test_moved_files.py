"""A process whose database was deleted, moved or replaced acknowledges nothing more (X2).

SQLite goes on writing into the file that it has open, whatever has become of its name. What is stored there is gone with
the process, or stands where nobody looks for it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine_parts import connector_of
from tests.sqlite_file import connection_of

from picomem.engine.engine import Engine
from picomem.errors import StoreError

pytestmark = [
    pytest.mark.requirement("X2"),
    pytest.mark.skipif(os.name != "posix", reason="only POSIX lets an open file be moved or deleted"),
    pytest.mark.sqlite_file("moves the file"),
]

TEXT = "The amber harbour keeps its ledgers in a dry cellar"
LATER = "A bronze lighthouse warns the herring fleet"


def _move_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))


def _delete_files(path: Path, *suffixes: str) -> None:
    for suffix in suffixes:
        Path(f"{path}{suffix}").unlink()


MOVES: dict[str, Callable[[Path], object]] = {
    "the file deleted": Path.unlink,
    "the file moved": lambda path: path.rename(path.with_name("old.db")),
    "the folder deleted": lambda path: shutil.rmtree(path.parent),
    "the folder moved": _move_folder,
    "the log deleted": lambda path: _delete_files(path, "-wal"),
    "the index of the log deleted": lambda path: _delete_files(path, "-shm"),
    "log and index deleted": lambda path: _delete_files(path, "-wal", "-shm"),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES)
def test_nothing_is_acknowledged_once_a_file_of_the_store_is_gone(move, path, open_engine):
    engine = open_engine(path)
    engine.remember(TEXT, key="harbour")
    move(path)
    for verb in (lambda: engine.remember(LATER), engine.memories, lambda: engine.doctor(repair=True), engine.status):
        with pytest.raises(StoreError, match=r"moved, deleted or replaced .* restart"):
            verb()
    engine.close()


def test_a_store_that_is_put_back_is_used_on(path, open_engine):
    engine = open_engine(path)
    engine.remember(TEXT, key="harbour")
    path.rename(path.with_name("old.db"))
    with pytest.raises(StoreError):
        engine.memories()
    path.with_name("old.db").rename(path)
    engine.remember(LATER, key="lighthouse")
    engine.close()
    assert {memory.key for memory in open_engine(path).memories()} == {"harbour", "lighthouse"}


def _other(open_engine: Callable[..., Engine], folder: Path) -> Path:
    engine = open_engine(folder / "other.db")
    engine.remember("The velvet anchor hums beneath nine copper moons", key="anchor")
    engine.close()
    return folder / "other.db"


def test_a_store_that_was_put_in_its_place_is_not_touched(path, tmp_path, open_engine, disagreements):
    engine = open_engine(path)
    engine.remember(TEXT, key="harbour")
    _other(open_engine, tmp_path).replace(path)
    content = path.read_bytes()
    results: list[object] = []

    def read() -> None:  # a thread that has not read before would open the file by its name
        with pytest.raises(StoreError) as refused:
            engine.memories()
        results.append(refused.value)

    reader = threading.Thread(target=read)
    reader.start()
    reader.join()
    assert len(results) == 1
    with pytest.raises(StoreError):
        engine.remember(LATER)
    engine.close()
    assert path.read_bytes() == content
    assert [memory.key for memory in open_engine(path).memories()] == ["anchor"]
    assert disagreements(path) == []


def _copy_over(source: Path, target: Path) -> None:
    """By another process: to open and close the file here would drop this process's locks on it."""
    subprocess.run(["cp", source, target], check=True)


def test_nothing_is_acknowledged_once_another_store_was_copied_into_the_file(
    path, tmp_path, open_engine, disagreements
):
    engine, beside = open_engine(path), open_engine(path)
    engine.remember(TEXT, key="harbour")
    other = _other(open_engine, tmp_path)
    _copy_over(other, path)
    for attempt in (lambda: engine.remember(LATER), lambda: engine.purge(everything=True)):
        with pytest.raises(StoreError, match=r"overwritten with another store .* restart"):
            attempt()
    engine.close()
    beside.close()
    assert path.read_bytes() == other.read_bytes()
    assert [memory.key for memory in open_engine(path).memories()] == ["anchor"]
    assert disagreements(path) == []


def test_a_copy_over_the_file_in_the_middle_of_a_change_is_noticed_before_it_is_acknowledged(
    path, tmp_path, open_engine
):
    engine = open_engine(path)
    other = _other(open_engine, tmp_path)
    with pytest.raises(StoreError, match="overwritten"), connector_of(engine).write(engine.scope):
        _copy_over(other, path)
    engine.close()
    assert path.read_bytes() == other.read_bytes()


def test_a_store_that_was_written_anew_is_used_on(path, open_engine):
    """A purge writes the whole file anew, and a repair may give the store another key."""
    engine, beside = open_engine(path), open_engine(path)
    for number in range(3):
        engine.remember(f"{TEXT}, room {number}", key=f"harbour{number}")
        beside.purge(everything=True)
        engine.remember(LATER, key="lighthouse")
        engine.purge(everything=True)
    with connection_of(engine) as connection:
        connection.execute("DELETE FROM meta WHERE name = 'redaction_key'")
    engine.doctor(repair=True)
    engine.remember(LATER, key="lighthouse")
    assert [memory.key for memory in engine.memories()] == ["lighthouse"]


_HOLD_OPEN = """
import sys, picomem
engine = picomem.open(sys.argv[1], embedder="none")
engine.remember("The quarry ribbon saddles a tunnel umbrella", key="quarry")
print("stored", flush=True)
sys.stdin.read()
"""


def test_the_log_of_a_store_that_was_put_in_its_place_stays(path, open_engine):
    """SQLite deletes the log by its name when the last connection closes, whosoever the log is by then."""
    engine = open_engine(path)
    engine.remember(TEXT, key="harbour")
    for suffix in ("", "-wal", "-shm"):
        Path(f"{path}{suffix}").rename(path.with_name(f"old.db{suffix}"))
    command = [sys.executable, "-c", _HOLD_OPEN, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "stored\n"
        log = Path(f"{path}-wal").stat()
        engine.close()
        assert os.path.samestat(Path(f"{path}-wal").stat(), log)
        other.kill()
    assert [memory.key for memory in open_engine(path).memories()] == ["quarry"]
    assert [memory.key for memory in open_engine(path.with_name("old.db")).memories()] == ["harbour"]


def test_a_link_that_leads_elsewhere_meanwhile_is_refused(path, tmp_path, open_engine):
    link = tmp_path / "link.db"
    open_engine(path).close()
    link.symlink_to(path)
    engine = open_engine(link)
    engine.remember(TEXT, key="harbour")
    link.unlink()
    link.symlink_to(_other(open_engine, tmp_path))
    with pytest.raises(StoreError, match="moved, deleted or replaced"):
        engine.remember(LATER)
    engine.close()
    assert [memory.key for memory in open_engine(path).memories()] == ["harbour"]


def test_a_link_in_the_place_of_the_file_is_refused_although_it_leads_there(path, tmp_path, open_engine):
    """Other processes would keep another log, beside the file that the link leads to."""
    engine = open_engine(path)
    path.rename(tmp_path / "real.db")
    path.symlink_to(tmp_path / "real.db")
    with pytest.raises(StoreError, match="moved, deleted or replaced"):
        engine.remember(TEXT)


def test_the_log_beside_the_target_of_a_link_is_the_store_s(path, tmp_path, open_engine):
    link = tmp_path / "link.db"
    link.symlink_to(path)
    path.parent.mkdir()
    engine = open_engine(link)
    engine.remember(TEXT, key="harbour")
    assert engine.status().bytes == sum(Path(f"{path}{suffix}").stat().st_size for suffix in ("", "-wal"))


def test_a_log_whose_database_is_gone_is_not_thrown_away(path, tmp_path, open_engine):
    """SQLite would delete it, and what only the log holds with it."""
    engine = open_engine(path)
    engine.remember(TEXT, key="harbour")
    log = tmp_path / "gone" / "memory.db-wal"
    log.parent.mkdir()
    shutil.copy(f"{path}-wal", log)
    with pytest.raises(StoreError, match="is gone while its log"):
        open_engine(tmp_path / "gone" / "memory.db")
    assert [file.name for file in log.parent.iterdir()] == [log.name]
    log.unlink()
    assert open_engine(tmp_path / "gone" / "memory.db").memories() == []


def test_a_store_that_another_process_makes_at_the_same_moment_is_not_taken_for_one_that_is_gone(
    path, open_engine, monkeypatch
):
    """The other process makes all its files right after this one saw that there is no database, and is killed."""
    code = (
        "import os, sys, picomem\n"
        f"picomem.open(sys.argv[1]).remember({TEXT!r}, key='harbour')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    exists = Path.exists
    others: list[int] = []

    def exists_just_before(asked: Path, **options: Any) -> bool:
        answer = exists(asked, **options)
        if asked == path and not others:
            others.append(subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode)
        return answer

    monkeypatch.setattr(Path, "exists", exists_just_before)
    assert [memory.key for memory in open_engine(path).memories()] == ["harbour"]
    assert others == [-9]


def test_a_purge_of_a_whole_store_and_a_checkpoint_keep_its_files(engine, db):
    """None of what picomem does by itself is taken for a file that was moved."""
    engine.remember(TEXT, key="harbour")
    for _ in range(2):
        engine.purge(everything=True)
        connection_of(engine).wal_checkpoint()
        engine.remember(LATER, key="lighthouse")
    assert [memory.key for memory in engine.memories()] == ["lighthouse"]

"""Files and folders: who may read them, and what happens where they cannot be written, made or locked (P1, R7, S13).

The rights of a file mean nothing to root. Where the tests run as root, what needs them to mean something runs in a
forked child that has become another user; its folders lie where that user may go.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.sqlite_file import connection_of
from tests.store import later_step

from picomem import paths
from picomem.errors import Locked, NotADatabase, PicomemError, ReadOnly, StoreError
from picomem.paths import open_databases
from picomem.store.sqlite import connector as sqlite

NOBODY = 65534
TEXT = "The amber harbour keeps its ledgers in a dry cellar"
LATER = "A bronze lighthouse warns the herring fleet"

pytestmark = [
    pytest.mark.reliability("R7", "S13"),
    pytest.mark.skipif(os.name != "posix", reason="modes and forks are POSIX"),
    pytest.mark.sqlite_file("is about the modes and locks of the file"),
]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="picomem-test-"))
    folder.chmod(0o755)
    yield folder
    for inner in folder.rglob("*"):
        if inner.is_dir():
            inner.chmod(0o755)
    shutil.rmtree(folder)


@pytest.fixture
def wide_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def _mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def _as_another(what: Callable[[], object]) -> object:
    """What a function gives that runs in a child process, without root's powers. No connection may be open."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        paths._open_databases.clear()  # the parent's, from other tests; nobody else can look at where they are
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            answer = json.dumps(what())
        except BaseException:  # noqa: BLE001 - whatever it is, the parent shows it
            answer = json.dumps(f"failed: {traceback.format_exc()}")
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as file:
        answer = json.loads(file.read())
    os.waitpid(child, 0)
    assert not str(answer).startswith("failed: "), answer
    return answer


def _use(open_engine, path: Path) -> dict[str, object]:
    """What a reader gets from a store that cannot be written: its answers, and what each change raises."""
    engine = open_engine(path)
    raised = {}
    changes = {
        "remember": lambda: engine.remember(LATER),
        "revise": lambda: engine.revise("harbour", LATER),
        "forget": lambda: engine.forget("harbour"),
        "tidy": engine.tidy,
    }
    for name, change in changes.items():
        try:
            change()
            raised[name] = "nothing"
        except PicomemError as error:
            raised[name] = type(error).__name__
    return {
        "recalled": sorted(hit.text for hit in engine.recall("amber harbour, bronze lighthouse").hits),
        "indexed": "harbour" in engine.index().text,
        "history": len(engine.history("harbour")),
        "findings": [finding.problem for finding in engine.doctor().findings],
        "raised": raised,
        "read_only": engine.status().read_only,
    }


def _readable(*texts: str) -> dict[str, object]:
    return {
        "recalled": sorted(texts),
        "indexed": True,
        "history": 1,
        "findings": [],
        "raised": dict.fromkeys(("remember", "revise", "forget", "tidy"), "ReadOnly"),
        "read_only": True,
    }


def _stored(open_engine, folder: Path) -> Path:
    """A closed database with one memory, used once so that the child finds every module loaded."""
    engine = open_engine(folder / "memory.db")
    engine.remember(TEXT, key="harbour")
    assert engine.recall("harbour").hits
    assert engine.index().text
    engine.doctor()
    engine.status()
    engine.close()
    return folder / "memory.db"


@pytest.mark.requirement("P1")
def test_files_and_folders_are_private_whatever_the_umask(tmp_path, open_engine, wide_umask):
    path = tmp_path / "one" / "two" / "memory.db"
    engine = open_engine(path)
    engine.remember(TEXT)
    engine.recall("harbour")
    assert {_mode(path.parent), _mode(path.parent.parent)} == {"0o700"}
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == [
        *("memory.db", "memory.db-ballast", "memory.db-shm", "memory.db-wal", "memory.db.chain-key")
    ]
    assert {_mode(file) for file in files} == {"0o600"}


def test_the_mode_of_a_folder_that_was_there_stays(tmp_path, open_engine):
    tmp_path.chmod(0o755)
    open_engine(tmp_path / "memory.db")
    assert _mode(tmp_path) == "0o755"


@pytest.mark.requirement("O12")
def test_a_read_only_folder_is_read_and_not_written(shared, open_engine):
    path = _stored(open_engine, shared / "data")
    path.parent.chmod(0o555)
    path.chmod(0o444)
    before = path.read_bytes()
    assert _as_another(lambda: _use(open_engine, path)) == _readable(TEXT)
    assert path.read_bytes() == before
    assert sorted(file.name for file in path.parent.iterdir()) == [
        *("memory.db", "memory.db-ballast", "memory.db.chain-key")
    ]


@pytest.mark.requirement("O12")
def test_a_read_only_file_in_a_folder_that_can_be_written_is_read_and_not_written(shared, open_engine):
    path = _stored(open_engine, shared / "data")
    path.parent.chmod(0o777)
    path.chmod(0o444)
    before = path.read_bytes()
    assert _as_another(lambda: _use(open_engine, path)) == _readable(TEXT)
    assert path.read_bytes() == before


def test_a_file_that_was_read_only_for_a_while_is_written_again(shared, open_engine):
    path = _stored(open_engine, shared / "data")
    if os.getuid() == 0:
        for file in (path.parent, *path.parent.iterdir()):
            os.chown(file, NOBODY, NOBODY)

    def read_and_write() -> list[str]:
        path.chmod(0o400)
        open_engine(path).close()
        assert _mode(Path(f"{path}-shm")) == "0o400"
        path.chmod(0o600)
        engine = open_engine(path)
        engine.remember(LATER, key="lighthouse")
        return sorted(memory.key for memory in engine.memories())

    assert _as_another(read_and_write) == ["harbour", "lighthouse"]


def test_an_older_store_that_cannot_be_written_is_refused_with_what_to_do(shared, open_engine, monkeypatch):
    open_engine(shared / "data" / "memory.db").close()
    later_step.learn(monkeypatch)
    (shared / "data" / "memory.db").chmod(0o444)
    (shared / "data").chmod(0o555)

    def refusal() -> str:
        with pytest.raises(ReadOnly) as refused:
            open_engine(shared / "data" / "memory.db")
        return str(refused.value)

    assert "older picomem" in str(_as_another(refusal))


def _crashed(open_engine, folder: Path, *suffixes: str) -> Path:
    """The files of a store as a killed writer leaves them: the second memory is in the log alone."""
    path = _stored(open_engine, folder / "live")
    engine = open_engine(path)
    engine.remember(LATER, key="lighthouse")
    left = folder / "left"
    left.mkdir()
    for suffix in ("", *suffixes):
        shutil.copy(f"{path}{suffix}", left)
    engine.close()
    for file in left.iterdir():
        file.chmod(0o444)
    left.chmod(0o555)
    return left / "memory.db"


def _error(open_engine, path: Path) -> str:
    try:
        open_engine(path)
    except PicomemError as error:
        return f"{type(error).__name__}: {error}"
    return "opened"


@pytest.mark.requirement("O12")
def test_the_log_of_a_read_only_folder_is_read_with_its_index(shared, open_engine):
    path = _crashed(open_engine, shared, "-wal", "-shm")
    answer = _as_another(lambda: _use(open_engine, path))
    assert answer == _readable(LATER, TEXT)


@pytest.mark.requirement("O12")
def test_a_log_that_cannot_be_read_is_not_passed_over_in_silence(shared, open_engine):
    """Without its index SQLite cannot read the log in a read-only folder; what is in it must not just be missing."""
    path = _crashed(open_engine, shared, "-wal")
    if _as_another(lambda: _error(open_engine, path)) == "opened":
        assert _as_another(lambda: _use(open_engine, path)) == _readable(LATER, TEXT)


def test_a_folder_that_may_not_be_entered_or_written_says_so(shared, open_engine):
    _stored(open_engine, shared / "warm")
    closed, full = shared / "closed", shared / "full"
    _stored(open_engine, closed)
    full.mkdir(0o555)
    closed.chmod(0)
    for path in (closed / "memory.db", full / "memory.db", full / "new" / "memory.db"):
        message = str(_as_another(lambda path=path: _error(open_engine, path)))
        assert message.startswith("ReadOnly: "), message
        assert str(path) in message


@pytest.mark.requirement("P1")
def test_a_missing_folder_is_made(tmp_path, open_engine):
    path = tmp_path / "a" / "b" / "c" / "memory.db"
    open_engine(path).remember(TEXT, key="harbour")
    assert [memory.key for memory in open_engine(path).memories()] == ["harbour"]


def test_a_working_directory_that_changes_leads_to_no_other_database(tmp_path, open_engine, monkeypatch):
    for name in ("ours", "theirs"):
        (tmp_path / name).mkdir()
    other = open_engine(tmp_path / "theirs" / "memory.db")
    other.remember(LATER, key="theirs")
    monkeypatch.chdir(tmp_path / "ours")
    engine = open_engine(Path("memory.db"))
    engine.remember(TEXT, key="ours")
    monkeypatch.chdir(tmp_path / "theirs")
    keys: list[list[str]] = []
    reader = threading.Thread(target=lambda: keys.append([memory.key for memory in engine.memories()]))
    reader.start()
    reader.join()
    assert keys == [["ours"]]
    purged = engine.purge(everything=True)
    assert purged.scan is not None
    assert (purged.scan.clean, purged.scan.files > 0) == (True, True)
    assert [memory.key for memory in other.memories()] == ["theirs"]
    engine.close()
    assert [path for path in open_databases() if tmp_path in path.parents] == [tmp_path / "theirs" / "memory.db"]


def test_a_database_of_two_names_is_refused(tmp_path, open_engine):
    _stored(open_engine, tmp_path)
    (tmp_path / "other.db").hardlink_to(tmp_path / "memory.db")
    for name in ("memory.db", "other.db"):
        with pytest.raises(StoreError, match="hard link"):
            open_engine(tmp_path / name)


def test_an_engine_that_is_closed_while_another_thread_reads_is_closed(tmp_path, open_engine):
    engine = open_engine(tmp_path / "memory.db")
    for number in range(50):
        engine.remember(f"{TEXT}, volume {number}", key=f"k{number}")
    errors: list[Exception] = []
    started = threading.Event()

    def read() -> None:
        try:
            while True:
                engine.recall("harbour ledgers")
                started.set()
        except PicomemError as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    assert started.wait(30)
    engine.close()
    for reader in readers:
        reader.join(30)
    assert [type(error) for error in errors] == [StoreError] * 3
    for verb in (engine.memories, lambda: engine.remember(LATER), lambda: engine.purge(everything=True)):
        with pytest.raises(StoreError, match="was closed; open it again"):
            verb()
    assert tmp_path / "memory.db" not in open_databases()


def test_a_link_to_itself_is_no_database(tmp_path, open_engine):
    (tmp_path / "memory.db").symlink_to(tmp_path / "memory.db")
    with pytest.raises(StoreError):
        open_engine(tmp_path / "memory.db")


def test_a_folder_is_no_database(tmp_path, open_engine):
    with pytest.raises(NotADatabase, match="folder"):
        open_engine(tmp_path)


def test_a_file_in_the_place_of_the_folder_says_so(tmp_path, open_engine):
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="not a folder"):
        open_engine(tmp_path / "file" / "memory.db")


def test_a_link_to_nowhere_and_a_link_to_a_database_are_followed(tmp_path, open_engine):
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link.db"
    link.symlink_to(real / "memory.db")
    open_engine(link).remember(TEXT, key="harbour")
    assert [memory.key for memory in open_engine(real / "memory.db").memories()] == ["harbour"]
    assert _mode(real / "memory.db") == "0o600"


@pytest.mark.parametrize("name", ["ä ö 日本.db", "per%20cent?#.db", "semi;colon'quote\".db", " spaces .db"])
def test_any_name_is_a_name(name, tmp_path, shared, open_engine):
    path = tmp_path / name
    open_engine(path).remember(TEXT, key="harbour")
    assert [memory.key for memory in open_engine(path).memories()] == ["harbour"]
    closed = _stored(open_engine, shared / "data").rename(shared / "data" / name)
    closed.parent.chmod(0o555)
    closed.chmod(0o444)
    assert _as_another(lambda: _use(open_engine, closed)) == _readable(TEXT)


@pytest.fixture
def locked(db, open_engine, monkeypatch) -> Iterator[Path]:
    """A database whose write lock somebody else holds, and an engine's patience of 60 milliseconds."""
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 60)
    _stored(open_engine, db.parent)
    with closing(apsw.Connection(str(db))) as other:
        other.execute("BEGIN IMMEDIATE")
        yield db
        other.execute("ROLLBACK")


def test_a_locked_database_says_so_within_the_timeout(locked, open_engine):
    engine = open_engine(locked)
    began = time.monotonic()
    with pytest.raises(Locked):
        engine.remember(LATER, key="lighthouse")
    assert time.monotonic() - began < 5


def test_a_locked_database_is_read_all_the_same(locked, open_engine):
    engine = open_engine(locked)
    assert [hit.text for hit in engine.recall("amber harbour").hits] == [TEXT]
    assert len(engine.history("harbour")) == 1
    assert "harbour" in engine.index(budget=900).text
    assert engine.doctor().findings == []


@pytest.mark.requirement("X10")
def test_a_writer_waits_for_a_lock_that_is_given_up(db, open_engine):
    engine = open_engine()
    waiting = threading.Event()
    with closing(apsw.Connection(str(db))) as other:
        other.execute("BEGIN IMMEDIATE")

        def _give_up(calls: int) -> bool:
            waiting.set()
            return True

        connection_of(engine).set_busy_handler(_give_up)
        writer = threading.Thread(target=engine.remember, args=(TEXT,), kwargs={"key": "harbour"})
        writer.start()
        assert waiting.wait(20)
        other.execute("ROLLBACK")
        writer.join(20)
    assert [memory.key for memory in engine.memories()] == ["harbour"]

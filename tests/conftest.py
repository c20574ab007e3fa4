"""What every test may use: a database, an engine on it with a clock of its own, and a look at what is derived."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

import picomem
from picomem.clock import SECOND, Micros
from picomem.engine.engine import Engine
from picomem.paths import open_databases
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.sqlite.connector import SqliteConnector
from tests.amounts import amount
from tests.citus_rules import offences
from tests.databases import DATABASES, DEFAULT, FAKE, MARKER, Database, choose, chosen, problem
from tests.sealed_stores import below_cipher, seal_new_stores
from tests.slow_tests import listed, without_parameters
from tests.temporary_files import keep_temporary_files_in_memory

ROWS = frozenset(
    f"{part}{number}" for part, last in (("A", 14), ("P", 14), ("O", 20), ("X", 20)) for number in range(1, last + 1)
)
RELIABILITY_ROWS = {
    "fuzz",
    *(f"{part}{number}" for part, last in (("R", 18), ("S", 14)) for number in range(1, last + 1)),
}
OF_PROCESSES = (
    "acceptance",
    "benchmarks",
    "cli",
    "consolidation",
    "gateway",
    "hooks",
    "jobs",
    "page",
    "policy",
    "tui",
)  # folders
START: Micros = 1_777_593_600 * SECOND  # 2026-05-01T00:00:00Z

TESTS = Path(__file__).parent
SOURCES = Path(picomem.__file__).parent

OpenEngine = Callable[..., Engine]

# How long an example takes depends on the machine.
hypothesis.settings.register_profile("untimed", deadline=None, max_examples=amount(50, 2_000))
hypothesis.settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--row", help="run only what shows this row of docs/reliability.md, as R8 or S3")
    parser.addoption("--without-slow", action="store_true", help="leave out the tests that slow_tests.txt names")
    parser.addoption("--database", choices=list(DATABASES), default=DEFAULT, help="the database that the tests run on")
    parser.addoption("--sealed", action="store_true", help="run on sealed stores, see docs/sealing.md")


def pytest_configure(config: pytest.Config) -> None:
    # What runs in the background of a shell ignores Ctrl-C, and so would the processes that tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    choose(str(config.getoption("--database")))
    keep_temporary_files_in_memory()
    if config.getoption("--sealed"):
        seal_new_stores()
    gc.disable()  # until all tests are collected: what is imported by then stays


def pytest_collection_finish() -> None:
    gc.freeze()  # spares each later run of the collector the million objects of all modules and tests
    gc.set_threshold(20_000, 20, 20)  # a test ends before its garbage is worth a look
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of the row that `--row` names, and on another database those that do without SQLite's file.

    The files of reliability and the tests of processes come first, because some of them take long. The last tests that a
    worker takes are short ones, so that it does not wait for another worker."""
    if chosen().name != "sqlite":
        for item in items:
            for mark in item.iter_markers(MARKER):
                item.add_marker(pytest.mark.skip(reason=f"needs SQLite's file: {' '.join(map(str, mark.args))}"))
    row = config.getoption("--row")
    if row:
        _keep(config, items, lambda item: any(row in mark.args for mark in item.iter_markers("reliability")))
    if config.getoption("--without-slow"):
        slow = listed()
        _keep(config, items, lambda item: without_parameters(item.nodeid) not in slow)
    long = {item.path for item in items if item.get_closest_marker("reliability")}
    folders = {TESTS / name for name in OF_PROCESSES}
    items.sort(key=lambda item: item.path not in long and folders.isdisjoint(item.path.parents))


def _keep(config: pytest.Config, items: list[pytest.Item], is_kept: Callable[[pytest.Item], bool]) -> None:
    config.hook.pytest_deselected(items=[item for item in items if not is_kept(item)])
    items[:] = filter(is_kept, items)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that names a row which there is not shows nothing, so it fails; as does one that needs SQLite's file and
    does not say why."""
    for mark in item.iter_markers(MARKER):
        if problem(mark):
            pytest.fail(problem(mark), pytrace=False)
    for name, rows in (("requirement", ROWS), ("reliability", RELIABILITY_ROWS)):
        for mark in item.iter_markers(name):
            unknown = [row for row in mark.args if row not in rows]
            if unknown or not mark.args or mark.kwargs:
                named = ", ".join(map(repr, unknown)) or "no row"
                pytest.fail(f"{name} names {named}, which is none of its rows", pytrace=False)


class SteppingClock:
    """A second passes between two looks at it; `now` is the time that was read last."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> Micros:
        self.now += SECOND
        return self.now


class _WatchedOpens:
    """Notes each `open` by picomem's own code of a file of a database that picomem has open.

    Closing such a file drops SQLite's locks on it. An audit hook cannot be taken away, so there is one for all tests.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple) -> None:
        if event != "open" or not isinstance(arguments[0], str | bytes):
            return
        name = os.path.abspath(os.fsdecode(arguments[0]))
        live = {f"{path}{end}" for path in open_databases() for end in ("", "-wal", "-shm", "-journal")}
        if name in live and _is_opened_by_picomem(is_relative=not os.path.isabs(arguments[0])):
            self.names.append(name)


def _is_opened_by_picomem(*, is_relative: bool) -> bool:
    """Whether the code that opens a file is picomem's and not a test's; the standard library is passed over.

    A relative path of `safe_opening` is one below a folder of notes, and not below the working directory.
    """
    frame = sys._getframe(2)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if TESTS in file.parents:
            return False
        if SOURCES in file.parents:
            return not (is_relative and file.name == "safe_opening.py")
        frame = frame.f_back
    return False


_opens = _WatchedOpens()


@pytest.fixture(autouse=True)
def _no_open_database_is_opened_beside_sqlite() -> Iterator[None]:
    _opens.names.clear()
    yield
    assert _opens.names == [], "picomem opened files of an open database beside SQLite"


@pytest.fixture(scope="session")
def database() -> Database:
    """The database that the tests run on."""
    return chosen()


@pytest.fixture(autouse=True)
def _forget_databases(request: pytest.FixtureRequest) -> Iterator[None]:
    """Drop the stores of a test that lie on a server; files go with the folder of the test."""
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if folder is not None:
        chosen().forget(folder)


_log_ends = [0]


@pytest.fixture(autouse=True)
def _citus_is_sent_what_it_takes() -> Iterator[None]:
    """On the stand-in for Citus, hold every message that reached the server against what Citus takes."""
    yield
    if chosen().name == FAKE:
        from tests.postgres_server import messages_since

        messages, _log_ends[0] = messages_since(_log_ends[0])
        # A store of one server forces its fence; the stand-in refuses to divide a table with a forced one.
        divided = (message for message in dict.fromkeys(messages) if " FORCE ROW LEVEL " not in message)
        refused = {message: offences(message) for message in divided}
        assert {message: reasons for message, reasons in refused.items() if reasons} == {}


@pytest.fixture(autouse=True)
def _plain_store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `--sealed`, take the key from a test that reads or damages a plain file."""
    if request.node.get_closest_marker("plain_file"):
        monkeypatch.delenv("PICOMEM_STORE_KEY", raising=False)


@pytest.fixture
def clock() -> SteppingClock:
    return SteppingClock()


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def open_engine(db: Path, clock: SteppingClock, database: Database) -> Iterator[OpenEngine]:
    """Open an engine: `open_engine(path=…, user=…, embedder=…, clock=…, vfs=…)`; all are closed after the test. `vfs`
    is for tests of the SQLite file."""
    opened: list[Engine] = []

    def _open(path: Path = db, *, user: str = "local", embedder=None, clock=clock, vfs: str | None = None) -> Engine:
        settings = Settings(recall=RecallSettings(embedder="none", timezone="UTC"))
        connector = SqliteConnector(path, vfs=below_cipher(vfs)) if vfs else database.connect(path)
        runtime = Runtime(connector, settings, embedder=embedder, clock=clock)
        opened.append(runtime.engine(scope=Scope(user), closes=True))
        return opened[-1]

    yield _open
    for engine in opened:
        engine.close()


@pytest.fixture
def engine(open_engine: OpenEngine) -> Engine:
    return open_engine()


@pytest.fixture
def disagreements(database: Database) -> Callable[[Path], list[str]]:
    return database.disagreements

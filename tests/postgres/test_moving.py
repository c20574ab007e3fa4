"""Moving users between a file and a server: every row of every table, whole or not at all, and the answers stay."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.amounts import amount
from tests.conftest import START, SteppingClock
from tests.databases import DATABASES
from tests.distinct_texts import SYLLABLES
from tests.engine_parts import resources_of
from tests.postgres.plans import tasks
from tests.postgres_server import empty_database
from tests.programs import forking
from tests.store import later_step

from picomem.clock import DAY
from picomem.demo.walkthrough import SAMPLES
from picomem.engine.authorization import caller_of, grant, make_token
from picomem.engine.engine import Engine
from picomem.engine.transfers import export_lines
from picomem.errors import Conflict, InvalidInput, NotFound
from picomem.light_dataclass import replace
from picomem.models.static_embedder import StaticEmbedder
from picomem.records.access_token import Credential
from picomem.records.caller import GRANTABLE, OWN_DATA
from picomem.records.channel_message import DIRECTORY
from picomem.records.scope import Scope
from picomem.records.session import NewMessage, Role
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import NotesSettings, RecallSettings
from picomem.store import moved_rows
from picomem.store.connector import CitusChoice, Connector
from picomem.store.postgres.connector import PostgresConnector
from picomem.store.postgres.transaction import PostgresTransaction
from picomem.store.row_hash import COLUMNS, row_hash
from picomem.store.sql_access import table_rows
from picomem.store.sql_statements import statement
from picomem.store.sqlite.connector import SqliteConnector
from picomem.store.sqlite.schema import prepare
from picomem.store.sqlite.transaction import SqliteTransaction
from picomem.store.tables import meta
from picomem.transfer.moving import MovedStore, move, planned_move

pytestmark = pytest.mark.requirement("X11")

USERS = ("mia", "ben", "ann")
KINDS = ("sqlite", "postgres")
TABLES = tuple(table.name for table in moved_rows.tables())
QUESTIONS = ("Which port does the staging database listen on?", "What did we decide about the queue?", "灯笼", "quay")

Open = Callable[[str, str], Connector]


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Open]:
    """Open a store of that name on a database: `open_store("postgres", "team")`."""
    opened: list[Connector] = []

    def _open(database: str, name: str) -> Connector:
        opened.append(DATABASES[database].connect(tmp_path / f"{name}.db"))
        return opened[-1]

    yield _open
    for connector in opened:
        connector.close()
    DATABASES["postgres"].forget(tmp_path)


class _Filled:
    """Users with rows in every table, and a word for each that is nowhere else."""

    def __init__(self, connector: Connector, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.folder = folder
        self.connector = connector
        self.secrets = {user: self._word() for user in USERS}
        self.tokens: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        for user in USERS:
            self._fill(user)
        for user in (*USERS, DIRECTORY):
            _fill_empty_tables(connector, user, self.rng)

    def _word(self) -> str:
        return "".join(self.rng.choices(SYLLABLES, k=9))

    def _fill(self, user: str) -> None:
        notes = self.folder / f"notes-{user}"
        notes.mkdir()
        notes.joinpath("MEMORY.md").write_text(f"# Crates\n\nThe crate of {self._word()} stands on the quay.\n")
        engine = _engine(self.connector, user, notes)
        for number in range(self.rng.randint(3, 9)):
            engine.remember(f"Crate {number} of {self._word()} holds {self._word()}", key=f"crate_{number}")
        engine.remember(f"The gate of the quay opens with {self.secrets[user]}", key="gate")
        engine.revise("crate_0", content=f"Crate zero went to {self._word()}")
        self.runs[user] = engine.forget("crate_1").id
        engine.undo(engine.forget("crate_2").id)
        engine.ingest([SAMPLES])
        purged = engine.sessions().create(title="to be purged")
        engine.sessions().append(purged.id, NewMessage(role=Role.USER, content=f"Where is {self._word()}?"))
        engine.purge(session=purged.id)
        session = engine.sessions().create(title="about the quay")
        for number in range(self.rng.randint(1, 4)):
            engine.sessions().append(session.id, NewMessage(role=Role.USER, content=f"{number}: {self._word()}?"))
        engine.search_notes("quay crate")
        engine.index()
        engine.export_index(self.folder / f"page-{user}.md")
        grant(engine, frozenset(sorted(GRANTABLE)[:1]))
        _, self.tokens[user] = make_token(engine, OWN_DATA, "of a program", None)


def _engine(connector: Connector, user: str, notes: Path | None = None) -> Engine:
    settings = Settings(recall=RecallSettings(timezone="UTC"))
    if notes is not None:
        settings = replace(settings, notes=NotesSettings(paths=(str(notes),)), data=replace(settings.data, user=user))
    clock = SteppingClock()
    clock.now += 0 if notes else DAY  # the stores are filled a day before they are asked
    runtime = Runtime(connector, settings, embedder=StaticEmbedder(), clock=clock)
    return runtime.engine(scope=Scope(user))


_PLAIN: dict[str, object] = {
    "origin": "user",
    "role": "user",
    "source": "memory",
    "direction": "in",
    "state": "waiting",
    "tool_calls": "[]",
    "episodes": "[]",
    "native_ids": "[]",
    "context": "[]",
    "before_summary": "",
    "summarised": 0,
    "is_group": 0,
    "is_cancelling": 0,
    "person": "mia",
    "user": "ben",
}


_OF_THE_DIRECTORY = ("contacts", "pairings", "channel_messages")


def _fill_empty_tables(connector: Connector, user: str, rng: random.Random) -> None:
    """Store a row made up from the schema in each table in which a user has none: also in one of a later version."""
    with connector.write(Scope(user)) as tx:
        filled = moved_rows.counts(tx, Scope(user))
        for table in moved_rows.tables():
            if table.name in filled or (user == DIRECTORY and table.name not in _OF_THE_DIRECTORY):
                continue
            row = {name: _made_up(tx, user, table.name, name, rng) for name in table.columns if name != "row_hash"}
            if table.has_hash:
                row["row_hash"] = row_hash(table.name, [row[name] for name in COLUMNS[table.name]])
            table_rows(tx).put_rows(table.insert(), [row])


def _made_up(tx: Any, user: str, table: str, column: str, rng: random.Random) -> object:
    if column == "user_id":
        return user
    parents = {"session_id": "sessions", "transcript_id": "transcripts"}
    if column in parents and table != "channel_messages":
        return table_rows(tx).rows_of(f"SELECT min(id) FROM {parents[column]} WHERE user_id = :user", {"user": user})[
            0
        ][0]
    if column in ("doc", "last_doc"):
        return table_rows(tx).rows_of("SELECT max(doc) FROM episodes WHERE user_id = :user", {"user": user})[0][0] or 1
    if column in _PLAIN:
        return _PLAIN[column]
    kind = _kinds()[table, column]
    if kind == "INTEGER":
        return rng.randrange(2**53)
    if kind == "REAL":
        return rng.random()
    return bytes(rng.randrange(256) for _ in range(8)) if kind == "BLOB" else "".join(rng.choices(SYLLABLES, k=4))


def _kinds() -> dict[tuple[str, str], str]:
    with closing(apsw.Connection(":memory:")) as connection:
        prepare(connection, Path(":memory:"))
        columns = "SELECT t.name, c.name, c.type FROM sqlite_schema AS t, pragma_table_info(t.name) AS c"
        return {(table, column): kind for table, column, kind in connection.execute(columns)}


def _move(source: Connector, target: Connector, user: str = "", **options: Any) -> MovedStore:
    planned = planned_move(source, Scope(user) if user else None)
    return move(source, target, planned, START, **options)


def _exports(connector: Connector, users: tuple[str, ...] = USERS) -> list[str]:
    return [
        line
        for user in users
        for line in export_lines(_engine(connector, user), "picomem")
        if '"exported_at"' not in line
    ]


def _answers(connector: Connector) -> list[object]:
    answers: list[object] = []
    for user in USERS:
        engine = _engine(connector, user)
        for question in QUESTIONS:
            answer = engine.recall(question, limit=20, token_budget=100_000)
            answers += [(hit.source, hit.text, hit.score, hit.why, hit.key, hit.citation) for hit in answer.hits]
        answers += [hit.text for hit in engine.timeline()] + [str(engine.why("crate_0")), engine.index().text]
    return answers


def _rows(connector: Connector, user: str, *, without: tuple[str, ...] = ()) -> dict[str, list[tuple]]:
    with connector.read() as tx:
        return {
            table.name: table_rows(tx).rows_of(table.select(is_first=True), {"user": user, "limit": 10**6})
            for table in moved_rows.tables()
            if table.name not in without
        }


@pytest.mark.parametrize("seed", range(amount(1, 50)))
def test_a_store_that_moves_to_a_server_and_back_holds_and_answers_the_same(
    open_store: Open, tmp_path: Path, seed: int
) -> None:
    source, server, back = open_store("sqlite", "file"), open_store("postgres", "server"), open_store("sqlite", "back")
    filled = _Filled(source, tmp_path, seed)
    for user in USERS:
        assert all(_rows(source, user).values())
    before = _exports(source), _answers(source)
    for moving in (_move(source, server), _move(server, back)):
        assert {(user.user, user.state, user.damaged) for user in moving.users} == {
            (user, "moved", 0) for user in (*USERS, DIRECTORY)
        }
    assert (_exports(server), _exports(source)) == (before[0], before[0])
    assert (_exports(back), _answers(back)) == before
    for connector in (source, server, back):
        assert _engine(connector, "mia").doctor().findings == []
        assert caller_of(resources_of(_engine(connector, "mia")), Credential(filled.tokens["mia"]))
    _change(server, filled, tmp_path)
    assert _exports(back) == before[0]


def _change(server: Connector, filled: _Filled, folder: Path) -> None:
    """At the target everything goes on: undo, tombstones, and a purge that is complete."""
    engine = _engine(server, "mia")
    assert "crate_1" not in {memory.key for memory in engine.memories()}
    engine.undo(filled.runs["mia"])
    assert "crate_1" in {memory.key for memory in engine.memories()}
    assert engine.ingest([SAMPLES]).episodes == 0
    purged = engine.purge(everything=True)
    assert purged.finished and purged.scan is not None and (purged.scan.found, purged.scan.postings) == ({}, 0)
    files = b"".join(path.read_bytes() for path in DATABASES["postgres"].files(folder / "server.db"))
    assert [user for user in USERS if filled.secrets[user].encode() in files] == ["ben", "ann"]
    assert engine.ingest([SAMPLES]).episodes == 0  # what was purged does not come back
    again = _move(filled.connector, server, "mia")
    assert [user.state for user in again.users] == ["changed since"]
    assert engine.memories() == []


def test_every_table_of_users_is_moved_or_left_for_a_reason(open_store: Open) -> None:
    with closing(apsw.Connection(":memory:")) as connection:
        prepare(connection, Path(":memory:"))
        having = "SELECT t.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c WHERE c.name = 'user_id'"
        assert {name for (name,) in connection.execute(having)} == {*TABLES, *moved_rows.NOT_COPIED}
        columns = "SELECT name FROM pragma_table_info(?)"
        for table in moved_rows.tables():
            assert {name for (name,) in connection.execute(columns, (table.name,))} == set(table.columns)
        words = "SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5 %'"
        indexed = {f"{source}_words" for source, _ in moved_rows.INDEXED.values()}
        assert {name for (name,) in connection.execute(words)} == indexed


def test_every_table_is_known_to_belong_to_a_user() -> None:
    """So "all users" are all: a table that hangs on another one, by a foreign key or a space of vectors, is the other's."""
    hanging = {table.name for table in moved_rows.tables() if table.parents} | {"vectors", "vector_rewrites"}
    assert [table for table in TABLES if f"FROM {table}" not in statement("users") and table not in hanging] == []


def test_a_table_of_a_later_version_moves_with_the_others(open_store: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as later:
        later_step.learn(later)
        moved_rows.user_tables.cache_clear()
        source, server = open_store("sqlite", "file"), PostgresConnector(empty_database())
        with closing(server):
            _engine(source, "mia").remember("The harbour opens at seven", key="harbour")
            with source.write(Scope("mia")) as tx:
                (table,) = (table for table in moved_rows.tables() if table.name == "parcels")
                table_rows(tx).put_rows(table.insert(), [{"user_id": "mia", "id": "p", "weight": 0.1}])
            assert _move(source, server).tables["parcels"] == 1
            assert _rows(server, "mia")["parcels"] == [("mia", "p", 0.1)]
    moved_rows.user_tables.cache_clear()


def test_users_whose_documents_have_the_same_numbers_move_into_one_file(open_store: Open) -> None:
    server, file = open_store("postgres", "server"), open_store("sqlite", "file")
    for user in USERS:
        for number in range(3):
            _engine(server, user).remember(f"Crate {number} of {user} stands on the quay", key=f"crate_{number}")
    with server.read() as tx:
        assert len({moved_rows.doc_numbers.lowest_taken(tx, Scope(user)) for user in USERS}) == 1
    assert _move(server, file).is_complete
    assert [user.state for user in _move(server, file).users] == ["moved before"] * 3
    assert _engine(file, "mia").doctor().findings == []
    for user in USERS:
        hits = _engine(file, user).recall("crate on the quay").hits
        assert {hit.text for hit in hits} == {f"Crate {number} of {user} stands on the quay" for number in range(3)}
        assert _engine(file, user).remember("The harbour opens at seven").memory
    assert _engine(file, "mia").doctor().findings == []


@pytest.mark.parametrize(("one", "other"), [("sqlite", "postgres"), ("postgres", "sqlite"), ("postgres", "postgres")])
def test_the_source_is_left_as_it_is_and_a_further_run_says_that_it_is_done(
    open_store: Open, one: str, other: str
) -> None:
    source, target = open_store(one, "source"), open_store(other, "target")
    for user in USERS:
        _engine(source, user).remember("The harbour opens at seven", key="harbour")
    before = {user: _rows(source, user) for user in USERS}
    told: list[tuple[int, int, str]] = []
    assert _move(source, target, progress=lambda *said: told.append(said)).is_complete
    assert {user: _rows(source, user) for user in USERS} == before
    assert told[-1][0] <= told[-1][1]
    assert [user.state for user in _move(source, target).users] == ["moved before"] * 3
    _engine(source, "ben").remember("The harbour closes at nine", key="closing")
    again = _move(source, target)
    assert {user.user: user.state for user in again.users if user.state != "moved before"} == {"ben": "changed since"}
    assert not again.is_complete


def test_a_dry_run_counts_and_writes_nothing(open_store: Open) -> None:
    source, target = open_store("sqlite", "source"), open_store("postgres", "target")
    _engine(source, "mia").remember("The harbour opens at seven", key="harbour")
    with target.read() as tx:
        key = meta.key(tx)
    planned = planned_move(source, None)
    for somewhere in (target, None):
        dry = move(source, somewhere, planned, START, dry_run=True)
        assert [(user.user, user.state) for user in dry.users] == [("mia", "movable")]
        assert dry.tables["memories"] == 1
    with target.read() as tx:
        assert (meta.key(tx), moved_rows.has_any(tx, Scope("mia"))) == (key, False)


def test_what_the_target_has_already_is_refused(open_store: Open) -> None:
    source, target = open_store("sqlite", "source"), open_store("postgres", "target")
    _engine(source, "mia").remember("The harbour opens at seven", key="harbour")
    _engine(source, "ben").remember("The harbour opens at eight", key="harbour")
    assert _move(source, target, "mia").is_complete
    _engine(target, "ben").remember("Another harbour", key="other")
    assert [user.state for user in _move(source, target, "ben").users] == ["not empty"]
    assert [memory.key for memory in _engine(target, "ben").memories()] == ["other"]
    stranger = open_store("sqlite", "stranger")
    _engine(stranger, "ann").remember("The harbour opens at nine", key="harbour")
    with pytest.raises(Conflict, match="under a key of its own"):
        _move(stranger, target)
    with pytest.raises(NotFound, match="no rows of user zoe"):
        _move(source, target, "zoe")


@pytest.mark.parametrize("kind", KINDS)
def test_a_store_is_not_moved_to_itself(open_store: Open, tmp_path: Path, kind: str) -> None:
    source = open_store(kind, "source")
    _engine(source, "mia").remember("The harbour opens at seven", key="harbour")
    if kind == "sqlite":
        (tmp_path / "alias.db").symlink_to(tmp_path / "source.db")
        same = open_store("sqlite", "alias")
    else:
        same = open_store("postgres", "source")
    with pytest.raises(InvalidInput, match="are the same store"):
        _move(source, same)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_written_to_the_source_while_a_user_moves(open_store: Open, kind: str) -> None:
    source, target = open_store(kind, "source"), open_store("postgres", "target")
    other = open_store(kind, "source")
    _engine(source, "mia").ingest([SAMPLES])
    writers: list[threading.Thread] = []

    def write_once(*_: object) -> None:
        if not writers:
            engine = _engine(other, "mia")
            writers.append(threading.Thread(target=engine.remember, args=("The harbour opens at seven",)))
            writers[0].start()

    assert _move(source, target, progress=write_once).is_complete
    writers[0].join()
    assert len(_engine(source, "mia").memories()) == len(_engine(target, "mia").memories()) + 1


def test_a_damaged_row_moves_as_it_is_and_is_counted(open_store: Open) -> None:
    source, target = open_store("sqlite", "source"), open_store("postgres", "target")
    _engine(source, "mia").remember("The harbour opens at seven", key="harbour")
    assert isinstance(source, SqliteConnector)
    source.connection().execute("UPDATE memories SET content = 'The harbour opens at nine'")
    assert [(user.state, user.damaged) for user in _move(source, target).users] == [("moved", 1)]
    assert [finding.check for finding in _engine(target, "mia").doctor().findings] == ["row"]
    assert [(user.state, user.damaged) for user in _move(source, target).users] == [("moved before", 1)]


def test_a_move_reads_each_table_by_its_key() -> None:
    """So a page costs the same, however far into the table it is."""
    with closing(PostgresConnector(empty_database(is_citus=True), citus=CitusChoice())) as server, server.read() as tx:
        for table in moved_rows.tables():
            if not table.key:
                continue
            values = {"user": "mia", "limit": 200} | {f"after_{name}": _after(table.name, name) for name in table.key}
            plan = [row[0] for row in table_rows(tx).rows_of(f"EXPLAIN {table.select(is_first=False)}", values)]
            assert tasks(plan) == 1, plan


def _after(table: str, column: str) -> object:
    return 0 if _kinds()[table, column] == "INTEGER" else ""


KILLS = amount(2, 60)


def program(source: str, target: str, killed_at: int) -> Any:
    """The other process: move, and be killed before so many times something is stored in the target."""
    stores = [_opened(source), _opened(target)]
    kind = PostgresTransaction if isinstance(stores[1], PostgresConnector) else SqliteTransaction
    store_rows, stored = kind.put_rows, 0

    def counted(tx: Any, text: str, rows: Any) -> None:
        nonlocal stored
        stored += 1
        if stored == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)
        store_rows(tx, text, rows)

    kind.put_rows = counted  # type: ignore[method-assign]
    moved = _move(stores[0], stores[1])
    kind.put_rows = store_rows  # type: ignore[method-assign]
    for store in stores:
        store.close()
    return {"stored": stored, "states": [user.state for user in moved.users]}


def _opened(name: str) -> Connector:
    return PostgresConnector(name) if name.startswith("postgresql:") else SqliteConnector(Path(name))


@pytest.mark.reliability("R8")
@pytest.mark.parametrize("direction", ["file to server", "server to file"])
def test_a_move_that_is_killed_goes_on(open_store: Open, tmp_path: Path, direction: str) -> None:
    kinds = ("sqlite", "postgres") if direction == "file to server" else ("postgres", "sqlite")
    source = open_store(kinds[0], "source")
    for user in USERS:
        _engine(source, user).remember("The harbour opens at seven", key="harbour")
    _engine(source, "mia").ingest([SAMPLES])
    named = DATABASES[kinds[0]].named(tmp_path / "source.db")
    rng = random.Random(direction)
    with forking(__file__) as call:
        whole = call(named, DATABASES[kinds[1]].named(tmp_path / "whole.db"), 0)
        assert whole["states"] == ["moved"] * 3
        for number in range(KILLS):
            target = tmp_path / f"target-{number}.db"
            name = DATABASES[kinds[1]].named(target)
            for _ in range(2):
                call(named, name, rng.randint(1, whole["stored"]))
                with closing(DATABASES[kinds[1]].connect(target)) as reached:
                    for user in USERS:
                        there = _rows(reached, user, without=("user_marks",))
                        assert not any(there.values()) or there["memories"], "half a user"
            states = call(named, name, 0)["states"]
            assert set(states) <= {"moved", "moved before"}
            with closing(DATABASES[kinds[1]].connect(target)) as reached:
                assert _exports(reached) == _exports(source)
                assert _engine(reached, "mia").doctor().findings == []

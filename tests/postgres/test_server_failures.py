"""The server fails: one sentence, nothing acknowledged is lost, and nothing is stored twice."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event

import pytest
from psycopg.conninfo import make_conninfo
from tests.postgres.cutting_proxy import CuttingProxy
from tests.postgres_server import (
    ROLE,
    Server,
    database_in,
    disconnect,
    make_folder,
    shared_folder,
)

from picomem.engine.engine import Engine
from picomem.errors import DiskFull, Locked, PicomemError, StoreError, Unconfirmed
from picomem.records.scope import Scope
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings
from picomem.store.postgres import commit as postgres_commit
from picomem.store.postgres import connector as postgres
from picomem.store.postgres.connector import PostgresConnector

pytestmark = pytest.mark.requirement("X11")

EngineOf = Callable[[str], Engine]
_RECALL = RecallSettings(embedder="none", timezone="UTC")


@pytest.fixture
def proxy() -> Iterator[CuttingProxy]:
    opened = CuttingProxy(shared_folder(), make_folder())
    yield opened
    opened.close()


@pytest.fixture
def through(proxy: CuttingProxy, address: str) -> Iterator[Engine]:
    """An engine whose connections go through the proxy."""
    connector = PostgresConnector(make_conninfo(address, host=str(proxy.folder)))
    yield _engine(connector, "mia")
    connector.close()


def _engine(connector: PostgresConnector, user: str) -> Engine:
    return Runtime(connector, Settings(recall=_RECALL)).engine(scope=Scope(user))


def _keys(engine: Engine) -> list[str]:
    """The keys of all memories, each of which was stored by one change and once."""
    kept = engine.memories()
    keys = sorted(memory.key for memory in kept)
    assert len(set(keys)) == len(keys)
    assert len(engine.changes(limit=len(keys) + 1)) == len(keys)
    assert engine.doctor().findings == []
    return keys


@pytest.mark.parametrize("is_known", [False, True], ids=["a new user", "a known user"])
@pytest.mark.parametrize("others", [0, 3])
def test_a_write_whose_commit_was_not_answered_counts_as_stored_where_the_server_stored_it(
    through: Engine, proxy: CuttingProxy, engine_of: EngineOf, is_known: bool, others: int
) -> None:
    if is_known:
        through.remember("The cellar is locked at nine", key="cellar")

    def write_meanwhile() -> None:
        for number in range(others):
            engine_of("mia").remember(f"The colour of ledger {number} is {number}", key=f"ledger_{number}")

    proxy.when_cut = write_meanwhile
    proxy.cut("after")
    assert through.remember("The harbour opens at seven", key="harbour").memory.key == "harbour"
    known = ["cellar"] if is_known else []
    assert _keys(engine_of("mia")) == sorted([*known, "harbour", *(f"ledger_{number}" for number in range(others))])


def test_a_write_whose_commit_never_came_is_an_error_that_may_be_repeated(
    through: Engine, proxy: CuttingProxy, engine_of: EngineOf
) -> None:
    proxy.cut("before")
    with pytest.raises(StoreError, match="nothing was written") as broken:
        through.remember("The harbour opens at seven", key="harbour")
    assert not isinstance(broken.value, Unconfirmed) and "\n" not in str(broken.value)
    assert engine_of("mia").memories() == []
    through.remember("The harbour opens at seven", key="harbour")
    assert _keys(engine_of("mia")) == ["harbour"]


def test_a_message_that_kills_the_server_is_sent_twice_at_most(through: Engine, proxy: CuttingProxy) -> None:
    """Issue 43, point 2."""
    through.remember("The cellar is locked at nine", key="cellar")
    before = proxy.begins
    proxy.cut("begin")
    with pytest.raises(StoreError) as broken:
        through.remember("The harbour opens at seven", key="harbour")
    assert "\n" not in str(broken.value)
    assert proxy.begins - before == 2


def test_a_commit_that_fails_on_citus_counts_as_stored_where_the_machine_of_the_user_has_it(
    through: Engine, proxy: CuttingProxy, engine_of: EngineOf
) -> None:
    """Issue 43, point 3: the connection stays open, and the answer was "failed" while the row was there."""
    proxy.cut("failed")
    assert through.remember("The harbour opens at seven", key="harbour").memory.key == "harbour"
    proxy.cut("undone")
    with pytest.raises(StoreError, match="nothing was written") as broken:
        through.remember("The cellar is locked at nine", key="cellar")
    assert not isinstance(broken.value, Unconfirmed)
    through.remember("Lunch is at noon", key="lunch")
    assert _keys(engine_of("mia")) == ["harbour", "lunch"]


@pytest.mark.parametrize("where", ["before", "after"])
def test_where_the_server_does_not_answer_any_more_nobody_claims_that_nothing_was_stored(
    through: Engine, proxy: CuttingProxy, engine_of: EngineOf, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    monkeypatch.setattr(postgres_commit, "ANSWER_SECONDS", 0.3)

    def refuse() -> None:
        proxy.refuses = True

    proxy.when_cut = refuse
    proxy.cut(where)
    with pytest.raises(Unconfirmed, match="may have been stored; look") as broken:
        through.remember("The harbour opens at seven", key="harbour")
    assert "\n" not in str(broken.value) and "nothing was written" not in str(broken.value)
    proxy.refuses = False
    assert len(engine_of("mia").memories()) == (where == "after")
    through.remember("The cellar is locked at nine", key="cellar")


def test_a_write_that_many_others_followed_is_unconfirmed(
    through: Engine, proxy: CuttingProxy, connector: PostgresConnector
) -> None:
    def write_meanwhile() -> None:
        for _ in range(postgres_commit.REMEMBERED_WRITES):
            with connector.write(Scope("mia")):
                pass

    proxy.when_cut = write_meanwhile
    proxy.cut("after")
    with pytest.raises(Unconfirmed):
        through.remember("The harbour opens at seven", key="harbour")


def test_a_write_for_everyone_whose_commit_was_not_answered_is_unconfirmed(
    through: Engine, proxy: CuttingProxy, address: str
) -> None:
    connector = PostgresConnector(make_conninfo(address, host=str(proxy.folder)))
    with pytest.raises(Unconfirmed), connector.maintenance.repair():
        proxy.cut("after")
    connector.close()


def test_all_connections_that_broke_are_replaced_unnoticed(
    connector: PostgresConnector, engine_of: EngineOf, address: str
) -> None:
    together = Barrier(postgres.CONNECTIONS)

    def hold(number: int) -> None:
        with connector.write(Scope(f"user {number}")):
            together.wait(60)

    with ThreadPoolExecutor(postgres.CONNECTIONS) as threads:
        list(threads.map(hold, range(postgres.CONNECTIONS)))
    assert disconnect(address) == postgres.CONNECTIONS
    engine_of("mia").remember("The harbour opens at seven", key="harbour")
    assert engine_of("mia").recall("When does the harbour open?").hits


def test_a_lock_that_is_held_for_too_long_is_one_sentence_and_nothing_is_written(
    connector: PostgresConnector, engine_of: EngineOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of("mia")
    engine.remember("The harbour opens at seven", key="harbour")
    monkeypatch.setattr(postgres, "LOCK_SECONDS", 1)
    with connector.write(Scope("mia")), ThreadPoolExecutor(1) as threads:
        written = threads.submit(engine.remember, "The cellar is locked at nine", key="cellar")
        with pytest.raises(Locked, match="locked by another process") as refused:
            written.result()
    assert "\n" not in str(refused.value)
    assert _keys(engine) == ["harbour"]


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 48 MiB in the server's reach; only root can mount one."""
    folder = make_folder()
    owner = f"uid={folder.stat().st_uid},gid={folder.stat().st_gid}"
    mount = ["mount", "-t", "tmpfs", "-o", f"size=48m,mode=0700,{owner}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small disk can only be mounted by root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_on_a_full_disk_a_write_is_refused_with_a_sentence_and_nothing_that_was_stored_is_lost(
    small_disk: Path,
) -> None:
    with database_in(small_disk) as address:
        connector = PostgresConnector(address)
        engine = _engine(connector, "mia")
        engine.remember("The harbour opens at seven", key="harbour")
        filler = small_disk / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
            while file.write(bytes(1 << 16)):
                pass
        stored = ["harbour"]
        with pytest.raises(DiskFull, match="nothing was written") as full:
            for number in range(1000):
                engine.remember(f"Ledger {number} {'x' * number}", key=f"ledger_{number}")
                stored.append(f"ledger_{number}")
        assert "\n" not in str(full.value)
        assert engine.recall("When does the harbour open?").hits
        filler.unlink()
        engine.remember("The cellar is locked at nine", key="cellar")
        assert _keys(engine) == sorted([*stored, "cellar"])
        connector.close()


@pytest.fixture
def restarted(server: Server) -> Iterator[PostgresConnector]:
    opened = PostgresConnector(server.new_database())
    yield opened
    opened.close()


def test_a_restart_between_two_calls_is_not_noticed_and_one_within_a_write_is_one_sentence(
    server: Server, restarted: PostgresConnector
) -> None:
    engine = _engine(restarted, "mia")
    engine.remember("The harbour opens at seven", key="harbour")
    server.stop()
    server.start()
    assert engine.recall("When does the harbour open?").hits
    with pytest.raises(StoreError, match="nothing was written") as broken, restarted.write(Scope("mia")):
        engine.remember("The cellar is locked at nine", key="cellar")
        server.stop()
        server.start()
    assert "\n" not in str(broken.value)
    assert _keys(engine) == ["harbour"]


def test_writers_that_go_on_through_restarts_lose_nothing_and_store_nothing_twice(
    server: Server, restarted: PostgresConnector
) -> None:
    over = Event()
    broken: list[PicomemError] = []

    def write(writer: int) -> list[str]:
        engine = _engine(restarted, f"user{writer % 2}")
        stored: list[str] = []
        number = 0
        while not over.is_set():
            key = f"w{writer}n{number}"
            number += 1
            try:
                engine.remember(f"The colour of {key} is {key}", key=key)
                stored.append(key)
            except StoreError as error:
                broken.append(error)
        return stored

    with ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, writer) for writer in range(4)]
        try:
            for _ in range(2):
                while not any(_engine(restarted, f"user{user}").memories() for user in range(2)):
                    pass
                server.stop()
                server.start()
            _engine(restarted, "user0").memories()
        finally:
            over.set()
        stored = [writer.result(60) for writer in writers]
    assert not any("\n" in str(error) for error in broken)
    assert not any(isinstance(error, Unconfirmed) for error in broken)
    for user in range(2):
        acknowledged = sorted(stored[user] + stored[user + 2])
        assert _keys(_engine(restarted, f"user{user}")) == acknowledged


def test_after_a_failover_the_store_goes_on_at_the_other_address_with_all_that_was_acknowledged() -> None:
    primary, standby = (Server(make_folder(), fsync="off", listen_addresses="") for _ in range(2))
    try:
        primary.make()
        primary.start()
        primary.ask(f"CREATE ROLE {ROLE} LOGIN")
        database = primary.new_database()
        copying = ["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--username=postgres"]
        primary.run("pg_basebackup", f"--pgdata={standby.data}", f"--host={primary.folder}", *copying)
        standby.start()
        primary.ask("ALTER SYSTEM SET synchronous_standby_names TO '*'")
        primary.ask("SELECT pg_reload_conf()")
        both = make_conninfo(database, host=f"{standby.folder},{primary.folder}")
        connector = PostgresConnector(both)
        engine = _engine(connector, "mia")
        engine.remember("The harbour opens at seven", key="harbour")
        primary.stop()
        standby.ask("SELECT pg_promote()")
        engine.remember("The cellar is locked at nine", key="cellar")
        assert _keys(engine) == ["cellar", "harbour"]
        connector.close()
    finally:
        primary.stop()
        standby.stop()


def test_a_limit_of_the_role_on_statements_is_said_to_be_one(address: str) -> None:
    connector = PostgresConnector(make_conninfo(address, options="-c statement_timeout=300"))
    other = PostgresConnector(address)
    with other.write(Scope("mia")), pytest.raises(StoreError, match=r"ended a statement .*; nothing was written"):
        _engine(connector, "mia").remember("We meet on Tuesdays")
    other.close()
    connector.close()

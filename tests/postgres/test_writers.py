"""The lock of a write is the user's, and nothing of a transaction outlasts it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import psycopg
import pytest
from tests.postgres_server import disconnect, waiting

from picomem.engine.engine import Engine
from picomem.errors import StoreError
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE, Everyone
from picomem.store.postgres.connector import PostgresConnector

pytestmark = pytest.mark.requirement("X11")

MIA, BEN = Scope("mia"), Scope("ben")


@contextmanager
def _held(connector: PostgresConnector, scope: Scope | Everyone) -> Iterator[None]:
    """The lock of a write, held by another thread meanwhile."""
    begun, ended = Event(), Event()

    def hold() -> None:
        with connector.write(scope):
            begun.set()
            ended.wait(60)

    with ThreadPoolExecutor(1) as threads:
        held = threads.submit(hold)
        assert begun.wait(60)
        try:
            yield
        finally:
            ended.set()
        held.result()


def _written(connector: PostgresConnector, scope: Scope | Everyone) -> bool:
    with connector.write(scope):
        return True


@pytest.mark.parametrize(("first", "second"), [(MIA, MIA), (MIA, EVERYONE), (EVERYONE, MIA), (EVERYONE, EVERYONE)])
def test_writers_of_the_same_rows_take_turns(
    connector: PostgresConnector, address: str, first: Scope | Everyone, second: Scope | Everyone
) -> None:
    _written(connector, MIA)  # who writes first makes the row that is locked
    with ThreadPoolExecutor(1) as threads:
        with _held(connector, first):
            waits: Future[bool] = threads.submit(_written, connector, second)
            while not waiting(address):
                assert not waits.done()
        assert waits.result(60)


def test_writers_of_two_users_do_not_wait_for_each_other_nor_readers_for_anybody(
    connector: PostgresConnector, engine_of: Callable[[str], Engine]
) -> None:
    with _held(connector, MIA):
        engine_of("ben").remember("The harbour opens at seven", key="harbour")
        assert engine_of("ben").recall("When does the harbour open?").hits
        assert engine_of("mia").recall("When does the harbour open?").hits == ()
    with _held(connector, EVERYONE):
        assert engine_of("ben").recall("When does the harbour open?").hits


def test_what_many_threads_store_for_a_new_user_is_all_there(engine_of: Callable[[str], Engine]) -> None:
    names = [f"ledger_{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: engine_of("mia").remember(f"The colour of {name} is {name}", key=name), names))
    kept = engine_of("mia").memories()
    assert sorted(memory.key for memory in kept) == sorted(names)
    assert sorted(memory.doc for memory in kept) == list(range(1, len(names) + 1))
    assert engine_of("mia").doctor().findings == []


def test_a_read_sees_one_moment(connector: PostgresConnector, engine_of: Callable[[str], Engine]) -> None:
    engine = engine_of("mia")
    engine.remember("The harbour opens at seven", key="harbour")
    with connector.read():
        before = len(engine.memories())
        with ThreadPoolExecutor(1) as threads:
            threads.submit(engine_of("mia").remember, "The cellar is locked at nine", key="cellar").result()
        assert len(engine.memories()) == before == 1
    assert len(engine.memories()) == 2


def test_a_write_that_fails_leaves_nothing(connector: PostgresConnector, engine_of: Callable[[str], Engine]) -> None:
    class MistakeError(Exception):
        pass

    with pytest.raises(MistakeError), connector.write(MIA):
        engine_of("mia").remember("The harbour opens at seven", key="harbour")
        raise MistakeError
    assert engine_of("mia").memories() == []


def test_nothing_outlasts_a_transaction_so_a_pool_may_share_connections(
    connector: PostgresConnector, engine_of: Callable[[str], Engine]
) -> None:
    engine = engine_of("mia")
    for number in range(3):
        engine.remember(f"The colour of ledger {number} is {number}", key=f"ledger_{number}")
        engine.recall("Which colour has ledger 3?")
    shared = connector._pool.getconn()
    left = shared.execute(
        "SELECT current_setting('picomem.user_id', true), current_setting('picomem.everyone', true), "
        "current_setting('search_path'), "
        "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'), to_regnamespace('pg_temp')"
    ).fetchone()
    connector._pool.putconn(shared)
    assert left == ("", "", '"$user", public', 0, None)


def test_a_connection_that_broke_between_two_calls_is_not_noticed(
    engine_of: Callable[[str], Engine], address: str
) -> None:
    engine = engine_of("mia")
    engine.remember("The harbour opens at seven", key="harbour")
    assert disconnect(address) >= 1
    assert engine.recall("When does the harbour open?").hits
    assert disconnect(address) >= 1
    engine.remember("The cellar is locked at nine", key="cellar")
    assert len(engine.memories()) == 2


def test_a_connection_that_breaks_in_a_write_is_an_error_and_nothing_is_written(
    connector: PostgresConnector, engine_of: Callable[[str], Engine], address: str
) -> None:
    engine = engine_of("mia")
    with pytest.raises(StoreError, match="nothing was written") as broken, connector.write(MIA):
        engine.remember("The harbour opens at seven", key="harbour")
        disconnect(address)
    assert "\n" not in str(broken.value)
    assert engine.memories() == []
    engine.remember("The cellar is locked at nine", key="cellar")
    assert [memory.key for memory in engine.memories()] == ["cellar"]


def test_a_text_that_postgres_cannot_hold_is_refused_and_nothing_is_written(connector: PostgresConnector) -> None:
    from picomem.errors import InvalidInput

    for text, said in (("a\0b", "NUL"), ("a\ud800b", "Unicode")):
        with pytest.raises(InvalidInput, match=said), connector.write(MIA) as tx:
            tx.run("put_user_mark", user="mia", name="text", value=text)
    with connector.read() as tx:
        assert tx.all("user_marks", user="mia") == []


def test_a_failed_statement_that_was_passed_over_is_not_a_success(connector: PostgresConnector) -> None:
    with pytest.raises(StoreError, match="nothing was written"), connector.write(MIA) as tx:
        with pytest.raises(StoreError):
            tx.all("user_mark", user="mia", name=psycopg)  # a value of no type of a database
        tx.run("put_user_mark", user="mia", name="a", value="b")
        with pytest.raises(StoreError):
            tx.one("memory_text", user="mia", doc="no number")
    with connector.read() as tx:
        assert tx.all("user_marks", user="mia") == []

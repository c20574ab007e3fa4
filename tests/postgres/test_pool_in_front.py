"""PgBouncer in transaction mode in front of the server: many threads share a few connections of the server.

The whole sample runs through it by `make postgres-pooled`. Without PgBouncer it is still shown that nothing outlasts a
transaction (test_writers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.databases import CITUS, chosen
from tests.pgbouncer import CONNECTIONS, pooled, program
from tests.postgres_server import ROLE

import picomem
from picomem.engine.engine import Engine
from picomem.store.postgres.connector import PostgresConnector

pytestmark = [
    pytest.mark.requirement("X11"),
    pytest.mark.skipif(program() is None, reason="PgBouncer is not installed"),
]

USERS, MEMORIES = 2 * CONNECTIONS, 6


@pytest.fixture
def through_the_pool(address: str) -> Iterator[str]:
    with psycopg.connect(address, autocommit=True) as server:
        yield pooled(address)
        shared = server.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = %s "
            "AND pid <> pg_backend_pid()",
            (ROLE,),
        ).fetchone()
        assert shared is not None and shared[0] <= CONNECTIONS


def _remember_and_recall(memory: Engine, user: str) -> list[str]:
    for number in range(MEMORIES):
        memory.remember(f"The colour of ledger {number} of {user} is {number}", key=f"ledger_{number}")
    return [hit.text for hit in memory.recall("Which colour has the ledger?", limit=100).hits]


def test_threads_of_many_users_share_a_few_connections_and_see_their_own_rows_alone(through_the_pool: str) -> None:
    def work(user: str) -> list[str]:
        with picomem.open(through_the_pool, user=user, embedder="none") as memory:
            return _remember_and_recall(memory, user)

    users = [f"user{number}" for number in range(USERS)]
    with ThreadPoolExecutor(USERS) as threads:
        for user, recalled in zip(users, threads.map(work, users), strict=True):
            assert sorted(recalled) == [f"The colour of ledger {n} of {user} is {n}" for n in range(MEMORIES)]


def test_statements_are_prepared_on_the_server_itself_and_not_behind_a_pool(
    through_the_pool: str, address: str
) -> None:
    for place, is_prepared in ((address, True), (through_the_pool, False)):
        connector = PostgresConnector(place)
        for _ in range(8):
            with connector.read() as tx:
                tx.all("user_marks", user="mia")
                with connector.asking() as connection:
                    count = connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone()
        connector.close()
        assert (count != (0,)) == is_prepared


def test_a_purge_and_the_doctor_work_through_a_pool(through_the_pool: str) -> None:
    with picomem.open(through_the_pool, user="mia", embedder="none") as memory:
        _remember_and_recall(memory, "mia")
        assert memory.purge(everything=True).finished
        passes = ["schema"] if chosen().name in CITUS else []  # the role owns the tables
        assert [finding.check for finding in memory.doctor().findings] == passes

"""The role that owns a store makes its tables; a plain role runs picomem, and can neither change nor unfence them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from tests.postgres_server import GRANTS, as_administrator, as_plain_role, see
from tests.store import later_step

import picomem
from picomem.errors import ReadOnly
from picomem.store.postgres.connector import PostgresConnector

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.requirement("X11")


@pytest.fixture
def plain(address: str) -> Iterator[psycopg.Connection]:
    """A connection of the plain role, which has stored something for a user."""
    with picomem.open(as_plain_role(address), user="mia", embedder="none") as memory:
        memory.remember("The harbour opens at seven", key="harbour")
    with psycopg.connect(as_plain_role(address), autocommit=True) as connection:
        connection.execute("SET search_path TO picomem")
        yield connection


def test_a_plain_role_stores_recalls_examines_and_purges(plain: psycopg.Connection, address: str) -> None:
    with picomem.open(as_plain_role(address), user="mia", embedder="none") as memory:
        assert [hit.text for hit in memory.recall("When does the harbour open?").hits] == ["The harbour opens at seven"]
        assert memory.doctor().findings == []
        assert memory.purge(everything=True).finished
        assert memory.memories() == []


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE memories NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE memories DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_rows ON memories",
        "CREATE POLICY mine ON memories USING (true)",
        "TRUNCATE memories",
        "DROP TABLE memories",
        "CREATE TABLE others (id integer)",
        "ALTER TABLE memories ADD COLUMN other text",
    ],
)
def test_a_plain_role_can_neither_change_the_tables_nor_their_fence(plain: psycopg.Connection, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        plain.execute(statement.encode())


def test_the_doctor_names_a_role_that_passes_over_the_fence(plain: psycopg.Connection, address: str) -> None:
    with picomem.open(as_administrator(address), user="mia", embedder="none") as memory:
        (finding,) = memory.doctor().findings
    assert "connect with a role that is no superuser" in finding.problem


def test_a_plain_role_sees_and_changes_the_rows_of_the_named_user_alone(plain: psycopg.Connection) -> None:
    assert plain.execute("SELECT count(*) FROM memories").fetchone() == (0,)
    with plain.transaction():
        see(plain, "ben")
        assert plain.execute("SELECT count(*) FROM memories").fetchone() == (0,)
        assert plain.execute("DELETE FROM memories").rowcount == 0
    with plain.transaction():
        see(plain, "mia")
        assert plain.execute("SELECT count(*) FROM memories").fetchone() == (1,)


def test_a_plain_role_is_told_that_the_owner_brings_a_store_up_to_date(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    later_step.learn(monkeypatch)
    with pytest.raises(ReadOnly, match="run picomem once with the role that does"):
        PostgresConnector(as_plain_role(address))


def test_the_page_has_the_grants_that_the_tests_use() -> None:
    page = " ".join((ROOT / "docs" / "postgres.md").read_text("utf-8").split())
    assert [grant for grant in GRANTS if grant not in page] == []

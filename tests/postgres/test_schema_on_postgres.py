"""The tables on PostgreSQL: their types, their fence, and the steps to later versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from tests.databases import CITUS, chosen
from tests.postgres_server import empty_database, see
from tests.store import design_tables, later_step

from picomem.errors import NewerSchema, StoreError
from picomem.records.scope import Scope
from picomem.store.connector import EVERYONE
from picomem.store.postgres import schema as postgres_schema
from picomem.store.postgres.connector import PostgresConnector
from picomem.store.row_hash import COLUMNS, is_whole

pytestmark = pytest.mark.requirement("X11")
SEARCH = {"word_postings", "word_totals", "user_locks"}


@pytest.fixture
def connection(address: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(address, autocommit=True) as opened:
        opened.execute("SET search_path TO picomem")
        yield opened


def _columns(connection: psycopg.Connection) -> list[tuple]:
    return connection.execute(
        "SELECT table_name, column_name, data_type, collation_name, is_nullable FROM information_schema.columns "
        "WHERE table_schema = 'picomem' ORDER BY table_name, ordinal_position"
    ).fetchall()


def _made(connection: psycopg.Connection) -> list[list[tuple]]:
    indexes = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'picomem' ORDER BY indexdef"
    policies = "SELECT tablename, policyname, qual FROM pg_policies ORDER BY tablename, policyname"
    checks = (
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'picomem'::regnamespace ORDER BY 1, 2"
    )
    return [
        _columns(connection),
        *(connection.execute(text.encode()).fetchall() for text in (indexes, policies, checks)),
    ]


def test_numbers_have_64_bits_and_texts_are_compared_by_their_bytes(connection: psycopg.Connection) -> None:
    columns = [column for column in _columns(connection) if column[0].rpartition("_")[0] not in SEARCH - {""}]
    columns = [column for column in columns if column[0] not in SEARCH]
    assert {kind for _, _, kind, _, _ in columns} == {"text", "bigint", "double precision", "bytea"}
    assert {collation for _, _, kind, collation, _ in columns if kind == "text"} == {"C"}


def test_every_table_of_users_is_fenced(connection: psycopg.Connection) -> None:
    tables = connection.execute(
        "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class "
        "WHERE relnamespace = 'picomem'::regnamespace AND relkind IN ('r', 'p')"
    ).fetchall()
    assert {name for name, is_enabled, _ in tables if not is_enabled} == {"meta"}
    assert {is_forced for name, _, is_forced in tables if name != "meta"} == {chosen().name not in CITUS}
    assert set(COLUMNS) <= {name for name, *_ in tables}


@pytest.mark.requirement("X1")
def test_a_step_makes_of_an_old_store_what_a_fresh_one_is(monkeypatch: pytest.MonkeyPatch) -> None:
    old, fresh = empty_database(), empty_database()
    connector = PostgresConnector(old)
    later_step.put_marks(connector)
    connector.close()
    later_step.learn(monkeypatch)
    PostgresConnector(old).close()
    PostgresConnector(fresh).close()
    with psycopg.connect(old, autocommit=True) as upgraded, psycopg.connect(fresh, autocommit=True) as made:
        upgraded.execute("SET search_path TO picomem")
        made.execute("SET search_path TO picomem")
        assert _made(upgraded) == _made(made)
        see(upgraded, EVERYONE, in_session=True)
        text = f"SELECT {', '.join(later_step.COLUMNS)}, row_hash FROM user_marks"
        rows = upgraded.execute(text.encode()).fetchall()
    assert {row[-2] for row in rows} == {f"of {user}" for user in later_step.USERS}
    assert all(is_whole("user_marks", row) for row in rows)


@pytest.mark.requirement("X1")
@pytest.mark.reliability("R13")
def test_a_step_that_fails_leaves_the_store_as_it_was_and_is_applied_the_next_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address = empty_database()
    connector = PostgresConnector(address)
    later_step.put_marks(connector)
    connector.close()
    with psycopg.connect(address, autocommit=True) as opened:
        opened.execute("SET search_path TO picomem")
        before = _made(opened)
        later_step.learn(monkeypatch)
        with monkeypatch.context() as cut, pytest.raises(KeyboardInterrupt):
            cut.setattr(postgres_schema, "_hash_anew", _be_interrupted)
            PostgresConnector(address)
        assert _made(opened) == before
        PostgresConnector(address).close()
        assert opened.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone() == ("2",)
        assert opened.execute("SELECT to_regclass('parcels')").fetchone() != (None,)


def _be_interrupted(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.requirement("P2")
def test_the_tables_that_the_design_of_sessions_lists_are_there(connection: psycopg.Connection) -> None:
    columns = {f"{table}.{name}" for table, name, *_ in _columns(connection)}
    indexes = connection.execute(
        "SELECT i.indrelid::regclass::text, i.indisunique, array_agg(a.attname::text ORDER BY k.place) "
        "FROM pg_index AS i, unnest(i.indkey::int[]) WITH ORDINALITY AS k (number, place), pg_attribute AS a "
        "WHERE a.attrelid = i.indrelid AND a.attnum = k.number GROUP BY i.indexrelid, i.indrelid, i.indisunique"
    ).fetchall()
    assert design_tables.missing(columns, [(table, tuple(names)) for table, _, names in indexes]) == []
    assert design_tables.UNIQUE_KEY in [(table, tuple(names)) for table, unique, names in indexes if unique]
    checks = connection.execute(
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype IN ('c', 'f')"
    ).fetchall()
    for table in design_tables.CASCADES:
        assert (
            table,
            "FOREIGN KEY (user_id, session_id) REFERENCES sessions(user_id, id) ON DELETE CASCADE",
        ) in checks
    (roles,) = [text for table, text in checks if table == "messages" and "role" in text]
    assert set(re.findall(r"'(\w+)'", roles)) == set(design_tables.MESSAGE_TYPES)


def test_a_store_of_a_newer_version_is_refused(address: str, connection: psycopg.Connection) -> None:
    connection.execute("UPDATE meta SET value = '999' WHERE name = 'schema'")
    with pytest.raises(NewerSchema, match="schema 999"):
        PostgresConnector(address)


def test_a_store_from_before_the_first_release_is_refused_with_what_to_do(
    address: str, connection: psycopg.Connection
) -> None:
    connection.execute("UPDATE meta SET name = 'schema_version', value = '26' WHERE name = 'schema'")
    with pytest.raises(StoreError, match=r"`picomem export` of the version that made it, then `picomem import`"):
        PostgresConnector(address)


def test_a_store_can_share_a_database_with_another_program() -> None:
    address = empty_database()
    with psycopg.connect(address, autocommit=True) as opened:
        opened.execute("CREATE TABLE memories (id integer)")
        connector = PostgresConnector(address)
        with connector.write(Scope("mia")) as tx:
            tx.run("put_user_mark", user="mia", name="a", value="b")
        connector.close()
        assert opened.execute("SELECT count(*) FROM memories").fetchone() == (0,)

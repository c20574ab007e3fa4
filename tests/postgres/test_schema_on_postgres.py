"""The tables on PostgreSQL: their types, their partitions, and stores of older versions."""

from __future__ import annotations

import re
from collections.abc import Iterator

import psycopg
import pytest
from tests.postgres_server import PARTITIONS, empty_database
from tests.store import design_tables

from picomem.errors import NewerSchema, Unsupported
from picomem.records.scope import Scope
from picomem.store import postgres_schema
from picomem.store.postgres import PostgresConnector
from picomem.store.postgres_schema import prepare
from picomem.store.postgres_transaction import seeing
from picomem.store.row_hash import COLUMNS, is_whole, row_hash
from picomem.store.sqlite_migrations import FRESH_VERSION, SCHEMA_VERSION, STEPS, Step

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


def test_every_table_of_users_is_partitioned_and_fenced(connection: psycopg.Connection) -> None:
    tables = connection.execute(
        "SELECT relname, relkind, relrowsecurity, relforcerowsecurity FROM pg_class "
        "WHERE relnamespace = 'picomem'::regnamespace AND relkind IN ('r', 'p')"
    ).fetchall()
    whole = {name for name, kind, _, _ in tables if kind == "p"}
    assert {name for name, _, enabled, forced in tables if not (enabled and forced)} == {"meta"}
    assert len(tables) == 1 + len(whole) * (1 + PARTITIONS)
    assert set(COLUMNS) - whole == {"meta"}


@pytest.mark.parametrize("version", range(FRESH_VERSION, SCHEMA_VERSION))
def test_a_migrated_store_equals_a_fresh_one_and_its_rows_match_their_hashes(
    version: int, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = empty_database()
    with psycopg.connect(old, autocommit=True) as opened:
        with monkeypatch.context() as then:
            then.setattr(postgres_schema, "SCHEMA_VERSION", version)
            then.setattr(postgres_schema, "STEPS", STEPS[:version])
            prepare(opened, "an old store", PARTITIONS, create=True)
        opened.execute("SET search_path TO picomem")
        added: dict[str, tuple[str, ...]] = {}
        for table, columns in (later for step in STEPS[version:] for later in step.added):
            added[table] = (*added.get(table, ()), *columns)
        if "episodes" in added:
            added.setdefault("transcripts", ())
        for table in sorted(added, reverse=True):  # an episode belongs to a transcript
            _put_row(opened, table, added[table])
        PostgresConnector(old, partitions=PARTITIONS).close()
        assert _made(opened) == _made(connection)
        for table in added:
            names = ", ".join(COLUMNS[table])
            (row,) = opened.execute(f"SELECT {names}, row_hash FROM {table}".encode()).fetchall()
            assert is_whole(table, row)


def test_a_table_of_a_later_version_gets_as_many_partitions_as_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    address = empty_database()
    PostgresConnector(address, partitions=3).close()
    new = "CREATE TABLE parcels (user_id TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (user_id, id)) STRICT;"
    original = postgres_schema.schema
    monkeypatch.setattr(postgres_schema, "SCHEMA_VERSION", SCHEMA_VERSION + 1)
    monkeypatch.setattr(postgres_schema, "STEPS", (*STEPS, Step(("9999",))))
    monkeypatch.setattr(postgres_schema, "schema", lambda name: new if name == "9999" else original(name))
    PostgresConnector(address, partitions=PARTITIONS).close()
    with psycopg.connect(address) as opened:
        counted = "SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass(%s)"
        counts = [opened.execute(counted, (f"picomem.{table}",)).fetchone() for table in ("memories", "parcels")]
    assert counts == [(3,), (3,)]


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


def _put_row(connection: psycopg.Connection, table: str, added: tuple[str, ...]) -> None:
    connection.execute(seeing("mia").encode().replace(b", true)", b", false)"))
    names = COLUMNS[table][: len(COLUMNS[table]) - len(added)]
    kinds = {name: kind for of, name, kind, _, _ in _columns(connection) if of == table}
    chosen = {"user_id": "mia", "send_policy": "deny", "category": "timeline", "origin": "user"}
    plain = {"text": "a", "double precision": 1.0}
    values = [chosen.get(name, plain.get(kinds[name], 1)) for name in names]
    places = ", ".join(["%s"] * (len(names) + 1))
    text = f"INSERT INTO {table} ({', '.join(names)}, row_hash) VALUES ({places})"
    connection.execute(text.encode(), [*values, row_hash(table, values)])


def test_a_store_of_a_newer_version_is_refused(address: str, connection: psycopg.Connection) -> None:
    connection.execute("UPDATE meta SET value = '999' WHERE name = 'schema_version'")
    with pytest.raises(NewerSchema, match="schema 999"):
        PostgresConnector(address)


def test_a_store_that_citus_distributed_is_refused_because_a_purge_would_not_reach_its_workers(
    address: str, connection: psycopg.Connection
) -> None:
    connection.execute("CREATE TABLE public.pg_dist_partition (logicalrelid regclass)")  # as Citus lists its tables
    PostgresConnector(address).close()
    connection.execute("INSERT INTO public.pg_dist_partition VALUES ('picomem.memories')")
    with pytest.raises(Unsupported, match="distributed with Citus"):
        PostgresConnector(address)


def test_a_store_can_share_a_database_with_another_program() -> None:
    address = empty_database()
    with psycopg.connect(address, autocommit=True) as opened:
        opened.execute("CREATE TABLE memories (id integer)")
        connector = PostgresConnector(address, partitions=PARTITIONS)
        with connector.write(Scope("mia")) as tx:
            tx.run("put_user_mark", user="mia", name="a", value="b")
        connector.close()
        assert opened.execute("SELECT count(*) FROM memories").fetchone() == (0,)


def test_a_step_that_both_databases_take_is_no_function_of_one_of_them() -> None:
    assert [step for step in STEPS[FRESH_VERSION:] if step.function is not None] == []

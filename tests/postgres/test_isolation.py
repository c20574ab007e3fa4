"""Rows are isolated twice: each statement names its user, and the server shows nobody else's."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from tests.cases import each_case
from tests.postgres.plans import shards_touched, tasks
from tests.postgres_server import address_of, as_plain_role, empty_database, see

import picomem
from picomem.engine.engine import Engine
from picomem.records.scope import Scope
from picomem.store.connector import CitusChoice
from picomem.store.postgres.connector import PostgresConnector, adapt
from picomem.store.postgres.dialect import translated_statement
from picomem.store.postgres.schema import prepare
from picomem.store.postgres.transaction import DATABASE
from picomem.store.row_hash import COLUMNS
from picomem.store.sql_statements import is_of_everyone, load

STATEMENTS = load(DATABASE)
OF_A_USER = sorted(name for name, text in STATEMENTS.items() if ":user" in text)
_A_VALUE = {  # of the type of a parameter
    "text": "'memory'",
    "bigint": "1",
    "smallint": "1",
    "integer": "1",
    "double precision": "1",
    "numeric": "1",  # what the sum of whole numbers is compared with
    "json": "'[]'",
    "bytea": "''",
    "text[]": "'{memory}'",
    "bigint[]": "'{1}'",
}
_HIGHER = {"text": "'z'", "bigint": "9"}  # a range that is empty would touch nothing
_ENDS = {"to", "until", "before", "latest", "last"}

pytestmark = pytest.mark.requirement("X11")


@pytest.fixture
def connection(fenced: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(fenced) as opened:
        adapt(opened)
        opened.execute("SET search_path TO picomem")
        yield opened


def test_nobody_is_seen_where_no_user_is_named(
    engine_of: Callable[[str], Engine], connection: psycopg.Connection
) -> None:
    for user in ("mia", "ben"):
        engine_of(user).remember(f"The password hint of {user} is a harbour", key="hint")
    seen = {}
    for whose in ("", "mia", "ben", "nobody"):
        see(connection, whose)
        seen[whose] = connection.execute("SELECT user_id FROM memories").fetchall()
        assert connection.execute("SELECT DISTINCT user_id FROM word_postings").fetchall() == seen[whose]
    assert seen == {"": [], "mia": [("mia",)], "ben": [("ben",)], "nobody": []}
    connection.commit()
    assert connection.execute("SELECT count(*) FROM memories").fetchone() == (0,)


def test_a_row_of_another_user_can_be_neither_written_nor_changed(
    engine_of: Callable[[str], Engine], connection: psycopg.Connection
) -> None:
    engine_of("mia").remember("The harbour opens at seven", key="harbour")
    see(connection, "ben")
    assert connection.execute("UPDATE memories SET content = ''").rowcount == 0
    assert connection.execute("DELETE FROM memories").rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("INSERT INTO leases VALUES ('mia', 'purge', 'ben', 1)")


def test_a_shard_of_citus_shows_nobody_by_its_own_name_where_no_user_is_named(tmp_path: Path) -> None:
    plain = as_plain_role(address_of(tmp_path / "divided", is_citus=True))
    with picomem.open(plain, user="mia", embedder="none") as memory:
        memory.remember("The harbour opens at seven", key="harbour")
    named = (
        "SELECT shard_name(logicalrelid, shardid) FROM pg_dist_shard WHERE logicalrelid = 'picomem.memories'::regclass"
    )
    with psycopg.connect(plain) as connection:
        shards = [shard for (shard,) in connection.execute(named)]
        counted = " UNION ALL ".join(f"SELECT count(*) FROM {shard}" for shard in shards)
        for whose, rows in (("", 0), ("ben", 0), ("mia", 1)):
            see(connection, whose)
            assert sum(count for (count,) in connection.execute(counted.encode())) == rows


def test_a_users_name_ends_with_the_transaction(engine_of: Callable[[str], Engine], fenced: str) -> None:
    engine_of("mia").remember("The harbour opens at seven", key="harbour")
    with psycopg.connect(fenced, autocommit=True) as connection:
        connection.execute("BEGIN")
        see(connection, "mia")
        assert connection.execute("SELECT count(*) FROM picomem.memories").fetchone() == (1,)
        connection.execute("COMMIT")
        assert connection.execute("SELECT count(*) FROM picomem.memories").fetchone() == (0,)


@pytest.mark.parametrize("user", ["o'brien", 'a"b', "a\\b", "ü", "'; DROP TABLE memories; --", "%s", ":user"])
def test_any_name_of_a_user_is_taken_literally(engine_of: Callable[[str], Engine], user: str) -> None:
    engine = engine_of(user)
    engine.remember("The harbour opens at seven", key="harbour")
    assert [hit.text for hit in engine.recall("When does the harbour open?").hits] == ["The harbour opens at seven"]
    assert engine_of("mia").recall("When does the harbour open?").hits == ()


def test_a_statement_in_a_write_of_another_user_is_a_mistake(connector: PostgresConnector) -> None:
    with pytest.raises(RuntimeError, match="is of user ben"), connector.write(Scope("mia")) as tx:
        tx.run("forget_leases", user="ben")
    inner = connector.write(Scope("ben"))
    with pytest.raises(RuntimeError, match="begins within one of mia"), connector.write(Scope("mia")), inner:
        pass


def test_every_statement_is_a_users_or_everyones() -> None:
    neither = {name for name, text in STATEMENTS.items() if ":user" not in text and not is_of_everyone(name)}
    assert {name for name in neither if "meta" not in STATEMENTS[name]} == set()


@pytest.fixture(scope="module")
def planner() -> Iterator[psycopg.Connection]:
    """A store of which only plans are asked, divided into shards as Citus would."""
    with psycopg.connect(empty_database(is_citus=True), autocommit=True, prepare_threshold=None) as opened:
        prepare(opened, "the planner's", citus=CitusChoice(shards=3))
        opened.execute("SET search_path TO picomem")
        opened.execute("SET plan_cache_mode TO force_custom_plan")
        opened.execute("SET constraint_exclusion TO off")  # of a CHECK; shards are told apart without it
        yield opened


@each_case("name", OF_A_USER)
def test_a_statement_touches_one_shard_of_each_table(name: str, planner: psycopg.Connection) -> None:
    """A forgotten user would touch them all: of 509 statements that touch one, Citus made one task each."""
    plan = _plan(planner, name)
    assert tasks(plan) == 1, "\n".join(plan)
    assert shards_touched(plan) or plan[0].startswith(("Insert", "Custom Scan")), "\n".join(plan)


@each_case(
    ("name", "column"),
    [
        ("postings_of", "term"),
        ("postings_between", "term"),
        ("terms_between", "term"),
        ("count_postings", "term"),
        ("memories_by_doc", "doc"),
        ("episodes_by_doc", "doc"),
        ("episode_places", "doc"),
        ("episodes_around", "doc"),
        ("vectors_after", "doc"),
        ("vectors_of", "doc"),
        ("known_identities", "identity"),
        ("memory_by_key", "key"),
        ("timeline", "started_at"),
    ],
)
def test_a_question_is_looked_up_in_an_index_and_not_among_all_rows_of_the_user(
    name: str, column: str, planner: psycopg.Connection
) -> None:
    """Row-level security lets only operators that cannot leak a value use an index."""
    planner.execute("SET enable_seqscan TO off")
    planner.execute("SET enable_bitmapscan TO off")
    conditions = [step for step in _plan(planner, name) if "Index Cond" in step]
    assert any(re.search(rf"\b{column} (=|>=|>)", condition) for condition in conditions), conditions


def test_what_stands_beside_an_episode_is_looked_up_in_a_store_that_was_never_analyzed(
    engine_of: Callable[[str], Engine], connection: psycopg.Connection, tmp_path: Path
) -> None:
    session = tmp_path / "session.jsonl"
    session.write_text('{"role": "user", "content": "We moved shelf 1 to room 1."}\n')
    engine_of("memory").ingest([session])  # the user of the values that a plan is asked with
    see(connection, "memory", in_session=True)
    columns = (*COLUMNS["episodes"], "row_hash")
    of_copies = {"first_turn": "first_turn + n", "last_turn": "last_turn + n", "doc": "doc + n"}
    of_copies |= {name: f"{name} || n" for name in ("id", "identity")}
    values = ", ".join(of_copies.get(name, name) for name in columns)
    copies = f"SELECT {values} FROM episodes, generate_series(1, 1000) AS copies(n)"
    connection.execute(f"INSERT INTO episodes ({', '.join(columns)}) {copies}".encode())
    connection.execute("SET plan_cache_mode TO force_custom_plan")
    plan = _plan(connection, "episodes_around")
    assert any(re.search(r"Index Cond: .*\(first_turn >= .*\(first_turn <= ", step) for step in plan), "\n".join(plan)
    assert not any("Seq Scan" in step for step in plan), "\n".join(plan)


def _plan(planner: psycopg.Connection, name: str) -> list[str]:
    numbers: dict[str, int] = {}
    text = re.sub(
        r"%\((\w+)\)s",
        lambda value: f"${numbers.setdefault(value[1], len(numbers) + 1)}",
        translated_statement(STATEMENTS[name]),
    )
    planner.execute("DEALLOCATE ALL")
    planner.execute(f"PREPARE asked AS {text.replace('%%', '%')}".encode())
    rows = planner.execute("SELECT unnest(parameter_types)::text FROM pg_prepared_statements").fetchall()
    kinds = zip(numbers, (kind for (kind,) in rows), strict=True)
    values = ", ".join(_HIGHER[kind] if value in _ENDS else _A_VALUE[kind] for value, kind in kinds)
    return [row[0] for row in planner.execute(f"EXPLAIN EXECUTE asked{values and f'({values})'}".encode())]


def test_a_statement_without_its_user_would_touch_every_shard(planner: psycopg.Connection) -> None:
    plan = [row[0] for row in planner.execute("EXPLAIN SELECT * FROM memories WHERE id = 'a'")]
    assert tasks(plan) == 3


def test_the_page_lists_the_statements_that_read_every_shard() -> None:
    page = (Path(__file__).parents[2] / "benchmarks" / "planning.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", page.partition("## One shard")[2].partition("\n## ")[0], re.MULTILINE
    )
    listed = [name for row in rows for name in re.findall(r"\w+", row)]
    assert sorted(listed) == sorted(filter(is_of_everyone, STATEMENTS))


@each_case("name", sorted(filter(is_of_everyone, STATEMENTS)))
def test_a_statement_of_everyone_is_one_that_the_server_takes(name: str, planner: psycopg.Connection) -> None:
    assert _plan(planner, name)

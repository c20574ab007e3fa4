"""No statement of the store is one that Citus refuses, or that brings it down (issue 43, point 6)."""

from __future__ import annotations

import re

import pytest
from tests.cases import each_case
from tests.citus_rules import offences

from picomem.records.scope import Scope
from picomem.store import hash_upkeep, moved_rows
from picomem.store.connector import EVERYONE
from picomem.store.postgres import commit as postgres_commit
from picomem.store.postgres import connector as postgres
from picomem.store.postgres.dialect import translated_schema, translated_statement
from picomem.store.postgres.transaction import PROPAGATE, seeing
from picomem.store.row_hash import COLUMNS
from picomem.store.schema_versions import FIRST_FILES, STEPS
from picomem.store.sql_statements import is_of_everyone, load, schema

pytestmark = pytest.mark.requirement("X11")
STATEMENTS = load("postgres")
BROKEN = [
    "BEGIN; SET LOCAL search_path TO picomem",
    "SELECT set_config('picomem.user_id', 'mia', true)",
    "INSERT INTO user_locks (user_id) VALUES ('a') ON CONFLICT (user_id) DO UPDATE SET writes = (a || b)[1:16]",
    "UPDATE user_locks AS l SET user_id = 'b' WHERE user_id = 'a'",
    "UPDATE user_locks SET seen = 1, writes = writes[1: 16] WHERE user_id = 'a'",
    "CREATE POLICY own ON t USING (user_id = (SELECT current_setting('a')))",
    "ALTER TABLE t FORCE ROW LEVEL SECURITY",
    "DROP INDEX a, b",
    "INSERT INTO memories (user_id, id) VALUES (1, 2) ON CONFLICT (id) DO NOTHING",
    "INSERT INTO word_postings (user_id, term) SELECT 'a', p.term FROM unnest(ARRAY['b']) AS p (term)",
]
WHOLE = [
    "UPDATE memories SET content = ';' WHERE user_id = 'a' AND doc = ANY (ARRAY[1])",
    "INSERT INTO t (user_id) VALUES ('a') ON CONFLICT (user_id) DO UPDATE SET writes = coalesce((a || b)[1:16], '{}')",
    "INSERT INTO meta (name) VALUES ('a') ON CONFLICT (name) DO NOTHING",
    "UPDATE t SET n = (SELECT max(n) FROM u WHERE u.user_id = 'a'), m = ARRAY[1, 2] WHERE user_id = 'a'",
]


@pytest.mark.parametrize("text", BROKEN)
def test_each_rule_finds_what_citus_did_not_take(text: str) -> None:
    assert len(offences(text)) == 1


@pytest.mark.parametrize("text", WHOLE)
def test_what_citus_takes_breaks_no_rule(text: str) -> None:
    assert offences(text) == []


@each_case("name", sorted(STATEMENTS))
def test_a_statement_is_one_that_citus_takes(name: str) -> None:
    text = translated_statement(STATEMENTS[name])
    assert offences(text) == []
    if not is_of_everyone(name) and " meta" not in text:
        assert re.search(r"user_id = %\(user\)s|\(user_id|%\(user\)s", text), "it is bound to no user"


@each_case("table", sorted(set(COLUMNS) - {"meta"}))
def test_a_statement_that_is_made_for_a_table_is_one_that_citus_takes(table: str) -> None:
    ran: list[str] = []

    def run(text: str, _values: object) -> int:
        ran.append(text)
        return 1

    row = dict.fromkeys(COLUMNS[table], 1) | {"row_hash": ""}
    hash_upkeep.overwrite(table, tuple(row.values()), run)
    hash_upkeep.renew_hash(table, tuple(row.values()), lambda *_: [tuple(row.values())], run)
    moved = [copied for copied in moved_rows.tables() if copied.name == table]
    ran += [copied.select(is_first=is_first) for copied in moved for is_first in (True, False)]
    assert [(text, offences(translated_statement(text))) for text in ran if offences(translated_statement(text))] == []


def test_the_tables_are_made_by_statements_that_citus_takes() -> None:
    files = [*FIRST_FILES, "search_postgres", *(step.file for step in STEPS)]
    made = [text for name in files for text in translated_schema(schema(name), for_citus=True)]
    made += [added.update() for step in STEPS for added in step.added]
    assert {text: offences(text) for text in made if offences(text)} == {}


def test_what_begins_a_transaction_is_made_of_messages_that_citus_takes() -> None:
    lock = postgres_commit.locking("o'brien; --", 1)
    messages = [PROPAGATE, *postgres._SNAPSHOT, postgres._PATH, postgres._IDLE, postgres._TERMS]
    messages += [*seeing(EVERYONE), *seeing(Scope("o'brien; \\' --").user), lock[0], postgres_commit._LOOK]
    assert {text: offences(text) for text in messages if offences(text)} == {}

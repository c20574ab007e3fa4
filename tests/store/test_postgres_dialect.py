"""What differs between the databases' words is translated by rules, and nothing else is touched."""

from __future__ import annotations

import re

import pytest
from tests.cases import each_case

from picomem.store.postgres.dialect import LISTS, translated_schema, translated_statement
from picomem.store.schema_versions import FIRST_FILES
from picomem.store.sql_statements import load, schema

STATEMENTS = load("postgres")
TABLES = "\n".join(schema(name) for name in FIRST_FILES)


@each_case(
    ("text", "translated"),
    [
        ("WHERE user_id = :user AND doc > :doc", "WHERE user_id = %(user)s AND doc > %(doc)s"),
        ("path NOT LIKE 'picomem:session/%'", "path NOT ILIKE 'picomem:session/%%'"),
        ("key LIKE :pattern ESCAPE '\\'", "key ILIKE %(pattern)s ESCAPE '\\'"),
        ("title <> 'it''s LIKE :this'", "title <> 'it''s LIKE :this'"),
        ("(:at IS NULL OR at < :at)", "(%(at)s::bigint IS NULL OR at < %(at)s)"),
        ("e CROSS JOIN t AS t ON t.id = e.id", "e JOIN t AS t ON t.id = e.id"),
        ("SELECT 1 -- of :nobody, 100 %\nFROM t", "SELECT 1 \nFROM t"),
    ],
)
def test_a_statement_is_translated(text: str, translated: str) -> None:
    assert translated_statement(text) == translated


def test_a_list_becomes_rows_of_its_type() -> None:
    text = translated_statement("WHERE doc IN (SELECT value FROM json_each(:docs))")
    assert text.startswith(
        "WHERE doc = ANY (ARRAY(SELECT value::bigint AS value FROM json_array_elements_text(%(docs)s"
    )
    assert translated_statement("FROM json_each(:docs) AS asked CROSS JOIN e AS e ON TRUE").endswith(
        ") AS asked JOIN e AS e ON TRUE"
    )


def test_every_list_of_a_statement_has_a_type() -> None:
    lists = {name for text in STATEMENTS.values() for name in re.findall(r"json_each\(:(\w+)\)", text)}
    assert lists == LISTS.keys()


@pytest.mark.requirement("X11")
@pytest.mark.parametrize("for_citus", [False, True])
def test_the_tables_are_those_of_the_file_and_fenced(for_citus: bool) -> None:
    made = list(translated_schema(TABLES, for_citus=for_citus))
    tables = [match[1] for text in made if (match := re.match(r"CREATE TABLE (\w+) \(", text))]
    expected = re.findall(r"^CREATE TABLE (\w+) \(", TABLES, re.MULTILINE)
    assert tables == expected
    fenced = [match[1] for text in made if (match := re.match(r"CREATE POLICY \w+ ON (\w+)", text))]
    assert fenced == [table for table in tables if table != "meta"]
    divided = [match[1] for text in made if (match := re.match(r"SELECT create_distributed_table\('(\w+)'", text))]
    assert divided == (fenced if for_citus else [])
    assert any("FORCE" in text for text in made) != for_citus
    assert not [text for text in made if re.search(r"\b(STRICT|ROWID|VIRTUAL|INTEGER|REAL|BLOB|TEXT)\b", text)]


# What works on PostgreSQL and on Citus, and what does not.
REFUSED = {
    r"\bnow\(\)|\brandom\(\)|CURRENT_TIME|datetime\(|strftime\(": "times and ids are passed",
    r"\bMERGE INTO\b|\bREPLACE INTO\b|INSERT OR ": "only INSERT … ON CONFLICT",
    r"FULL (OUTER )?JOIN": "UNION ALL and GROUP BY instead",
    r"SKIP LOCKED": "a lease in the user's own rows instead",
    r"SET user_id\b": "a row never changes its user",
    r"\browid\b|\bGLOB\b|\bMATCH\b|\bPRAGMA\b|\bifnull\(|\binstr\(|\btotal\(|group_concat\(": "only SQLite has it",
    r"\bIS (NOT )?:|\bIS (NOT )?(\w+\.)?\w+_\w+\b": "IS compares with NULL alone",
}


@pytest.mark.requirement("X11")
@each_case("name", sorted(STATEMENTS))
def test_a_statement_keeps_to_what_every_database_can_do(name: str) -> None:
    text = re.sub(r"--[^\n]*|'(?:[^']|'')*'", "", STATEMENTS[name])
    broken = {reason for pattern, reason in REFUSED.items() if re.search(pattern, text)}
    assert broken == set()
    for target in re.findall(r"ON CONFLICT \(([^)]*)\)", text):
        assert target.split(",")[0] in ("user_id", "name"), "a conflict is found by the user's own key"
    if "INSERT INTO meta" not in text:
        assert re.match(r"INSERT INTO \w+ \((?!user_id)", text) is None


@pytest.mark.requirement("X11")
def test_the_schema_keeps_to_what_every_database_can_do() -> None:
    text = re.sub(r"--[^\n]*|'(?:[^']|'')*'", "", TABLES + schema("search_postgres"))
    assert re.search(r"SET NULL|SET DEFAULT|\bDEFAULT\b|TRIGGER|AUTOINCREMENT|SERIAL|GENERATED", text) is None
    for key in re.findall(r"(?:PRIMARY KEY|UNIQUE|FOREIGN KEY) \(([^)]*)\)", text):
        assert key.startswith("user_id")
    for columns in re.findall(r"CREATE UNIQUE INDEX \w+ ON \w+ \(([^)]*)\)", text):
        assert columns.startswith("user_id")

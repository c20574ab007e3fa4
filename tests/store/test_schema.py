"""The rules at the head of schema/store.sql, and what is refused as a database.

SQLite itself is asked what the schema says; nothing of it is read with patterns. Of the statements the text is read
(which tables, and is each held to a user) and the plan (does each search begin with the user).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest
from tests.cases import each_case
from tests.engine_parts import connector_of

from picomem.errors import NewerSchema, NotADatabase, PicomemError, StoreError
from picomem.store import row_hash, sql_statements
from picomem.store.sqlite.connector import SqliteConnector

pytestmark = pytest.mark.sqlite_file("asks SQLite what its schema says, and opens files that are no store")

STATEMENTS = sorted(sql_statements.load())
NOT_WHOLE = {"session_end", "message_marks"}  # they look whether anything was written, not at what it says
WITHOUT_USER = {"meta"}  # tables that belong to the file and not to anybody
UNBOUND = {  # statements that are meant to see everybody's rows
    *("users", "highest_doc_of_all", "users_with_open_channel_messages"),
    *("due_to_consolidate", "due_to_consolidate_transcripts", "due_to_retain", "due_to_embed", "left_running"),
}

_USED = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+(\w+)(?:\s+AS\s+(\w+))?", re.IGNORECASE)


@pytest.fixture(scope="module")
def schema(tmp_path_factory) -> Iterator[apsw.Connection]:
    """A fresh database, of which tests only read the schema."""
    path = tmp_path_factory.mktemp("schema") / "memory.db"
    SqliteConnector(path).close()
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("query_only", True)
        yield connection


def _tables(connection: apsw.Connection) -> list[str]:
    rows = connection.execute("SELECT name, type FROM pragma_table_list WHERE schema = 'main'")
    return [name for name, kind in rows if kind == "table" and not name.startswith("sqlite_")]


def _columns(connection: apsw.Connection, table: str) -> dict[str, tuple]:
    rows = connection.execute("SELECT name, type, dflt_value, pk FROM pragma_table_info(?)", (table,))
    return {name: tuple(rest) for name, *rest in rows}


def _owned(connection: apsw.Connection) -> set[str]:
    return {table for table in _tables(connection) if "user_id" in _columns(connection, table)}


@pytest.mark.requirement("X11")
def test_every_table_but_the_files_own_belongs_to_users(schema):
    assert set(_tables(schema)) - _owned(schema) == WITHOUT_USER


@pytest.mark.requirement("X11")
def test_the_user_comes_first_in_every_key(schema):
    for table in _owned(schema):
        first = [name for name, (_, _, place) in _columns(schema, table).items() if place == 1]
        assert first == ["user_id"], table
        for (index,) in schema.execute("SELECT name FROM pragma_index_list(?)", (table,)).fetchall():
            column = schema.execute("SELECT name FROM pragma_index_info(?) WHERE seqno = 0", (index,)).fetchall()
            assert column == [("user_id",)], index


@pytest.mark.requirement("X11")
def test_a_foreign_key_joins_a_user_to_the_same_user_and_cascades(schema):
    """Episodes do not cascade: their full text can only be taken out with their text in hand."""
    seen = 0
    for table in _owned(schema):
        keys = schema.execute('SELECT id, seq, "from", "to", on_delete FROM pragma_foreign_key_list(?)', (table,))
        for _, place, source, target, on_delete in keys.fetchall():
            assert on_delete == ("NO ACTION" if table == "episodes" else "CASCADE"), table
            if place == 0:
                assert (source, target) == ("user_id", "user_id"), table
                seen += 1
    assert seen


@pytest.mark.requirement("X11")
def test_nothing_in_the_schema_acts_by_itself(schema):
    assert schema.execute("SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view')").fetchall() == []
    for table in _tables(schema):
        for name, (_, default, _) in _columns(schema, table).items():
            assert default is None, f"{table}.{name}"


def test_a_row_of_truth_holds_a_hash_of_all_its_columns(schema):
    # What is derived, and what ends by itself, has none.
    hashed = {table for table in _tables(schema) if "row_hash" in _columns(schema, table)}
    unhashed = {"holdings", "leases", "jobs", "vector_spaces", "vector_rewrites", "vectors", "episode_events"}
    assert set(_tables(schema)) - hashed == unhashed
    assert set(row_hash.COLUMNS) == hashed
    for table in hashed:
        columns = _columns(schema, table)
        assert set(row_hash.COLUMNS[table]) | {"row_hash"} == set(columns), table
        keys = sorted((place, name) for name, (_, _, place) in columns.items() if place)
        assert row_hash.KEYS[table] == tuple(name for _, name in keys), table
        reals = tuple(place for place, name in enumerate(row_hash.COLUMNS[table]) if columns[name][0] == "REAL")
        assert row_hash.REALS[table] == reals, table


@each_case("name", [name for name in STATEMENTS if "row_hash" in sql_statements.statement(name)])
def test_a_statement_that_reads_a_hash_reads_the_whole_row_in_the_order_of_the_hash(name, schema):
    text = sql_statements.statement(name)
    if not text.startswith("SELECT") or name in NOT_WHOLE:
        return
    table = _USED.findall(text)[0][0]
    values = dict.fromkeys(re.findall(r":(\w+)", text))
    columns: list[str] = []
    cursor = schema.cursor()
    cursor.exec_trace = lambda ran, *_: bool(columns.extend(column[0] for column in ran.description_full))
    with suppress(apsw.ExecTraceAbort):
        cursor.execute(text, values)
    assert tuple(columns) == (*row_hash.COLUMNS[table], "row_hash")


def test_tables_are_strict_and_their_types_are_known_to_every_database(schema):
    rows = schema.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
    strict = dict(rows.fetchall())
    for table in _tables(schema):
        assert strict[table], table
        assert {kind for kind, _, _ in _columns(schema, table).values()} <= {"TEXT", "INTEGER", "REAL", "BLOB"}


@pytest.mark.requirement("X11")
def test_a_statement_of_all_users_says_so() -> None:
    assert set(filter(sql_statements.is_of_everyone, STATEMENTS)) == UNBOUND


@each_case("name", [name for name in STATEMENTS if name not in UNBOUND])
@pytest.mark.requirement("X11")
def test_a_statement_sees_the_rows_of_one_user(name, schema):
    text = sql_statements.statement(name)
    owned = _owned(schema)
    used = [(table, alias or table) for table, alias in _USED.findall(text) if table in owned]
    if text.startswith("INSERT"):
        columns, values = re.findall(r"\(([^()]*)\)", text)[:2]
        assert not used or (columns.split(",")[0], values.split(",")[0]) == ("user_id", ":user")
        return
    held = set(re.findall(r"(?:(\w+)\.)?user_id = :user\b", text))
    joined = re.findall(r"(\w+)\.user_id = (\w+)\.user_id", text)
    held |= {one for pair in joined for one in pair if set(pair) & held}
    for place, (table, alias) in enumerate(used):
        assert alias in held or (place == 0 and "" in held), f"{table} as {alias}"


@each_case("name", [name for name in STATEMENTS if name not in UNBOUND])
def test_a_statement_reads_only_what_the_user_owns(name, schema):
    """The plan: every table of users is searched by an index that begins with the user, and never scanned."""
    text = sql_statements.statement(name)
    values = dict.fromkeys(re.findall(r":(\w+)", text))
    steps = [row[3] for row in schema.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    aliases = {alias or table for table, alias in _USED.findall(text) if table in _owned(schema)}
    for step in steps:
        verb, _, rest = step.partition(" ")
        if verb in ("SCAN", "SEARCH") and rest.split()[0] in aliases:
            assert "(user_id=?" in rest, step


@each_case("name", ["heads_of_docs", "memories_by_doc"])
def test_memories_are_found_by_the_number_of_their_document_and_not_among_all_of_an_owner(name, schema):
    text = sql_statements.statement(name)
    steps = [row[3] for row in schema.execute(f"EXPLAIN QUERY PLAN {text}", dict.fromkeys(re.findall(r":(\w+)", text)))]
    assert steps[0] == "SEARCH memories USING INDEX memories_doc (user_id=? AND doc=?)"


@pytest.mark.requirement("O14")
@each_case(
    ("name", "place"),
    [("timeline", "(started_at,first_turn,part)<(?,?,?)"), ("timeline_undated", "(first_turn,part)<(?,?)")],
)
def test_a_page_of_the_timeline_is_found_by_its_place_and_not_by_counting(name, place, schema):
    text = sql_statements.statement(name)
    values = dict.fromkeys(re.findall(r":(\w+)", text))
    steps = [row[3] for row in schema.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    assert steps[0].startswith("SEARCH e USING INDEX episodes_time (user_id=?") and place in steps[0]
    assert "USE TEMP B-TREE FOR ORDER BY" not in steps


@pytest.mark.requirement("O14")
@each_case(
    ("name", "steps"),
    [
        ("listed_memories", {"SEARCH memories USING INDEX memories_listed"}),
        ("count_listed_memories", {"SEARCH memories USING COVERING INDEX memories_listed"}),
        (
            "count_memories",
            {"SEARCH lasting USING COVERING INDEX memories_known", "SEARCH expired USING INDEX memories_expiring"},
        ),
        ("best_entries", {"SEARCH memories USING COVERING INDEX memories_entries"}),
        (
            "listed_archived",
            {"SEARCH m USING INDEX memories_archived", "SEARCH v USING INDEX sqlite_autoindex_memories_1"},
        ),
        ("count_archived", {"SEARCH v USING INDEX sqlite_autoindex_memories_1"}),
        (
            "timeline_of_session",
            {"SEARCH e USING INDEX episodes_place", "SEARCH s USING INDEX transcripts_session"},
        ),
        ("archived_memories", {"SEARCH v USING INDEX sqlite_autoindex_memories_1"}),
        ("undecided_memories", {"SEARCH memories USING INDEX memories_undecided"}),
        ("contradicting_memories", {"SEARCH memories USING INDEX memories_undecided"}),
        ("contradicted_memories", {"SEARCH memories USING INDEX sqlite_autoindex_memories_1"}),
        ("entries_by_id", {"SEARCH memories USING INDEX sqlite_autoindex_memories_1"}),
        ("count_opened", {"SEARCH changes USING COVERING INDEX changes_opening"}),
        ("suggested_episodes", {"SEARCH e USING INDEX episodes_suggested"}),
        ("believed_by_id", {"SEARCH memories USING INDEX memories_believed"}),
        ("lasting_of_key", {"SEARCH memories USING INDEX memories_lasting"}),
        ("believed_since", {"SEARCH memories USING INDEX memories_believed"}),
        (
            "count_withheld_episodes",
            {"SEARCH t USING INDEX transcripts_denied", "SEARCH e USING COVERING INDEX episodes_place"},
        ),
        ("projects", {"SEARCH m USING COVERING INDEX memories_owner"}),
        ("agents", {"SEARCH m USING COVERING INDEX memories_owner"}),
        ("undoing_changes", {"SEARCH changes USING INDEX changes_undoing"}),
        ("children_of_episodes", {"SEARCH lineage USING INDEX lineage_parent"}),
        ("latest_changes", {"SEARCH changes USING INDEX sqlite_autoindex_changes_1"}),
        ("latest_changes_between", {"SEARCH changes USING INDEX changes_time"}),
    ],
)
def test_a_list_of_a_hundred_thousand_is_read_by_its_own_index(name, steps, schema):
    """Of the plan, what stands before the columns; a wrong index reads all memories, or all of them for each."""
    text = sql_statements.statement(name)
    values = dict.fromkeys(re.findall(r":(\w+)", text))
    planned = {row[3].partition(" (")[0] for row in schema.execute(f"EXPLAIN QUERY PLAN {text}", values)}
    assert steps <= planned


def test_each_database_has_a_redaction_key_of_its_own(tmp_path, open_engine):
    keys = set()
    for name in ("a.db", "b.db"):
        with connector_of(open_engine(tmp_path / name)).read() as tx:
            keys.add(tx.one("meta", name="redaction_key"))  # type: ignore[attr-defined]
    assert len(keys) == 2


def _refused(path: Path, open_engine, error: type[PicomemError], remedy: str = "") -> None:
    """The file is refused with that error, not a byte of it changes, and nothing is left beside it."""
    before, beside = path.read_bytes(), sorted(path.parent.iterdir())
    with pytest.raises(error) as refusal:
        open_engine(path)
    assert type(refusal.value) is error
    assert str(path) in str(refusal.value)
    assert remedy in str(refusal.value)
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == beside


def test_a_newer_version_is_refused_and_untouched(db, open_engine):
    open_engine().close()
    with closing(apsw.Connection(str(db))) as connection:
        connection.pragma("user_version", 2)
    _refused(db, open_engine, NewerSchema)


@pytest.mark.requirement("X1")
@pytest.mark.parametrize("version", [1, 26])
def test_a_store_from_before_the_first_release_is_refused_and_untouched(version, db, open_engine):
    """They have another application id; their version numbers went up to 26."""
    open_engine().close()
    with closing(apsw.Connection(str(db))) as connection:
        connection.pragma("application_id", 0x5069636F)
        connection.pragma("user_version", version)
    _refused(db, open_engine, StoreError, "`picomem export` of the version that made it, then `picomem import`")


@pytest.mark.parametrize("journal", ["delete", "wal"])
@pytest.mark.parametrize("version", [0, 1])
def test_another_programs_database_is_refused_and_untouched(journal, version, db, open_engine):
    with closing(apsw.Connection(str(db))) as connection:
        connection.pragma("journal_mode", journal)
        connection.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT)")
        connection.pragma("user_version", version)
    _refused(db, open_engine, NotADatabase)


@pytest.mark.parametrize(
    "content", [b"hello\n", b"# A page of notes\n" * 500, bytes(4096), b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_file_that_is_no_database_is_refused_and_untouched(content, db, open_engine):
    db.write_bytes(content)
    _refused(db, open_engine, NotADatabase)


def test_an_empty_file_becomes_a_database(db, open_engine):
    db.touch()
    open_engine().remember("The amber harbour keeps its ledgers dry", key="harbour")
    assert [memory.key for memory in open_engine().memories()] == ["harbour"]


def test_a_truncated_file_is_told_and_never_answers_wrongly(tmp_path, open_engine):
    whole = tmp_path / "whole.db"
    engine = open_engine(whole)
    expected = {}
    for number in range(12):
        memory = engine.remember(f"Harbour{number} ledger{number} cellar{number} " * 20, key=f"k{number}").memory
        expected[memory.key] = memory.content
    engine.close()
    data = whole.read_bytes()
    told, lengths = 0, range(2, len(data), len(data) // 23)
    for length in lengths:
        path = tmp_path / str(length) / "memory.db"
        path.parent.mkdir()
        path.write_bytes(data[:length])
        try:
            damaged = open_engine(path)
            held = {memory.key: memory.content for memory in damaged.memories()}
            assert held == expected or damaged.doctor().findings, length
            told += held != expected or bool(damaged.doctor().findings)
        except PicomemError:
            told += 1
    assert told == len(lengths)

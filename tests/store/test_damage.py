"""Damage is found and told, never handed out as an answer; what is derived is made again (R10, invariant 6, 8)."""

from __future__ import annotations

import json
import os
import random
import shlex
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.engine_parts import caller_context_of, connector_of, resources_of
from tests.sqlite_file import connection_of

from picomem import app
from picomem.clock import DAY
from picomem.engine.authorization import has_tokens, make_token
from picomem.engine.channel_contacts import accept, ask_to_pair
from picomem.engine.channel_log import Incoming
from picomem.engine.engine import Engine
from picomem.erasure.later_purges import later_purges
from picomem.errors import Corrupt, Locked, NoStore, PicomemError, StoreError
from picomem.light_dataclass import replace
from picomem.operations.table import operation
from picomem.records.caller import PERMISSIONS
from picomem.records.session import NewMessage, Role
from picomem.store.sqlite import connector as sqlite
from picomem.store.sqlite.transaction import SqliteTransaction
from picomem.store.tables import user_entries

pytestmark = [
    pytest.mark.reliability("R10", "R11"),
    pytest.mark.sqlite_file("damages rows in the file"),
]

MEMORIES = {
    "harbour": "The amber harbour keeps its ledgers in a dry cellar",
    "lighthouse": "A bronze lighthouse warns the herring fleet at dusk",
    "orchard": "Walnut orchards prefer quiet tractors and long winters",
}
TURNS = ("Seventeen violins were tuned for the midsummer concert", "A velvet curtain hides the forgotten stage door")


@pytest.fixture
def static():
    from picomem.models.static_embedder import StaticEmbedder

    return StaticEmbedder()


@pytest.fixture
def filled(engine, tmp_path) -> Engine:
    """Three memories and a transcript of two turns."""
    return _fill(engine, tmp_path)


def _fill(engine: Engine, tmp_path: Path) -> Engine:
    for key, content in MEMORIES.items():
        engine.remember(content, key=key, context=f"told by the {key} keeper", tags=[f"{key}tag"], related=["ferry"])
    records = [{"role": "user", "content": TURNS[0]}, {"role": "assistant", "content": TURNS[1]}]
    (tmp_path / "talk.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    engine.ingest([tmp_path / "talk.jsonl"])
    return engine


def _sql(engine: Engine, text: str, *values: object) -> None:
    """Change the file behind the engine's back."""
    with closing(apsw.Connection(connector_of(engine).name)) as connection:
        connection.execute(text, values)


def _problems(engine: Engine) -> list[str]:
    return [finding.problem for finding in engine.doctor().findings]


@pytest.mark.requirement("X2")
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("content", "The amber harbour keeps its ledgers in a wet cellar"),
        ("context", "told by the harbour thief"),
        ("key", "harbouR"),
        ("kind", "instruction"),
        ("tags", '["other"]'),
        ("related", '["other"]'),
    ],
)
def test_a_damaged_memory_is_left_out_and_told(column, value, filled):
    _sql(filled, f"UPDATE memories SET {column} = ? WHERE key = 'harbour'", value)
    answer = filled.recall("amber harbour, bronze lighthouse")
    assert [hit.key for hit in answer.hits] == ["lighthouse"]
    assert any("damaged" in warning and "doctor" in warning for warning in answer.warnings)
    with pytest.raises(Corrupt, match="doctor"):
        filled.memories()
    assert any("does not match its hash" in problem for problem in _problems(filled))


def _flip(engine: Engine, table: str, column: str, where: str, bit: int = 7) -> None:
    """Flip a bit of the first byte of a text, behind the engine's back. Bit 7 makes the text no UTF-8."""
    with closing(apsw.Connection(connector_of(engine).name)) as connection:
        ((data,),) = connection.execute(f"SELECT CAST({column} AS BLOB) FROM {table} WHERE {where}").fetchall()
        connection.execute(
            f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {where}",
            (bytes([data[0] ^ 1 << bit]) + data[1:],),  # pyright: ignore[reportIndexIssue]
        )


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("column", ["content", "context", "key", "kind", "tags", "related", "source", "change_id"])
def test_a_memory_whose_text_is_no_utf8_closes_no_verb_and_is_kept_as_it_reads(column, filled):
    before = filled.memories()
    _flip(filled, "memories", column, "key = 'harbour'")
    answer = filled.recall("amber harbour, bronze lighthouse")
    assert [hit.key for hit in answer.hits] == ["lighthouse"]
    assert "1 row is damaged and was left out; run `picomem doctor`." in answer.warnings
    damaged: list[str] = []
    assert [memory.key for memory in filled.memories(damaged=damaged)] == ["lighthouse", "orchard"]
    assert damaged == [before[0].id]
    assert "1 damaged entry is left out" in filled.index().text
    assert filled.remember("The southern ferry rusts beside the quay", key="ferry").memory
    assert filled.forget("ferry")
    assert filled.changes(damaged=[])
    assert any("does not match its hash" in problem for problem in _problems(filled))
    filled.doctor(repair=True)
    assert {memory.id for memory in filled.memories()} == {memory.id for memory in before}
    left = _problems(filled)
    assert left == [] if column != "change_id" else "no change tells of" in left[0]


@pytest.mark.requirement("X2")
def test_a_damaged_key_stands_on_no_change(filled):
    damaged = filled.memories()[0].id
    _sql(filled, "UPDATE memories SET key = 'harbouR' WHERE key = 'harbour'")
    for name in ("changes", "audit"):
        verb = operation(name)
        result = verb.call(filled, verb.request())
        assert [listed.key for listed in _views(result)] == ["orchard", "lighthouse", ""]
        assert result.warnings == ["1 row is damaged and was left out; run `picomem doctor`."]
    with pytest.raises(Corrupt, match=damaged):
        filled.changes()


@pytest.mark.requirement("X2")
def test_damaged_lineage_is_told_by_whatever_shows_what_a_memory_was_made_from(filled, tmp_path):
    filled.revise("harbour", "The amber harbour keeps its ledgers in a dry attic")
    assert filled.why("harbour").sources
    _flip(filled, "lineage", "parent_id", "child_version = 3", 0)
    with pytest.raises(Corrupt, match="doctor --repair"):
        filled.why("harbour")
    assert list(filled.recall("amber harbour ledgers").warnings) == LEFT_OUT
    export = operation("export")
    assert export.call(filled, export.request(path=str(tmp_path / "all.jsonl"))).damaged == 1
    assert not filled.doctor(repair=True).healthy


def _views(result) -> list:
    """The changes in a result of `changes`, which wraps them, or of `audit`."""
    return [getattr(listed, "change", listed) for listed in result.changes]


LEFT_OUT = ["1 row is damaged and was left out; run `picomem doctor`."]


@pytest.mark.requirement("X2")
def test_the_lists_of_an_operator_say_that_they_leave_a_damaged_row_out(engine, warned_list):
    listed = warned_list("token-list")
    make_token(engine, frozenset(), "laptop", None)
    make_token(engine, frozenset(), "tablet", None)
    assert listed().warnings == []
    _flip(engine, "access_tokens", "label", "label = 'tablet'", 1)
    assert [token.label for token in listed().tokens] == ["laptop"]
    assert listed().warnings == LEFT_OUT

    listed = warned_list("pair-list")
    for number in ("15551230001", "15551230002", "15551230003"):
        assert ask_to_pair(engine, _message_from(number))
    first, second, _ = listed().waiting
    accept(engine, first.code, "ann")
    accept(engine, second.code, "ben")
    assert listed().warnings == []
    _flip(engine, "contacts", "person", "person = 'ben'", 1)
    _flip(engine, "pairings", "name", "true")
    assert [contact.user for contact in listed().known] == ["ann"]
    assert listed().waiting == []
    assert listed().warnings == ["2 rows are damaged and were left out; run `picomem doctor`."]


@pytest.mark.requirement("X2")
def test_a_review_says_that_it_leaves_a_damaged_row_out(engine, warned_list):
    listed = warned_list("review", untrusted=True)
    engine.remember("The quay is closed on Mondays", key="quay", origin="web")
    engine.remember("The ferry sails at seven", key="ferry", origin="web")
    assert listed().warnings == []
    _flip(engine, "memories", "content", "key = 'quay'")
    assert [waiting.memory.key for waiting in listed().waiting] == ["ferry"]
    assert listed().warnings == LEFT_OUT
    _flip(engine, "memories", "content", "key = 'ferry'", 1)
    assert listed().warnings == ["2 rows are damaged and were left out; run `picomem doctor`."]


@pytest.fixture
def warned_list(engine) -> Callable[..., Callable[[], Any]]:
    """Calls an operation as an operator, and checks that what people see has the warnings of its result."""
    caller_context_of(engine).caller = replace(caller_context_of(engine).caller, permissions=PERMISSIONS)

    def call(name: str, **arguments: object) -> Any:
        verb = operation(name)
        result = verb.call(engine, verb.request(**arguments))
        assert list(verb.presentation(result).warnings) == result.warnings
        return result

    return lambda name, **arguments: partial(call, name, **arguments)


def _message_from(number: str) -> Incoming:
    return Incoming(
        channel="whatsapp",
        account="100",
        conversation="direct",
        native_id=f"wamid.{number}",
        native_ids=(f"phone:{number}",),
        address=f"phone:{number}",
        name=number,
        text="Hello",
        said_at=0,
    )


@pytest.mark.requirement("X2")
def test_a_damaged_undo_calls_no_other_change_undone(filled):
    first, _, last = (change for change, _ in filled.changes())
    [undone] = filled.undo(last.id)
    _sql(filled, "UPDATE changes SET undoes = ? WHERE id = ?", first.id, undone.change.id)
    verb = operation("changes")
    result = verb.call(filled, verb.request())
    assert [listed.undone_by for listed in result.changes] == ["", "", ""]
    assert result.warnings == ["1 row is damaged and was left out; run `picomem doctor`."]
    with pytest.raises(Corrupt, match=undone.change.id):
        filled.undo(first.id)


@pytest.mark.requirement("X2")
@pytest.mark.parametrize(
    ("change", "handed_out"),
    [
        ("importance = importance + 0.125", True),
        ("pinned = 1", True),
        ("agent = 'a'", True),
        ("project = 'p'", True),
        ("origin = 'agent'", True),
        ("source = 'session'", True),
        ("valid_from = valid_from - 1024", True),
        ("valid_to = valid_from + 1024", False),
        ("known_from = known_from - 1024", True),
        ("known_to = known_from + 1024", False),
        ("expires_at = known_from + 1024", False),
        ("created_at = created_at - 1024", True),
        ("tokens = tokens + 64", True),
        ("closed_by = 'somebody'", True),
    ],
)
def test_whatever_else_of_a_memory_is_damaged_it_is_not_handed_out_and_this_is_said(change, handed_out, filled):
    """The fields that decide whether a memory is handed out, and those that are handed out with it."""
    _sql(filled, f"UPDATE memories SET {change} WHERE key = 'harbour'")
    answer = filled.recall("amber harbour, bronze lighthouse")
    assert [hit.key for hit in answer.hits] == ["lighthouse"]
    assert any("damaged" in warning for warning in answer.warnings)
    damaged: list[str] = []
    assert [memory.key for memory in filled.memories(damaged=damaged)] == ["lighthouse", "orchard"]
    assert bool(damaged) == (handed_out or "known_to" in change)
    assert any("does not match its hash" in problem for problem in _problems(filled))


@pytest.mark.requirement("X2")
def test_a_memory_that_is_lost_is_missed(filled, disagreements):
    """Its row is gone, or the table's index does not lead to it any more."""
    _sql(filled, "DELETE FROM memories WHERE key = 'harbour'")
    answer = filled.recall("amber harbour, bronze lighthouse")
    assert [hit.key for hit in answer.hits] == ["lighthouse"]
    assert any("damaged" in warning for warning in answer.warnings)
    with pytest.raises(Corrupt, match="doctor"):
        filled.memories()
    assert any("only a copy brings back" in problem for problem in _problems(filled))
    filled.doctor(repair=True)
    assert len(filled.memories()) == 2
    assert disagreements(Path(connector_of(filled).name)) == []


@pytest.mark.requirement("X2")
def test_what_its_user_withheld_is_not_handed_out_because_the_word_for_it_is_damaged(filled, tmp_path):
    filled.withhold(filled.timeline()[0].session)
    _sql(filled, "PRAGMA ignore_check_constraints = 1; UPDATE transcripts SET send_policy = 'denx'")
    answer = filled.recall("seventeen violins, velvet curtain")
    assert answer.hits == ()
    assert any("damaged" in warning for warning in answer.warnings)
    assert filled.timeline(damaged=[]) == []


_COLUMNS = [
    ("changes", "reason"),
    ("changes", "actor"),
    ("lineage", "role"),
    ("transcripts", "path"),
    ("transcripts", "state"),
    ("episodes", "preview"),
    ("episodes", "identity"),
    ("sessions", "title"),
    ("sessions", "permissions"),
    ("messages", "content"),
    ("messages", "tool_calls"),
    ("meta", "value"),
    ("meta", "name"),
    ("user_marks", "value"),
    *((table, "user_id") for table in ("memories", "changes", "lineage", "transcripts", "episodes", "sessions")),
    ("user_marks", "user_id"),
]


@pytest.mark.requirement("X2")
@pytest.mark.parametrize(("table", "column"), _COLUMNS)
@pytest.mark.parametrize("bit", [1, 7])
def test_a_flipped_bit_of_any_row_is_found_and_brought_back_by_the_daily_copy(
    table, column, bit, filled, db, disagreements
):
    filled.revise("harbour", "The amber harbour keeps its ledgers in a wet attic")
    filled.tidy()
    session = filled.sessions().create(title="Tuesday")
    filled.sessions().append(session.id, NewMessage(role=Role.USER, content="Is the quay open?"))
    connector_of(filled).maintenance.copy_daily(filled.now() + DAY, most_bytes=1 << 30)
    with closing(apsw.Connection(str(db))) as connection:
        rows = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
        ((rowid,),) = connection.execute(
            f"SELECT rowid FROM {table} WHERE {column} <> '' ORDER BY rowid DESC LIMIT 1"
        ).fetchall()
    _flip(filled, table, column, f"rowid = {rowid}", bit)
    assert _problems(filled)
    *_, copy, _, _ = shlex.split(filled.doctor().restore_with)
    with app.open_engine(db, embedder="none", permissions=PERMISSIONS) as operator:
        restore = operation("restore")
        assert restore.call(operator, restore.request(backup=copy)).state == "restored"
    with closing(apsw.Connection(str(db))) as connection:
        restored = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
    assert [
        row for row in restored if row not in rows and row[1] not in (user_entries.CHAIN, user_entries.HANDOUT_CHAIN)
    ] == []
    assert disagreements(db) == []


@pytest.mark.requirement("X2", "X5")
@pytest.mark.parametrize("bit", [5, 7])
def test_a_damaged_user_id_stands_in_nobody_elses_way(bit, db, tmp_path, open_engine):
    """Bit 5 of a digit makes a control character, which no id may hold."""
    open_engine(user="49170").remember("The quay is closed", key="quay")
    engine = _fill(open_engine(), tmp_path)
    _flip(engine, "memories", "user_id", "user_id = '49170'", bit)
    assert any("user whose id is damaged" in problem for problem in _problems(engine))
    assert engine.purge(session=engine.timeline()[0].session).finished
    with connector_of(engine).read() as tx:
        assert later_purges(tx, tx) == []
    assert has_tokens(resources_of(engine)) is False


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("bit", [0, 5, 7])
def test_a_purge_says_that_damaged_rows_may_be_of_its_user(bit, open_engine):
    """Bit 0 of the digit makes another valid id."""
    engine = open_engine(user="49170")
    engine.remember("The quay is closed", key="quay")
    engine.remember("The ferry is late", key="ferry")
    _flip(engine, "memories", "user_id", "user_id = '49170' AND key = 'quay'", bit)
    verb = operation("purge")
    planned = verb.call(engine, verb.request(everything=True, dry_run=True))
    assert planned.counts["memories"] == 1
    assert list(verb.presentation(planned).warnings) == planned.left
    (warning,) = engine.purge(everything=True).left
    assert planned.left == [warning]
    assert "may belong to this user" in warning and "`picomem doctor`" in warning
    empty = verb.call(engine, verb.request(everything=True, dry_run=True))
    assert not empty.counts
    assert list(verb.presentation(empty).warnings) == [warning]
    again = verb.presentation(verb.call(engine, verb.request(everything=True, yes=True)))
    assert warning in str(again)


def test_a_purge_takes_no_other_user_for_a_damaged_one(open_engine, tmp_path):
    _fill(open_engine(user="49171"), tmp_path)
    engine = open_engine(user="49170")
    engine.remember("The quay is closed", key="quay")
    assert engine.purge(everything=True).left == ()


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("reopened", [True, False])
@pytest.mark.parametrize("bit", [1, 7])
def test_a_store_whose_key_is_damaged_answers_and_goes_on_after_a_repair(bit, reopened, db, tmp_path, open_engine):
    engine = _fill(open_engine(), tmp_path)
    _flip(engine, "meta", "value", "name = 'redaction_key'", bit)
    _merge_log(db)
    if reopened:
        engine.close()
        engine = open_engine()
    other = open_engine()
    assert engine.recall("amber harbour").hits
    assert any("redaction_key" in problem for problem in _problems(engine))
    assert engine.doctor(repair=True).healthy
    _merge_log(db)
    for name, program in {"engine": engine, "other": other, "new": open_engine()}.items():
        program.remember(f"The quay of the {name} has a bell", key=name)
    assert _problems(engine) == []


def _merge_log(db: Path) -> None:
    with closing(apsw.Connection(str(db))) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def test_a_write_does_not_make_a_damaged_row_look_whole(filled):
    """A verb that writes one column of a row must not vouch for the others."""
    _sql(filled, "UPDATE sessions SET title = 'x'")
    session = filled.sessions().create(title="Tuesday")
    _sql(filled, "UPDATE sessions SET created_at = created_at + 1")
    with connector_of(filled).write(filled.scope) as tx:
        assert isinstance(tx, SqliteTransaction)
        assert tx.run("count_failure", user="local", id=session.id, before=0)
    with pytest.raises(Corrupt):
        filled.sessions().get(session.id)


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("error", [ValueError, KeyError, TypeError])
def test_an_error_of_the_program_is_not_taken_for_damage_and_reads_nothing_of_the_store(error, filled):
    _sql(filled, "UPDATE memories SET tokens = tokens + 1")  # damage that nobody has read
    statements: list[str] = []

    def trace(connection: apsw.Connection) -> None:
        connection.exec_trace = lambda _cursor, statement, _values: statements.append(statement) or True

    trace(connection_of(filled))
    apsw.connection_hooks.append(trace)  # a check would open a connection of its own
    try:
        with pytest.raises(error), connector_of(filled).write(filled.scope):
            statements.clear()
            raise error
    finally:
        apsw.connection_hooks.remove(trace)
    assert statements == ["ROLLBACK"]


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM meta WHERE name = 'redaction_key'",
        "DELETE FROM doc_ranges",
        "UPDATE doc_ranges SET last_doc = 1",
    ],
)
def test_without_its_counter_or_its_key_a_store_answers_and_takes_in_again_after_a_repair(loss, filled, tmp_path):
    _sql(filled, loss)
    assert filled.recall("amber harbour").hits
    (tmp_path / "more.jsonl").write_text(json.dumps({"role": "user", "content": "The quay is closed"}) + "\n")
    filled.ingest([tmp_path / "more.jsonl"])
    assert not filled.recall("quay closed").hits
    assert filled.doctor(repair=True).healthy
    filled.ingest([tmp_path / "more.jsonl"])
    assert "quay" in filled.recall("quay closed").hits[0].text
    assert _problems(filled) == []


@pytest.mark.parametrize("value", ["not json", "[1, 2", "{}", "null", "7"])
@pytest.mark.parametrize("column", ["tags", "related"])
def test_a_column_that_cannot_be_read_is_told_and_does_not_stop_recall(column, value, filled):
    _sql(filled, f"UPDATE memories SET {column} = ? WHERE key = 'harbour'", value)
    answer = filled.recall("amber harbour, bronze lighthouse")
    assert [hit.key for hit in answer.hits] == ["lighthouse"]
    with pytest.raises(Corrupt):
        filled.history("harbour")
    assert any("does not match its hash" in problem for problem in _problems(filled))
    assert filled.doctor(repair=True).healthy
    assert _problems(filled) == []


@pytest.mark.parametrize("value", ["instructioN", ""])
def test_a_kind_that_does_not_exist_is_told_and_does_not_stop_recall(value, filled):
    _sql(filled, "UPDATE memories SET kind = ? WHERE key = 'harbour'", value)
    answer = filled.recall("amber harbour, bronze lighthouse")
    assert [hit.key for hit in answer.hits] == ["lighthouse"]
    assert any("does not match its hash" in problem for problem in _problems(filled))
    assert filled.doctor(repair=True).healthy
    assert _problems(filled) == []


@pytest.mark.parametrize("column", ["content", "context", "key"])
def test_a_flipped_bit_in_a_text_is_never_handed_out(column, filled):
    rng = random.Random(column)
    whole = {memory.doc: getattr(memory, column) for memory in filled.memories()}[1]
    for _ in range(24):
        data = bytearray(whole.encode())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(7)
        _sql(filled, f"UPDATE memories SET {column} = ? WHERE doc = 1", data.decode())
        assert [hit.key for hit in filled.recall("amber harbour, bronze lighthouse").hits] == ["lighthouse"]
        _sql(filled, f"UPDATE memories SET {column} = ? WHERE doc = 1", whole)
    assert _problems(filled) == []


def test_a_damaged_episode_is_left_out_told_and_read_again(filled, disagreements):
    _sql(filled, "UPDATE episodes SET preview = replace(preview, 'violins', 'villains')")
    answer = filled.recall("seventeen violins, velvet curtain")
    assert TURNS[0] not in " ".join(hit.text for hit in answer.hits)
    assert "villains" not in " ".join(hit.text for hit in answer.hits)
    assert any("damaged" in warning for warning in answer.warnings)
    damaged: list[str] = []
    assert [hit.text for hit in filled.timeline(damaged=damaged)] == [TURNS[1]]
    assert len(damaged) == 1
    timeline = operation("timeline")
    assert timeline.call(filled, timeline.request()).warnings == [
        "1 row is damaged and was left out; run `picomem doctor`."
    ]
    assert any("does not match its hash" in problem for problem in _problems(filled))
    assert filled.doctor(repair=True).healthy
    assert _problems(filled) == []
    assert TURNS[0] in " ".join(hit.text for hit in filled.timeline())
    assert "violins" in filled.recall("seventeen violins").hits[0].text
    assert disagreements(Path(connector_of(filled).name)) == []


def test_an_episode_that_cannot_be_read_again_is_not_called_repaired(filled, tmp_path):
    (tmp_path / "talk.jsonl").unlink()
    _sql(filled, "UPDATE episodes SET preview = replace(preview, 'violins', 'villains')")
    assert not filled.doctor(repair=True).healthy
    assert _problems(filled)


def test_a_repaired_memory_is_kept_as_it_reads_and_put_on_record(filled, disagreements):
    _sql(filled, "UPDATE memories SET content = replace(content, 'dry', 'soggy') WHERE key = 'harbour'")
    assert filled.doctor(repair=True).healthy
    assert _problems(filled) == []
    assert filled.recall("soggy cellar").hits[0].key == "harbour"
    assert [change.decision for change in filled.why("harbour").changes] == ["add", "repair"]
    assert disagreements(Path(connector_of(filled).name)) == []


_DERIVED = {
    "memory words": "INSERT INTO memory_words (memory_words) VALUES ('delete-all')",
    "episode words": "INSERT INTO episode_words (episode_words) VALUES ('delete-all')",
    "pages of the memory words": "UPDATE memory_words_data SET block = zeroblob(length(block)) WHERE id > 10",
    "pages of the episode words": "DELETE FROM episode_words_data WHERE id > 10",
    "averages of the memory words": "UPDATE memory_words_data SET block = x'010e' WHERE id = 1",
    "sizes of the memory words": "DELETE FROM memory_words_docsize WHERE id = 1",
    "vectors": "DELETE FROM vectors",
    "some vectors": "DELETE FROM vectors WHERE doc % 2 = 0",
    "version of the terms": "UPDATE meta SET value = 'other' WHERE name = 'terms_version'",
    "no version of the terms": "DELETE FROM meta WHERE name = 'terms_version'",
}


@pytest.mark.parametrize("what", _DERIVED)
@pytest.mark.requirement("O12")
def test_what_is_derived_is_found_missing_and_made_again(what, tmp_path, db, open_engine, static, disagreements):
    _fill(open_engine(db, embedder=static), tmp_path).close()
    engine = open_engine(db, embedder=static)
    _sql(engine, _DERIVED[what])
    diagnosis = engine.doctor()
    assert diagnosis.findings
    assert not diagnosis.healthy
    repaired = engine.doctor(repair=True)
    assert repaired.healthy, repaired
    assert _problems(engine) == []
    assert engine.recall("walnut orchards").hits[0].key == "orchard"
    assert engine.recall("violins for the concert").hits[0].source == "episode"
    engine.close()
    again = open_engine(db, embedder=static)
    assert _problems(again) == []
    assert again.remember("The southern ferry rusts beside the quay", key="ferry").memory
    again.close()
    assert disagreements(db) == []


@pytest.mark.requirement("O12")
@pytest.mark.parametrize("what", ["pages of the memory words", "pages of the episode words"])
def test_recall_goes_on_by_vector_while_full_text_is_broken(what, tmp_path, db, open_engine, static):
    _fill(open_engine(db, embedder=static), tmp_path).close()
    engine = open_engine(db, embedder=static)
    _sql(engine, _DERIVED[what])
    source = "memories" if "memory" in what else "episodes"
    question = MEMORIES["orchard"] if source == "memories" else TURNS[0]
    answer = engine.recall(question)
    assert question in " ".join(hit.text for hit in answer.hits)
    assert "failed" in answer.legs[f"{source} by words"]
    assert not answer.legs[f"{source} by vector"].startswith("failed")


@pytest.mark.requirement("O12")
def test_recall_goes_on_while_full_text_counts_fewer_rows_than_hold_a_word(open_engine):
    engine = open_engine()
    for number in range(3):
        engine.remember(f"Ferry {number} opens at noon on quay {number}", key=f"ferry_{number}")
    _sql(engine, _DERIVED["averages of the memory words"])  # bm25() of such a word is NULL
    assert engine.recall("noon").legs["memories by words"].startswith("3 by substring; full text failed: The full text")


def test_vectors_of_rows_that_are_gone_are_found_and_removed(tmp_path, db, open_engine, static, disagreements):
    engine = _fill(open_engine(db, embedder=static), tmp_path)
    _sql(engine, "INSERT INTO vectors SELECT user_id, space, 999, scale, vector FROM vectors LIMIT 1")
    assert _problems(engine)
    assert engine.doctor(repair=True).healthy
    engine.close()
    assert disagreements(db) == []


def test_a_healthy_store_is_called_healthy_by_a_process_that_has_long_been_reading(engine, open_engine):
    """SQLite's check of full text trusts what the connection has read of it before; a reader's is soon out of date."""
    other = open_engine()
    engine.remember(MEMORIES["harbour"], key="harbour")
    assert engine.recall("amber harbour").hits
    for number in range(20):
        other.remember(f"number{number} stands for colour{number} and sound{number}", key=f"k{number}")
        assert _problems(engine) == [], f"after {number + 1} writes"


@pytest.mark.requirement("X10")
def test_the_doctor_says_so_when_another_process_writes(db, open_engine, monkeypatch):
    """Without a repair it needs no lock; with one, it says that it got none."""
    monkeypatch.setattr(sqlite, "BUSY_MILLISECONDS", 50)
    engine = open_engine()
    engine.remember(MEMORIES["harbour"], key="harbour")
    with closing(apsw.Connection(str(db))) as other:
        other.execute("BEGIN IMMEDIATE")
        assert _problems(engine) == []
        with pytest.raises(Locked):
            engine.doctor(repair=True)
        other.execute("ROLLBACK")


def test_bits_that_flip_in_the_file_are_told_or_do_no_harm(tmp_path, open_engine):
    """In each copy of the file one byte of one page is changed: what recall hands out is what was stored."""
    whole = tmp_path / "whole.db"
    _fill(open_engine(whole), tmp_path).close()
    data, rng = whole.read_bytes(), random.Random(10)
    contents = set(MEMORIES.values())
    silent = []
    for number in range(150):
        damaged = bytearray(data)
        place = rng.randrange(len(data))
        damaged[place] ^= 1 << rng.randrange(8)
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged)
        try:
            engine = open_engine(path)
            for question in ("amber harbour, bronze lighthouse, walnut orchards", "violins, velvet curtain"):
                answer = engine.recall(question)
                for hit in answer.hits:
                    assert hit.text in contents or any(turn in hit.text for turn in TURNS), f"byte {place}: {hit.text}"
            if {memory.content for memory in engine.memories()} != contents and not engine.doctor().findings:
                silent.append(place)
            engine.close()
        except PicomemError:
            pass
    assert silent == []


@pytest.mark.requirement("X2")
def test_a_database_that_was_cut_to_nothing_is_no_new_store_while_its_log_is_there(db, tmp_path, open_engine):
    """SQLite itself would delete the log, with the rows in it that can still be read."""
    engine = open_engine()
    engine.remember(MEMORIES["harbour"], key="harbour")
    cut = tmp_path / "cut" / "memory.db"
    cut.parent.mkdir()
    cut.touch()
    log = Path(f"{cut}-wal")
    log.write_bytes(Path(f"{db}-wal").read_bytes())
    size = log.stat().st_size
    assert size
    with pytest.raises(StoreError, match="restore both from a backup"):
        open_engine(cut)
    assert log.stat().st_size == size
    log.rename(tmp_path / "away")
    assert open_engine(cut).memories() == []


@pytest.mark.requirement("X2")
def test_a_log_that_was_removed_after_a_crash_is_missed(db, tmp_path, open_engine, caplog):
    engine = open_engine()
    engine.remember(MEMORIES["harbour"], key="harbour")
    crashed = tmp_path / "crashed" / "memory.db"
    crashed.parent.mkdir()
    for end in ("", "-shm", "-wal"):
        Path(f"{crashed}{end}").write_bytes(Path(f"{db}{end}").read_bytes())
    assert open_engine(crashed).memories()
    assert not caplog.records
    lost = tmp_path / "lost" / "memory.db"
    lost.parent.mkdir()
    for end in ("", "-shm"):
        Path(f"{lost}{end}").write_bytes(Path(f"{db}{end}").read_bytes())
    with suppress(PicomemError):  # nothing may have reached the database yet
        open_engine(lost)
    assert "what was stored last may be lost" in caplog.text


def test_a_store_that_was_cut_to_nothing_a_moment_ago_is_said_to_be_empty(db, open_engine, caplog):
    engine = open_engine()
    engine.remember(MEMORIES["harbour"], key="harbour")
    engine.close()
    os.truncate(db, 0)
    assert open_engine().memories() == []
    assert "is empty, so a new store is made in it" in caplog.text


def test_an_empty_file_becomes_a_store_and_this_is_said(db, open_engine, caplog):
    db.touch()
    os.utime(db, (1, 1))
    assert open_engine().memories() == []
    assert "is empty, so a new store is made in it" in caplog.text


@pytest.mark.parametrize("age", [0, 3600])
def test_an_empty_file_becomes_no_store_by_a_command_that_only_reads(db, open_engine, caplog, age):
    db.touch()
    os.utime(db, (time.time() - age,) * 2)
    with pytest.raises(StoreError if age else NoStore, match="is empty, so there is no store in it"):
        app.open_engine(db, create=False, embedder="none")
    assert not caplog.records
    assert db.stat().st_size == 0
    open_engine()
    with app.open_engine(db, create=False, embedder="none") as engine:
        assert engine.memories() == []

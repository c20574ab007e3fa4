"""A purge follows ids from row to row: where a bit of one is flipped, it says so (A13)."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.engine_parts import connector_of
from tests.sealed_stores import stored_bytes

from picomem.engine.authorization import make_token
from picomem.engine.engine import Engine
from picomem.errors import NotFound
from picomem.operations.table import operation
from picomem.page.message_catalog import say_in, told
from picomem.records.session import NewMessage, Role

pytestmark = [pytest.mark.requirement("X2"), pytest.mark.sqlite_file("damages rows in the file")]

FACT = "The aardvark codeword is ZYXWVUT1234"
REPLY = "The reply holds QWERTZU9876 about aardvarks"


@pytest.fixture
def filled(engine, tmp_path) -> Engine:
    """A session that made a memory, and another one."""
    for session, said in {"s1": (f"Remember that {FACT}", REPLY), "s2": ("The badger digs", "Badgers reply")}.items():
        records = [
            {
                "type": role,
                "message": {"role": role, "content": text},
                "uuid": f"{session}{role}",
                "sessionId": session,
                "timestamp": f"2026-11-10T10:00:0{number}.000Z",
                "cwd": "/p",
            }
            for number, (role, text) in enumerate(zip(("user", "assistant"), said, strict=True))
        ]
        (tmp_path / f"{session}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    engine.ingest([tmp_path / "s1.jsonl", tmp_path / "s2.jsonl"])
    assert [memory.content for memory in engine.memories()] == [FACT]
    return engine


def _flip(engine: Engine, table: str, column: str, where: str = "true", bits: int = 1) -> None:
    """Flip bits in the last byte of a text."""
    with closing(apsw.Connection(connector_of(engine).name)) as connection:
        ((text,),) = connection.execute(f"SELECT {column} FROM {table} WHERE {where}").fetchall()
        damaged = str(text)[:-1] + chr(ord(str(text)[-1]) ^ bits)
        connection.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (damaged,))


def _holds(engine: Engine, text: str) -> bool:
    path = Path(connector_of(engine).name)
    return any(text.encode() in stored_bytes(file) for file in path.parent.glob(f"{path.name}*"))


LINKS = [
    ("episodes", "transcript_id", "preview LIKE '%QWERTZU%'"),
    ("lineage", "parent_id", "true"),
    ("lineage", "child_id", "true"),
    ("transcripts", "session", "session = 's1'"),
]


@pytest.mark.parametrize(("table", "column", "where"), LINKS[:3])
def test_a_purge_does_not_look_clean_if_a_link_is_damaged(table, column, where, filled):
    _flip(filled, table, column, where)
    verb = operation("purge")
    planned = verb.call(filled, verb.request(session="s1", dry_run=True))
    (warning,) = planned.left
    assert "may belong to what is purged" in warning
    assert "`picomem doctor`" in warning
    assert list(verb.presentation(planned).warnings) == [warning]
    assert told(warning, say_in("zh")).startswith("此用户有些已损坏的行")
    assert planned.may_remain
    assert verb.exit_code(planned) == 0
    purged = verb.call(filled, verb.request(session="s1", yes=True))
    assert (purged.left, purged.may_remain, verb.exit_code(purged)) == ([warning], True, 1)
    everything = filled.purge(everything=True)
    assert (everything.left, everything.may_remain) == ((), False)
    assert not _holds(filled, "ZYXWVUT1234")
    assert not _holds(filled, "QWERTZU9876")


def test_a_session_that_only_a_damaged_row_names_is_said_to_be_perhaps_there(filled):
    _flip(filled, "transcripts", "session", "session = 's1'", bits=2 | 4)
    for verb in (filled.purge_plan, filled.purge):
        with pytest.raises(NotFound, match=r"no session “s1”.* Damaged rows .*picomem doctor"):
            verb(session="s1")


def test_damage_in_what_goes_does_not_make_a_purge_unsure_and_damage_elsewhere_does(filled):
    """Nobody knows what a damaged row that stays belongs to: its own ids may be what is damaged."""
    _flip(filled, "episodes", "preview", "preview LIKE '%QWERTZU%'")
    assert filled.purge_plan(session="s1").left == ()
    filled.remember("The quay is closed", key="quay")
    _flip(filled, "memories", "content", "key = 'quay'")
    assert filled.purge_plan(session="s1").left
    with pytest.raises(NotFound, match="Damaged rows"):
        filled.purge(session="s9")


def test_an_episode_whose_transcript_lost_its_id_does_not_go_unmentioned(filled):
    _flip(filled, "transcripts", "id", "session = 's1'")
    assert filled.purge_plan(session="s1").left


@pytest.mark.parametrize(("column", "bits"), [("id", 1), ("content", 3)])
def test_a_damaged_message_of_a_conversation_goes_with_it(column, bits, engine):
    session = engine.sessions().create(title="Tuesday")
    engine.sessions().append(session.id, NewMessage(role=Role.USER, content="Is the amber quay open?"))
    _flip(engine, "messages", column, bits=bits)
    purged = engine.purge(session=session.id)
    assert (purged.counts["messages"], purged.left) == (1, ())
    assert not _holds(engine, "amber quay")


def test_a_purge_of_everything_counts_damaged_tokens(engine):
    make_token(engine, frozenset(), "laptop", None)
    make_token(engine, frozenset(), "tablet", None)
    _flip(engine, "access_tokens", "label", "label = 'tablet'")
    assert engine.purge_plan(everything=True).counts["tokens"] == 2
    assert engine.purge(everything=True).counts["tokens"] == 2

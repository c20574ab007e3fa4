"""Sessions and their messages in a real database."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.engine_parts import connector_of
from tests.sessions.conftest import assistant, call, result, user

from picomem.errors import Corrupt, InvalidInput, NotFound
from picomem.records.kinds import Origin
from picomem.records.session import NewMessage, Role
from picomem.sessions.log import Sessions
from picomem.sessions.pairs import NO_RESULT, grouped, stored_message
from picomem.store.sql_access import sql
from picomem.store.tables import session_rows as store

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_what_was_said_is_there_after_a_restart(open_engine) -> None:
    log = open_engine().sessions()
    session = log.create("websocket", channel_id="socket 7")
    log.append(session.id, user("How are the boats?"), assistant("All moored."))
    again = open_engine().sessions()
    loaded = again.load(session.id)
    assert [(m.seq, m.role, m.content, m.origin) for m in loaded.messages] == [
        (1, Role.USER, "How are the boats?", Origin.USER),
        (2, Role.ASSISTANT, "All moored.", Origin.AGENT),
    ]
    assert (loaded.before, loaded.damaged) == (0, ())
    kept = again.get(session.id[:18])
    assert (kept.channel, kept.channel_id, kept.title) == ("websocket", "socket 7", "How are the boats?")


def test_messages_are_loaded_from_the_end_or_from_behind_a_number(log: Sessions) -> None:
    session = log.create()
    for number in range(1, 8):
        log.append(session.id, user(f"word {number}"))
    assert [m.seq for m in log.load(session.id).messages] == [1, 2, 3, 4, 5, 6, 7]
    tail = log.load(session.id, last=2)
    assert ([m.seq for m in tail.messages], tail.before) == ([6, 7], 5)
    behind = log.load(session.id, after=4)
    assert ([m.seq for m in behind.messages], behind.before) == ([5, 6, 7], 4)
    assert [m.seq for m in log.load(session.id, last=2, after=6).messages] == [7]
    assert log.load(session.id, after=7).messages == ()


@pytest.mark.requirement("A5")
def test_a_message_that_cannot_be_stored_takes_the_others_with_it(log: Sessions) -> None:
    session = log.create()
    log.append(session.id, user("Look at the harbour"))
    with pytest.raises(InvalidInput, match="no such call waits"):
        log.append(session.id, assistant("", call()), result("fog"), result("more fog"))
    assert [m.seq for m in log.load(session.id).messages] == [1]
    assert log.append(session.id, assistant("", call()), result("fog"))[-1].seq == 3


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (result("out of nowhere"), "no such call waits"),
        (NewMessage(role=Role.TOOL, content="whose?"), "must name the call"),
        (NewMessage(role=Role.USER, content="x", tool_call_id="c1"), "must name the call"),
        (NewMessage(role=Role.USER, content="x", tool_calls=(call(),)), "only the assistant"),
        (assistant("", call(id="c1"), call(id="c1")), "an id of its own"),
        (assistant("", call(name="rm -rf")), "no id or name"),
        (user("  "), "is empty"),
        (assistant(), "is empty"),
        (NewMessage(role="boss", content="x"), "is no role"),  # type: ignore[arg-type]
    ],
)
def test_what_no_conversation_can_hold_is_refused(said: NewMessage, sentence: str, log: Sessions) -> None:
    session = log.create()
    with pytest.raises(InvalidInput, match=sentence):
        log.append(session.id, said)
    assert log.load(session.id).messages == ()


def test_a_result_may_come_later_and_once(log: Sessions) -> None:
    session = log.create()
    log.append(session.id, user("Look"), assistant("", call(id="c1"), call(id="c2")))
    log.append(session.id, user("Are you there?"))
    log.append(session.id, result("fog", "c2"))
    with pytest.raises(InvalidInput):
        log.append(session.id, result("fog again", "c2"))
    groups, orphans = grouped(log.load(session.id).messages)
    assert orphans == []
    assert [[m.content for m in group.messages] for group in groups] == [
        ["Look"],
        ["", "fog", NO_RESULT],
        ["Are you there?"],
    ]


def test_a_call_id_that_comes_again_means_the_latest_call(log: Sessions) -> None:
    session = log.create()
    log.append(session.id, user("Look"), assistant("", call(id="0")), result("first", "0"))
    log.append(session.id, user("Again"), assistant("", call(id="0")))
    log.append(session.id, result("second", "0"))
    groups, _ = grouped(log.load(session.id).messages)
    assert [[m.content for m in group.messages] for group in groups if group.messages[0].tool_calls] == [
        ["", "first"],
        ["", "second"],
    ]


def test_no_text_of_a_session_is_stored_with_a_secret(log: Sessions, db: Path) -> None:
    session = log.create("api", channel_id=KEY, title=f"Use {KEY}")
    arguments = json.dumps({"token": KEY, "deep": [{"note": f"line\nwith {KEY}"}], "n": 1})
    log.append(
        session.id,
        user(f"My token is {KEY}"),
        assistant(f"I call with {KEY}", call(arguments=arguments), call(id="c2", arguments=f'{{"broken": "{KEY}')),
        result(f"ok {KEY}"),
        result(f"ok {KEY}", "c2"),
    )
    log.rename(session.id, f"Still {KEY}")
    (stored,) = [m.tool_calls for m in log.load(session.id).messages if m.tool_calls]
    kept = json.loads(stored[0].arguments)
    assert kept["n"] == 1
    assert kept["token"].startswith("[redacted:")
    for file in db.parent.iterdir():
        assert KEY.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    "arguments", ['{"a": "x",\n  "b": [1, 2.50, null]}', "not json", '{"cut": "of', "[" * 5000, '{"lone": "\\ud800"}']
)
def test_arguments_without_a_secret_keep_the_bytes_that_the_model_wrote(arguments: str, log: Sessions) -> None:
    session = log.create()
    log.append(session.id, assistant("", call(arguments=arguments)))
    assert log.load(session.id).messages[0].tool_calls[0].arguments == arguments


def test_arguments_that_are_json_are_json_without_their_secret(log: Sessions) -> None:
    session = log.create()
    log.append(session.id, assistant("", call(arguments=json.dumps({"password": "hunter2-Tr0ub4dor&3", "n": 5}))))
    (kept,) = log.load(session.id).messages[0].tool_calls
    assert isinstance(json.loads(kept.arguments), dict)
    assert "Tr0ub4dor" not in kept.arguments


def test_the_title_is_the_given_one_or_the_first_thing_that_was_said(log: Sessions) -> None:
    given = log.create(title="Boats")
    log.append(given.id, user("How are they?"))
    said = log.create()
    log.append(said.id, user("Please have a look at the harbour,\nand tell me which of the boats are moored there"))
    assert log.get(given.id).title == "Boats"
    assert log.get(said.id).title == "Please have a look at the harbour, and tell me which of the…"
    assert log.rename(said.id, "Harbour").title == log.get(said.id).title == "Harbour"
    with pytest.raises(InvalidInput):
        log.rename(said.id, " \n")


def test_a_fork_has_the_messages_up_to_one_and_goes_its_own_way(log: Sessions) -> None:
    session = log.create()
    log.append(session.id, user("one"), assistant("", call()), result("two"), assistant("three"))
    fork = log.fork(session.id, 3)
    log.append(fork.id, assistant("other"))
    log.append(session.id, user("four"))
    assert [(m.seq, m.content) for m in log.load(fork.id).messages] == [(1, "one"), (2, ""), (3, "two"), (4, "other")]
    assert [m.content for m in log.load(session.id).messages] == ["one", "", "two", "three", "four"]
    assert fork.forked_from == session.id
    with pytest.raises(InvalidInput, match="between a tool call and its result"):
        log.fork(session.id, 2)
    log.append(session.id, assistant("", call(id="late")), user("five"))
    log.append(session.id, result("at last", "late"), user("six"))
    with pytest.raises(InvalidInput, match="between a tool call and its result"):
        log.fork(session.id, 7)
    with pytest.raises(InvalidInput, match="no message 99"):
        log.fork(session.id, 99)
    ids = [m.id for at in (fork, session) for m in log.load(at.id).messages]
    assert len(set(ids)) == len(ids)


def test_sessions_are_listed_by_their_last_activity_a_page_at_a_time(log: Sessions) -> None:
    made = [log.create("tui" if number % 2 else "api") for number in range(5)]
    log.append(made[0].id, user("hello"), assistant("yes?"))
    newest_first = [made[0], made[4], made[3], made[2], made[1]]
    first = log.page(limit=2)
    second = log.page(limit=2, cursor=first.cursor)
    third = log.page(limit=2, cursor=second.cursor)
    listed = [session.id for page in (first, second, third) for session, _ in page.sessions]
    assert listed == [session.id for session in newest_first]
    assert third.cursor == ""
    assert [count for _, count in first.sessions] == [2, 0]
    assert [session.id for session, _ in log.page(channel="tui").sessions] == [made[3].id, made[1].id]
    for wrong in ("x", "5", "５:a"):
        with pytest.raises(InvalidInput, match="not a cursor"):
            log.page(cursor=wrong)


def test_an_archived_session_is_out_of_the_list_until_something_is_said_in_it(log: Sessions) -> None:
    session = log.create()
    log.append(session.id, user("hello"))
    log.archive(session.id)
    assert log.page().sessions == ()
    assert [listed.id for listed, _ in log.page(archived=True).sessions] == [session.id]
    log.append(session.id, user("hello again"))
    assert [listed.id for listed, _ in log.page().sessions] == [session.id]
    assert log.page(archived=True).sessions == ()


def test_a_user_sees_no_session_of_another(open_engine) -> None:
    ann, ben = open_engine(user="ann").sessions(), open_engine(user="ben").sessions()
    session = ann.create()
    ann.append(session.id, user("private"))
    assert ben.page().sessions == ()
    for act in (ben.get, ben.load, ben.archive, lambda at: ben.append(at, user("me too")), lambda at: ben.fork(at, 1)):
        with pytest.raises(NotFound):
            act(session.id)
    assert [m.content for m in ann.load(session.id).messages] == ["private"]


def test_a_clock_that_jumps_back_reorders_nothing(log: Sessions, clock) -> None:
    session = log.create()
    log.append(session.id, user("first"))
    clock.now -= 10**12
    log.append(session.id, assistant("second"))
    assert [(m.seq, m.content) for m in log.load(session.id).messages] == [(1, "first"), (2, "second")]


def _damage(db: Path, sql: str) -> None:
    with closing(apsw.Connection(str(db))) as connection:
        connection.execute(sql)


@pytest.mark.sqlite_file("damages rows in the file")
@pytest.mark.parametrize(
    "change",
    [
        "content = content || '!'",
        "tool_calls = '[['",
        "tool_calls = '[]'",
        "tokens = 1",
        "created_at = 5",
        "role = 'user', origin = 'user'",
    ],
)
def test_a_damaged_message_is_left_out_and_named(change: str, log: Sessions, db: Path) -> None:
    session = log.create()
    log.append(session.id, user("one"), assistant("two", call()), result("three"), assistant("four"))
    _damage(db, f"UPDATE messages SET {change} WHERE seq = 2")
    for loaded in (log.load(session.id), log.load(session.id, last=10)):
        assert loaded.damaged == (2,)
        assert [m.seq for m in loaded.messages] == [1, 3, 4]
    assert [m.seq for m in grouped(loaded.messages)[1]] == [3]  # its result stands alone now
    assert log.append(session.id, user("five"))[0].seq == 5


@pytest.mark.sqlite_file("damages rows in the file")
def test_messages_that_were_swapped_are_damaged(log: Sessions, db: Path) -> None:
    session = log.create()
    log.append(session.id, user("one"), user("two"))
    _damage(db, "UPDATE messages SET seq = 9 WHERE seq = 1; UPDATE messages SET seq = 1 WHERE seq = 2")
    assert log.load(session.id).damaged == (1, 9)


@pytest.mark.sqlite_file("damages rows in the file")
def test_a_damaged_session_is_counted_in_the_list_and_said_when_it_is_asked_for(log: Sessions, db: Path) -> None:
    whole, broken = log.create(title="whole"), log.create(title="broken")
    log.append(broken.id, user("still readable"))
    _damage(db, f"UPDATE sessions SET title = 'x' WHERE id = '{broken.id}'")
    page = log.page()
    assert ([session.id for session, _ in page.sessions], page.damaged) == ([whole.id], (broken.id,))
    with pytest.raises(Corrupt, match="does not match its own hash"):
        log.get(broken.id)
    assert [m.content for m in log.load(broken.id).messages] == ["still readable"]


@pytest.mark.sqlite_file("damages rows in the file")
def test_a_number_that_memory_stands_for_is_not_given_again(log: Sessions, db: Path) -> None:
    session = log.create()
    log.append(session.id, user("one"), assistant("two"))
    with log._connector.write(log._scope) as tx:
        sql(tx).run("move_pointer", user="local", id=session.id, before=0, seq=2, at=1, failures=0)
    _damage(db, "DELETE FROM messages")
    assert log.append(session.id, user("three"))[0].seq == 3


def test_what_was_stored_before_a_rule_existed_is_redacted_when_it_is_shown(engine, log: Sessions) -> None:
    session = log.create()
    old = stored_message(session.id, 1, assistant(f"use {KEY}", call(arguments=json.dumps({"t": KEY}))), 0)
    with connector_of(engine).write(engine.scope) as tx:
        store.insert_message(tx, engine.scope, old)
    (shown,) = log.shown(session.id).messages
    assert KEY not in shown.content + shown.tool_calls[0].arguments
    assert shown.content.startswith("use [redacted:")

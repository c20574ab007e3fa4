"""The cache of sessions' ends is only a cache, and bounded."""

from __future__ import annotations

from contextlib import closing

import apsw
import pytest
from tests.sessions.conftest import user

from picomem.records.kinds import Origin
from picomem.records.session import Loaded, Message, Role
from picomem.sessions.log import Sessions, TailCache
from picomem.store.tables import session_rows as store


def _loaded(characters: int) -> Loaded:
    message = Message(
        session_id="s",
        seq=1,
        id="m",
        role=Role.USER,
        content="x" * characters,
        origin=Origin.USER,
        tokens=1,
        created_at=0,
    )
    return Loaded((message,))


def test_what_was_used_longest_ago_goes_first_and_the_bound_holds() -> None:
    tails = TailCache(most=1000)
    for name in "abc":
        tails.put(name, 1, _loaded(300))
    assert tails.get("a", 1) is not None
    tails.put("d", 1, _loaded(300))
    assert tails.get("b", 1) is None
    assert all(tails.get(name, 1) for name in "acd")
    tails.put("a", 2, _loaded(900))
    assert tails.characters <= 1000
    assert tails.get("a", 1) is None
    tails.put("huge", 2, _loaded(5000))
    assert (tails.characters, tails.get("huge", 2)) == (0, None)


@pytest.mark.sqlite_file("listens to SQLite's statements")
@pytest.mark.requirement("P3")
def test_a_session_is_read_once_until_somebody_changes_it(open_engine, db, monkeypatch) -> None:
    log: Sessions = open_engine().sessions()
    other: Sessions = open_engine().sessions()
    session = log.create()
    log.append(session.id, user("one"))
    read = []
    real = store.last_messages
    monkeypatch.setattr(store, "last_messages", lambda *given: read.append(given) or real(*given))
    for last in (20, 3, 20):
        assert len(log.load(session.id, last=last).messages) == 1
    assert len(read) == 1
    other.append(session.id, user("two"))
    assert len(log.load(session.id, last=20).messages) == 2
    assert len(read) == 2
    for change in ("UPDATE messages SET row_hash = 'x' WHERE seq = 1", "DELETE FROM messages WHERE seq = 1"):
        with closing(apsw.Connection(str(db))) as connection:
            connection.execute(change)
        assert [message.seq for message in log.load(session.id, last=20).messages] == [2]
    assert len(read) == 4

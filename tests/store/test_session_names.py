"""A session is found by its id or the beginning of it, in one way for every command."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import OpenEngine
from tests.engine_parts import connector_of
from tests.ingest.test_host_summaries import claude, written

from picomem.engine.engine import Engine
from picomem.engine.past_sessions import whole_session
from picomem.errors import NotFound
from picomem.records.scope import Scope
from picomem.store.tables.session_names import Place, find_session

EVERYWHERE = Place.CONVERSATIONS | Place.TRANSCRIPTS | Place.MEMORIES
READ, LONGER, CAPITALS = "8463c716-a2ea", "8463c716-a2ea-4c14", "Review-Of-May"


@pytest.fixture
def talked(engine: Engine, open_engine: OpenEngine, tmp_path: Path) -> str:
    """Sessions of transcripts, of a memory, of another user, and one with PicoBot, whose id this is."""
    for number, name in enumerate((READ, LONGER, CAPITALS)):
        record = claude("user", number, "Which port does the crane use?", sessionId=name, uuid=f"{name}-{number}")
        written(tmp_path / "s" / f"{number}.jsonl", record)
    assert engine.ingest([tmp_path / "s"]).files == 3
    engine.remember("The crane of this talk is green", scope=Scope(session="only-a-memory"))
    open_engine(user="ann").sessions().create()
    return engine.sessions().create().id


def find(engine: Engine, name: str, places: Place = EVERYWHERE) -> str:
    with connector_of(engine).read() as tx:
        return find_session(tx, engine.scope, name, places)


def test_a_session_is_found_by_its_id_and_by_a_beginning_that_is_its_alone(engine: Engine, talked: str) -> None:
    assert find(engine, READ) == READ  # though another begins with it
    assert find(engine, READ + "-4") == LONGER
    assert find(engine, "Review") == CAPITALS
    assert find(engine, talked[:20]) == find(engine, talked[:20].upper()) == talked
    assert find(engine, "only-a") == "only-a-memory"
    assert find(engine, "nowhere") == find(engine, "") == find(engine, "%") == ""


def test_a_beginning_of_several_is_refused(engine: Engine, talked: str) -> None:
    with pytest.raises(NotFound, match="Several sessions begin with “8463”; write more of the id"):
        find(engine, "8463")


def test_a_session_is_found_only_where_it_is_asked_for(engine: Engine, open_engine: OpenEngine, talked: str) -> None:
    assert find(engine, READ, Place.CONVERSATIONS) == ""
    assert find(engine, talked, Place.TRANSCRIPTS) == ""
    assert find(engine, "only-a", Place.CONVERSATIONS | Place.TRANSCRIPTS) == ""
    assert find(open_engine(user="ann"), READ) == ""


def test_a_session_that_nobody_knows_is_its_own_name_in_a_filter(engine: Engine, talked: str) -> None:
    assert whole_session(engine, READ + "-4") == LONGER
    assert whole_session(engine, "nowhere") == "nowhere"

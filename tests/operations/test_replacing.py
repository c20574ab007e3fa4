"""An agent stores what puts something out of date: it is told what that is, and says so (issue 38, section 4)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import SteppingClock
from tests.databases import Database

from picomem.engine.engine import Engine
from picomem.errors import NotFound, Refused
from picomem.operations import table
from picomem.operations.remembering import RememberRequest, RememberResult
from picomem.records.caller import Caller
from picomem.runtime import Runtime
from picomem.settings import Settings
from picomem.settings_tables import RecallSettings

OLD, NEW = "The billing database is Postgres 16", "The billing database is CockroachDB now"


def store(engine: Engine, content: str, replaces: str = "") -> tuple[RememberResult, str]:
    operation = table.operation("remember")
    result = operation.call(engine, RememberRequest(content, replaces=replaces))
    return result, operation.reply(result)


def believed(engine: Engine) -> list[str]:
    return [memory.content for memory in engine.memories()]


def test_the_answer_names_what_is_older_and_the_agent_says_that_it_is_replaced(engine: Engine) -> None:
    agent = engine.acting_as(agent=True)
    first, _ = store(agent, OLD)
    assert first.older == []
    second, told = store(agent, NEW)
    assert [view.key for view in second.older] == [first.memory.key]
    assert f"older: {first.memory.key}: {OLD}" in told
    assert f"replaces={first.memory.key}" in told
    store(agent, NEW, replaces=first.memory.key)
    assert believed(engine) == [NEW]
    engine.undo()
    assert set(believed(engine)) == {OLD, NEW}


def test_an_agent_replaces_nothing_that_the_user_stated_and_has_not_called_off(engine: Engine) -> None:
    engine.remember("I like long commit messages", key="commits")
    with pytest.raises(Refused, match="The user stated"):
        store(engine.acting_as(agent=True), "The user hates long commit messages", replaces="commits")
    assert believed(engine) == ["I like long commit messages"]
    store(engine, "I hate long commit messages", replaces="commits")
    assert believed(engine) == ["I hate long commit messages"]


def test_where_there_is_nothing_to_replace_nothing_is_stored(engine: Engine) -> None:
    with pytest.raises(NotFound):
        store(engine, NEW, replaces="nowhere")
    assert believed(engine) == []


def test_a_caller_who_may_not_read_is_not_told_what_is_older(
    db: Path, clock: SteppingClock, database: Database
) -> None:
    settings = Settings(recall=RecallSettings(embedder="none", timezone="UTC"))
    with Runtime(database.connect(db), settings, clock=clock) as runtime:
        store(runtime.engine(), OLD)
        writing = runtime.engine(Caller(permissions=frozenset({"memory:write:user"})))
        result, told = store(writing, NEW)
        assert (result.older, "Postgres" in told) == ([], False)

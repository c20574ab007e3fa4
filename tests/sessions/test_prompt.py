"""The window of a real session: memory, summary and history from the store, under the settings."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.engine_parts import change_settings, connector_of
from tests.sessions.conftest import assistant, call, result, user

from picomem.engine.agent_support import window_of
from picomem.engine.engine import Engine
from picomem.records.kinds import Origin
from picomem.records.session import Summary
from picomem.settings_tables import MemorySettings, SessionSettings
from picomem.store.tables import session_rows as store

ON = MemorySettings(enabled=True)


def _with(engine: Engine, **tables: object) -> Engine:
    change_settings(engine, replace(engine.settings, **{"memory": ON, **tables}))  # type: ignore[arg-type]
    return engine


@pytest.mark.requirement("P14", "A9")
def test_the_prompt_has_the_index_page_the_memories_that_fit_the_question_and_the_conversation(engine: Engine) -> None:
    _with(engine)
    engine.remember("The Swift is moored at the north pier", key="swift")
    engine.remember("Mia drinks green tea", key="tea")
    session = engine.sessions().create()
    engine.sessions().append(session.id, user("Where is the Swift moored?"))
    shown = window_of(engine, session.id)
    assert shown.system.startswith("# Memory index\n")
    assert "## Memory Context\n- swift: The Swift is moored at the north pier" in shown.system
    assert [message.content for message in shown.messages] == ["Where is the Swift moored?"]
    assert window_of(engine, session.id) == shown
    engine.sessions().append(session.id, assistant("At the north pier."), user("And what does Mia drink?"))
    later = window_of(engine, session.id)
    page = later.system.partition("## Memory Context")[0]
    assert shown.system.startswith(page)  # the same bytes from turn to turn
    assert "- tea: Mia drinks green tea" in later.system


@pytest.mark.requirement("A12")
def test_with_memory_off_it_is_the_conversation_alone(engine: Engine) -> None:
    engine.remember("The Swift is moored at the north pier", key="swift")
    session = engine.sessions().create()
    engine.sessions().append(session.id, user("Where is the Swift moored?"))
    assert window_of(engine, session.id).system == ""
    _with(engine, session=SessionSettings(enable_user_memories=False))
    assert window_of(engine, session.id).system == ""
    assert len(window_of(engine, session.id).messages) == 1


@pytest.mark.requirement("P5", "P6")
def test_the_summary_is_there_when_history_was_cut_unless_it_is_switched_off(engine: Engine) -> None:
    log = _with(engine).sessions()
    session = log.create()
    for number in range(15):
        log.append(session.id, user(f"question {number}"), assistant(f"answer {number}"))
    summary = Summary(
        session_id=session.id, text="They counted.", message_count=18, covered_seq=18, created_at=0, updated_at=0
    )
    with connector_of(engine).write(engine.scope) as tx:
        store.put_summary(tx, engine.scope, summary)
    shown = window_of(engine, session.id)
    assert "## Session Summary\nThey counted." in shown.system
    assert [message.seq for message in shown.messages] == list(range(19, 31))
    _with(engine, session=SessionSettings(include_summary_on_truncation=False))
    shown = window_of(engine, session.id)
    assert "They counted." not in shown.system
    assert [message.seq for message in shown.messages] == list(range(11, 31))


def test_the_newest_user_message_is_in_however_long_ago_it_was_said(engine: Engine) -> None:
    log = engine.sessions()
    session = log.create()
    log.append(session.id, user("Count the boats"))
    for number in range(110):
        log.append(session.id, assistant("", call(id=f"c{number}")), result("one more", f"c{number}"))
    shown = window_of(engine, session.id)
    assert shown.messages[0].content == "Count the boats"
    assert shown.messages[-1].seq == 221
    assert len(shown.messages) <= 20


@pytest.mark.requirement("X7")
def test_a_memory_from_the_web_is_not_in_the_prompt(engine: Engine) -> None:
    _with(engine)
    engine.remember("The Swift is moored at pier nine, the harbour page says", key="swift", origin=Origin.WEB)
    session = engine.sessions().create()
    engine.sessions().append(session.id, user("Where is the Swift moored?"))
    assert "pier nine" not in window_of(engine, session.id).system


@pytest.mark.requirement("P6")
def test_a_fork_keeps_the_summary_that_covers_no_more_than_it_has(engine: Engine) -> None:
    log = engine.sessions()
    session = log.create()
    for number in range(4):
        log.append(session.id, user(f"question {number}"), assistant(f"answer {number}"))
    with connector_of(engine).write(engine.scope) as tx:
        summary = Summary(session_id=session.id, text="s", message_count=4, covered_seq=4, created_at=0, updated_at=0)
        store.put_summary(tx, engine.scope, summary)
    kept = log.summary(log.fork(session.id, 6).id)
    assert kept is not None
    assert (kept.text, kept.covered_seq) == ("s", 4)
    assert log.summary(log.fork(session.id, 3).id) is None

"""R17: whatever a model answers, no memory is lost, overwritten or made up by it, and the conversation waits or is taken
up once."""

from __future__ import annotations

import pytest
from pydantic_ai import exceptions
from tests.consolidation.bad_answers import INVENTED, KINDS, KNOWN, STATUSES, WHOLE, answering, raising
from tests.consolidation.conftest import consolidate, settings
from tests.consolidation.test_undone import state
from tests.engine_parts import change_settings, connector_of

from picomem.engine.engine import Engine
from picomem.models.language_model_generator import LanguageModelGenerator
from picomem.records.session import Session
from picomem.store.sql_access import sql

pytestmark = pytest.mark.reliability("R17")

_FAULTS = (
    *(exceptions.ModelHTTPError(status, "bad", {"error": {"message": f"no {INVENTED}"}}) for status in STATUSES),
    exceptions.UnexpectedModelBehavior("it stopped"), exceptions.ContentFilterError("filtered"), TimeoutError(),
    ConnectionResetError("reset"), OSError("no route"), ValueError("no JSON"),
)  # fmt: skip


@pytest.fixture
def known(memory: Engine, talk: Session) -> Session:
    """A conversation to take up, and memories that it says little about."""
    change_settings(memory, settings(max_failures_before_degrade=100_000, daily_token_limit=0))
    for key, content in KNOWN.items():
        memory.remember(content, key=key)
    return talk


def all_versions(memory: Engine) -> list[tuple[str, str, str, int | None]]:
    """Every version of every memory."""
    with connector_of(memory).read() as tx:
        return sorted((row[6], row[8], row[1], row[18]) for row in sql(tx).all("all_memories", user="local"))


def check(memory: Engine, known: Session, generator: LanguageModelGenerator, name: str) -> str:
    """Consolidate; what must hold whatever was answered. How it ended."""
    before, versions = state(memory, known.id), all_versions(memory)
    assert before[1][0] == 0
    done = consolidate(memory, generator, known.id, force=True)
    now = memory.sessions().get(known.id)
    believed = {stored.key: stored.content for stored in memory.memories()}
    assert {key: believed.get(key) for key in KNOWN} == KNOWN, name
    assert set(versions) <= set(all_versions(memory)), name
    assert not any(INVENTED in f"{key} {content}" for key, content, *_ in all_versions(memory)), name
    if done.state == "done":
        assert (now.last_consolidated_seq, len(memory.timeline())) == (6, 1), name
        memory.undo(done.runs[0].run)
        assert state(memory, known.id) == before, name
    else:
        assert (done.state, now.last_consolidated_seq, memory.timeline()) == ("failed", 0, []), name
        assert len(done.warnings) == 1, name
        assert all_versions(memory) == versions, name
        before = (before[0], (*before[1][:2], before[1][2] + 1), *before[2:])
        assert state(memory, known.id) == before, name
    return done.state


@pytest.mark.requirement("A11")
@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_answer_loses_overwrites_and_makes_up_no_memory(memory: Engine, known: Session, kind: str) -> None:
    ended = {name: check(memory, known, answering(text), name) for name, text in KINDS[kind]()}
    assert "failed" in ended.values()
    if kind == "cut":
        assert not [name for name, end in ended.items() if name.startswith("cut at") and end == "done"]
    assert memory.doctor().healthy
    assert check(memory, known, answering(WHOLE), "a good one") == "done"


def test_there_are_hundreds_of_bad_answers() -> None:
    answers = [answer for kind in KINDS.values() for answer in kind()]
    assert len({name for name, _ in answers}) == len({text for _, text in answers}) == len(answers) > 280


@pytest.mark.requirement("A11")
def test_an_answer_that_did_not_end_by_itself_and_a_model_that_fails_leave_all_as_it_was(
    memory: Engine, known: Session
) -> None:
    for finish in ("length", "content_filter"):
        for end in (0, 30, len(WHOLE) // 2, len(WHOLE)):
            assert check(memory, known, answering(WHOLE[:end], finish), f"{finish} at {end}") == "failed"
    for error in _FAULTS:
        assert check(memory, known, raising(error), repr(error)) == "failed"
    assert memory.sessions().get(known.id).consolidation_failures == 8 + len(_FAULTS)


@pytest.mark.requirement("A11")
def test_three_bad_answers_in_a_row_of_whatever_kind_end_without_a_model(memory: Engine, known: Session) -> None:
    change_settings(memory, settings(daily_token_limit=0))
    bad = [answering(WHOLE[:90]), raising(TimeoutError()), answering("I cannot assist with that.")]
    states = [consolidate(memory, generator, known.id, force=True) for generator in bad]
    assert [outcome.state for outcome in states] == ["failed", "failed", "done"]
    assert states[-1].runs[0].generator == "extractive"
    assert "failed 3 times in a row" in states[-1].warnings[-1]
    assert {stored.key: stored.content for stored in memory.memories()} == KNOWN

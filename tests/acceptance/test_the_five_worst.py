"""The five worst things that memories of agents do, each shown not to happen here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic_ai.messages import ModelResponse, TextPart
from pydantic_ai.models.function import FunctionModel
from tests.consolidation.bad_answers import PORT, WHOLE, answering, raising
from tests.consolidation.conftest import TALK, Scripted, begun, consolidate, proposal, said, settings
from tests.engine_parts import change_settings

from picomem.engine.engine import Engine
from picomem.errors import DiskFull, Refused
from picomem.models.generator import Fact
from picomem.models.language_model_generator import LanguageModelGenerator
from picomem.models.provider import ModelChoice
from picomem.records.session import ToolCall

QUEUE = "The booking queue runs on Redis Streams with three workers in the cellar"


@pytest.fixture
def memory(open_engine) -> Engine:
    engine = open_engine()
    change_settings(engine, settings(max_failures_before_degrade=1_000, daily_token_limit=0))
    return engine


@pytest.mark.requirement("A8", "A11")
def test_a_truncated_model_answer_overwrites_no_memory(memory: Engine) -> None:
    """Neither one that the server says was cut, be it whole by chance, nor one that only ends too early."""
    memory.remember("The staging database listens on port 6432", key="staging_db_port")
    before = memory.history("staging_db_port")
    session = begun(memory, *TALK)
    for end in range(0, len(WHOLE), 11):
        assert consolidate(memory, answering(WHOLE[:end]), session.id, force=True).state == "failed"
    for end in (len(WHOLE) // 2, len(WHOLE)):
        assert consolidate(memory, answering(WHOLE[:end], "length"), session.id, force=True).state == "failed"
    assert memory.history("staging_db_port") == before
    assert memory.timeline() == []
    assert consolidate(memory, answering(WHOLE), session.id, force=True).state == "done"
    # The whole answer is kept, beside what the person stated: only the assistant said it.
    assert memory.history("staging_db_port") == before
    assert [kept.content for kept in memory.memories() if kept.key != "staging_db_port"] == [PORT]


@pytest.mark.requirement("X6")
def test_recalled_text_is_not_stored_again_as_new(memory: Engine, tmp_path: Path) -> None:
    """Neither by the agent that recalled it, nor when the conversation in which it was recalled is consolidated."""
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "user", "content": QUEUE, "timestamp": "2026-04-07T09:00:00Z"}) + "\n")
    memory.ingest([path])
    session = begun(
        memory,
        said("user", "What did we decide about the queue?"),
        said("assistant", "", None, ToolCall("c1", "memory_recall", '{"query": "queue"}')),
        said("tool", f"Found 1 memories:\n- episode: {QUEUE}", answers="c1"),
        said("assistant", f"{QUEUE}."),
    )
    done = consolidate(memory, Scripted([proposal(Fact("queue_store", QUEUE))]), session.id, force=True)
    assert [outcome.decision for _, _, outcome in done.runs[0].offered] == ["refuse"]
    assert memory.recall("booking queue").hits
    with pytest.raises(Refused, match="recalled"):
        memory.remember(QUEUE, origin="agent")
    assert memory.memories() == []


@pytest.mark.requirement("A5", "A11")
def test_the_cursor_does_not_move_on_error(memory: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a session's pointer, whether the model or the store fails, nor a transcript's cursor."""
    session = begun(memory, *TALK)
    path = tmp_path / "talk.jsonl"
    path.write_text(json.dumps({"role": "user", "content": QUEUE, "timestamp": "2026-04-07T09:00:00Z"}) + "\n")

    def full(*_: object, **__: object) -> None:
        raise DiskFull()

    assert consolidate(memory, raising(TimeoutError()), session.id, force=True).state == "failed"
    for place in ("consolidations.move_pointer", "consolidations.record", "episodes.insert_all"):
        with monkeypatch.context() as patched:
            patched.setattr(f"picomem.store.tables.{place}", full)
            with pytest.raises(DiskFull):
                consolidate(memory, Scripted([proposal()]), session.id, force=True)
        assert memory.sessions().get(session.id).last_consolidated_seq == 0, place
        assert memory.timeline() == [], place
    with monkeypatch.context() as patched:
        patched.setattr("picomem.store.tables.episodes.insert_all", full)
        with pytest.raises(DiskFull):
            memory.ingest([path])
    done = consolidate(memory, Scripted([proposal()]), session.id, force=True)
    assert (done.runs[0].first, done.runs[0].last) == (1, len(TALK))
    assert memory.ingest([path]).episodes == 1
    assert len(memory.timeline()) == 2


@pytest.mark.requirement("A7", "A8")
def test_a_summary_is_not_stored_as_a_fact(memory: Engine) -> None:
    """Neither the summary itself, nor what tells of the conversation, nor a text of many sentences."""
    session = begun(memory, *TALK)
    summary = "Staging was slow. Its database listens on port 5433. The pool asked 6432. It was changed."
    facts = [
        Fact("", summary),
        Fact("", "The user asked why staging is so slow."),
        Fact("", "In this conversation the pool of staging was changed."),
        Fact("", "Staging was slow. The pool asked 6432. It was changed. The database answers in 3 ms now."),
    ]
    done = consolidate(memory, Scripted([proposal(*facts, timeline=summary, summary=summary)]), session.id, force=True)
    assert memory.memories() == []
    assert len(done.runs[0].turned_down) == len(facts)
    assert [entry.text.endswith(summary) for entry in memory.timeline()] == [True]


@pytest.mark.requirement("A11")
def test_the_spend_of_a_model_does_not_run_away(memory: Engine) -> None:
    """A model that never says anything of use is asked three times at once at most, and no more than the day allows."""
    asked: list[int] = []

    def rubbish(*_: object) -> ModelResponse:
        asked.append(1)
        return ModelResponse(parts=[TextPart("blah " * 500)])

    choice = ModelChoice(provider="test", model="bad", base_url="", key="", timeout_secs=1, table="model")
    generator = LanguageModelGenerator(FunctionModel(rubbish), choice)
    change_settings(memory, settings(max_failures_before_degrade=1_000, daily_token_limit=40_000))
    session = begun(memory, *TALK)
    consolidate(memory, generator, session.id, force=True)
    assert len(asked) == 3
    for _ in range(30):
        memory.sessions().append(session.id, *TALK)
        consolidate(memory, generator, session.id, force=True)
    spent = memory.status()
    assert spent.spent_today <= 40_000
    assert len(asked) == spent.models["test:bad"]["calls"] < 31
    assert memory.sessions().get(session.id).last_consolidated_seq > 0  # and the conversation is taken up all the same

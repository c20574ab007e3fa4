"""What a recall reads of a store with many memories: rows and functions are counted, not time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cost import python_calls
from tests.engine_parts import connector_of

from picomem.engine.engine import Engine
from picomem.records.ids import new_id
from picomem.records.kinds import Kind
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.store.tables import memories

QUESTION = "Where are the lanterns of the harbour kept?"
FEW, MANY = 300, 2_400


def _fill(engine: Engine, count: int, project: str = "") -> None:
    """Store memories that all share a word of the question."""
    with connector_of(engine).write(engine.scope) as tx:
        for number in range(count):
            memories.insert(tx, _memory(engine, number, project))


def _memory(engine: Engine, number: int, project: str) -> Memory:
    return Memory(
        id=new_id(),
        version=1,
        scope=Scope(engine.scope.user, project=project),
        key=f"shed_{number}",
        kind=tuple(Kind)[number % len(Kind)],
        content=f"Shed {number} of the harbour has a door of colour {number % 17}",
        valid_from=engine.now(),
        known_from=engine.now(),
        created_at=engine.now(),
        tokens=12,
        change_id=new_id(),
    )


def _filled(open_engine, path: Path, count: int) -> Engine:
    engine = open_engine(path)
    engine.remember("The lanterns of the harbour are kept in the loft of the mill", key="lanterns")
    _fill(engine, count)
    assert engine.recall(QUESTION).hits[0].key == "lanterns"
    return engine


def test_recall_reads_the_best_however_many_memories_share_a_word_with_the_question(open_engine, tmp_path):
    few, many = (_filled(open_engine, tmp_path / f"{count}.db", count) for count in (FEW, MANY))
    assert python_calls(lambda: many.recall(QUESTION)) <= 1.1 * python_calls(lambda: few.recall(QUESTION))


def test_what_other_projects_say_leaves_no_answer_of_this_one_unread(open_engine, tmp_path):
    engine = _filled(open_engine, tmp_path / "memory.db", 0)
    _fill(engine, 600, "elsewhere")
    _fill(engine, 3, "here")
    hits = engine.recall("harbour", scope=Scope(engine.scope.user, project="here"), limit=10).hits
    assert {hit.key for hit in hits} == {"lanterns", "shed_0", "shed_1", "shed_2"}


@pytest.mark.parametrize(
    "asked",
    [{"scope": Scope(project="nowhere")}, {"kinds": [Kind.DECISION]}, {"tag": "boats"}, {"until": 1}],
    ids=lambda asked: next(iter(asked)),
)
def test_a_limit_reads_few_of_the_memories_that_it_leaves_out(open_engine, tmp_path, asked):
    """37 §2.3: a hook always asks within a project."""
    engine = _filled(open_engine, tmp_path / "memory.db", 0)
    _fill(engine, MANY, "elsewhere")
    plain, limited = (python_calls(lambda about=about: engine.recall(QUESTION, **about)) for about in ({}, asked))
    assert limited <= 4 * plain

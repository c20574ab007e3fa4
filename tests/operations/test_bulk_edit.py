"""Several memories edited in one run."""

from __future__ import annotations

import pytest

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound
from picomem.operations.table import operation


def bulk_edit(engine: Engine, action: str, *names: str):
    verb = operation("bulk-edit")
    return verb.call(engine, verb.request(action=action, names=names))


def believed(engine: Engine) -> dict[str, bool]:
    return {memory.key: memory.pinned for memory in engine.memories()}


def test_several_memories_are_archived_in_one_run_and_come_back_by_one_undo(engine: Engine) -> None:
    for number in range(4):
        engine.remember(f"Mooring {number} belongs to the ferry of line {number}", key=f"mooring_{number}")
    ids = {memory.key: memory.id for memory in engine.memories()}
    done = bulk_edit(engine, "archive", "mooring_0", ids["mooring_2"], "mooring_0")
    assert done.changed == ["mooring_0", "mooring_2"]
    assert sorted(believed(engine)) == ["mooring_1", "mooring_3"]
    assert len(engine.changes(10, run=done.run)) == 2
    assert len(engine.undo(done.run)) == 2
    assert sorted(believed(engine)) == [f"mooring_{number}" for number in range(4)]


def test_pinning_leaves_alone_what_is_pinned(engine: Engine) -> None:
    engine.remember("The ferry leaves at nine", key="ferry", pinned=True)
    engine.remember("The harbour closes at ten", key="harbour")
    done = bulk_edit(engine, "pin", "ferry", "harbour")
    assert (done.changed, done.unchanged) == (["harbour"], ["ferry"])
    assert believed(engine) == {"ferry": True, "harbour": True}
    engine.undo(done.run)
    assert believed(engine) == {"ferry": True, "harbour": False}
    with pytest.raises(InvalidInput, match="Nothing is to be changed"):
        bulk_edit(engine, "unpin", "harbour")


def test_a_wrong_name_changes_nothing(engine: Engine) -> None:
    engine.remember("The ferry leaves at nine", key="ferry")
    with pytest.raises(NotFound):
        bulk_edit(engine, "archive", "ferry", "no_such_thing")
    assert believed(engine) == {"ferry": False}
    with pytest.raises(InvalidInput):
        bulk_edit(engine, "archive")

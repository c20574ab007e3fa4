"""The operation `review`: several decisions in one run, and how many wait. Issue 41, point 5."""

from __future__ import annotations

import pytest

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound
from picomem.operations.reviewing import ReviewResult
from picomem.operations.table import operation


def review(engine: Engine, **fields: object) -> ReviewResult:
    verb = operation("review")
    return verb.call(engine, verb.request(**fields))


def remember_from_others(engine: Engine, *names: str) -> None:
    verb = operation("remember")
    for name in names:
        content = f"The {name} from the {name}market is kept in the {name}room"
        verb.call(engine, verb.request(content=content, key=name, origin="tool"))


def waiting(engine: Engine) -> list[str]:
    return sorted(item.memory.key for item in review(engine, untrusted=True).waiting)


def test_several_are_decided_in_one_run_which_one_undo_takes_back(engine: Engine) -> None:
    remember_from_others(engine, "apple", "barley", "cedar")
    done = review(engine, name="apple", verdict="discard", also=("cedar", "nothing_such"))
    assert (done.key, done.total) == ("apple", 2)
    assert waiting(engine) == ["barley"]
    assert done.change
    engine.undo(done.change.run)
    assert waiting(engine) == ["apple", "barley", "cedar"]


def test_several_that_do_not_wait_are_refused(engine: Engine) -> None:
    engine.remember("The ferry leaves at nine", key="ferry")
    with pytest.raises(InvalidInput):
        review(engine, name="ferry", verdict="keep", also=("ferry",))
    with pytest.raises(NotFound):
        review(engine, name="ferry", verdict="keep", also=("nothing_such",))


def test_pairs_are_named_by_both_of_their_memories(engine: Engine) -> None:
    for key, port in (("older", 5433), ("newer", 6432)):
        engine.remember(f"The staging database listens on port {port}", key=key)
        engine.remember(f"The backup server of the yard answers on port {port}", key=f"{key}_backup")
    pairs = [(item.memory.key, item.older.key) for item in review(engine).waiting if item.older]
    assert len(pairs) >= 2
    (name, other), *further = pairs
    review(engine, name=name, other=other, verdict="keep", also=tuple(" ".join(pair) for pair in further))
    assert review(engine).waiting == []


def test_the_count_is_that_of_the_list_before_and_after_decisions(engine: Engine) -> None:
    remember_from_others(engine, "apple", "barley", "cedar")
    for _ in range(2):
        engine.remember("The staging database listens on port 5433", key="older")
        engine.remember("The staging database listens on port 6432", key="newer")
    for verdict, name in (("keep", "apple"), ("discard", "barley")):
        listed = review(engine, untrusted=True)
        assert review(engine, count=True).total == listed.total == len(listed.waiting) > 0
        done = review(engine, name=name, verdict=verdict)
        assert review(engine, count=True).total == listed.total - 1
    assert done.change
    engine.undo(done.change.run)
    assert review(engine, count=True).total == listed.total

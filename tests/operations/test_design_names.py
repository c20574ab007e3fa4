"""The names by which the designs call the fields of requests (O14)."""

from __future__ import annotations

import pytest
from tests.cases import each_case

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.operations.schemas import Parameters, PlainParameters
from picomem.operations.table import operation


@pytest.mark.requirement("O14")
@each_case("verb", ["memories", "recall", "remember", "revise"])
@each_case("parameters", [Parameters, PlainParameters])
def test_category_and_kind_name_the_same_field(verb: str, parameters: type[Parameters]) -> None:
    needed = {"remember": {"content": "A"}, "revise": {"name": "a"}, "recall": {"query": "a"}}.get(verb, {})
    read = parameters(operation(verb))
    by_kind, by_category = (read.request({**needed, name: "decision"}) for name in ("kind", "category"))
    assert by_kind == by_category
    assert "decision" in by_kind.kind
    with pytest.raises(InvalidInput, match="is the same"):
        read.request({**needed, "kind": "fact", "category": "decision"})


@pytest.mark.requirement("O14")
@pytest.mark.parametrize("verb", ["revise", "forget"])
@pytest.mark.parametrize("name", ["id", "key", "name"])
def test_an_entry_is_named_by_its_id_or_its_key(engine: Engine, verb: str, name: str) -> None:
    stored = engine.remember("The crane is blue", key="crane").memory
    assert stored is not None
    declared = operation(verb)
    given = {name: stored.id if name == "id" else "crane"} | (
        {"content": "The crane is red"} if verb == "revise" else {}
    )
    declared.call(engine, PlainParameters(declared).request(given))
    assert [memory.content for memory in engine.memories()] == (["The crane is red"] if verb == "revise" else [])


@pytest.mark.requirement("O14")
def test_a_list_takes_a_least_priority_with_the_other_filters_page_by_page(engine: Engine) -> None:
    for priority in ("critical", "high", "medium", "low"):
        engine.remember(f"The {priority} crane is blue", key=f"crane_{priority}", priority=priority, tags=["pier"])
    listing = operation("memories")
    read = PlainParameters(listing)
    wanted = {"priority_min": "high", "category": "fact", "tag": "pier", "limit": 1}
    first = listing.call(engine, read.request(wanted))
    assert [view.key for view in first.memories] == ["crane_critical"]
    second = listing.call(engine, read.request({**wanted, "cursor": first.cursor}))
    assert ([view.key for view in second.memories], second.cursor) == (["crane_high"], "")
    assert listing.call(engine, read.request({**wanted, "archived": True})).memories == []

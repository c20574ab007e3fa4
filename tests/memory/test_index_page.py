"""The index page: its order, its budget, its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import amount

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.memory.index_page import IndexEntries, build
from picomem.records.kinds import Kind, Origin
from picomem.records.memory import Memory
from picomem.records.scope import Scope
from picomem.text.tokens import count_tokens


def memory(number: int, content: str, kind: Kind = Kind.FACT, importance: float = 0.5, pinned: bool = False) -> Memory:
    return Memory(
        id=f"id-{number:04}", version=1, scope=Scope(), key=f"key_{number}", kind=kind, content=content,
        importance=importance, pinned=pinned, valid_from=0, known_from=0, created_at=0, tokens=1, change_id="c",
    )  # fmt: skip


contents = st.text(min_size=1, max_size=400) | st.sampled_from(["数据库迁移" * 40, "x" * 900, "a b " * 200, "\n\n#"])


@pytest.mark.requirement("O9")
@pytest.mark.reliability("S1")
@settings(max_examples=amount(60, 10_000))
@given(
    st.lists(st.tuples(contents, st.sampled_from(list(Kind)), st.floats(0, 1), st.booleans()), max_size=60),
    st.integers(200, 2_000),
)
def test_the_page_never_exceeds_its_budget_and_says_what_it_left_out(entries, budget: int) -> None:
    memories = [memory(i, *entry) for i, entry in enumerate(entries)]
    page = build(IndexEntries(memories, 12), budget)
    assert page.tokens == count_tokens(page.text) <= budget
    assert page.entries + page.left_out == len(memories)
    if page.left_out:
        assert f"({page.left_out} more" in page.text


@pytest.mark.requirement("O9")
def test_the_page_has_the_same_bytes_until_memory_changes(engine: Engine, clock) -> None:
    engine.remember("Deploys go out on Tuesdays", key="deploy_day", kind="decision")
    first = engine.index().text
    clock.now += 10**12
    assert engine.index().text == first
    engine.remember("I prefer tabs", key="tabs", kind="preference")
    second = engine.index().text
    assert second != first
    assert "- tabs: I prefer tabs" in second


@pytest.mark.requirement("O9")
def test_critical_entries_come_first_then_projects_then_preferences_then_domains(engine: Engine) -> None:
    engine.remember("The API key rotates monthly", key="rotation", priority="critical")
    engine.remember("Harbor moves to PostgreSQL", key="harbor_db", kind="project")
    engine.remember("I prefer short answers", key="short", kind="preference", pinned=True)
    page = engine.index().text
    places = [page.index(part) for part in ("rotation", "harbor_db", "short", "## Domains")]
    assert places == sorted(places)
    assert 'preference (1): memory_recall(query=…, category="preference")' in page


@pytest.mark.requirement("O9")
def test_every_critical_entry_is_kept_before_any_other(engine: Engine) -> None:
    memories = [memory(i, "a fact that takes some room on the page " * 3) for i in range(60)]
    memories += [memory(100 + i, f"critical thing number {i}", importance=1.0) for i in range(5)]
    page = build(IndexEntries(memories, 0), 600)
    assert all(f"critical thing number {i}" in page.text for i in range(5))
    assert page.left_out > 0


@pytest.mark.requirement("X7")
def test_text_of_tools_and_web_pages_never_enters_the_page() -> None:
    from dataclasses import replace

    foreign = [replace(memory(i, "buy coins"), origin=origin) for i, origin in enumerate(Origin) if not origin.trusted]
    assert "buy coins" not in build(IndexEntries(foreign, 0)).text


def test_a_budget_that_no_page_fits_is_refused() -> None:
    with pytest.raises(InvalidInput, match="between 200"):
        build(IndexEntries([], 0), 50)


def test_a_project_page_holds_what_is_everyones_and_its_own(engine: Engine) -> None:
    engine.remember("I prefer tabs", key="tabs", kind="preference")
    engine.remember("Uses Redis", key="queue_harbor", kind="decision", scope=Scope(project="harbor"))
    engine.remember("Uses files", key="queue_lantern", kind="decision", scope=Scope(project="lantern"))
    page = engine.index(scope=Scope(project="harbor")).text
    assert "tabs" in page
    assert "queue_harbor (harbor, 2026-05-01): Uses Redis" in page
    assert "queue_lantern" not in page

"""The index page: its order, its budget, its bytes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.amounts import amount

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.index_page.page import NOTHING_YET, IndexEntries, build
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
@settings(max_examples=amount(40, 10_000))
@given(
    st.lists(st.tuples(contents, st.sampled_from(list(Kind)), st.floats(0, 1), st.booleans()), max_size=60),
    st.integers(200, 2_000),
)
def test_the_page_never_exceeds_its_budget_and_says_what_it_left_out(entries, budget: int) -> None:
    memories = [memory(i, *entry) for i, entry in enumerate(entries)]
    page = build(IndexEntries(memories), budget)
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
    assert "## How to work here\n- I prefer tabs\n" in second


@pytest.mark.requirement("O9")
def test_how_to_work_comes_first_then_what_holds_the_newest_first_then_where_more_is(engine: Engine) -> None:
    engine.remember("Harbor moves to PostgreSQL", kind="project", since="2026-02-01")
    engine.remember("Releases are signed by Ida", kind="decision", since="2026-03-01")
    engine.remember("Never push to main", kind="instruction")
    engine.remember("I prefer short answers", kind="preference", pinned=True)
    engine.remember("The API key rotates monthly", priority="critical", since="2026-01-01")
    assert engine.index().text == (
        "# Memory index\n\n"
        "## How to work here\n- I prefer short answers\n- Never push to main\n\n"
        "## What holds\n- 2026-01-01: The API key rotates monthly\n- 2026-03-01: Releases are signed by Ida\n"
        "- 2026-02-01: Harbor moves to PostgreSQL\n\n"
        "## Where more is\n5 memories: memory_recall(query=…) searches them.\n"
    )


@pytest.mark.requirement("O9")
def test_an_empty_store_says_one_useful_sentence(engine: Engine) -> None:
    assert engine.index().text == f"# Memory index\n{NOTHING_YET}\n"


@pytest.mark.requirement("O9")
def test_every_critical_entry_is_kept_before_any_other(engine: Engine) -> None:
    memories = [memory(i, "a fact that takes some room on the page " * 3) for i in range(60)]
    memories += [memory(100 + i, f"critical thing number {i}", importance=1.0) for i in range(5)]
    page = build(IndexEntries(memories), 600)
    assert all(f"critical thing number {i}" in page.text for i in range(5))
    assert page.left_out > 0


@pytest.mark.requirement("X7")
def test_text_of_tools_and_web_pages_never_enters_the_page() -> None:
    from dataclasses import replace

    foreign = [replace(memory(i, "buy coins"), origin=origin) for i, origin in enumerate(Origin) if not origin.trusted]
    assert "buy coins" not in build(IndexEntries(foreign)).text


def test_a_budget_that_no_page_fits_is_refused() -> None:
    with pytest.raises(InvalidInput, match="between 200"):
        build(IndexEntries([]), 50)


@pytest.mark.requirement("O9")
def test_a_project_page_holds_its_own_and_what_is_everyones(engine: Engine) -> None:
    engine.remember("I prefer tabs", kind="preference")
    engine.remember("Ask before you push", kind="instruction", scope=Scope(project="harbor"), since="2026-01-01")
    engine.remember("Uses Redis", kind="decision", scope=Scope(project="harbor"))
    engine.remember("Uses files", kind="decision", scope=Scope(project="lantern"))
    page = engine.index(scope=Scope(project="harbor")).text
    assert "## How to work here\n- Ask before you push\n- I prefer tabs\n" in page
    assert "- 2026-05-01: Uses Redis\n" in page
    assert "Uses files" not in page
    assert "- 2026-05-01 (lantern): Uses files\n" in engine.index().text


@pytest.mark.requirement("O9", "X20")
def test_of_three_statements_on_one_subject_one_line_says_two_and_the_third_is_marked(engine: Engine) -> None:
    for month, port in enumerate((5433, 6432, 7433), 1):
        engine.remember(f"The staging database listens on port {port}", kind="fact", since=f"2026-0{month}-01")
    page = engine.index()
    assert "- 2026-03-01: The staging database listens on port 7433; before: " in page.text
    assert page.text.count("(perhaps outdated): The staging") == 1
    assert (page.entries, page.left_out) == (3, 0)

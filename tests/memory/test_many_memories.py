"""Lists, the index page and the review of a store with many memories: they read a part and say the same as all of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from tests.cases import each_case
from tests.databases import Database

from benchmarks.fill_memories import PROJECTS, RARE_TAG, TAGS, fill_memories
from picomem import open as open_memory
from picomem.engine.current_index_page import index_account
from picomem.engine.engine import Engine
from picomem.index_page.page import IndexEntries, account, build
from picomem.operations.reviewing import ReviewResult, WaitingView
from picomem.operations.showing import MemoriesResult
from picomem.operations.table import operation
from picomem.records.memory import Memory
from picomem.records.scope import Scope

COUNT = 1_200


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, database: Database) -> Iterator[Engine]:
    db: Path = tmp_path_factory.mktemp("many") / "memory.db"
    with closing(database.connect(db)) as connector:
        fill_memories(connector, "local", COUNT)
    with open_memory(database.named(db), embedder="none") as engine:
        yield engine
    database.forget(db.parent)


@pytest.mark.requirement("O9")
@each_case("budget", [200, 1_500, 20_000])
@each_case("project", ["", PROJECTS[0]])
def test_the_index_page_is_that_of_all_memories(filled: Engine, budget: int, project: str) -> None:
    scope = Scope("local", project=project)
    visible = [memory for memory in filled.memories() if not project or memory.scope.project in ("", project)]
    page = build(IndexEntries(visible, project=project), budget)
    for _ in range(2):  # made, and kept
        assert filled.index(budget=budget, scope=scope) == page
    assert page.left_out > 0


@pytest.mark.requirement("O9")
def test_the_account_of_the_index_page_is_that_of_all_memories(filled: Engine) -> None:
    whole, part = account(IndexEntries(filled.memories())), index_account(filled, Scope("local"), None, 200)
    assert part.page == whole.page
    assert part.lines == whole.lines
    assert part.omitted == whole.omitted[:200]


@pytest.mark.requirement("O14")
@each_case(
    "filters",
    [{}, {"kind": "decision"}, {"origin": "web"}, {"tag": TAGS[0]}, {"tag": RARE_TAG}, {"project": PROJECTS[1]}],
    ids=str,
)
@each_case("archived", [False, True])
def test_pages_of_a_list_hold_everything_once_in_order(filled: Engine, filters: dict[str, str], archived: bool) -> None:
    listed = _all_pages(filled, filters, archived=archived)
    wanted = [memory for memory in filled.memories(archived=archived) if _passes(memory, **filters)]
    assert [(view.id, view.version) for view in listed] == [(m.id, m.version) for m in sorted(wanted, key=_order)]


def _all_pages(engine: Engine, filters: dict[str, str], *, archived: bool) -> list:
    verb, cursor, listed = operation("memories"), "", []
    while True:
        page = verb.call(engine, verb.request(limit=37, archived=archived, cursor=cursor, **filters))
        assert isinstance(page, MemoriesResult)
        listed += page.memories
        cursor = page.cursor
        if not cursor:
            assert page.left_out == 0
            return listed
        rest = verb.call(engine, verb.request(limit=1_000_000, archived=archived, cursor=cursor, **filters))
        assert page.left_out == len(rest.memories)


def _passes(memory: Memory, kind: str = "", origin: str = "", tag: str = "", project: str = "") -> bool:
    return (
        kind in ("", memory.kind)
        and origin in ("", memory.origin)
        and (not tag or tag in memory.tags)
        and (not project or memory.scope.project in ("", project))
    )


def _order(memory: Memory) -> tuple:
    return not memory.pinned, -memory.importance, -memory.known_from, memory.key, memory.id, memory.version


@pytest.mark.requirement("O16")
def test_pages_of_the_review_hold_everything_once_in_order(filled: Engine) -> None:
    verb, cursor = operation("review"), ""
    waiting: list[WaitingView] = []
    while True:
        page = verb.call(filled, verb.request(untrusted=True, limit=7, cursor=cursor))
        assert isinstance(page, ReviewResult)
        waiting += page.waiting
        cursor = page.cursor
        if not cursor:
            break
    believed = filled.memories()
    groups = [0 if item.older else 1 for item in waiting]
    pairs = sum(1 for memory in believed if memory.contradicts)
    from_others = sum(1 for memory in believed if not memory.origin.trusted)
    assert [groups.count(group) for group in range(2)] == [pairs, from_others]
    assert min(pairs, from_others) > 1
    assert groups == sorted(groups)
    assert len({(item.memory.id, item.older.id if item.older else "") for item in waiting}) == len(waiting)
    for one, other in pairwise(waiting):
        if (one.older is None) == (other.older is None):
            assert one.memory.known_from >= other.memory.known_from


@pytest.mark.requirement("O16")
def test_the_counts_of_the_status_are_those_of_all_memories(filled: Engine) -> None:
    status = filled.status()
    believed = filled.memories()
    assert sum(status.memories.values()) == len(believed) == COUNT
    assert status.archived == len(filled.memories(archived=True)) == COUNT // 20

"""Lists by pages, through the operations."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from picomem.engine.engine import Engine
from picomem.errors import InvalidInput
from picomem.operations.paging import page_of
from picomem.operations.table import operation


@given(st.sets(st.tuples(st.integers(), st.text())), st.integers(1, 7))
def test_pages_joined_are_the_list(items: set[tuple[int, str]], limit: int) -> None:
    ordered = sorted(items)
    joined: list[tuple[int, str]] = []
    cursor = ""
    while True:
        page, cursor = page_of(ordered, lambda item: item, cursor, limit)
        assert len(page) <= limit
        joined += page
        if not cursor:
            break
    assert joined == ordered


@pytest.mark.requirement("O14")
def test_memories_come_by_pages_that_neither_repeat_nor_hide_one(engine: Engine) -> None:
    for number in range(25):
        engine.remember(f"Mooring {number} belongs to the ferry of line {number}", key=f"mooring_{number}")
    listing = operation("memories")
    first = listing.call(engine, listing.request(limit=10))
    assert (len(first.memories), first.left_out) == (10, 15)
    # One that was listed goes, and a more important one comes: neither is of the next page.
    engine.forget(first.memories[3].key)
    engine.remember("The harbour closes at ten in the evening", key="harbour", importance=1.0)
    keys = [memory.key for memory in first.memories]
    cursor = first.cursor
    while cursor:
        page = listing.call(engine, listing.request(limit=10, cursor=cursor))
        keys += [memory.key for memory in page.memories]
        cursor = page.cursor
    assert sorted(keys) == sorted(f"mooring_{number}" for number in range(25))
    assert page.left_out == 0


def test_changes_come_by_pages(engine: Engine) -> None:
    for number in range(7):
        engine.remember(f"Mooring {number} belongs to the ferry of line {number}", key=f"mooring_{number}")
    engine.revise("mooring_3", "Mooring 3 belongs to nobody")
    listing = operation("changes")
    for arguments, expected in (({}, 8), ({"name": "mooring_3"}, 2)):
        ids: list[str] = []
        cursor = ""
        while True:
            page = listing.call(engine, listing.request(limit=3, cursor=cursor, **arguments))
            ids += [listed.change.id for listed in page.changes]
            cursor = page.cursor
            if not cursor:
                break
        assert ids == sorted(set(ids), reverse=True)
        assert len(ids) == expected


@pytest.mark.parametrize("cursor", ["x", "W10", "bnVsbA", "é", "[1]", "WzEsIDJd"])
def test_a_cursor_that_no_page_gave_is_refused(engine: Engine, cursor: str) -> None:
    engine.remember("The harbour closes at ten in the evening", key="harbour")
    listing = operation("memories")
    with pytest.raises(InvalidInput, match="is not a cursor"):
        listing.call(engine, listing.request(cursor=cursor))

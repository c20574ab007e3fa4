"""A test that needs the SQLite file says so, and why; every other test runs on any database."""

from __future__ import annotations

import pytest
from tests import sqlite_needs
from tests.databases import problem


@pytest.mark.requirement("X11")
def test_what_needs_the_sqlite_file_is_marked() -> None:
    unmarked = [f"{test.file}::{test.name}" for test in sqlite_needs.tests() if test.needs and not test.is_marked]
    assert unmarked == []


@pytest.mark.requirement("X11")
def test_the_page_of_what_runs_on_sqlite_alone_is_the_one_that_the_marks_render() -> None:
    page = (sqlite_needs.TESTS / "sqlite-tests.md").read_text("utf-8")
    assert page == sqlite_needs.render()


def test_the_mark_takes_a_reason() -> None:
    mark = pytest.mark.sqlite_file
    assert problem(mark("flips bits of the file").mark) == ""
    for wrong in (mark(), mark(""), mark(1), mark("one", "two"), mark(reason="by name")):
        assert problem(wrong.mark) != ""

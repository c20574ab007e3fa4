"""One server for each module of tests, on a store with something in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.gateway.serving import Served, serving

from .serving_pages import browser_path, close_browser
from .stored_examples import fill_examples


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """End the browser, which the first test that needs it starts, with the last test of this folder in a row."""
    if nextitem is None or nextitem.path.parent != Path(__file__).parent:
        close_browser()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a store with examples, of which the user `empty` has none."""
    browser_path()
    db: Path = tmp_path_factory.mktemp("pages") / "memory.db"
    fill_examples(db)
    with serving(db) as running:
        yield running

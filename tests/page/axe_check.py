"""Accessibility of a page, as axe-core sees it."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page


def assert_accessible(page: Page, where: str) -> None:
    """Fail with what axe found, and where a page scrolls sideways."""
    result = Axe().run(page)
    said = [
        f"{violation['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for violation in result.response["violations"]
        for node in violation["nodes"]
    ]
    assert not said, (where, said)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, (where, wide)

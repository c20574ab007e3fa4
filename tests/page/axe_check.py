"""Accessibility of a page, as axe-core sees it, in the themes that are asked for."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_AXE = Axe()
_RULES: tuple[dict[str, Any], dict[str, Any]] = (
    {"resultTypes": ["violations"]},
    {"resultTypes": ["violations"], "runOnly": ["color-contrast"]},  # all that another theme changes is the colours
)


def assert_accessible(page: Page, where: str, *, only_colours: bool = False) -> None:
    """Fail with what axe found, and where a page scrolls sideways. `only_colours` is for a page that was looked at, and
    has another theme now."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(_AXE.axe_script)
    result = page.evaluate("options => axe.run(options)", _RULES[only_colours])
    said = [
        f"{violation['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]
    assert not said, (where, said)
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0, (where, wide)

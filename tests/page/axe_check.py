"""Accessibility of a page, as axe-core sees it."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

_RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def check_accessible(page: Page) -> None:
    """Fail with what axe finds against a page as it is now."""
    violations = Axe().run(page, options=_RULES).response["violations"]
    assert not violations, "\n".join(
        f"{rule['id']}: {rule['help']}: {[node['html'][:200] for node in rule['nodes'][:3]]}" for rule in violations
    )

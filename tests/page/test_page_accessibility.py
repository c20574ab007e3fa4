"""Every view in light and dark, on a desktop and a phone: axe finds nothing, and nothing is wider than the window."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect
from tests.gateway.serving import Served

from picomem.page.view_table import VIEWS

from .axe_check import assert_accessible
from .serving_pages import DESKTOP, PHONE, browsing, code_for, signed_in

PATHS = (
    "/",
    "/search?q=which+port+does+staging+use&weak=1",
    "/search?q=zzzz&project=none",
    "/memories",
    "/memories?archived=1",
    "/memory/tea",
    "/memory/tea?edit=1",
)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PATHS += tuple(view.path for view in VIEWS if "{" not in view.path and view.path not in PATHS)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing(pages: Served, size: dict[str, int]) -> None:
    with signed_in(pages.url, pages.db, viewport=size, reduced_motion="reduce") as page:
        for path in PATHS:
            page.goto(path)
            assert_accessible_in_both_themes(page, path)
        if size is DESKTOP:
            page.goto("/memories")
            page.locator("#list .row-text").first.click()
            expect(page.locator("#detail h1")).to_be_visible()
            page.keyboard.press("?")
            assert_accessible_in_both_themes(page, "pane and keys")


def assert_accessible_in_both_themes(page: Page, where: str) -> None:
    """Fail with what axe found in light or in dark; the page is loaded once for both."""
    backgrounds = set()
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        backgrounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        assert_accessible(page, f"{where} {theme}", only_colours=len(backgrounds) > 1)
    assert len(backgrounds) == len(THEMES)


def test_axe_finds_nothing_where_nobody_is_signed_in_or_nothing_is_stored(pages: Served) -> None:
    with browsing(pages.url, locale="zh-CN") as context:
        page = context.new_page()
        page.goto("/memories")
        assert_accessible(page, "sign in")
        page.goto(f"/sign-in#{code_for(pages.db, 'empty')}")
        for path in ("/", "/memories", "/memory/none"):
            expect(page.get_by_role("searchbox")).to_be_visible()
            page.goto(path)
            assert_accessible(page, path)


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_every_view_can_be_reached_on_a_phone(pages: Served, language: str) -> None:
    with signed_in(pages.url, pages.db, viewport=PHONE, locale=language) as page:
        page.goto("/memory/tea?edit=1")
        links = page.locator(".rail a:visible, .rail summary")
        assert links.count() == sum(1 for view in VIEWS if view.is_tab) + 1 == 5
        assert all(text.strip() for text in links.all_inner_texts())
        for place in range(links.count()):
            box = links.nth(place).bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"], links.nth(place).inner_text()
            assert box["width"] >= 24, links.nth(place).inner_text()
        page.locator(".rail summary").click()
        further = page.locator(".menu-views a")
        assert further.count() == sum(1 for view in VIEWS if view.icon and not view.is_tab)
        for place in range(further.count()):
            expect(further.nth(place)).to_be_in_viewport()
        page.locator(".rail summary").click()
        box = page.locator("input[name=correct]").bounding_box()
        assert box
        assert box["width"] <= 24

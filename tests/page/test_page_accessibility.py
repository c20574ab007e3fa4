"""Every view in light and dark, on a desktop and a phone: axe finds nothing, and nothing is wider than the window."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect
from tests.gateway.serving import Served

from picomem.page.view_table import VIEWS

from .axe_check import assert_accessible
from .serving_pages import DESKTOP, PHONE, browsing, code_for, signed_in

pytestmark = pytest.mark.sqlite_file("serves a file, which other processes use as well")

PATHS = (
    "/",
    "/search?q=which+port+does+staging+use&weak=1",
    "/search?q=zzzz&project=none",
    "/memories",
    "/memories?archived=1",
    "/memory/tea",
    "/memory/tea?edit=1",
)
PATHS += tuple(view.path for view in VIEWS if "{" not in view.path and view.path not in PATHS)
LOOKS = [(theme, size) for theme in ("light", "dark") for size in (DESKTOP, PHONE)]


@pytest.mark.parametrize(("theme", "size"), LOOKS, ids=[f"{theme}-{size['width']}" for theme, size in LOOKS])
def test_axe_finds_nothing(pages: Served, theme: str, size: dict[str, int]) -> None:
    with signed_in(pages.url, pages.db, color_scheme=theme, viewport=size) as page:
        for path in PATHS:
            page.goto(path)
            assert_accessible(page, f"{path} {theme}")
        if size is DESKTOP:
            page.goto("/memories")
            page.locator("a.key").first.click()
            expect(page.locator("#detail h1")).to_be_visible()
            page.keyboard.press("?")
            assert_accessible(page, f"pane and keys {theme}")


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
        links = page.locator(".rail a, .rail summary")
        assert links.count() == sum(1 for view in VIEWS if view.icon) + 1
        for place in range(links.count()):
            box = links.nth(place).bounding_box()
            assert box
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= PHONE["width"], links.nth(place).inner_text()
            assert box["width"] >= 24, links.nth(place).inner_text()
        box = page.locator("input[name=correct]").bounding_box()
        assert box
        assert box["width"] <= 24

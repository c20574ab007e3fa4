"""The search view in a browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect
from tests.databases import open_memory
from tests.gateway.serving import Served

from .serving_pages import DESKTOP, PHONE, READ_ONLY, browsing, code_for, sign_in, signed_in, signed_in_client
from .stored_examples import fill_examples


def test_results_come_while_typing_and_the_address_can_be_shared(pages: Served) -> None:
    with signed_in(pages.url, pages.db) as page:
        page.goto("/")
        page.get_by_role("searchbox").press_sequentially("staging port")
        expect(page.locator("#results .hit").first).to_contain_text("5433")
        expect(page).to_have_url(re.compile(r"/search\?q=staging\+port$"))
        expect(page.locator("mark").first).to_be_visible()
        expect(page.get_by_role("searchbox")).to_be_focused()
        expect(page.get_by_role("status").first).to_contain_text("results")
        page.goto(page.url)
        expect(page.locator("#results .hit").first).to_contain_text("5433")
        page.get_by_role("searchbox").fill("why is the queue slow")
        # The answer, and not the question that was asked then.
        expect(page.locator("#results .hit").first).to_contain_text("Because the weekly report")
        expect(page.locator(".asked summary").first).to_contain_text("question of yours")


def test_an_answer_explains_itself(pages: Served) -> None:
    with signed_in(pages.url, pages.db) as page:
        page.goto("/search?q=which+port+does+staging+use")
        account = page.locator(".account")
        account.locator("summary").click()
        expect(account).to_contain_text("memories by words")
        expect(account).to_contain_text(re.compile(r"\d+ %"))
        page.locator(".why summary").first.click()
        bar = page.get_by_role("img", name=re.compile(r"Score .*words \d"))
        expect(bar.first).to_be_visible()
        expect(page.get_by_role("heading", name=re.compile("Which port does the staging"))).to_be_visible()
        page.goto("/search?q=what+was+said+in+April+2026+about+the+queue")
        expect(page.get_by_text("Looked at")).to_contain_text("2026-04-01")


def test_filters_narrow_the_answer_and_stand_in_the_address(pages: Served) -> None:
    with signed_in(pages.url, pages.db) as page:
        page.goto("/search?q=port")
        expect(page.locator(".hit")).not_to_have_count(0)
        page.get_by_text("Filters", exact=True).click()
        page.get_by_label("Origin").select_option("web")
        expect(page.locator(".hit")).to_have_count(1)
        expect(page.locator(".hit .origin-web")).to_have_text("web")
        expect(page).to_have_url(re.compile("origin=web"))
        page.goto("/search?q=tea&kind=preference&as_of=2020-01-01")
        expect(page.get_by_text("Nothing was found")).to_be_visible()
        page.get_by_role("link", name="Clear filters").click()
        expect(page.locator(".hit").first).to_contain_text("tea")


def test_a_filter_that_cannot_be_read_takes_the_place_of_the_results(pages: Served) -> None:
    """The results before it would stand there as if they were of that time."""
    with browsing(pages.url) as context:
        page = context.new_page()  # not watched: the console tells of the refusal
        sign_in(page, code_for(pages.db))
        page.goto("/search?q=port")
        page.get_by_text("Filters", exact=True).click()
        believed = page.get_by_label("Believed on")
        believed.fill("2026-4x")
        expect(page.locator("#results .warning")).to_contain_text("cannot be read as a time")
        expect(page.locator("#results .hit")).to_have_count(0)
        expect(page.locator("#search-said")).to_contain_text("cannot be read as a time")
        believed.fill("")
        expect(page.locator("#results .hit")).not_to_have_count(0)


def test_the_count_above_the_results_is_of_those_shown(pages: Served) -> None:
    with open_memory(pages.db, user="counted", embedder="none") as memory:
        for number in range(20):
            memory.remember(f"Mooring {number} holds boat {number * 7}", key=f"mooring_{number}")
    with signed_in_client(pages, user="counted") as client:
        address = "/search?q=which+boat+does+mooring+7+hold"
        folding, whole = (client.get(path).text for path in (address, f"{address}&weak=1"))
    (weaker,) = re.findall(r"(\d+) weaker results?<", folding)
    counts = [int(re.findall(r"<strong>(\d+) results?<", text)[0]) for text in (folding, whole)]
    assert counts == [len(re.findall(r'<li class="hit[ "]', text)) for text in (folding, whole)]
    assert counts[0] + int(weaker) == counts[1]
    assert "weaker result" not in whole


def test_without_scripts_the_search_is_a_form(pages: Served) -> None:
    with signed_in(pages.url, pages.db, java_script_enabled=False) as page:
        page.goto("/")
        page.get_by_role("searchbox").fill("备份")
        page.get_by_role("searchbox").press("Enter")
        expect(page.locator(".hit").first).to_contain_text("凌晨三点")


def test_an_empty_store_says_what_to_do_first(pages: Served) -> None:
    with signed_in(pages.url, pages.db, user="empty") as page:
        page.goto("/")
        expect(page.get_by_role("heading", name="Nothing is remembered yet")).to_be_visible()
        expect(page.get_by_text("picomem ingest")).to_be_visible()
        expect(page.get_by_role("button", name="Copy")).to_have_count(3)


def test_the_page_speaks_chinese_and_can_be_set(pages: Served) -> None:
    with signed_in(pages.url, pages.db, permissions=READ_ONLY, locale="zh-CN") as page:
        page.goto("/")
        page.locator("summary[aria-label='更多']").click()
        page.get_by_label("语言").select_option("en")
        page.get_by_label("配色").select_option("dark")
        page.get_by_role("button", name="应用").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.get_by_role("navigation", name="Views")).to_be_visible()


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_answer_is_found_in_two_keys_after_typing_and_corrected_from_its_hit(
    pages: Served, size: dict[str, int]
) -> None:
    """Issue 41: two of its stories, by keyboard alone."""
    user = f"stories-{size['width']}"
    fill_examples(pages.db, user)
    with signed_in(pages.url, pages.db, user=user, viewport=size) as page:
        page.goto("/")
        page.keyboard.type("staging port")
        page.keyboard.press("Enter")
        expect(page.locator("#results .hit").first).to_contain_text("5433")
        page.wait_for_load_state()  # the hits are there before the script that moves in them
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        text = page.locator(".memory-text")
        expect(text).to_contain_text("5433")
        page.goto("/search?q=staging+port")
        page.keyboard.press("ArrowDown")
        expect(page.locator("#results .hit").first).to_be_focused()
        page.keyboard.press("e")
        edited = page.get_by_label("What it says")
        expect(edited).to_be_focused()
        page.keyboard.press("Control+a")
        page.keyboard.type("The staging database listens on port 7432")
        page.get_by_role("button", name="Save a new version").press("Enter")
        expect(text).to_have_text("The staging database listens on port 7432")


def test_memories_stand_above_sessions_and_own_questions_are_folded(pages: Served) -> None:
    """Issue 41, point 4."""
    with signed_in_client(pages) as client:
        text = client.get("/search?q=which+port+does+the+staging+database+use&weak=1").text
    assert text.index('class="hit hit-memory') < text.index('class="hit hit-episode')
    folded = re.findall(r'<details class="asked"(.*?)</section>', text, re.DOTALL)
    assert any("after the move?" in part for part in folded)

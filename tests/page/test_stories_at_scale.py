"""Each view as a story, by keyboard alone: on a store with many memories, and on one with none; on a desktop in the
light and on a phone in the dark. `SOAK=1` makes them 100,000 and shows both looks on both."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.amounts import amount
from tests.gateway.serving import Served, serving

from benchmarks.fill_memories import TAGS, fill_memories
from picomem import open as open_memory
from picomem.page.view_table import VIEWS
from picomem.store.sqlite.connector import SqliteConnector

from .axe_check import assert_accessible
from .serving_pages import DESKTOP, PHONE, browser_path, signed_in
from .stored_examples import fill_examples
from .stored_sessions import fill_sessions

pytestmark = pytest.mark.sqlite_file("serves a file, which other processes use as well")

LOOKS = [("light", DESKTOP), ("dark", PHONE)]
if os.environ.get("SOAK"):
    LOOKS += [("dark", DESKTOP), ("light", PHONE)]
IDS = [f"{theme}-{size['width']}" for theme, size in LOOKS]
COUNT = amount(3_000, 100_000)
EXAMPLES = 6
PURGE_MS = 120_000  # what goes with a session is looked for in every memory
EMPTY = "nobody"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a store with many memories, some sessions, and a user who has nothing."""
    browser_path()
    db: Path = tmp_path_factory.mktemp("many") / "memory.db"
    fill_examples(db)
    fill_sessions(db)
    with closing(SqliteConnector(db)) as connector:
        fill_memories(connector, "local", COUNT)
    with serving(db) as running:
        yield running


@pytest.fixture(scope="module", params=LOOKS, ids=IDS)
def page(many: Served, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of the user who has much."""
    theme, size = request.param
    with signed_in(many.url, many.db, color_scheme=theme, viewport=size) as opened:
        opened.goto("/")
        yield opened


def go(page: Page, key: str) -> None:
    """Go to a view by its keys, from wherever the focus is, and wait until it takes keys itself."""
    page.wait_for_load_state()  # a page that is still loading shows its text before it listens to keys
    for pressed in ("Escape", "Escape", "g"):
        page.keyboard.press(pressed)
    with page.expect_navigation():
        page.keyboard.press(key)


def is_phone(page: Page) -> bool:
    return (page.viewport_size or DESKTOP)["width"] == PHONE["width"]


@pytest.mark.requirement("O16")
def test_search_finds_and_opens_the_source(page: Page) -> None:
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("why is the queue slow on mondays")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_contain_text("queue")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hit").first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The passage:").first).to_be_attached()


@pytest.mark.requirement("O9", "O16")
def test_the_agent_view_shows_the_page_within_its_budget(page: Page) -> None:
    go(page, "a")
    expect(page.locator(".index-entry").first).to_be_visible()
    expect(page.get_by_role("heading", name=re.compile("Did not fit: "))).to_be_visible()
    expect(page.get_by_text("And ").last).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator(".index-entry").first).to_be_focused()


@pytest.mark.requirement("O14", "O16")
def test_memories_are_paged_edited_archived_and_taken_back(page: Page) -> None:
    go(page, "m")
    rows = page.locator("#list li[data-item]")
    expect(rows).to_have_count(50)
    first = rows.first.get_attribute("id")
    page.keyboard.press("n")
    expect(rows.first).not_to_have_id(first or "")
    expect(rows).to_have_count(50)
    for key in ("j", "j"):
        page.keyboard.press(key)
    expect(rows.nth(1)).to_be_focused()
    key = (rows.nth(1).locator("input[name=id]").get_attribute("aria-label") or "").removeprefix("Choose ")
    page.keyboard.press("x")
    expect(page.locator(".toast")).to_contain_text(f"Archived: {key}")
    expect(page.get_by_label(f"Choose {key}", exact=True)).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_contain_text(f"Undone: {key}")
    page.goto(f"/memory/{key}")
    expect(page.get_by_text("This is not believed any more")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    text = page.get_by_label("What it says")
    expect(text).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.type(f"The harbour master rewrote {key}")
    page.get_by_role("button", name="Save a new version").press("Enter")
    expect(page.locator("ins").first).to_be_visible()
    expect(page.locator(".memory-text")).to_have_text(f"The harbour master rewrote {key}")
    page.keyboard.press("u")
    expect(page.locator(".memory-text")).not_to_have_text(f"The harbour master rewrote {key}")


@pytest.mark.requirement("O14")
def test_a_filter_and_the_archived_memories_have_pages_too(page: Page) -> None:
    page.goto(f"/memories?tag={TAGS[0]}")
    rows = page.locator("#list li[data-item]")
    expect(rows).to_have_count(50)
    for tags in rows.locator(".chips").all_inner_texts():
        assert f"#{TAGS[0]}" in tags
    page.goto("/memories?archived=1")
    expect(rows).to_have_count(50)
    page.keyboard.press("n")
    expect(page.get_by_role("link", name="First page")).to_be_visible()


@pytest.mark.requirement("O14", "O16")
def test_the_timeline_opens_an_episode_in_its_transcript(page: Page) -> None:
    go(page, "t")
    entries = page.locator("#timeline .entry")
    expect(entries.first).to_be_visible()
    page.keyboard.press("j")
    expect(entries.first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator(".said-text").first).to_be_visible()


@pytest.mark.requirement("X3", "O16")
@pytest.mark.parametrize(("key", "group"), [("k", 0), ("m", 0), ("r", 0), ("x", 0), ("x", 1)])
def test_the_review_decides_by_a_key_and_takes_it_back(page: Page, key: str, group: int) -> None:
    if group:
        page.goto("/review")
        while not page.locator(".review-entry:not(.is-pair)").count():
            page.locator('a[rel="next"]').press("Enter")
            page.wait_for_load_state()
    else:
        go(page, "r")
    entry = page.locator(".review-entry.is-pair" if not group else ".review-entry:not(.is-pair)").first
    name = entry.get_attribute("id") or ""
    entry.focus()
    page.keyboard.press(key)
    expect(page.locator(".toast")).to_contain_text("Decided: ")
    expect(page.locator(f"[id='{name}']")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator(f"[id='{name}']")).to_be_visible()


@pytest.mark.requirement("P10")
def test_a_session_is_purged_with_its_certificate(page: Page) -> None:
    page.goto("/purge")
    page.keyboard.press("Escape")
    chosen = page.locator("li[data-item]").last
    chosen.focus()
    page.keyboard.press("Enter")
    word = page.get_by_label("Type")
    word.wait_for(timeout=PURGE_MS)
    word.focus()
    page.keyboard.type("purge")
    page.get_by_role("button", name="Yes").press("Enter", timeout=PURGE_MS)  # the answer comes after the purge
    expect(page.get_by_role("heading", name="Proof")).to_be_visible(timeout=PURGE_MS)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the certificate").press("Enter")
    assert json.loads(download.value.path().read_text("utf-8"))["user"] == "local"


@pytest.mark.requirement("O16")
def test_health_counts_everything(many: Served, page: Page) -> None:
    go(page, "y")
    with open_memory(many.db, embedder="none") as memory:
        believed = sum(memory.status().memories.values())
    assert believed >= COUNT + EXAMPLES
    expect(page.locator(".figures")).to_contain_text(f"{believed:,} memories")


@pytest.mark.requirement("X5")
@pytest.mark.parametrize("look", LOOKS, ids=IDS)
def test_every_view_of_an_empty_store_says_what_to_do_first(many: Served, look: tuple[str, dict[str, int]]) -> None:
    theme, size = look
    with signed_in(many.url, many.db, user=EMPTY, color_scheme=theme, viewport=size) as page:
        page.goto("/")
        for view in VIEWS:
            if not view.icon or not view.key:
                continue
            go(page, view.key)
            expect(page).to_have_url(re.compile(f"{view.path}$"))
            expect(page.locator(".empty, .empty-note, .figures").first).to_be_visible()
            assert_accessible(page, f"{view.path} {theme}")

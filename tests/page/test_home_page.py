"""Home: what holds in a project, what its last sessions came to, what changed, and what waits. Issue 41, point 1."""

from __future__ import annotations

import re

from playwright.sync_api import expect
from tests.databases import open_memory
from tests.gateway.serving import Served

from picomem.operations.table import operation

from .serving_pages import PHONE, READ_ONLY, signed_in, signed_in_client
from .stored_sessions import BEGIN, write_session


def test_home_shows_what_holds_in_the_project_of_the_latest_session(pages: Served) -> None:
    said = [("user", "Remember that releases go out on Tuesdays"), ("assistant", "I will remember it.")]
    path = write_session(pages.db.parent / "home.jsonl", "8463c716-aaaa", "harbor", said, BEGIN)
    with open_memory(pages.db, user="home", embedder="none") as memory:
        for verb, fields in (
            ("ingest", {"paths": (str(path),)}),
            ("remember", {"content": "We decided on PostgreSQL", "kind": "decision", "project": "harbor"}),
            ("remember", {"content": "The yard uses MySQL", "kind": "decision", "project": "yard"}),
            ("remember", {"content": "The lamp is red", "key": "lamp"}),
            ("revise", {"name": "lamp", "content": "The lamp is green"}),
        ):
            named = operation(verb)
            named.call(memory, named.request(**fields))
        counted = sum(memory.status().memories.values())
    with signed_in(pages.url, pages.db, user="home") as page:
        page.goto("/")
        expect(page.get_by_role("heading", name="What holds in harbor")).to_be_visible()
        home = page.locator("#home")
        expect(home).to_contain_text(f"{counted} memories · 1 session")
        expect(home).to_contain_text("We decided on PostgreSQL")
        expect(home.locator(".made")).to_have_text("Releases go out on Tuesdays")
        expect(home.locator("ins")).to_have_text("green")
        expect(home.locator("section").first).not_to_contain_text("MySQL")
        page.get_by_role("link", name="yard").first.click()
        expect(home.locator("section").first).to_contain_text("The yard uses MySQL")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        expect(page.locator("#home [data-item]").first).to_be_focused()
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile("/memory/"))


def test_every_view_names_the_product_and_the_store_and_counts_what_waits(pages: Served) -> None:
    """The count is that of Review, which changes with each decision."""
    with open_memory(pages.db, user="badge", embedder="none") as memory:
        verb = operation("remember")
        verb.call(memory, verb.request(content="The vendor page names port 5433", key="vendor", origin="web"))
    with signed_in_client(pages, user="badge") as client:
        for path in ("/", "/memories", "/status", "/review", "/memory/vendor"):
            text = client.get(path).text
            assert ">picomem</a>" in text, path
            assert pages.db.name in text, path
            assert re.findall(r'class="badge"[^>]*>(\d+)', text)[:1] == ["1"], path
        with open_memory(pages.db, user="badge", embedder="none") as memory:
            verb = operation("review")
            assert verb.call(memory, verb.request(count=True)).total == 1
            verb.call(memory, verb.request(name="vendor", verdict="keep"))
        assert 'class="badge"' not in client.get("/memories").text


def test_a_session_that_only_reads_has_a_home_and_no_badge(pages: Served) -> None:
    with signed_in_client(pages, permissions=READ_ONLY) as client:
        answer = client.get("/")
        assert answer.status_code == 200
        assert 'class="badge"' not in answer.text


def test_home_is_one_column_on_a_phone(pages: Served) -> None:
    with signed_in(pages.url, pages.db, viewport=PHONE) as page:
        page.goto("/")
        boxes = [section.bounding_box() for section in page.locator(".columns-of-home > section").all()]
        assert len({box["x"] for box in boxes if box}) == 1


def test_without_scripts_nothing_is_kept_for_a_pane(pages: Served) -> None:
    with signed_in(pages.url, pages.db, java_script_enabled=False) as page:
        page.goto("/memories")
        expect(page.locator("#detail")).to_be_hidden()
        page.locator("#list .row-text").first.click()
        expect(page).to_have_url(re.compile("/memory/"))
        expect(page.locator(".memory-text")).to_be_visible()


def test_nothing_moves_when_something_opens_beside_a_list(pages: Served) -> None:
    """Issue 41, point 3."""
    with signed_in(pages.url, pages.db) as page:
        page.goto("/memories")
        shifts = page.evaluate_handle("""() => {
            const shifts = [];
            new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value)))
                .observe({ type: "layout-shift", buffered: true });
            return shifts;
        }""")
        row = page.locator("#list li").nth(2)
        before = row.bounding_box()
        row.locator(".row-text").click()
        expect(row).to_have_class(re.compile("is-open"))
        expect(page.locator("#detail .memory-text")).to_have_text(row.locator(".row-text").inner_text())
        assert row.bounding_box() == before
        page.keyboard.press("Escape")
        expect(page.locator("#detail .memory-text")).to_have_count(0)
        assert row.bounding_box() == before
        assert sum(shifts.json_value()) < 0.01


def test_buttons_for_many_rest_until_something_is_chosen(pages: Served) -> None:
    """Issue 41, point 8."""
    with signed_in(pages.url, pages.db) as page:
        page.goto("/memories")
        button = page.locator(".bulk").get_by_role("button", name="Archive")
        expect(button).to_be_disabled()
        page.locator("#list input[name=id]").first.check()
        expect(button).to_be_enabled()
        page.locator("#list input[name=id]").first.uncheck()
        expect(button).to_be_disabled()

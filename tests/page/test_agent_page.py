"""What the agent sees: the index page line by line, and what a hook would put beside a prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.databases import open_memory
from tests.gateway.serving import Served, serving

from picomem.hooks.hook_context import context_of
from picomem.hooks.hook_events import HookEvent
from picomem.page.svg_marks import BudgetPart, budget_bar, threshold_bar

from .axe_check import assert_accessible
from .serving_pages import DESKTOP, PHONE, READ_ONLY, signed_in, signed_in_client
from .stored_sessions import HOSTILE

QUESTION = "which database does the billing service use?"


@pytest.fixture(scope="module")
def billing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a store with a project `billing`, and a user `full` whose memories do not fit the index page."""
    db: Path = tmp_path_factory.mktemp("billing") / "memory.db"
    with open_memory(db, project="billing", embedder="none") as memory:
        memory.remember("The billing service uses PostgreSQL 16, because the reports need window functions", kind="decision")  # fmt: skip
        memory.remember("Marit signs off changes to the schema of the billing database", key="schema", kind="fact")
    with open_memory(db, user="full", embedder="none") as memory:
        for number in range(80):
            memory.remember(
                f"Jetty {number} is painted {'blue' * (number % 40 + 1)} by crew {number * 7}", key=f"jetty_{number}"
            )
        for number, text in enumerate(HOSTILE):
            memory.remember(f"The note {number} says {text[:7_000]}", key=f"note_{number}", pinned=True)
    with serving(db) as running:
        yield running


def test_the_index_page_stands_there_line_by_line_with_its_tokens(billing: Served) -> None:
    with signed_in_client(billing, permissions=READ_ONLY) as client:
        page = client.get("/agent").text
        lines = re.findall(r'<li class="index-line[^>]*>.*?</li>', page, re.S)
        with open_memory(billing.db, embedder="none") as memory:
            index = memory.index()
        assert len(lines) == len(index.text.splitlines())
        counted = sum(int(re.findall(r'quiet">(\d+)<', line)[-1]) for line in lines)
        assert abs(counted - index.tokens) <= len(lines)
        assert f"{index.tokens:,} of {index.budget:,} tokens" in page
        assert page.count('class="origin-fill-user"') == 2


def test_what_did_not_fit_is_listed_and_hostile_entries_are_inert(billing: Served) -> None:
    with signed_in_client(billing, user="full") as client:
        page = client.get("/agent").text
        left_out = re.search(r"Did not fit: (\d+) entries", page)
        assert left_out
        assert page.count('<span class="mono key">') == int(left_out[1])
        assert "<script>alert" not in page
        assert not re.search("[\x1b\x07\u202e\u200b]", page)


def test_an_entry_with_a_long_key_begins_beside_its_dash_on_a_narrow_screen(billing: Served) -> None:
    with open_memory(billing.db, user="narrow", embedder="none") as memory:
        memory.remember("The ferry leaves at seven", key="departure_of_the_ferry_" + "in_the_morning" * 2)
    tops = "parts => parts.map(part => part.getClientRects()[0].top)"
    with signed_in(billing.url, billing.db, user="narrow", viewport={"width": 360, "height": 800}) as page:
        page.goto("/agent")
        dash, words = page.locator(".index-entry a span").evaluate_all(tops)
        assert dash == words


def test_a_prompt_gets_what_the_hook_would_give(billing: Served) -> None:
    with open_memory(billing.db, project="billing", embedder="none") as memory:
        block, _ = context_of(memory, HookEvent(name="UserPromptSubmit", folder="/x/billing", prompt=QUESTION))
    assert block
    with signed_in_client(billing) as client:
        page = client.get("/agent", params={"prompt": QUESTION, "project": "billing"}).text
        shown = re.search(r'<pre class="block"[^>]*>(.*?)</pre>', page, re.S)
        assert shown
        assert shown[1].replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'") == block
        for prompt, said in (("continue", "Memory has nothing"), ("/clear", "a command of the host"), ("drop the billing database", "Found, and not added")):  # fmt: skip
            page = client.get("/agent", params={"prompt": prompt, "project": "billing"}).text
            assert "Nothing would go beside the prompt." in page
            assert said in page, prompt
        assert "Choose a project" in client.get("/agent", params={"prompt": QUESTION}).text
        assert client.get("/agent", params={"prompt": HOSTILE[4][:4_000], "project": HOSTILE[0]}).status_code == 200


@pytest.mark.parametrize("scripted", [True, False], ids=["scripts", "no-scripts"])
def test_a_person_types_a_prompt_and_sees_what_goes_beside_it(billing: Served, scripted: bool) -> None:
    with signed_in(billing.url, billing.db, java_script_enabled=scripted) as page:
        page.goto("/")
        page.get_by_role("link", name="Agent view").click()
        page.get_by_label("Project").select_option("billing")
        page.get_by_role("textbox", name="Prompt").fill(QUESTION)
        page.get_by_role("button", name="Show what it gets").click()
        expect(page.get_by_text("This would go beside the prompt.")).to_be_visible()
        expect(page.locator("pre.block")).to_contain_text("PostgreSQL 16")
        expect(page.get_by_role("img", name=re.compile("relevance 0.*threshold 0.55"))).to_be_visible()
        expect(page).to_have_url(re.compile(r"/agent\?project=billing&agent=&prompt=which"))


def test_the_answer_follows_while_a_person_types(billing: Served) -> None:
    with signed_in(billing.url, billing.db) as page:
        page.goto("/agent")
        page.get_by_label("Project").select_option("billing")
        page.get_by_role("textbox", name="Prompt").press_sequentially(QUESTION)
        expect(page.locator("pre.block")).to_contain_text("PostgreSQL 16")
        expect(page.get_by_role("textbox", name="Prompt")).to_be_focused()
        expect(page).to_have_url(re.compile(r"/agent\?project=billing&prompt=which"))
        page.get_by_role("textbox", name="Prompt").fill("")
        expect(page.locator("pre.block")).to_have_count(0)


def test_the_texts_of_the_index_page_begin_in_one_column(billing: Served) -> None:
    with open_memory(billing.db, user="wide", embedder="none") as memory:
        memory.remember("Lunch is at noon", key="q")
        memory.remember("The queue moved to a table of the database because jobs got lost " * 3, key="w" * 60)
    with signed_in(billing.url, billing.db, user="wide", viewport=PHONE) as page:
        page.goto("/agent")
        texts = page.locator(".index-entry .plain > span:last-child")
        assert texts.count() == 2
        assert len({texts.nth(number).bounding_box()["x"] for number in range(2)}) == 1  # type: ignore[index]


def test_an_empty_memory_says_how_to_begin(billing: Served) -> None:
    with signed_in_client(billing, user="empty") as client:
        assert "Nothing is remembered here yet" in client.get("/agent").text


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", PHONE), ("dark", DESKTOP)], ids=["phone-light", "wide-dark"]
)
def test_the_page_is_accessible(billing: Served, scheme: str, viewport: dict[str, int]) -> None:
    with signed_in(billing.url, billing.db, color_scheme=scheme, viewport=viewport) as page:
        page.goto(f"/agent?project=billing&prompt={QUESTION}")
        assert_accessible(page, page.url)
    with signed_in(billing.url, billing.db, user="full", color_scheme=scheme, viewport=viewport) as page:
        page.goto("/agent")
        assert_accessible(page, page.url)


def test_a_budget_bar_says_each_part_and_leaves_what_is_free() -> None:
    bar = budget_bar([BudgetPart("user", 50, "<tea>\u202e"), BudgetPart("fixed", 25, "head")], 100, "75 of 100")
    assert 'aria-label="75 of 100"' in bar
    assert 'class="origin-fill-fixed" x="340.00" width="169.00"' in bar
    assert "<title>&lt;tea&gt;\\u202e</title>" in bar
    assert "threshold-missed" in threshold_bar(0.4, 0.6, "x")
    assert "threshold-reached" in threshold_bar(0.6, 0.6, "x")

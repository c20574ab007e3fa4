"""The history view: every change has an address and can be undone, an undo too, and a run as one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import expect
from tests.databases import chosen, open_memory
from tests.gateway.serving import Served

from picomem.engine.authorization import make_token
from picomem.engine.engine import Engine
from picomem.operations.table import operation

from .serving_pages import READ_ONLY, browser_client, form_code_in, signed_in, signed_in_client


def run(memory: Engine, name: str, /, **fields: object):
    verb = operation(name)
    return verb.call(memory, verb.request(**fields))


def fill(pages: Served, user: str) -> None:
    with open_memory(pages.db, user=user, embedder="none") as memory:
        run(memory, "remember", content="Prefers green tea in the morning", key="tea")
        run(memory, "revise", name="tea", content="Prefers black tea in the morning", reason="she said so <b>today</b>")


def undo(client: httpx2.Client, change: str) -> None:
    code = form_code_in(client.get("/history").text)
    answer = client.post("/undo", data={"csrf": code, "back": "/history", "change": change})
    assert (answer.status_code, answer.headers["location"]) == (303, "/history")


def test_a_run_stays_open_when_something_else_changes(pages: Served) -> None:
    with open_memory(pages.db, user="reading", embedder="none") as memory:
        for number in range(3):
            run(memory, "remember", content=f"Mooring {number} holds boat {number * 7}", key=f"mooring_{number}")
        run(memory, "bulk-edit", action="archive", names=[f"mooring_{number}" for number in range(3)])
    with signed_in(pages.url, pages.db, user="reading") as page:
        page.goto("/history")
        expect(page.locator("body[data-live]")).to_be_attached()
        page.locator("details.run summary").click()
        with open_memory(pages.db, user="reading", embedder="none") as memory:
            run(memory, "remember", content="The ferry leaves at six", key="ferry")
        expect(page.locator("#history > ol > li")).to_have_count(5)
        expect(page.locator("details.run").get_by_role("link", name="Mooring 1 holds boat 7")).to_be_visible()
        expect(page.locator("details.run[open]")).to_have_count(1)


def test_an_empty_history_begins_where_its_heading_does(pages: Served) -> None:
    with signed_in(pages.url, pages.db, user="empty") as page:
        page.goto("/history")
        left = (
            "node => { const all = new Range(); all.selectNodeContents(node); return all.getBoundingClientRect().left }"
        )
        assert page.locator(".empty-note").evaluate(left) == page.locator("h1").evaluate(left)


@pytest.mark.requirement("X3", "O16")
def test_a_change_is_undone_from_history_and_so_is_the_undo(pages: Served) -> None:
    fill(pages, "undoing")
    with signed_in(pages.url, pages.db, user="undoing") as page:
        page.goto("/history")
        page.keyboard.press("j")
        page.keyboard.press("u")
        expect(page.get_by_text("Undone: tea")).to_be_visible()
        row = page.locator(".change-item").first
        expect(row).to_contain_text("Undid")
        expect(page.locator("#history .is-undone")).to_have_count(1)
        row.get_by_role("button", name="Undo").click()
        expect(page.locator("#history .is-undone")).to_have_count(1)
        expect(page.locator(".change-item")).to_have_count(4)
        page.locator(".change-item").nth(2).get_by_role("link", name="Revised").click()
        expect(page.locator(".beside mark")).to_have_text(["green", "black"])
        page.go_back()
        page.get_by_text("Filters").click()
        page.get_by_label("Action").select_option("revise")
        page.get_by_role("button", name="Apply").last.click()
        expect(page).to_have_url(re.compile(r"/history\?verb=revise"))
        expect(page.locator(".change-item")).to_have_count(1)


@pytest.mark.requirement("X3")
def test_what_a_run_did_stands_together_and_is_undone_as_one(pages: Served, tmp_path: Path) -> None:
    lines = [f"- The {name} stands in the {name}house\n" for name in ("lathe", "kiln", "loom")]
    (tmp_path / "MEMORY.md").write_text("".join(lines))
    with open_memory(pages.db, user="runs", embedder="none") as memory:
        run(memory, "migrate", paths=(str(tmp_path / "MEMORY.md"),))
    with signed_in_client(pages, user="runs") as client:
        text = client.get("/history").text
        assert "3 changes" in text
        of_all = re.findall(r'name="change" value="([^"]+)"', text)
        whole = re.findall(r'href="/history/([^"]+)">All of this run', text)[0]
        assert whole in of_all
        assert client.get(f"/history/{whole}").text.count('class="change-item"') == 3
        undo(client, whole)
        with open_memory(pages.db, user="runs", embedder="none") as memory:
            assert memory.memories() == []
        assert client.get(f"/history/{whole}").text.count("is-undone") == 3


def test_a_change_has_an_address_with_who_when_why_and_both_texts(pages: Served) -> None:
    fill(pages, "one")
    with signed_in_client(pages, user="one") as client:
        listed = client.get("/history").text.partition('id="history"')[2]
        assert listed.index("Revised") < listed.index("Remembered")
        revised = re.findall(r'href="/history/([^"]+)">Revised', listed)[0]
        text = client.get(f"/history/{revised}").text
        assert "she said so &lt;b&gt;today&lt;/b&gt;" in text
        assert "Prefers <mark>green</mark> tea" in text
        assert "Prefers <mark>black</mark> tea" in text
        assert "user:one" in text
        assert client.get("/history/01a20000-0000").status_code == 404
        assert client.get("/history/%00").status_code == (
            404 if chosen().name == "sqlite" else 400
        )  # a server takes no NUL
        assert "No change is like that" in client.get("/history?actor=user:nobody").text
        assert "No change is like that" in client.get("/history?until=2020-01-01").text
        assert client.get("/history?since=never").status_code == 400
        assert client.get("/history?cursor=").status_code == 200


@pytest.mark.parametrize(("language", "said"), [("en", "web page"), ("zh", "网页界面")])
def test_who_made_a_change_on_the_page_is_the_page(pages: Served, language: str, said: str) -> None:
    """A session that has ended, too; another token keeps its name."""
    user = f"signed-{language}"
    fill(pages, user)
    with open_memory(pages.db, user=user, embedder="none") as memory:
        _, token = make_token(memory, frozenset(), "laptop", None)
    with browser_client(pages, Authorization=f"Bearer {token}") as client:
        del client.headers["accept"], client.headers["origin"]
        pinned = client.post("/api/v1/bulk-edit", json={"action": "pin", "names": ["tea"]})
        assert pinned.status_code == 200
    for action in ("unpin", "archive"):
        with signed_in_client(pages, user=user) as client:
            names = re.findall(r'/memory/([^/"?]+)/archive', client.get("/memories").text)
            fields = {"csrf": form_code_in(client.get("/").text), "back": "/memories", "id": names}
            assert client.post(f"/memories/{action}", data=fields).status_code == 303
    with signed_in_client(pages, user=user) as client:
        client.headers["accept-language"] = language
        listed = client.get("/history").text
        changes = list(dict.fromkeys(re.findall(r'href="/history/([^"]+)"', listed)))
        shown = [client.get(f"/history/{change}").text for change in changes]
        whole = [listed, client.get(f"/memory/{names[0]}").text, "".join(shown)]
    for text in whole:
        assert text.count(f">{said}</span>") == 2
        assert text.count(">user:") == 2
        assert len(re.findall(">api:", text)) == 1


def test_pages_of_history_follow_each_other_without_a_gap(pages: Served) -> None:
    with open_memory(pages.db, user="pages", embedder="none") as memory:
        for number in range(53):
            run(memory, "remember", content=f"Number {number} is a house in street {number * 7}", key=f"house_{number}")
    with signed_in_client(pages, user="pages") as client:
        first = client.get("/history").text
        following = re.findall(r'rel="next" href="([^"]+)"', first)[0].replace("&amp;", "&")
        numbers = re.findall(r">Number (\d+) is a house", first + client.get(following).text)
        assert numbers == [str(number) for number in reversed(range(53))]


def test_a_session_that_only_reads_has_no_buttons(pages: Served) -> None:
    fill(pages, "reader")
    with signed_in_client(pages, user="reader", permissions=READ_ONLY) as client:
        text = client.get("/history").text
        assert "Revised" in text
        assert 'action="/undo"' not in text
        assert "/purge" not in text
    with signed_in_client(pages, user="nobody") as client:
        assert "Nothing has changed yet" in client.get("/history").text


def test_changes_are_narrowed_by_verb_actor_and_time(tmp_path: Path, open_engine) -> None:
    now = [1_777_593_600_000_000]
    engine = open_engine(tmp_path / "memory.db", clock=lambda: now[0])
    run(engine, "remember", content="Prefers green tea in the morning", key="tea")
    now[0] += 3 * 86_400_000_000
    run(engine, "revise", name="tea", content="Prefers black tea in the morning")

    def verbs(**fields: object) -> list[str]:
        return [recorded.change.verb for recorded in run(engine, "changes", **fields).changes]

    assert verbs() == ["revise", "remember"]
    assert verbs(verb="revise") == verbs(since="2026-05-02") == ["revise"]
    assert verbs(until="2026-05-02") == verbs(name="tea", verb="remember") == ["remember"]
    assert verbs(actor="user:nobody") == []
    assert json.dumps(verbs(actor="user:local", limit=1)) == '["revise"]'

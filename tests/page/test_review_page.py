"""The review view: both texts side by side, a decision by a click or a key, and its undo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from zlib import crc32

import pytest
from playwright.sync_api import Route, expect
from tests.cases import each_case
from tests.databases import open_memory
from tests.gateway.serving import Served
from tests.memory.test_doubts import NEW, OLD

from picomem.operations.table import operation
from picomem.page.word_diff import marked_differences

from .serving_pages import OWN_DATA, READ_ONLY, form_code_in, signed_in, signed_in_client

WORDS = (
    "apple barley cedar dill elder fennel garlic hazel iris juniper kale lemon mint nettle oat pear quince rye sage "
    "thyme umber violet walnut yarrow zinnia acorn basil clover daisy endive"
).split()


def from_market(word: str) -> dict[str, str]:
    """A memory from a tool that is near to no other."""
    content = f"The {word} from the {word}market is kept in the {word}room"
    return {"content": content, "key": word, "origin": "tool"}


def remember(pages: Served, user: str, *entries: dict[str, str]) -> None:
    verb = operation("remember")
    with open_memory(pages.db, user=user, embedder="none") as memory:
        for fields in entries:
            verb.call(memory, verb.request(**fields))


@pytest.fixture
def doubtful(pages: Served, request: pytest.FixtureRequest) -> Iterator[str]:
    """A user with a pair of statements that may contradict each other, and a memory from the web."""
    user = f"doubts-{crc32(request.node.name.encode())}"
    remember(
        pages,
        user,
        {"content": OLD, "key": "queue_old"},
        {"content": NEW, "key": "queue_new"},
        {"content": "The vendor page says that port 5433 is blocked", "key": "vendor_port", "origin": "web"},
    )
    yield user


@pytest.mark.requirement("X3", "O16")
def test_a_contradiction_is_settled_by_a_key_and_taken_back_by_undo(pages: Served, doubtful: str) -> None:
    with signed_in(pages.url, pages.db, user=doubtful) as page, signed_in(pages.url, pages.db, user=doubtful) as other:
        other.goto("/review")
        expect(other.locator("body[data-live]")).to_be_attached()
        page.goto("/review")
        pair = page.locator(".review-entry").first
        expect(pair.locator(".row-text")).to_have_text([OLD, NEW])
        expect(pair).to_be_focused()
        page.keyboard.press("r")
        expect(page.get_by_text("Decided: queue_old")).to_be_visible()
        expect(page.locator(".is-pair")).to_have_count(0)
        expect(other.locator(".is-pair")).to_have_count(0)  # the other tab follows
        page.locator(".toast").get_by_role("button", name="Undo").click()
        expect(page.locator(".is-pair")).to_have_count(1)
        expect(other.locator(".is-pair")).to_have_count(1)


def test_every_decision_is_one_change_and_a_second_one_is_no_error(pages: Served, doubtful: str) -> None:
    with signed_in_client(pages, user=doubtful) as client:
        for verdict in ("keep", "merge", "supersede", "discard"):
            text = client.get("/review").text
            pair = re.findall(r'name="id" value="([\w-]+ [\w-]+)"', text)[0]
            fields = {"csrf": form_code_in(text), "back": "/review", "verdict": verdict, "id": pair}
            answer = client.post("/review", data=fields)
            assert (answer.status_code, answer.headers["location"]) == (303, "/review")
            shown = client.get("/review").text
            assert "Decided:" in shown
            assert 'is-pair"' not in shown
            run = re.findall(r'name="change" value="([^"]+)"', shown)[0]
            assert (
                client.post("/undo", data={"csrf": fields["csrf"], "back": "/review", "change": run}).status_code == 303
            )
        assert 'is-pair"' in client.get("/review").text
        assert client.post("/review", data={**fields, "verdict": "shred"}).status_code == 400
        assert client.post("/review", data={**fields, "verdict": ""}).status_code == 400
        client.post("/review", data={**fields, "verdict": "discard", "id": "vendor_port"})
        assert client.post("/review", data={**fields, "verdict": "keep", "id": "vendor_port"}).status_code == 303


def test_what_came_from_others_waits_until_it_is_kept(pages: Served, doubtful: str) -> None:
    with signed_in_client(pages, user=doubtful, permissions=OWN_DATA) as client:
        text = client.get("/review").text
        assert "From elsewhere" in text
        assert '<a class="origin-web" href="/memories?origin=web">web</a>' in text
        client.post("/review", data={"csrf": form_code_in(text), "verdict": "keep", "id": "vendor_port"})
        assert "From elsewhere" not in client.get("/review").text


def test_a_session_that_only_reads_has_no_review(pages: Served) -> None:
    with signed_in_client(pages, permissions=READ_ONLY) as client:
        assert client.get("/review").status_code == 403
        assert 'href="/review"' not in client.get("/").text
        code = form_code_in(client.get("/").text)
        assert client.post("/review", data={"csrf": code, "verdict": "discard", "id": "tea"}).status_code == 403


def test_an_empty_review_says_what_will_wait_here_and_a_long_one_has_pages(pages: Served) -> None:
    with signed_in_client(pages, user="nothing") as client:
        assert "Nothing waits for you" in client.get("/review").text
    hostile = [
        "The word on the door is " + "w" * 7_900,
        "The label on the door reads שלום and below it <b>7</b> in red",
        "数据库的备份每天凌晨三点运行",
    ]
    entries = [{"content": content, "key": f"odd_{number}", "origin": "web"} for number, content in enumerate(hostile)]
    remember(pages, "long", *map(from_market, WORDS[:18]), *entries)
    with signed_in_client(pages, user="long") as client:
        first = client.get("/review").text
        assert "<b>7" not in first
        assert "1 more" in first
        following = client.get(re.findall(r'rel="next" href="([^"]+)"', first)[0].replace("&amp;", "&")).text
        assert following.count('class="review-entry"') == 1


def remember_many(pages: Served, user: str, count: int) -> None:
    """Store memories that wait for a person."""
    remember(pages, user, *map(from_market, WORDS[:count]))


@pytest.mark.requirement("X3", "O16")
def test_a_review_of_thirty_is_emptied_in_under_forty_keys(pages: Served) -> None:
    """Issue 41, point 5. The keys come faster than the server answers."""
    remember_many(pages, "thirty", 30)
    with signed_in(pages.url, pages.db, user="thirty") as page:
        page.goto("/review")
        expect(page.locator(".badge").first).to_contain_text("30")
        expect(page.locator(".review-entry").first).to_be_focused()
        pressed = 0
        while page.locator(".review-entry").count():
            for _ in range(page.locator(".review-entry:visible").count()):
                page.keyboard.press("x" if pressed % 3 else "k")
                pressed += 1
            expect(page.locator(".review-entry[hidden]")).to_have_count(0)
        assert pressed == 30
        expect(page.get_by_role("heading", name="Nothing waits for you")).to_be_visible()
        expect(page.locator(".badge")).to_have_count(0)
        page.keyboard.press("u")
        expect(page.locator(".review-entry")).to_have_count(1)


def test_all_of_a_group_is_decided_at_once_and_taken_back_at_once(pages: Served) -> None:
    remember_many(pages, "group", 5)
    with signed_in(pages.url, pages.db, user="group") as page:
        page.goto("/review")
        page.locator(".heading .buttons").get_by_role("button", name="Discard").click()
        expect(page.locator(".toast")).to_contain_text("Decided: 5 memories")
        expect(page.locator(".review-entry")).to_have_count(0)
        page.locator(".toast").get_by_role("button", name="Undo").click()
        expect(page.locator(".review-entry")).to_have_count(5)


def test_differences_are_marked_only_where_the_texts_are_near(pages: Served) -> None:
    near = ("The staging database listens on port 5433", "The staging database listens on port 6432")
    for user, (older, newer), marks in (("near", near, ["5433", "6432"]), ("far", (OLD, NEW), [])):
        remember(pages, user, {"content": older, "key": "older"})
        remember(pages, user, {"content": newer, "key": "newer"})
        with signed_in_client(pages, user=user) as client:
            text = client.get("/review").text
        assert re.findall(r"<mark>(.*?)</mark>", text) == marks, user
        assert "is-pair" in text


def test_keys_that_are_pressed_before_the_page_listens_are_not_lost(pages: Served) -> None:
    """A page shows its text, and its note, before the modules of its scripts have come."""
    remember_many(pages, "early", 2)
    with signed_in(pages.url, pages.db, user="early") as page:
        held: list[Route] = []
        page.route("**/keys.mjs", lambda route: held.append(route))
        page.goto("/review", wait_until="commit")
        first = page.locator(".review-entry").first
        expect(first).to_be_focused()
        name = first.get_attribute("id") or ""
        page.keyboard.press("x")
        expect(first).to_be_visible()
        for route in held:
            route.continue_()
        expect(page.locator(".toast")).to_contain_text("Decided: ")
        expect(page.locator(f"[id='{name}']")).to_have_count(0)
        page.keyboard.press("u")
        expect(page.locator(f"[id='{name}']")).to_be_visible()


def test_an_answer_that_is_no_page_is_told_and_the_entry_comes_back(pages: Served) -> None:
    remember_many(pages, "proxy", 2)

    def answer(route: Route) -> None:
        if route.request.method == "POST":
            route.fulfill(body="<p>Who are you?</p>", content_type="text/html")
        else:
            route.continue_()

    with signed_in(pages.url, pages.db, user="proxy") as page:
        page.route("**/review", answer)  # before the page is there: it is between a later key and the server at once
        page.goto("/review")
        expect(page.locator(".review-entry").first).to_be_focused()
        page.keyboard.press("k")
        expect(page.get_by_role("alert")).to_contain_text("That could not be done")
        expect(page.locator(".review-entry:visible")).to_have_count(2)


def test_the_note_of_what_was_done_waits_for_the_page_that_shows_it(pages: Served) -> None:
    """A live update loads pages too, and does not show their notes."""
    remember_many(pages, "notes", 1)
    with signed_in_client(pages, user="notes") as client:
        fields = {"csrf": form_code_in(client.get("/review").text), "id": "apple", "verdict": "keep", "back": "/review"}
        client.post("/review", data=fields)
        assert "Decided: " not in client.get("/review", headers={"Picomem-Regions": "1"}).text
        assert "Decided: apple" in client.get("/review").text


@each_case(
    ("before", "after", "words"),
    [
        ("the port is 5432", "the port is 5433", (["5432"], ["5433"])),
        ("备份每天三点运行", "备份每天四点运行", (["三"], ["四"])),
        ("same", "same", ([], [])),
        ("", "new words", ([], ["new words"])),
        ("red and blue tea", "green and black tea", (["red", "blue"], ["green", "black"])),
    ],
)
def test_the_words_that_differ_are_marked(before: str, after: str, words: tuple[list[str], list[str]]) -> None:
    marks = marked_differences(before, after)
    assert tuple([text[first:last] for first, last in of] for text, of in zip((before, after), marks)) == words

"""The review view: both texts side by side, a decision by a click or a key, and its undo."""

from __future__ import annotations

import re
from collections.abc import Iterator
from zlib import crc32

import pytest
from playwright.sync_api import expect
from tests.cases import each_case
from tests.databases import open_memory
from tests.gateway.serving import Served
from tests.memory.test_doubts import NEW, OLD

from picomem.operations.table import operation
from picomem.page.word_diff import marked_differences

from .serving_pages import OWN_DATA, READ_ONLY, form_code_in, signed_in, signed_in_client


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
        expect(pair.locator(".side-text")).to_have_text([OLD, NEW])
        expect(pair.locator("mark").first).to_be_visible()
        page.keyboard.press("j")
        expect(pair).to_be_focused()
        page.keyboard.press("s")
        expect(page.get_by_text("Decided: queue_old")).to_be_visible()
        expect(page.locator(".sides")).to_have_count(0)
        expect(other.locator(".sides")).to_have_count(0)  # the other tab follows
        page.get_by_role("button", name="Undo").click()
        expect(page.locator(".sides")).to_have_count(1)
        expect(other.locator(".sides")).to_have_count(1)


def test_every_decision_is_one_change_and_a_second_one_is_no_error(pages: Served, doubtful: str) -> None:
    with signed_in_client(pages, user=doubtful) as client:
        for verdict in ("keep", "merge", "supersede", "discard"):
            text = client.get("/review").text
            form = re.findall(r'action="/review/([\w-]+)".*?name="other" value="([\w-]+)"', text, re.DOTALL)[0]
            fields = {"csrf": form_code_in(text), "back": "/review", "verdict": verdict, "other": form[1]}
            answer = client.post(f"/review/{form[0]}", data=fields)
            assert (answer.status_code, answer.headers["location"]) == (303, "/review")
            shown = client.get("/review").text
            assert "Decided:" in shown
            assert 'class="sides"' not in shown
            run = re.findall(r'name="change" value="([^"]+)"', shown)[0]
            assert (
                client.post("/undo", data={"csrf": fields["csrf"], "back": "/review", "change": run}).status_code == 303
            )
        assert 'class="sides"' in client.get("/review").text
        assert client.post(f"/review/{form[0]}", data={**fields, "verdict": "shred"}).status_code == 400
        assert client.post(f"/review/{form[0]}", data={**fields, "verdict": ""}).status_code == 400
        client.post("/review/vendor_port", data={**fields, "verdict": "discard", "other": ""})
        assert client.post("/review/vendor_port", data={**fields, "verdict": "keep", "other": ""}).status_code == 303


def test_what_came_from_others_waits_until_it_is_kept(pages: Served, doubtful: str) -> None:
    with signed_in_client(pages, user=doubtful, permissions=OWN_DATA) as client:
        text = client.get("/review").text
        assert "Not from you" in text
        assert '<span class="origin origin-web">web</span>' in text
        client.post("/review/vendor_port", data={"csrf": form_code_in(text), "verdict": "keep"})
        assert "Not from you" not in client.get("/review").text


def test_a_session_that_only_reads_has_no_review(pages: Served) -> None:
    with signed_in_client(pages, permissions=READ_ONLY) as client:
        assert client.get("/review").status_code == 403
        assert 'href="/review"' not in client.get("/").text
        code = form_code_in(client.get("/").text)
        assert client.post("/review/tea", data={"csrf": code, "verdict": "discard"}).status_code == 403


def test_an_empty_review_says_what_will_wait_here_and_a_long_one_has_pages(pages: Served) -> None:
    with signed_in_client(pages, user="nothing") as client:
        assert "Nothing waits for you" in client.get("/review").text
    hostile = [
        "The word on the door is " + "w" * 7_900,
        "The label on the door reads שלום and below it <b>7</b> in red",
        "数据库的备份每天凌晨三点运行",
    ]
    entries = [{"content": content, "key": f"odd_{number}", "origin": "web"} for number, content in enumerate(hostile)]
    words = "apple barley cedar dill elder fennel garlic hazel iris juniper kale lemon mint nettle oat pear quince rye".split()
    more = [
        {"content": f"The {word} from the {word}market is kept in the {word}room", "key": word, "origin": "tool"}
        for word in words
    ]
    remember(pages, "long", *more, *entries)
    with signed_in_client(pages, user="long") as client:
        first = client.get("/review").text
        assert "<b>7" not in first
        assert "1 more" in first
        following = client.get(re.findall(r'rel="next" href="([^"]+)"', first)[0].replace("&amp;", "&")).text
        assert following.count('class="review-entry"') == 1


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

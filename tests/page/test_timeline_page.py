"""The timeline and the episodes that it opens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.databases import open_memory
from tests.gateway.serving import Served, serving

from picomem.operations.table import operation
from picomem.page.message_catalog import say_in
from picomem.page.timeline_view import calendar_heatmap, level, span_of_year

from .axe_check import assert_accessible
from .serving_pages import DESKTOP, PHONE, READ_ONLY, signed_in, signed_in_client
from .stored_sessions import BEGIN, fill_sessions, write_session

DAY = "/timeline?day=2026-04-06"


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a store with a dozen sessions in April and May 2026, and one of hostile texts."""
    db: Path = tmp_path_factory.mktemp("talks") / "memory.db"
    fill_sessions(db)
    with serving(db, PICOMEM_RECALL_TIMEZONE="UTC") as running:
        yield running


def entries(text: str) -> list[str]:
    """The ids of the episodes that a page lists."""
    return re.findall(r'<li class="entry" id="episode-([^"]+)"', text)


def test_a_day_lists_its_sessions_with_title_and_project(talks: Served) -> None:
    with signed_in_client(talks) as client:
        page = client.get(DAY).text
        assert 'value="2026-04-06"' in page
        assert "Which port does the staging database use after the move? (0)" in page
        assert "Monday" in page
        assert page.index("Which port does") < page.index("Because the weekly report")  # as it was said
        assert "2026-04-09" not in re.sub(r"<svg.*?</svg>", "", page, flags=re.S).replace(
            "/timeline?day=2026-04-09", ""
        )
        assert 'rel="next"' not in page
        assert "/timeline?day=2026-04-10" in page  # the next day on which something was said
        assert client.get("/timeline?day=nonsense").status_code == 400


def test_every_entry_comes_once_by_pages(talks: Served) -> None:
    with signed_in_client(talks) as client:
        address, listed = "/timeline", []
        while address:
            page = client.get(address).text
            listed += entries(page)
            further = re.search(r'class="button" href="([^"]+)" rel="next"', page)
            address = further[1].replace("&amp;", "&") if further else ""
        assert len(listed) == len(set(listed))
        with open_memory(talks.db, embedder="none") as memory:
            timeline = operation("timeline")
            known = timeline.call(memory, timeline.request(limit=1_000)).episodes
        assert len(known) > 120
        messages = {hit.id: (hit.session, *hit.turns) for hit in known}
        assert {messages[id_] for id_ in listed} == set(messages.values())  # a long message is many episodes
        assert len(listed) < 80


def test_the_squares_lead_to_days_and_say_how_much_was_said(talks: Served) -> None:
    with signed_in_client(talks) as client:
        year = client.get("/timeline?year=2026").text
        assert year.count('<rect class="day ') == 365
        squares = dict(re.findall(r'<a href="([^"]+)" tabindex="-1"><rect [^>]+><title>([^<]+)</title>', year))
        assert squares["/timeline?year=2026&amp;day=2026-04-10"] == "2026-04-10: 5 entries"
        assert "0 entries" in client.get("/timeline?year=2019").text
        assert 'is-chosen"' in client.get(f"{DAY}&year=2026").text
        for strange in ("x", "0", "99999", "-1", "²"):
            assert client.get("/timeline", params={"year": strange}).status_code == 200


def test_a_project_and_a_session_narrow_the_timeline(talks: Served) -> None:
    with signed_in_client(talks) as client:
        harbor = client.get("/timeline?project=harbor").text
        assert "(0)" in harbor
        assert "(1)" not in harbor
        session = client.get("/timeline?session=8463c716-0000-4222-8333-000000000003").text
        assert len(entries(session)) == 5
        unknown = client.get("/timeline?project=harbour").text
        assert "There is no project" in unknown


def test_an_empty_store_says_how_sessions_come_here(talks: Served) -> None:
    with signed_in_client(talks, user="empty") as client:
        assert "picomem ingest" in client.get("/timeline").text


def test_an_episode_opens_in_its_transcript_with_a_way_on(talks: Served) -> None:
    with signed_in_client(talks, permissions=READ_ONLY) as client:
        middle = entries(client.get("/timeline?session=8463c716-0000-4222-8333-000000000002").text)[2]
        page = client.get(f"/episode/{middle}?q=drain").text
        assert page.count('class="said is-near"') == 4
        passage = page[page.index('id="passage"') :]
        assert "<mark>drain</mark>" in passage
        after = re.search(r'href="(/episode/[^"]+)" rel="next"', page)
        assert after
        assert "Because the weekly report" in re.sub(r'.*id="passage"', "", client.get(after[1]).text, flags=re.S)
        assert client.get("/episode/01a20000-none").status_code == 404


def test_a_transcript_that_is_gone_leaves_the_preview_and_a_reason(talks: Served) -> None:
    folder = talks.db.parent / "talk-local"
    with signed_in_client(talks) as client:
        episode = entries(client.get("/timeline?session=8463c716-0000-4222-8333-000000000011").text)[0]
        (folder / "talk-11.jsonl").rename(folder / "talk-11.away")
        try:
            page = client.get(f"/episode/{episode}").text
            chinese = client.get(f"/episode/{episode}", headers={"Accept-Language": "zh"}).text
        finally:
            (folder / "talk-11.away").rename(folder / "talk-11.jsonl")
        assert "is gone; only the preview is left" in page
        assert "已不存在；只剩预览" in chinese
        assert "Which port does the staging database use" in page


def test_hostile_texts_are_shown_as_what_they_are(talks: Served) -> None:
    with signed_in_client(talks) as client:
        listed = entries(client.get("/timeline?session=8463c716-ffff").text)
        pages = [
            client.get("/timeline?session=8463c716-ffff").text,
            *(client.get(f"/episode/{id_}").text for id_ in listed),
        ]
        assert listed
        for page in pages:
            assert "<script>alert" not in page
            assert "<img" not in page
            assert not re.search("[\x1b\x07\u202e\u200b]", page)
        whole = "".join(pages)
        assert "{{ 7 * 7 }}" in whole
        assert "渡轮几点" in whole
        assert 'dir="auto"' in whole


def test_a_hit_of_a_search_opens_in_the_transcript(talks: Served) -> None:
    with signed_in(talks.url, talks.db, viewport=PHONE) as page:
        page.goto("/")
        page.get_by_role("searchbox").fill("why is the queue slow on mondays")
        hit = page.locator(".hit-episode").first
        expect(hit).to_contain_text("queue")
        hit.get_by_role("link").click()
        expect(page).to_have_url(re.compile(r"/episode/[0-9a-f-]+\?q=why"))
        expect(page.locator("#passage mark").first).to_be_visible()
        page.get_by_role("link", name="After", exact=True).click()
        expect(page.locator("#passage")).to_contain_text("weekly report")
        page.get_by_role("link", name="whole session").click()
        expect(page.locator(".entry")).to_have_count(5)


def test_on_a_wide_window_the_transcript_opens_beside_the_day(talks: Served) -> None:
    with signed_in(talks.url, talks.db, color_scheme="dark") as page:
        page.goto(DAY)
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        expect(page.locator("#detail .is-passage")).to_contain_text("listens on port 5433")
        expect(page).to_have_url(re.compile("day=2026-04-06"))


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["pane", "phone"])
def test_the_passage_is_in_view_when_an_episode_opens(talks: Served, tmp_path: Path, viewport: dict[str, int]) -> None:
    said = [("assistant", f"Step {number}\nin a few\nshort lines\nof talk") for number in range(12)]
    said += [("user", "The pilot boat lies at pier nine."), ("user", "And the tug?")]
    path = write_session(tmp_path / "pilot.jsonl", "7c2f0000-1111-4222-8333-444455556666", "pier", said, BEGIN)
    user = "pilot" + str(viewport["width"])
    with open_memory(talks.db, user=user, embedder="none") as memory:
        verb = operation("ingest")
        verb.call(memory, verb.request(paths=(str(path),)))
    with signed_in(talks.url, talks.db, user=user, viewport=viewport) as page:
        page.goto("/search?q=at+which+pier+is+the+pilot+boat")
        page.locator(".hit-episode", has_text="pilot boat").first.get_by_role("link").click()
        expect(page.locator("#passage")).to_contain_text("pilot boat")
        expect(page.locator("#passage .said-text")).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize(
    ("scheme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["wide-light", "phone-dark"]
)
def test_the_pages_are_accessible(talks: Served, scheme: str, viewport: dict[str, int]) -> None:
    with signed_in_client(talks) as client:
        word = next(id_ for id_ in entries(client.get("/timeline?session=8463c716-ffff").text)
                    if "wordword" in client.get(f"/episode/{id_}").text)  # fmt: skip
    with signed_in(talks.url, talks.db, viewport=viewport, color_scheme=scheme) as page:
        for path in (DAY, f"/episode/{word}"):
            page.goto(path)
            assert_accessible(page, page.url)


def test_the_year_shows_today_or_the_year_of_the_day() -> None:
    today = date(2026, 5, 6)
    assert span_of_year("", "", today) == (date(2025, 5, 5), today)
    assert span_of_year("", "2025-06-01", today) == (date(2025, 5, 5), today)
    assert span_of_year("", "2019-02-03", today) == (date(2019, 1, 1), date(2019, 12, 31))
    assert span_of_year("2020", "", today) == (date(2020, 1, 1), date(2020, 12, 31))
    assert span_of_year("", "9999-99-99", today)[1] in (today, date(9999, 12, 31))


def test_squares_are_darker_where_more_was_said() -> None:
    assert [level(count, 100) for count in (0, 1, 5, 30, 100)] == [0, 1, 2, 3, 4]
    assert level(1, 1) == 4
    picture = calendar_heatmap(
        date(2026, 1, 1),
        date(2026, 1, 31),
        {"2026-01-03": 2},
        chosen="",
        address=lambda day: f'/t?d={day}&x="',
        label=lambda day, count: f"<{day}> {count}",
        month=lambda name: say_in("en")(f"month.{name}"),
    )
    assert 'href="/t?d=2026-01-03&amp;x=&#34;"' in picture
    assert "<title>&lt;2026-01-03&gt; 2</title>" in picture

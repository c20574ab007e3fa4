"""The list of memories and one memory, in a browser: with the keyboard alone, without scripts, and in two windows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Dialog, Locator, Page, Route, expect
from tests.databases import open_memory
from tests.gateway.serving import Served

from picomem.engine.audience import note_injected
from picomem.errors import Conflict
from picomem.operations.memory_views import memory_view
from picomem.operations.table import operation
from picomem.page.memory_view import revision, shown_tags

from .serving_pages import (
    PHONE,
    READ_ONLY,
    browsing,
    code_for,
    form_code_in,
    sign_in,
    signed_in,
    signed_in_client,
    watched_page,
)
from .stored_examples import fill_examples


def row_of(page: Page, key: str) -> Locator:
    """The row of a memory, by the name of its box."""
    return page.locator("#list li[data-item]", has=page.get_by_label(f"Choose {key}", exact=True))


def key_of(row: Locator) -> str:
    return (row.locator("input[name=id]").get_attribute("aria-label") or "").removeprefix("Choose ")


def test_a_story_by_keyboard_alone(pages: Served) -> None:
    fill_examples(pages.db, "ann")
    with signed_in(pages.url, pages.db, user="ann") as page:
        page.goto("/")
        press = page.keyboard.press
        press("Escape")  # leaves the search box
        press("g")
        press("m")
        expect(page.locator("#list li[data-item]")).to_have_count(6)
        page.wait_for_load_state()  # the list is there before the script that moves in it
        for _ in range(2):
            press("j")
        second = page.locator("#list li[data-item]").nth(1)
        expect(second).to_be_focused()
        key = key_of(second)
        press("p")
        expect(page.locator(".toast")).to_contain_text(f"Pinned: {key}")
        press("u")
        expect(page.locator(".toast")).to_contain_text(f"Undone: {key}")
        press("x")
        expect(page.locator(".toast")).to_contain_text(f"Archived: {key}")
        expect(page.locator("#list li[data-item]")).to_have_count(5)
        expect(page.locator("#list li[data-item]:focus")).to_have_count(1)
        press("u")
        expect(page.locator("#list li[data-item]")).to_have_count(6)
        press("Enter")
        expect(page.locator("#detail h1")).to_be_visible()
        press("Escape")
        expect(page.locator("#detail h1")).to_have_count(0)
        press("?")
        expect(page.get_by_role("heading", name="Keys")).to_be_visible()
        press("Escape")
        press("/")
        expect(page.get_by_role("searchbox")).to_be_focused()
        page.keyboard.type("tea")
        press("Enter")
        expect(page.locator(".hit").first).to_contain_text("black tea")
        page.wait_for_load_state()  # as above
        press("ArrowDown")
        expect(page.locator(".hit").first).to_be_focused()


def test_a_memory_is_edited_in_the_pane_and_shows_what_changed(pages: Served) -> None:
    fill_examples(pages.db, "ben")
    with signed_in(pages.url, pages.db, user="ben") as page:
        page.goto("/memories?kind=decision")
        page.locator("#list").get_by_role("link", name="Edit").click()
        pane = page.locator("#detail")
        pane.get_by_label("What it says").fill("The queue moved from Redis to PostgreSQL because Redis lost orders")
        pane.get_by_label("Reason for the change").fill("The report says orders")
        pane.get_by_role("button", name="Save a new version").click()
        expect(page.locator(".toast")).to_contain_text("Saved: queue_store")
        expect(pane.locator("del")).to_have_text("jobs")
        expect(pane.locator("ins")).to_have_text("orders")
        expect(pane).to_contain_text("The report says orders")
        expect(page.locator("#list")).to_contain_text("lost orders")
        page.locator(".toast").get_by_role("button", name="Undo").click()
        expect(page.locator("#list")).to_contain_text("lost jobs")


def test_a_story_without_scripts(pages: Served) -> None:
    fill_examples(pages.db, "cleo")
    with browsing(pages.url, java_script_enabled=False) as context, watched_page(context) as page:
        page.goto("/sign-in")
        page.get_by_label("One-time code").fill(code_for(pages.db, "cleo"))
        page.get_by_role("button", name="Sign in").click()
        page.locator("#rail").get_by_role("link", name="Memories").click()
        for key in ("tea", "queue_store"):
            page.get_by_label(f"Choose {key}").check()
        page.locator(".bulk").get_by_role("button", name="Archive").click()
        expect(page.locator(".toast")).to_contain_text("Archived: 2 memories")
        expect(page.get_by_label("Choose tea")).to_have_count(0)
        expect(page.get_by_label("Choose queue_store")).to_have_count(0)
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_label("Choose queue_store")).to_be_visible()
        row_of(page, "tea").locator(".row-text").click()
        expect(page.locator("del")).to_have_text("green")
        expect(page.locator("ins")).to_have_text("black")
        page.get_by_role("link", name="Edit").click()
        page.get_by_label("What it says").fill("Prefers white tea in the morning")
        page.get_by_role("button", name="Save a new version").click()
        expect(page.locator(".memory-text")).to_have_text("Prefers white tea in the morning")
        page.locator(".buttons").get_by_role("button", name="Archive").click()
        expect(page.get_by_text("This is not believed any more")).to_be_visible()
        page.get_by_role("button", name="Restore").click()
        expect(page.get_by_text("This is not believed any more")).to_have_count(0)
        page.goto("/memories?archived=1")
        expect(page.get_by_text("Nothing is archived")).to_be_visible()


def test_a_revision_of_a_version_that_is_past_is_refused_where_it_is_stored(open_engine, db: Path) -> None:
    """Two windows may send their edits at the same moment, and both have read the same version."""
    engine = open_engine(db)
    engine.remember("The race boat is green", key="boat")
    (read,) = engine.memories()
    arguments = revision(memory_view(read, engine.now()), {"content": ["The race boat is red"]}, "")
    verb = operation("revise")
    verb.call(engine, verb.request(**arguments))
    with pytest.raises(Conflict, match="changed meanwhile"):
        verb.call(engine, verb.request(**{**arguments, "content": "The race boat is blue"}))
    assert [memory.content for memory in engine.memories()] == ["The race boat is red"]


def test_tags_are_taken_away_by_emptying_their_field(pages: Served) -> None:
    with signed_in_client(pages, user="tag") as client:
        with open_memory(pages.db, user="tag", embedder="none") as memory:
            memory.remember("The lighthouse is painted red", key="lighthouse", tags=["coast", "paint"])
        shown = client.get("/memory/lighthouse?edit=1").text
        fields = {"csrf": form_code_in(shown), "version": re.findall(r'name="version" value="(\d+)"', shown)[0]}
        path = re.findall(r'action="(/memory/[^/]+)/revise"', shown)[0]
        kept = {**fields, "content": "The lighthouse is painted white"}
        assert client.post(f"{path}/revise", data=kept).status_code == 303
        assert "#coast" in client.get("/memory/lighthouse").text
        version = re.findall(r'name="version" value="(\d+)"', client.get("/memory/lighthouse?edit=1").text)[0]
        emptied = {**kept, "version": version, "tags": " "}
        assert client.post(f"{path}/revise", data=emptied).status_code == 303
        assert "#coast" not in client.get("/memory/lighthouse").text


def test_saving_one_field_leaves_the_others_as_they_are(pages: Served) -> None:
    """A line break in the reason why it matters, and a comma in a tag, are no concern of a form that changes neither."""
    context, tags = "The skipper said so.\nThe harbour master agreed.", ("red, green", "lamps")
    with open_memory(pages.db, user="kai", embedder="none") as memory:
        memory.remember("The mole has two lamps", key="lamps", context=context, tags=tags)
    with signed_in(pages.url, pages.db, user="kai") as page:
        page.goto("/memory/lamps?edit=1")
        page.get_by_label("Priority").select_option("high")
        page.get_by_role("button", name="Save a new version").click()
        expect(page.locator(".toast")).to_contain_text("Saved: lamps")
    with open_memory(pages.db, user="kai", embedder="none") as memory:
        (stored,) = memory.memories()
    assert (stored.context, tuple(stored.tags), memory_view(stored, 0).priority) == (context, tags, "high")


@pytest.mark.parametrize(
    ("tags", "added", "stored"),
    [
        (["red, green", "lamps"], ", mole", ["red, green", "lamps", "mole"]),
        (["red", "green", "red, green"], "，mole", ["red", "green", "red, green", "mole"]),
        (['says "red, green"', '"quay"'], "、mole", ['says "red, green"', '"quay"', "mole"]),
        (["lamps"], ', "left, right" , ', ["lamps", "left, right"]),
        ([], '"left, mole', ['"left', "mole"]),
    ],
)
def test_a_tag_that_holds_a_comma_stays_whole_when_others_are_typed(
    open_engine, db: Path, tags: list[str], added: str, stored: list[str]
) -> None:
    engine = open_engine(db)
    engine.remember("The mole has two lamps", key="lamps", tags=tags)
    (memory,) = engine.memories()
    view = memory_view(memory, engine.now())
    assert view.tags == tags
    shown = shown_tags(tags)
    assert "tags" not in revision(view, {"tags": [shown]}, "")
    assert revision(view, {"tags": [shown + added]}, "")["tags"] == stored


def test_tags_are_typed_with_the_commas_of_any_script(open_engine, db: Path) -> None:
    engine = open_engine(db)
    engine.remember("The mole has two lamps", key="lamps")
    (stored,) = engine.memories()
    typed = {"tags": ["备份，夜班、灯, lamps"]}
    assert revision(memory_view(stored, engine.now()), typed, "")["tags"] == ["备份", "夜班", "灯", "lamps"]


def test_a_memory_says_what_it_may_contradict_and_when_it_was_handed_out(pages: Served) -> None:
    with open_memory(pages.db, user="flo", embedder="none") as memory:
        older = memory.remember("Lunch is at noon", key="lunch_old").memory
        assert older
        linked = {"contradicts": older.id, "purged": "01a20919-0000-7000-8000-000000000000"}
        memory.remember("Lunch is at one", key="lunch_new", related=[f"contradicts:{id_}" for id_ in linked.values()])
        note_injected(memory, "s-<b>", [f"{older.id} 1f"])
    with signed_in_client(pages, user="flo") as client:
        newer = client.get("/memory/lunch_new").text
        assert f'href="/memory/{older.id}">lunch_old</a>' in newer
        assert "contradicts:" not in newer
        assert f"{linked['purged'][:13]}</span> (gone)" in newer
        assert "In none of the latest sessions" in newer
        text = client.get("/memory/lunch_old").text
        assert 'href="/timeline?session=s-%3Cb%3E" class="mono">s-&lt;b&gt;</a>' in text


def test_what_was_typed_is_kept_when_it_cannot_be_stored(pages: Served) -> None:
    fill_examples(pages.db, "dan")
    with signed_in_client(pages, user="dan") as client:
        shown = client.get("/memory/tea?edit=1").text
        fields = {
            "csrf": form_code_in(shown),
            "version": re.findall(r'name="version" value="(\d+)"', shown)[0],
            "content": "Prefers coffee",
            "reason": "so she says",
        }
        path = re.findall(r'action="(/memory/[^/]+)/revise"', shown)[0]
        late = client.post(f"{path}/revise", data={**fields, "version": "1"})
        assert late.status_code == 409
        assert "changed since you opened it" in late.text
        empty = client.post(f"{path}/revise", data={**fields, "content": ""})
        assert empty.status_code == 422
        for answer in (late, empty):
            assert "so she says" in answer.text
        assert "Prefers coffee</textarea>" in late.text
        assert client.post(f"{path}/revise", data=fields).status_code == 303
        assert client.post("/memory/nothing/archive", data=fields).status_code == 404
        assert client.get("/memory/nothing").status_code == 404


def test_an_edit_of_what_was_archived_meanwhile_is_kept(pages: Served) -> None:
    fill_examples(pages.db, "nik")
    with signed_in_client(pages, user="nik") as client:
        shown = client.get("/memory/tea?edit=1").text
        version = re.findall(r'name="version" value="(\d+)"', shown)[0]
        fields = {"csrf": form_code_in(shown), "version": version, "content": "Prefers coffee", "back": "/memories"}
        path = re.findall(r'action="(/memory/[^/]+)/revise"', shown)[0]
        assert client.post(f"{path}/archive", data=fields).status_code == 303
        late = client.post(f"{path}/revise", data=fields)
        assert late.status_code == 409
        assert "It was archived since you opened it" in late.text
        assert "Prefers coffee</textarea>" in late.text
        assert "<textarea" not in client.get(f"{path}?edit=1").text


def test_a_button_beside_typed_text_asks_before_it_drops_it(pages: Served) -> None:
    """“Restore”, where the memory was archived meanwhile, and every other one that replaces the form."""
    fill_examples(pages.db, "oda")
    with browsing(pages.url) as context:
        page = context.new_page()  # not watched: the console tells of the conflict
        sign_in(page, code_for(pages.db, "oda"))
        asked: list[str] = []
        answers = ["dismiss", "dismiss", "accept"]

        def answer(dialog: Dialog) -> None:
            asked.append(dialog.type)
            getattr(dialog, answers[len(asked) - 1])()

        page.on("dialog", answer)
        page.goto("/memory/tea?edit=1")
        text = page.get_by_label("What it says")
        text.fill("half a sentence")
        page.locator(".buttons").get_by_role("button", name="Pin", exact=True).click()
        expect(text).to_have_value("half a sentence")
        with open_memory(pages.db, user="oda", embedder="none") as memory:
            memory.forget("tea")
        page.get_by_role("button", name="Save a new version").click()
        expect(page.get_by_role("alert")).to_contain_text("It was archived since you opened it")
        page.get_by_role("button", name="Restore").click()
        expect(text).to_have_value("half a sentence")
        assert asked == ["confirm", "confirm"]
        page.get_by_role("button", name="Restore").click()
        expect(page.locator(".toast")).to_contain_text("Undone: tea")
        expect(text).to_have_value("Prefers black tea in the morning")


def test_typed_text_is_not_left_without_a_question(pages: Served) -> None:
    fill_examples(pages.db, "ole")
    with signed_in(pages.url, pages.db, user="ole") as page:
        page.goto("/memories")
        asked: list[str] = []
        answers = ["dismiss", "dismiss", "accept", "dismiss"]

        def answer(dialog: Dialog) -> None:
            asked.append(dialog.type)
            getattr(dialog, answers[len(asked) - 1])()

        page.on("dialog", answer)
        pane = page.locator("#detail")
        row = row_of(page, "tea")
        row.press("e")
        text = pane.get_by_label("What it says")
        text.press_sequentially("half a sentence")
        row_of(page, "queue_store").locator(".row-text").click()
        expect(text).to_have_value(re.compile("half a sentence"))
        text.press("Escape")
        page.keyboard.press("Escape")
        expect(text).to_have_value(re.compile("half a sentence"))
        row_of(page, "queue_store").locator(".row-text").click()
        expect(pane.locator("h1")).to_have_text("queue_store")
        pane.get_by_role("link", name="Edit").click()
        text.press_sequentially("half a sentence")
        pane.get_by_role("link", name="Cancel").click()
        expect(text).to_have_count(0)
        page.goto("/memory/tea?edit=1")
        text = page.get_by_label("What it says")
        text.press_sequentially("half a sentence")
        page.locator("#rail").get_by_role("link", name="Timeline").click()
        expect(text).to_have_value(re.compile("half a sentence"))
        assert asked == ["confirm", "confirm", "confirm", "beforeunload"]


def test_a_session_that_reads_sees_no_controls_and_can_send_no_form(pages: Served) -> None:
    with signed_in_client(pages, READ_ONLY) as client:
        for path in ("/memories", "/memory/tea", "/memory/tea?edit=1"):
            text = client.get(path).text
            assert 'data-key-here="x"' not in text
            assert "<textarea" not in text
        code = form_code_in(client.get("/").text)
        for path in ("/memories/archive", "/memory/tea/pin", "/memory/tea/revise", "/undo"):
            answer = client.post(
                path, data={"csrf": code, "id": "tea", "change": "x" * 8, "version": "2", "content": "y"}
            )
            assert (answer.status_code, "<h1>" in answer.text) == (403, True), path


def test_two_windows_see_each_others_changes(pages: Served) -> None:
    fill_examples(pages.db, "eve")
    with browsing(pages.url) as context, watched_page(context) as first, watched_page(context) as second:
        sign_in(first, code_for(pages.db, "eve"))
        first.goto("/memories")
        expect(first.locator("body[data-live]")).to_be_attached()
        second.goto("/memory/tea")
        second.locator(".buttons").get_by_role("button", name="Archive").click()
        expect(second.get_by_text("This is not believed any more")).to_be_visible()
        expect(first.locator("#list li[data-item]")).to_have_count(5)
        first.goto("/memory/queue_store?edit=1")
        expect(first.locator("body[data-live]")).to_be_attached()
        first.get_by_label("What it says").fill("half a sentence")
        second.get_by_role("button", name="Restore").click()
        expect(second.get_by_text("This is not believed any more")).to_have_count(0)
        expect(first.get_by_label("What it says")).to_have_value("half a sentence")


def test_a_live_update_takes_nothing_from_what_a_person_opens(pages: Served) -> None:
    fill_examples(pages.db, "gus")
    with signed_in(pages.url, pages.db, user="gus") as page:
        page.goto("/memories")
        expect(page.locator("body[data-live]")).to_be_attached()
        waiting: list[Route] = []
        page.route("**/memory/*", lambda route: waiting.append(route))
        row_of(page, "tea").locator(".row-text").click()
        with open_memory(pages.db, user="gus", embedder="none") as memory:
            memory.remember("The ferry leaves at six", key="ferry")
        expect(page.locator("#list li[data-item]")).to_have_count(7)
        for route in waiting:
            route.continue_()
        expect(page.locator("#detail h1")).to_have_text("tea")


def test_the_pane_shows_the_memory_as_it_is_now(pages: Served) -> None:
    """Whether it changed by a key on its row, by the note that takes this back, or elsewhere."""
    fill_examples(pages.db, "hal")
    with signed_in(pages.url, pages.db, user="hal") as page:
        page.goto("/memories")
        expect(page.locator("body[data-live]")).to_be_attached()
        row = row_of(page, "tea")
        row.locator(".row-text").click()
        pane = page.locator("#detail")
        expect(pane.get_by_role("button", name="Pin", exact=True)).to_be_visible()
        row.press("p")
        expect(pane.get_by_role("button", name="Unpin")).to_be_visible()
        expect(row).to_have_class(re.compile("is-open"))
        page.locator(".toast").get_by_role("button", name="Undo").click()
        expect(pane.get_by_role("button", name="Pin", exact=True)).to_be_visible()
        with open_memory(pages.db, user="hal", embedder="none") as memory:
            memory.revise("tea", "Prefers white tea in the morning")
        expect(pane.locator(".memory-text")).to_have_text("Prefers white tea in the morning")
        row.press("x")
        expect(pane.get_by_text("This is not believed any more")).to_be_visible()


def test_a_live_update_takes_no_edit_from_the_pane(pages: Served) -> None:
    fill_examples(pages.db, "ida")
    with signed_in(pages.url, pages.db, user="ida") as page:
        page.goto("/memories?kind=preference")
        expect(page.locator("body[data-live]")).to_be_attached()
        page.locator("#list").get_by_role("link", name="Edit").click()
        text = page.locator("#detail").get_by_label("What it says")
        text.fill("half a sentence")
        with open_memory(pages.db, user="ida", embedder="none") as memory:
            memory.revise("tea", "Prefers white tea in the morning")
        expect(page.locator("#list")).to_contain_text("white tea")
        expect(text).to_have_value("half a sentence")


def test_a_key_on_one_row_takes_no_choice_away(pages: Served) -> None:
    fill_examples(pages.db, "lee")
    with signed_in(pages.url, pages.db, user="lee") as page:
        page.goto("/memories")
        for key in ("tea", "queue_store"):
            page.get_by_label(f"Choose {key}").check()
        row = row_of(page, "backup_time")
        chosen, note = page.locator("#list input[name=id]:checked"), page.locator(".toast")
        row.press("p")
        expect(note).to_contain_text("Pinned: backup_time")
        expect(row.get_by_role("button", name="Unpin")).to_be_visible()
        expect(chosen).to_have_count(2)
        note.get_by_role("button", name="Undo").click()
        expect(note).to_contain_text("Undone: backup_time")
        expect(row.get_by_role("button", name="Pin", exact=True)).to_be_visible()
        expect(chosen).to_have_count(2)
        row.locator(".row-text").click()
        page.locator("#detail").get_by_role("button", name="Pin", exact=True).click()
        expect(row.locator(".pinned")).to_be_visible()
        expect(chosen).to_have_count(2)
        page.locator(".bulk").get_by_role("button", name="Pin", exact=True).click()
        expect(note).to_contain_text("Pinned: 2 memories")
        expect(chosen).to_have_count(0)  # they have served


def test_a_live_update_takes_no_choice_away(pages: Served) -> None:
    fill_examples(pages.db, "leo")
    with signed_in(pages.url, pages.db, user="leo") as page:
        page.goto("/memories")
        expect(page.locator("body[data-live]")).to_be_attached()
        for key in ("tea", "queue_store"):
            page.get_by_label(f"Choose {key}").check()
        with open_memory(pages.db, user="leo", embedder="none") as memory:
            memory.remember("The ferry leaves at six", key="ferry")
        expect(page.locator("#list li[data-item]")).to_have_count(7)
        expect(page.locator("#list input[name=id]:checked")).to_have_count(2)
        page.locator(".bulk").get_by_role("button", name="Archive").click()
        expect(page.locator(".toast")).to_contain_text("Archived: 2 memories")
        expect(page.locator("#list li[data-item]")).to_have_count(5)


def test_a_live_update_moves_neither_the_page_nor_the_focus(pages: Served) -> None:
    with open_memory(pages.db, user="pia", embedder="none") as memory:
        for number in range(30):
            memory.remember(f"Mooring {number} holds boat {number * 7}", key=f"mooring_{number}")
    with signed_in(pages.url, pages.db, user="pia") as page:
        page.goto("/memories")
        expect(page.locator("body[data-live]")).to_be_attached()
        page.locator("#list li[data-item]").first.focus()
        row = page.locator("#list li[data-item]").nth(25)
        row.scroll_into_view_if_needed()
        row = page.locator(f"[id='{row.get_attribute('id')}']")
        before = row.bounding_box()
        with open_memory(pages.db, user="pia", embedder="none") as memory:
            memory.remember("The ferry leaves at six", key="ferry", importance=0.9)
        expect(page.locator("#list li[data-item]")).to_have_count(31)
        expect(page.locator("#list li[data-item]").nth(1)).to_be_focused()
        after = row.bounding_box()
        assert before
        assert after
        assert abs(after["y"] - before["y"]) < 1
        page.goto("/search?q=which+boat+does+mooring+7+hold&weak=1")
        expect(page.locator("body[data-live]")).to_be_attached()
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("j")
        expect(page.locator(".hit").nth(1)).to_be_focused()
        with open_memory(pages.db, user="pia", embedder="none") as memory:
            memory.remember("Mooring 7 holds no boat on Sundays, says the harbour master", key="sundays")
        expect(page.locator("#results")).to_contain_text("no boat on Sundays")
        expect(page.locator(".hit").nth(1)).to_be_focused()


def test_a_row_that_a_click_moves_does_not_take_the_page_along(pages: Served) -> None:
    with open_memory(pages.db, user="quin", embedder="none") as memory:
        memory.remember("The ferry leaves at six", key="ferry", pinned=True, importance=0.1)
        for number in range(30):
            memory.remember(f"Mooring {number} holds boat {number * 7}", key=f"mooring_{number}")
    with signed_in(pages.url, pages.db, user="quin", viewport=PHONE) as page:
        page.goto("/memories")
        row = row_of(page, "ferry")
        row.get_by_role("button", name="Unpin").click()
        expect(page.locator(".toast")).to_contain_text("Unpinned: ferry")
        expect(page.locator("#list li[data-item]").first).not_to_contain_text("The ferry")
        assert page.evaluate("scrollY") == 0
        note = page.locator(".toast").bounding_box()
        assert note
        assert note["height"] < 60  # one line, though the window is narrow


def test_a_window_that_becomes_narrow_beside_a_pane_has_all_controls(pages: Served) -> None:
    """As when a tablet is turned."""
    with signed_in(pages.url, pages.db) as page:
        page.goto("/memories")
        row_of(page, "tea").locator(".row-text").click()
        expect(page.locator("#detail h1")).to_be_visible()
        page.set_viewport_size({"width": 820, "height": 1180})
        row = row_of(page, "tea")
        expect(row.get_by_role("button", name="Archive")).to_be_visible()
        expect(row.locator(".chips")).to_contain_text("preference")


def test_the_buttons_of_a_row_stand_below_those_of_the_row_before(pages: Served) -> None:
    """Whether a row is pinned or not, though “Unpin” is wider than “Pin”."""
    for language, edit in (("en-GB", "Edit"), ("zh-CN", "编辑")):
        with signed_in(pages.url, pages.db, locale=language) as page:
            page.goto("/memories")
            expect(page.locator("#list .pinned")).to_have_count(1)
            links = page.locator("#list").get_by_role("link", name=edit, exact=True).all()
            assert len({round(box["x"], 1) for link in links if (box := link.bounding_box())}) == 1


def test_the_note_stays_while_a_person_is_at_it(pages: Served) -> None:
    with signed_in(pages.url, pages.db) as page:
        page.clock.install()
        page.goto("/memories")
        page.locator("#list li[data-item]").first.press("p")
        note = page.locator(".toast")
        undo = note.get_by_role("button", name="Undo")
        undo.focus()
        page.clock.run_for(15_000)
        expect(undo).to_be_focused()
        undo.press("Enter")
        expect(note).to_contain_text("Undone: ")
        page.locator("#q").focus()
        page.clock.run_for(25_000)
        expect(note).to_have_count(0)


def test_escape_or_a_click_elsewhere_closes_the_settings(pages: Served) -> None:
    with signed_in(pages.url, pages.db) as page:
        page.goto("/memories")
        settings, menu = page.get_by_label("More"), page.locator(".menu-box")
        settings.click()
        expect(menu).to_be_visible()
        page.get_by_label("Language").focus()
        page.keyboard.press("Escape")
        expect(menu).to_be_hidden()
        expect(settings).to_be_focused()
        settings.click()
        page.get_by_role("heading", name="Memories").click()
        expect(menu).to_be_hidden()


def test_an_undo_of_many_says_how_many(pages: Served) -> None:
    fill_examples(pages.db, "max")
    with signed_in_client(pages, user="max") as client:
        listed = client.get("/memories").text
        fields = {"csrf": form_code_in(listed), "back": "/memories"}
        client.post("/memories/archive", data={**fields, "id": re.findall(r'name="id" value="([^"]+)"', listed)[:5]})
        run = re.findall(r'name="change" value="([^"]+)"', client.get("/memories").text)[-1]
        client.post("/undo", data={**fields, "change": run})
        assert "Undone: 5 memories" in client.get("/memories").text


def test_the_keyboard_reaches_the_pane_and_leaves_it(pages: Served) -> None:
    fill_examples(pages.db, "jon")
    with signed_in(pages.url, pages.db, user="jon") as page:
        page.goto("/memories")
        press = page.keyboard.press
        press("j")
        rows, pane = page.locator("#list li[data-item]"), page.locator("#detail")
        press("Enter")
        expect(pane.locator("#memory")).to_be_focused()
        press("p")
        expect(page.locator(".toast")).to_contain_text("Unpinned: lint_first")  # its importance keeps it the first
        expect(pane.locator(":focus")).to_have_count(1)
        press("j")
        expect(rows.nth(1)).to_be_focused()
        press("e")
        expect(pane.get_by_label("What it says")).to_be_focused()
        press("Escape")
        press("Escape")
        expect(pane.locator("h1")).to_have_count(0)
        expect(rows.nth(1)).to_be_focused()


def test_a_field_of_the_pane_that_is_left_at_once_stays_left(pages: Served) -> None:
    fill_examples(pages.db, "jon")
    with signed_in(pages.url, pages.db, user="jon") as page:
        page.goto("/memories")
        page.keyboard.press("j")
        left = page.evaluate_handle("""() => {
            const seen = { left: 0, frames: 0 };
            document.addEventListener("focusin", ({ target }) => queueMicrotask(() => {
                if (target.id !== "new-content") return;
                target.blur();
                seen.left += 1;
                requestAnimationFrame(() => requestAnimationFrame(() => (seen.frames += 1)));
            }));
            return seen;
        }""")
        page.keyboard.press("e")
        page.wait_for_function("seen => seen.frames", arg=left)
        assert left.evaluate("seen => seen.left") == 1


@pytest.mark.parametrize(("language", "said"), [("en-GB", "Project or none"), ("zh-CN", "项目 （含无项目的）")])
@pytest.mark.parametrize("path", ["/memories?project=harbor", "/search?q=port&project=harbor"])
def test_a_filter_of_a_project_says_that_it_keeps_what_has_none(
    pages: Served, path: str, language: str, said: str
) -> None:
    with signed_in(pages.url, pages.db, locale=language) as page:
        page.goto(path)
        expect(page.get_by_label(said)).to_have_value("harbor")


def test_pages_of_the_list_lead_on(pages: Served) -> None:
    with open_memory(pages.db, user="fay", embedder="none") as memory:
        for number in range(53):
            memory.remember(f"Mooring {number} holds boat {number * 7}", key=f"mooring_{number}")
    with signed_in_client(pages, user="fay") as client:
        code = form_code_in(client.get("/").text)
        first = client.get("/memories").text
        path = re.findall(r'rel="next" href="([^"]+)"', first)[0].replace("&amp;", "&")
        second = client.get(path).text
        keys = re.findall(r'aria-label="Choose (\w+)"', first + second)
        assert len(keys) == len(set(keys)) == 53
        assert 'rel="next"' not in second
        none = client.post("/memories/archive", data={"csrf": code, "back": "/memories"})
        assert none.headers["location"] == "/memories"
        assert "Choose some memories first" in client.get("/memories").text

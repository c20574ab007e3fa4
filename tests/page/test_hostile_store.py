"""A store in which every field holds what a page could obey: nothing of it is obeyed, and nothing breaks the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.databases import open_memory
from tests.engine_parts import connector_of
from tests.gateway.serving import Served, serving

from picomem.light_dataclass import replace
from picomem.records.ids import new_id
from picomem.records.scope import Scope
from picomem.store.tables import memories

from .serving_pages import DESKTOP, PHONE, browser_path, signed_in

MARKUP = (
    "<img src=x onerror=document.title='owned'><script>document.title='owned'</script>\"'><b>bold</b>{{7*7}}</textarea>"
)
ANSI = "\x1b[31mred\x1b]0;owned\x07"
BIDI = "user\u202etxt.exe\u202c \u2066abc \u200bzero"
RTL = "الميناء مفتوح حتى العاشرة"
WORD = "x" * 100_000


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory):
    browser_path()
    db: Path = tmp_path_factory.mktemp("hostile") / "memory.db"
    with open_memory(db, embedder="none") as memory:
        for number, text in enumerate((MARKUP, ANSI, BIDI, RTL, WORD[:7_000])):
            short, project = text[:60], f"{text[:30]}" if text.isprintable() else "harbour"
            memory.remember(
                f"harbour {number} {text}",
                key=f"hostile_{number}",
                context=f"because {text}",
                tags=[short],
                related=[short],
                scope=Scope(project=project),
            )
            memory.revise(
                f"hostile_{number}", f"harbour quay {number} {text}", reason=text, scope=Scope(project=project)
            )
        with connector_of(memory).write(memory.scope) as tx:  # as an older version, or an import, may have stored it
            (stored,) = memories.by_docs(tx, memory.scope, [1], [])
            long = replace(stored, id=new_id(), key="k" * 64, content=WORD, context=WORD, tags=(WORD,), related=(WORD,))
            memories.insert(tx, long)
        line = {
            "role": "user",
            "content": f"harbour {MARKUP} {ANSI} {BIDI} {WORD}",
            "timestamp": "2026-04-06T09:00:00Z",
        }
        talk = db.parent / "talk.jsonl"
        talk.write_text(json.dumps(line) + "\n", "utf-8")
        memory.ingest([talk])
    with serving(db) as running:
        yield running


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_text_is_obeyed_and_none_breaks_the_page(hostile: Served, size: dict[str, int]) -> None:
    with signed_in(hostile.url, hostile.db, viewport=size) as page:
        page.on("dialog", lambda dialog: pytest.fail(dialog.message))
        for path in (
            "/",
            "/search?q=harbour&weak=1",
            "/memories",
            f"/memory/{'k' * 64}",
            *(f"/memory/hostile_{number}{suffix}" for number in range(5) for suffix in ("", "?edit=1")),
        ):
            page.goto(path)
            expect(page.get_by_role("searchbox")).to_be_visible()
            assert page.title() != "owned", path
            assert page.locator("main img, main script, main b").count() == 0, path
            assert not path.startswith("/search") or page.locator(".hit").count() >= 4
            text = page.locator("body").inner_text()
            assert not {"\x1b", "\u202e", "\u200b", "\x07"} & set(text), path
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert wide <= 0, (path, wide)


def test_saving_without_a_change_keeps_every_character(hostile: Served) -> None:
    with open_memory(hostile.db, embedder="none") as memory:
        before = {stored.key: stored.content for stored in memory.memories()}
    with signed_in(hostile.url, hostile.db) as page:
        for number in range(4):
            page.goto(f"/memory/hostile_{number}?edit=1")
            page.get_by_label("Why it matters").fill("because it does")
            page.get_by_role("button", name="Save a new version").click()
            expect(page.locator(".toast")).to_contain_text("Saved")
    with open_memory(hostile.db, embedder="none") as memory:
        assert {stored.key: stored.content for stored in memory.memories()} == before

"""Stored and typed text is data: no markup, no escape sequence, no hidden or overlong text has its way with a terminal."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from tests.hostile import TEXTS
from tests.inert import assert_inert
from tests.sessions.conftest import user
from tests.tui.driving import Person, at_the_terminal
from textual.events import Paste

from picomem.engine.engine import Engine
from picomem.errors import PicomemError
from picomem.tui.entry_list import EntryList

MARKUP = "[bold red]not bold[/] [@click=app.quit]click[/] \\[x] :smile: https://example.org/[a]"
TALL = (120, 60)  # with a pane beside the list
LONG_WORD = "x" * 100_000


def assert_safe(person: Person) -> None:
    """Every line of the screen is safe, and as wide as the screen."""
    strips = person.app.screen._compositor.render_strips()
    assert {strip.cell_length for strip in strips} == {person.app.size.width}
    for strip in strips:
        assert_inert(strip.text)
        for _, style, _ in strip:
            assert style is None or not style.link


def test_whatever_is_stored_is_shown_as_text_on_every_screen(engine: Engine) -> None:
    talk = engine.sessions().create("tui", title=f"\x1b[31m {MARKUP}")
    for number, text in enumerate((*TEXTS, MARKUP)):
        with suppress(PicomemError):
            engine.remember(f"The tide {number} is {text} at Kiel", key=f"tide_{number}")
        engine.sessions().append(talk.id, user(f"{text} tide"))

    async def look(person: Person) -> None:
        await person.search("tide [bold]x [/bold]")
        assert_safe(person)
        assert "[/bold]" in person.text
        await person.press("escape", "2")
        assert "[bold red]not bold[/]" in person.text
        entries = person.app.screen.query_one(EntryList)
        await person.press("e")
        assert_safe(person)
        await person.press("escape")
        while entries.chosen is not entries.entries[-1]:
            await person.press("pagedown")
            assert_safe(person)
        await person.press("5")
        assert_safe(person)
        assert "[bold red]" in person.text
        await person.press("enter")
        assert_safe(person)
        await person.press("end")
        assert_safe(person)
        assert "[bold red]" in person.text

    at_the_terminal(engine, look, TALL)


def test_a_word_of_100_kb_is_listed_opened_and_edited_at_once(engine: Engine) -> None:
    talk = engine.sessions().create("tui", title=LONG_WORD[:5_000])
    engine.sessions().append(talk.id, user(LONG_WORD), user("字" * 30_000))

    async def look(person: Person) -> None:
        await person.press("escape")
        began = time.process_time()
        await person.press("5", "enter")
        assert "x" * 70 in person.text
        await person.press("end")
        assert "字" * 30 in person.text
        assert_safe(person)
        assert time.process_time() - began < 3

    at_the_terminal(engine, look)


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("unit", ["x", "harbour ", "the harbour is shut\n"], ids=["word", "line", "lines"])
def test_a_megabyte_is_not_pasted_and_a_sentence_says_so(engine: Engine, unit: str) -> None:
    pasted = unit * (1_000_000 // len(unit))

    async def look(person: Person) -> None:
        for keys, field in (((), "#question"), (("escape", "6"), "#message")):
            await person.press(*keys)
            began = time.process_time()
            person.app.screen.query_one(field).post_message(Paste(pasted))
            said = f"{len(pasted):,} characters"
            await person.calm_down(lambda said=said: said in person.text)
            assert said in person.text
            await person.press("y")
            assert time.process_time() - began < 3
            assert "harbour" not in person.text and "xx" not in person.text

    at_the_terminal(engine, look)


def test_what_is_pasted_becomes_text_that_a_terminal_does_not_obey(engine: Engine) -> None:
    pasted = "one\r\ntwo \x1b[31mred\x1b]0;t\x07 \u202eevil\u2066x"

    async def look(person: Person) -> None:
        person.app.screen.query_one("#question").post_message(Paste(pasted))
        await person.settle()
        assert_safe(person)
        assert "one two \\x1b[31mred" in person.text
        await person.press("escape", "6")
        person.app.screen.query_one("#message").post_message(Paste(pasted))
        await person.settle()
        assert_safe(person)
        assert "two \\x1b[31mred" in person.text

    at_the_terminal(engine, look)


def test_a_long_word_fills_the_lines_of_a_small_terminal(engine: Engine) -> None:
    """The text is laid out before the bar beside it appears."""
    engine.remember(f"{'x' * 400} is the name of the queue", key="queue_name")

    async def look(person: Person) -> None:
        await person.press("escape", "2", "enter")
        await person.until(lambda: "xxx" in person.text)
        widths = {line.count("x") for line in person.lines if "xxx" in line or line.strip() == "x"}
        assert len(widths) == 1, person.text

    at_the_terminal(engine, look, (40, 10))

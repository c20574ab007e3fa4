"""What a person does at the terminal interface, from the first key to what is stored afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.tui.driving import LARGE, SMALL, Person, at_the_terminal
from textual.widgets import Input, TextArea

from picomem.engine.engine import Engine
from picomem.tui.entry_list import EntryList

SIZES = pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "200x60"])


@SIZES
@pytest.mark.requirement("X3")
def test_a_memory_is_searched_edited_and_the_edit_is_undone(stated: Engine, size: tuple[int, int]) -> None:
    async def story(person: Person) -> None:
        await person.type("kiel")
        assert "tide_table" in person.text and "confidence" in person.text
        await person.press("enter", "e")
        assert "Edit tide_table" in person.text
        await person.type(" now")
        await person.press("tab")
        await person.type("moved")
        await person.press("ctrl+s")
        assert person.note == "tide_table is revised (version 2); u undoes it."
        assert "docs/tides.md now" in person.text
        assert stated.why("tide_table").memory.content.endswith("docs/tides.md now")
        assert stated.why("tide_table").changes[-1].reason.startswith("moved")
        await person.press("u")
        assert "Undone: tide_table" in person.note
        assert stated.why("tide_table").memory.content.endswith("docs/tides.md")

    at_the_terminal(stated, story, size)


def test_a_memory_is_pinned_forgotten_and_brought_back(stated: Engine) -> None:
    async def story(person: Person) -> None:
        await person.press("escape", "2")
        assert "fact · pinned" in person.text
        await person.press("p")
        assert person.note == "tide_table is unpinned; u undoes it."
        assert not stated.why("tide_table").memory.pinned
        await person.press("p", "x")
        assert person.note == "tide_table is archived; u undoes it."
        assert "tide_table · " not in person.text
        await person.press("a")
        assert "tide_table · fact · pinned · archived" in person.text
        await person.press("u", "a")
        assert "tide_table · fact · pinned" in person.text
        await person.press("u", "u")
        assert stated.why("tide_table").memory.pinned
        assert "u Undo" not in person.text  # nothing is left to undo

    at_the_terminal(stated, story)


@SIZES
def test_a_memory_opens_to_its_reasons_its_history_and_the_session_it_comes_from(
    demo: Engine, size: tuple[int, int]
) -> None:
    async def story(person: Person) -> None:
        await person.search("which port does the staging database listen on?")
        await person.press("escape", "enter")
        assert "because" in person.text
        await person.press("h")
        assert "The staging database listens on port 6432" in person.text and "believed" in person.text
        await person.press("escape")
        await person.press("o")
        assert "staging" in person.text and ".jsonl" in person.text

    at_the_terminal(demo, story, size)


def test_a_list_without_entries_says_what_fills_it(engine: Engine) -> None:
    engine.remember("The tide table lies in the harbour office", key="tide_table")

    async def story(person: Person) -> None:
        await person.press("escape", "4")
        assert "No past session has been read yet" in person.text and "picomem ingest" in person.text
        assert "picomem remember" not in person.text
        await person.press("2", "x")
        assert "There is nothing here · kind: all (t) · believed now (a)" in person.text
        await person.press("a")
        assert "tide_table · fact · archived" in person.text

    at_the_terminal(engine, story)


def test_where_only_sessions_were_read_the_list_of_memories_says_how_to_store_one(
    engine: Engine, tmp_path: Path
) -> None:
    talk = tmp_path / "talk.jsonl"
    talk.write_text(json.dumps({"role": "user", "content": "Where does the grey ferry lie?"}))
    engine.ingest([talk])

    async def story(person: Person) -> None:
        await person.press("escape", "2")
        assert "No memory is stored yet" in person.text and "picomem remember TEXT" in person.text
        await person.press("4")
        assert "Where does the grey ferry lie?" in person.text

    at_the_terminal(engine, story)


def test_an_edit_that_the_gate_refuses_is_kept_below_a_sentence_and_changes_nothing(stated: Engine) -> None:
    async def story(person: Person) -> None:
        typed = "key: sk-EXAMPLE0not0a0real0key0harbor0mail42"
        await person.press("escape", "2", "e")
        person.app.screen.query_one("#content", TextArea).text = typed
        await person.press("tab")
        await person.type("a new key")
        await person.press("ctrl+s")
        assert "redacted secret" in person.text
        assert person.app.screen.query_one("#content", TextArea).text == typed
        assert person.app.screen.query_one("#reason", Input).value == "a new key"
        await person.press("escape")
        assert stated.why("tide_table").memory.content == "The tide table of Kiel is in docs/tides.md"

    at_the_terminal(stated, story)


@SIZES
def test_an_edit_does_not_overwrite_what_changed_meanwhile(stated: Engine, size: tuple[int, int]) -> None:
    async def story(person: Person) -> None:
        await person.press("escape", "2", "e")
        stated.revise("tide_table", "The tide table of Kiel is on the wall")
        await person.type(" now")
        await person.press("ctrl+s")
        assert stated.why("tide_table").memory.content == "The tide table of Kiel is on the wall"
        assert "changed meanwhile" in person.text
        assert "is on the wall" in person.text
        assert "docs/tides.md now" in person.text
        assert "[ ] The old text was always wrong" in person.text
        await person.press("ctrl+s")
        assert person.note == "tide_table is revised (version 3); u undoes it."
        assert stated.why("tide_table").memory.content.endswith("docs/tides.md now")

    at_the_terminal(stated, story, size)


def test_an_edit_that_is_cancelled_changes_nothing(stated: Engine) -> None:
    async def story(person: Person) -> None:
        await person.press("escape", "2", "e", "x", "escape")
        assert stated.why("tide_table").memory.content == "The tide table of Kiel is in docs/tides.md"
        assert "Edit" in person.lines[-1]

    at_the_terminal(stated, story)


def test_the_cursor_moves_by_letters_and_arrows_and_stays_in_view(demo: Engine) -> None:
    async def story(person: Person) -> None:
        await person.press("escape", "4")
        await person.press("j", "j", "k", "down", "pagedown", "end")
        entries = person.app.screen.query_one(EntryList)
        assert entries.chosen is entries.entries[-1]
        last = entries.chosen.title
        assert any(line.startswith(" ▌") and last in line for line in person.lines)
        await person.press("home", "up")
        assert entries.chosen is entries.entries[0]
        assert person.app.cursor_position.y == next(
            number for number, line in enumerate(person.lines) if line.startswith(" ▌")
        )

    at_the_terminal(demo, story)


def test_the_fields_of_an_edit_and_the_question_of_a_purge_are_seen_in_the_smallest_window(stated: Engine) -> None:
    async def edit_and_ask(person: Person) -> None:
        await person.press("escape", "2", "e")
        for shown in ("Why it changes (optional)", "[ ] The old text was always wrong", "^s Save"):
            assert shown in person.text
        await person.press("escape", "6")
        await person.type("/purge_user")
        await person.press("enter")
        assert "Confirm purge? (y/n)" in person.text

    at_the_terminal(stated, edit_and_ask, (40, 10))


@SIZES
def test_home_shows_what_holds_the_last_sessions_and_what_changed_and_finds_while_a_person_types(
    demo: Engine, size: tuple[int, int]
) -> None:
    """41 §9."""

    async def story(person: Person) -> None:
        listed = person.app.screen.query_one(EntryList)
        sections = dict.fromkeys(entry.section for entry in listed.entries)
        assert list(sections) == ["What holds in lantern", "Last sessions in lantern", "What changed"]
        assert "18 memories · 9 sessions · 2 projects (t)" in person.text and " 3 Review 25 " in person.lines[0]
        await person.press("escape", "t")
        assert "What holds in harbor" in person.text
        await person.press("slash")
        await person.search("which port does the staging database listen on?")
        first = listed.entries[0]
        assert first.section == "Memories" and "port 6432" in first.text
        assert [entry.section == "Memories" for entry in listed.entries] == sorted(
            (entry.section == "Memories" for entry in listed.entries), reverse=True
        )
        await person.search("")
        assert "What holds in harbor" in person.text

    at_the_terminal(demo, story, size)


def test_a_session_at_home_opens_to_what_was_said_in_it(demo: Engine) -> None:
    """41 §9."""

    async def story(person: Person) -> None:
        entries = person.app.screen.query_one(EntryList).entries
        number = next(number for number, entry in enumerate(entries) if entry.id.startswith("session "))
        await person.press("escape", *["j"] * number, "enter")
        assert "── codex 019e2cf6  [lantern]" in person.text

    at_the_terminal(demo, story)

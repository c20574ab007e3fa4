"""What each screen shows, character by character, on a small and on a large terminal.

The snapshots are plain text, so that a reviewer can read them: `UPDATE_SNAPSHOTS=1 pytest tests/tui` writes them anew.
(pytest-textual-snapshot 1.1 does not go with the pytest of this project; it would store 100 kB of SVG a screen.)
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.tui.driving import LARGE, SMALL, Person, at_the_terminal

from picomem.engine.engine import Engine

NO_MODEL = "No model is set to talk with: run `ollama pull qwen3:8b`."
SCREENS = {
    "home": (),
    "hits": ("?tide table of Kiel",),
    "memories": ("escape", "2"),
    "review": ("escape", "3"),
    "timeline": ("escape", "4"),
    "conversations": ("escape", "5"),
    "chat": ("escape", "6"),
    "status": ("escape", "7", "i"),
    "commands": ("?/pu",),
    "purge": ("?/purge_older 1", "enter"),
    "keys": ("escape", "2", "question_mark"),
    "edit": ("escape", "2", "e"),
    "history": ("escape", "2", "h"),
}


async def compare(person: Person, path: Path) -> None:
    """Compare the screen with its snapshot, or write that. The keys at the bottom may be drawn a moment later."""
    if os.environ.get("UPDATE_SNAPSHOTS"):
        await person.calm_down()
        path.write_text(person.text + "\n", "utf-8")
    expected = path.read_text("utf-8").removesuffix("\n").split("\n")
    await person.calm_down(lambda: person.lines_without_ids == expected)
    assert person.lines_without_ids == expected


ONLY_SMALL = (
    "sessions",
    "chat",
    "commands",
    "keys",
    "edit",
)  # on a large terminal they have more room, and that is all


@pytest.mark.parametrize("size", [SMALL, LARGE], ids=["80x24", "200x60"])
def test_every_screen_of_the_demo_shows_what_its_snapshot_shows(
    demo: Engine, snapshots: Path, size: tuple[int, int]
) -> None:
    columns, rows = size

    async def look(person: Person) -> None:
        for name, keys in SCREENS.items():
            if size == LARGE and name in ONLY_SMALL:
                continue
            for key in keys:
                await (person.search(key[1:]) if key.startswith("?") else person.press(key))
            await compare(person, snapshots / f"{name}-{columns}x{rows}.txt")
            assert len(person.lines) == rows
            if name in ("keys", "edit", "history", "purge", "chat"):
                await person.press("escape")
            await person.press("slash")
            await person.search("")

    at_the_terminal(demo, look, size, no_model=NO_MODEL)


def test_an_empty_store_says_what_to_do_first(engine: Engine, snapshots: Path) -> None:
    async def look(person: Person) -> None:
        await compare(person, snapshots / "empty-home-80x24.txt")
        assert "picomem ingest" in person.text
        await person.press("escape", "2")
        assert "picomem remember TEXT" in person.text
        await person.press("4")
        assert "picomem ingest" in person.text
        await person.press("5")
        assert "There are no conversations with PicoBot yet" in person.text

    at_the_terminal(engine, look)

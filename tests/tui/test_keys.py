"""The page about the terminal interface names every key, and no other."""

from __future__ import annotations

import re
from pathlib import Path

from textual.binding import Binding

from picomem.tui.base_screen import ResultScreen
from picomem.tui.browse_screen import DetailScreen, MemoryActions
from picomem.tui.chat_screen import ChatScreen
from picomem.tui.dialogs import ConfirmDialog, EditDialog, KeyHelp, MessageField
from picomem.tui.entry_list import EntryList
from picomem.tui.home_screen import HomeScreen
from picomem.tui.list_screens import ConversationsScreen, MemoriesScreen
from picomem.tui.presented_content import DetailPane
from picomem.tui.review_screen import ReviewScreen
from picomem.tui.status_screen import StatusScreen
from picomem.tui.terminal_app import TerminalApp

OWNERS = (
    ChatScreen, ConfirmDialog, DetailPane, DetailScreen, EditDialog, EntryList, KeyHelp, MemoriesScreen, MemoryActions,
    MessageField, ResultScreen, ReviewScreen, HomeScreen, ConversationsScreen, StatusScreen, TerminalApp,
)  # fmt: skip
PAGE = Path(__file__).parents[2] / "docs" / "tui.md"
_SHOWN = {
    "slash": "/", "question_mark": "?", "escape": "esc", "enter": "⏎", "left": "←", "backspace": "⌫", "up": "↑",
    "down": "↓", "pagedown": "pgdn", "pageup": "pgup",
}  # fmt: skip
_SAME_KEY = {"shift+enter", "alt+enter"}  # other ways to ctrl+j, which not every terminal tells from enter


def bound_keys() -> set[str]:
    keys = set()
    for owner in OWNERS:
        for binding in owner.__dict__["BINDINGS"]:
            assert isinstance(binding, Binding) and binding.description
            keys |= set(binding.key.split(","))
    return {_SHOWN.get(key) or re.sub(r"^ctrl\+", "^", key) for key in keys - _SAME_KEY}


def test_the_page_names_every_key_and_no_other() -> None:
    table = PAGE.read_text("utf-8").partition("## Keys")[2].partition("## Commands")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    named = {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}
    assert named | {"2", "3", "4", "5", "6"} == bound_keys()


def test_every_screen_of_the_page_can_be_reached() -> None:
    table = PAGE.read_text("utf-8").partition("## Screens")[2].partition("## Keys")[0]
    from picomem.tui.base_screen import MODES

    assert [name.lower() for name in re.findall(r"^\| (\w+) \|", table, re.MULTILINE)][1:] == list(MODES)

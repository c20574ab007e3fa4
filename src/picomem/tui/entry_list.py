"""A list of entries that is drawn line by line, so that a hundred thousand entries cost what a screenful costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.events import Click
from textual.geometry import Offset, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from picomem.tui.list_entry import ListEntry
from picomem.tui.presented_content import styled, wrapped

_CURSOR, _CURSOR_WITHOUT_FOCUS, _NO_CURSOR = "▌ ", "│ ", "  "
_BAR_CELLS = 8
_NEARLY_ALL = 50  # entries below the cursor at which the next page is asked for
_ROOMY = 36  # lines of a list whose entries stand apart
_RAGGED = 1.1  # times the room of a text is what its lines need, since words are not broken
_MOST_CHARACTERS = 2_000  # of a text: more than two lines of any terminal


class EntryList(ScrollView, can_focus=True, inherit_bindings=False):
    """Entries, one of which is chosen."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "entry-list--title",
        "entry-list--about",
        "entry-list--text",
        "entry-list--section",
        "entry-list--bar",
        "entry-list--mark",
        "entry-list--past",
        "entry-list--cursor",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("pagedown,space", "move_page(1)", "Page down", show=False),
        Binding("pageup", "move_page(-1)", "Page up", show=False),
        Binding("home", "move_to_end(-1)", "First", show=False),
        Binding("end,G", "move_to_end(1)", "Last", show=False),
        Binding("enter", "open", "Open"),
    ]

    class Chosen(Message):
        """The cursor stands on another entry, or on none."""

        def __init__(self, entries: EntryList, entry: ListEntry | None) -> None:
            self.entries = entries
            self.entry = entry
            super().__init__()

        @property
        def control(self) -> EntryList:
            return self.entries

    class Opened(Chosen):
        """The person opens an entry."""

    class MoreWanted(Message):
        """The cursor is near the last entry."""

    def __init__(self, *, text_lines: int = 1, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._text_lines = text_lines
        self._entries: list[ListEntry] = []
        self._tops: list[int] = []  # the first line of each entry, its section's heading included
        self._height = 0
        self._cursor = 0
        self._is_roomy = False
        self._laid_out_room = 0

    @property
    def entries(self) -> Sequence[ListEntry]:
        """All entries."""
        return self._entries

    @property
    def chosen(self) -> ListEntry | None:
        """The entry at the cursor."""
        return self._entries[self._cursor] if self._entries else None

    def show(self, entries: Sequence[ListEntry], *, keep_place: bool = False, choose: str = "") -> None:
        """Show these entries in place of those before. With `keep_place` the cursor goes to the entry with the id
        `choose`; without one it stays on its entry, or else at its number."""
        before = choose or (self.chosen.id if self.chosen else "")
        self._entries, self._tops, self._height = [], [], 0
        self._lay_out(entries)
        if keep_place and before:
            same = [number for number, entry in enumerate(self._entries) if entry.id == before]
            self._cursor = same[0] if same else max(0, min(self._cursor, len(self._entries) - 1))
        else:
            self._cursor = 0
            self.scroll_to(y=0, animate=False)
        self._changed()

    def add(self, entries: Sequence[ListEntry]) -> None:
        """Show these entries below those that are shown."""
        had_none = not self._entries
        self._lay_out(entries)
        if had_none:
            self._changed()
        else:
            self._redraw()

    def _lay_out(self, entries: Sequence[ListEntry]) -> None:
        section = self._entries[-1].section if self._entries else ""
        for entry in entries:
            self._tops.append(self._height)
            self._height += self._lines_above(entry.section, section) + 1 + self._lines_of(entry)
            self._entries.append(entry)
            section = entry.section

    def _lines_above(self, section: str, before: str) -> int:
        """The lines above an entry: an empty one in a tall list, and the heading of a section that begins with it."""
        gap = 1 if self._entries and (self._is_roomy or section != before) else 0
        return gap + (1 if section and section != before else 0)

    def _lines_of(self, entry: ListEntry) -> int:
        """The lines of an entry's text, and as much more as words at their ends may need."""
        cells = cell_len(entry.text[:_MOST_CHARACTERS])
        return 1 if cells <= self._room else min(self._text_lines, 1 + int(cells * _RAGGED // self._room))

    @property
    def _room(self) -> int:
        """The columns of a line of text."""
        return max(1, self.scrollable_content_region.width - len(_NO_CURSOR) - 1)

    def _changed(self) -> None:
        self._redraw()
        self._show_cursor()
        self.post_message(self.Chosen(self, self.chosen))

    def _redraw(self) -> None:
        self.virtual_size = Size(self.size.width, self._height)
        self.refresh()

    def _show_cursor(self) -> None:
        """Scroll the chosen entry into view, and put the terminal's own cursor there for a screen reader to follow."""
        if not self._entries:
            return
        top, bottom = self._tops[self._cursor], self._bottom(self._cursor)
        height = self.scrollable_content_region.height
        if height and top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)
        elif height and bottom > self.scroll_offset.y + height:
            self.scroll_to(y=bottom - height, animate=False)
        if self.has_focus:
            line = bottom - 1 - self._lines_of(self._entries[self._cursor]) - round(self.scroll_target_y)
            self.app.cursor_position = self.content_region.offset + Offset(0, max(0, line))

    def _bottom(self, number: int) -> int:
        return self._tops[number + 1] if number + 1 < len(self._tops) else self._height

    def on_focus(self) -> None:
        """Take the terminal's cursor along."""
        self._show_cursor()
        self.refresh()

    def on_blur(self) -> None:
        """Draw the cursor of a list that has no keys."""
        self.refresh()

    def on_resize(self) -> None:
        """Keep the chosen entry in view, with room around it in a tall list."""
        is_roomy, room = self.size.height >= _ROOMY, self._room
        if (is_roomy, room) != (self._is_roomy, self._laid_out_room):
            self._is_roomy, self._laid_out_room = is_roomy, room
            entries, self._entries, self._tops, self._height = self._entries, [], [], 0
            self._lay_out(entries)
        self._redraw()
        self._show_cursor()

    def on_click(self, event: Click) -> None:
        """Choose the entry that is clicked on; open the one that is chosen already."""
        if not self._entries:
            return
        number = max(0, bisect_right(self._tops, event.y + self.scroll_offset.y) - 1)
        if number == self._cursor and event.chain > 1:
            self.action_open()
        else:
            self._move_to(number)

    def action_move(self, step: int) -> None:
        """Choose the next entry, or the one before."""
        self._move_to(self._cursor + step)

    def action_move_page(self, direction: int) -> None:
        """Choose the entry a screenful further."""
        entries = max(1, self.scrollable_content_region.height // (1 + self._text_lines) - 1)
        self._move_to(self._cursor + direction * entries)

    def action_move_to_end(self, direction: int) -> None:
        """Choose the first entry, or the last of those that were read."""
        self._move_to(0 if direction < 0 else len(self._entries) - 1)

    def action_open(self) -> None:
        """Open the chosen entry."""
        if self.chosen:
            self.post_message(self.Opened(self, self.chosen))

    def _move_to(self, number: int) -> None:
        if not self._entries:
            return
        number = max(0, min(number, len(self._entries) - 1))
        if number >= len(self._entries) - _NEARLY_ALL:
            self.post_message(self.MoreWanted())
        if number != self._cursor:
            self._cursor = number
            self._changed()

    def render_line(self, y: int) -> Strip:
        """A line of the screen."""
        width = self.scrollable_content_region.width
        line = y + self.scroll_offset.y
        base = self.visual_style
        if not self._entries or line >= self._height:
            return Strip.blank(width, base.rich_style)
        number = bisect_right(self._tops, line) - 1
        entry = self._entries[number]
        text_lines = self._lines_of(entry)
        from_bottom = self._bottom(number) - line  # the last line of the text is 1
        if from_bottom > text_lines + 1:
            begins = not number or self._entries[number - 1].section != entry.section
            is_heading = begins and entry.section and from_bottom == text_lines + 2
            heading = styled(entry.section).stylize(self._style("section")) if is_heading else Content("")
            return self._strip(heading.truncate(width, ellipsis=True), base, width)
        is_cursor = number == self._cursor
        if is_cursor and self.has_focus:
            base = base + self._style("cursor")
        sign = _CURSOR if self.has_focus else _CURSOR_WITHOUT_FOCUS
        marker = Content.styled(sign if is_cursor else _NO_CURSOR, self._style("section" if is_cursor else "about"))
        row = text_lines + 1 - from_bottom
        if row == (0 if entry.title else text_lines):
            content = self._about_line(entry, self._room)
        else:
            lines = self._text(entry, self._room)
            row -= 1 if entry.title else 0
            content = lines[row] if row < len(lines) else Content("")
        return self._strip(marker + content, base, width)

    def _strip(self, content: Content, base: Style, width: int) -> Strip:
        return Strip(content.render_segments(base)).adjust_cell_length(width, base.rich_style)

    def _style(self, component: str) -> Style:
        return self.get_visual_style(f"entry-list--{component}", partial=True)

    def _about_line(self, entry: ListEntry, room: int) -> Content:
        title = styled(entry.title).stylize(self._style("past" if entry.is_past else "title"))
        aside = styled(entry.aside).stylize(self._style("about"))
        if entry.share is not None:
            aside = self._bar(entry.share) + Content("  ") + aside
        left = title + Content("  " if entry.title else "") + styled(entry.about).stylize(self._style("about"))
        left_room = room - aside.cell_length - 2
        if left_room < 16:
            return left.truncate(room, ellipsis=True)
        left = left.truncate(left_room, ellipsis=True)
        return left + Content(" " * (room - left.cell_length - aside.cell_length)) + aside

    def _bar(self, share: float) -> Content:
        filled = round(max(0.0, min(1.0, share)) * _BAR_CELLS)
        bar = Content.styled("━" * filled, self._style("bar"))
        rest = Content.styled("─" * (_BAR_CELLS - filled), self._style("about"))
        return bar + rest + Content.styled(f" {share:.2f}", self._style("about"))

    def _text(self, entry: ListEntry, room: int) -> list[Content]:
        """The lines of the text that are shown: those of the first mark, or the first."""
        text = entry.text
        first_mark = entry.marks[0][0] if entry.marks else 0
        start = 0
        if cell_len(text[:first_mark][:_MOST_CHARACTERS]) > room * self._text_lines * 2 // 3:
            start = max(0, first_mark - room // 3)
            start = text.find(" ", start, first_mark) + 1 or start
        shown = text[start : start + _MOST_CHARACTERS]
        one_line = "".join(" " if char.isspace() else char for char in shown)
        content = Content(one_line).stylize(self._style("past" if entry.is_past else "text"))
        for begin, end in entry.marks:
            if end > start and begin < start + len(shown):
                content = content.stylize(self._style("mark"), max(0, begin - start), end - start)
        if start:
            content = Content("… ") + content
        lines, most = wrapped(content, room), self._lines_of(entry)
        if len(lines) > most:
            last = lines[most - 1].rstrip()
            lines[most - 1] = last.truncate(min(last.cell_length, room - 2)) + Content(" …")
        return lines[:most]

"""Fields in which a person types. What is pasted there becomes text that a terminal does not obey."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key, Paste
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, TextArea

from picomem.text.inert_text import streamed_for_terminal

_MOST_PASTED = 200_000  # characters; each key in a line of a million would take a second


class LineField(Input):
    """One line."""

    def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
        if is_too_long(self, event.text):
            return
        line = " ".join(streamed_for_terminal(event.text).split())
        self.replace(line, *self.selection)

    def on_resize(self) -> None:
        """Put the terminal's own cursor where the text is typed, for an input method or a screen reader."""
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset


class TextField(TextArea):
    """Several lines."""

    async def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
        if is_too_long(self, event.text):
            return
        pasted = streamed_for_terminal(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        self.replace(pasted, *self.selection, maintain_selection_offset=False)


class PasteRefused(Message):
    """A text is too long to be pasted."""

    def __init__(self, pasted: str) -> None:
        self.reason = f"{len(pasted):,} characters are too many to paste; paste at most {_MOST_PASTED:,}."
        super().__init__()


def is_too_long(field: Widget, pasted: str) -> bool:
    """Return whether a text is too long to be pasted, and let the program say so."""
    if len(pasted) <= _MOST_PASTED:
        return False
    field.post_message(PasteRefused(pasted))
    return True


class MessageField(TextField):
    """A message: enter sends it, and another key begins a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send"),
        Binding("ctrl+j,shift+enter,alt+enter", "begin_line", "New line", key_display="^j"),
    ]

    class Sent(Message):
        """The person sends what they typed."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    async def _on_key(self, event: Key) -> None:
        # Not by a binding with priority: that would overtake the characters which wait to be typed.
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            self.action_send()

    def action_send(self) -> None:
        """Send the message and empty the field."""
        text = self.text.strip()
        if text:
            self.text = ""
            self.post_message(self.Sent(text))

    def action_begin_line(self) -> None:
        """Go on in a new line."""
        self.insert("\n")

"""Fields in which a person types. What is pasted there becomes text that a terminal does not obey."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Paste
from textual.message import Message
from textual.widgets import Input, TextArea

from picomem.text.inert_text import streamed_for_terminal


class LineField(Input):
    """One line."""

    def _on_paste(self, event: Paste) -> None:
        event.prevent_default()
        event.stop()
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
        pasted = streamed_for_terminal(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        self.replace(pasted, *self.selection, maintain_selection_offset=False)


class MessageField(TextField):
    """A message: enter sends it, and another key begins a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "Send", priority=True),
        Binding("ctrl+j,shift+enter,alt+enter", "begin_line", "New line", key_display="^j"),
    ]

    class Sent(Message):
        """The person sends what they typed."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    def action_send(self) -> None:
        """Send the message and empty the field."""
        text = self.text.strip()
        if text:
            self.text = ""
            self.post_message(self.Sent(text))

    def action_begin_line(self) -> None:
        """Go on in a new line."""
        self.insert("\n")

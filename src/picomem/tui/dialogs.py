"""What stands over a screen: the editing of a memory, the question before what cannot be undone, the list of keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Key, Paste
from textual.message import Message
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Checkbox, Footer, Input, Static, TextArea

from picomem.light_dataclass import dataclass
from picomem.operations.presentation import Fields, Presentation
from picomem.text.inert_text import one_line, streamed_for_terminal
from picomem.tui.presented_content import QUIET, TITLE, WARNING, DetailPane, styled

# Fields in which a person types. What is pasted there becomes text that a terminal does not obey.

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


_LONGEST_NOW = 160  # characters of what the memory says now


@dataclass(frozen=True, slots=True)
class EditedText:
    """What the person wrote. `was_wrong` says that the old text was never true."""

    content: str
    reason: str
    was_wrong: bool


class PlainCheckbox(Checkbox):
    """A checkbox that can be told from its characters alone, without colours."""

    @property
    def _button(self) -> Content:
        return Content("[x]" if self.value else "[ ]")


class EditDialog(ModalScreen[EditedText | None]):
    """Edit a text; the result is None where nothing is to be changed."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "Save"), Binding("escape", "cancel", "Cancel")]

    def __init__(self, key: str, content: str, edited: EditedText | None = None, problem: str = "") -> None:
        """`edited` is what the person wrote before, which could not be stored because of `problem`."""
        super().__init__()
        self._key = key
        self._edited = edited
        self._problem = problem
        # The person edits what they see. A control character or a change of direction stands there as an escape.
        self._shown = streamed_for_terminal(content)

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog -refused" if self._problem else "dialog"):
            yield Static(styled(f"Edit {self._key}", TITLE), markup=False)
            if self._problem:
                yield Static(styled(f"! {self._problem}", WARNING), markup=False)
                yield Static(styled(f"It says now: {one_line(self._shown, _LONGEST_NOW)}", QUIET), markup=False)
            edited = self._edited or EditedText(self._shown, "", False)
            yield TextField(edited.content, soft_wrap=True, tab_behavior="focus", id="content")
            yield LineField(edited.reason, placeholder="Why it changes (optional)", compact=True, id="reason")
            yield PlainCheckbox("The old text was always wrong", edited.was_wrong, compact=True, id="wrong")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Begin at the end of the text."""
        text = self.query_one(TextArea)
        text.focus()
        text.move_cursor(text.document.end)

    def action_save(self) -> None:
        """Keep the text, if it is another one."""
        content = self.query_one(TextArea).text.strip()
        if not content or content == self._shown.strip():
            self.dismiss(None)
            return
        self.dismiss(EditedText(content, self.query_one(Input).value.strip(), self.query_one(Checkbox).value))

    def action_cancel(self) -> None:
        """Keep the old text."""
        self.dismiss(None)


class ConfirmDialog(ModalScreen[bool]):
    """Ask; only y means yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes"),
        Binding("n,escape,enter,q", "answer(False)", "No"),
    ]

    def __init__(self, preview: Presentation, question: str) -> None:
        super().__init__()
        self._preview = preview
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield DetailPane(id="preview")
            yield Static(styled(self._question, f"bold {WARNING}"), markup=False, id="asked")
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show what would happen; the keys scroll it."""
        pane = self.query_one(DetailPane)
        pane.show(self._preview)
        pane.focus()

    def action_answer(self, is_yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(is_yes)


class KeyHelp(ModalScreen[None]):
    """Every key that has a description."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,question_mark,q,enter", "close", "Close")]

    def __init__(self, active: Mapping[str, ActiveBinding]) -> None:
        super().__init__()
        self._active = active

    def compose(self) -> ComposeResult:
        pane = DetailPane(id="keys")
        pane.add_class("dialog")
        yield pane
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Show the keys."""
        pane = self.query_one(DetailPane)
        pane.show(self._presentation())
        pane.focus()

    def _presentation(self) -> Presentation:
        keys: dict[str, list[str]] = {}
        for binding in (active.binding for active in self._active.values() if active.enabled):
            if binding.description and not binding.system:
                keys.setdefault(binding.description, []).append(self.app.get_key_display(binding))
        rows = [(" ".join(dict.fromkeys(shown)), description) for description, shown in keys.items()]
        return Presentation("Keys", (Fields(tuple(rows)),))

    def action_close(self) -> None:
        """Back to the screen."""
        self.dismiss(None)

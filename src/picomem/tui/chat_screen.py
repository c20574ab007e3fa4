"""Chat: a conversation with PicoBot, which remembers."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static
from textual.worker import Worker

from picomem.agent.events import Notice, TextDelta, Thinking, ToolCallEvent, ToolResultEvent
from picomem.agent.turns import check_installed
from picomem.errors import PicomemError
from picomem.operations.presentation import Presentation
from picomem.records.session import Channel
from picomem.text.inert_text import one_line, streamed_for_terminal
from picomem.tui.base_screen import BaseScreen
from picomem.tui.dialogs import MessageField
from picomem.tui.presented_content import QUIET, TITLE, WARNING, presented_content, styled, wrapped
from picomem.tui.slash_commands import CommandResult
from picomem.tui.workspace import Workspace

_REDRAW_SECONDS = 0.05  # between two looks at an answer that comes in pieces
_MOST_ARGUMENTS = 200  # characters
_LAST_MESSAGES = 20  # of a conversation that goes on


class TalkPart(Static):
    """A part of the conversation: what somebody said, or a remark. It is laid out for the width that it has."""

    def __init__(self, content: Content | None = None, presentation: Presentation | None = None) -> None:
        super().__init__(Content(""), markup=False)
        self._content = content or Content("")
        self._presentation = presentation

    def on_resize(self) -> None:
        """Lay it out again."""
        self._lay_out()

    def grow(self, content: Content) -> None:
        """Show more of it."""
        self._content = self._content + content
        self._lay_out()

    def _lay_out(self) -> None:
        columns = self.size.width
        if self._presentation:
            self.update(presented_content(self._presentation, columns))
        elif columns:
            self.update(Content("\n").join(wrapped(self._content, columns)))


class ChatScreen(BaseScreen):
    """The conversation, and the field below it."""

    mode = "chat"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "stop", "Stop the answer"),
        Binding("escape", "leave", "Leave the field"),
        Binding("enter", "write", "Write"),
        Binding("ctrl+n", "begin", "New conversation"),
        Binding("pageup", "scroll_talk(-1)", "Page up", show=False),
        Binding("pagedown", "scroll_talk(1)", "Page down", show=False),
    ]

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._session = ""
        self._turn: Worker[None] | None = None
        self._answer: TalkPart | None = None
        self._pieces: list[str] = []
        self._redraw: Timer | None = None
        self._about = Static(Content(""), markup=False, id="summary")
        self._talk = VerticalScroll(id="talk", can_focus=True)
        self._field = MessageField(
            soft_wrap=True,
            tab_behavior="focus",
            placeholder="Say something; a line that begins with / is a command (/help)",
            compact=True,
            id="message",
        )

    def compose_body(self) -> Iterable[Widget]:
        yield self._about
        yield self._talk
        yield self._field

    async def on_mount(self) -> None:
        """Begin in the field, and load what a turn needs before it is needed."""
        self._talk.anchor()  # what is said last stays in view
        self._field.focus()
        self._introduce()
        self.run_worker(self._prepare, group="prepare")

    def conversation(self) -> str:
        return self._session

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer to stop an answer while one comes."""
        if action == "stop":
            return self._is_answering
        if action in ("leave", "write"):
            return self._field.has_focus == (action == "leave") and not (action == "leave" and self._is_answering)
        return super().check_action(action, parameters)

    @property
    def _is_answering(self) -> bool:
        return self._turn is not None and not self._turn.is_finished

    async def _prepare(self) -> None:
        """Import the libraries of the model in a thread, because that takes a second."""
        try:
            await self.runner.in_thread(check_installed)
        except PicomemError as error:
            self.workspace.no_model = str(error)
        self._introduce()

    def _introduce(self) -> None:
        """Say above the conversation whose it is, or why there can be none."""
        if self.workspace.no_model:
            self._about.update(styled(self.workspace.no_model, WARNING))
            return
        model = self.runner.engine.settings.model
        session = f"session {self._session}" if self._session else "a new session"
        about = " · ".join(filter(None, (self.workspace.user, session, model.model)))
        self._about.update(styled(one_line(about)))

    async def go_on(self, session: str) -> None:
        """Go on with a conversation; empty for a new one."""
        self._session = session
        self._introduce()
        await self._talk.remove_children()
        if session:
            self.run_worker(partial(self._read, session), group="read", exclusive=True)
        self._field.focus()

    async def _read(self, session: str) -> None:
        operation = self.runner.operations["messages"]
        try:
            result = await self.runner.run(operation, operation.request(session=session, last=_LAST_MESSAGES))
        except PicomemError as error:
            self.fail(error)
            return
        await self._add(TalkPart(presentation=operation.presentation(result)))

    async def action_begin(self) -> None:
        """Begin another conversation."""
        await self.go_on("")

    def action_scroll_talk(self, direction: int) -> None:
        """Read further up or down."""
        if direction < 0:
            self._talk.scroll_page_up(animate=False)
        else:
            self._talk.scroll_page_down(animate=False)

    def action_stop(self) -> None:
        """Stop the answer; what was said until now is kept."""
        if self._turn and self._is_answering:
            self._turn.cancel()
            self.note("Stopped; what was said until now is kept.")

    def action_leave(self) -> None:
        """Leave the field, so that keys are keys again."""
        self._talk.focus()

    def action_write(self) -> None:
        """Go back to the field."""
        self._field.focus()

    def on_message_field_sent(self, event: MessageField.Sent) -> None:
        """Do what was typed."""
        if event.text.startswith("/"):
            self.obey(event.text)
        elif self.workspace.no_model:
            self._field.text = event.text
            self.note("There is no model to talk with.")
        elif self._is_answering:
            self._field.text = event.text
            self.note("PicoBot still answers; escape stops it.")
        else:
            self._turn = self.run_worker(partial(self._say, event.text), group="turn")
            self.refresh_bindings()

    async def _say(self, text: str) -> None:
        await self._add(TalkPart(styled("You", TITLE) + Content("\n") + styled(text)))
        try:
            if not self._session:
                begun = await self.runner.call("begin-session", channel=Channel.TUI.value)
                self._session = begun.session.id
                self._introduce()
            turn = self.runner.operations["chat"]
            await self.runner.stream(turn, turn.request(text, self._session, Channel.TUI.value), self._tell)
        except PicomemError as error:
            self.fail(error)
        finally:
            self._end_answer()
            self.workspace.edition += 1
            self._turn = None
            self.refresh_bindings()

    async def _tell(self, event: Any) -> None:
        """An event of the turn; see agent/events.py."""
        match event:
            case TextDelta(text):
                await self._hear(text)
            case Thinking():
                self.note("PicoBot thinks …")
            case ToolCallEvent(_, name, arguments):
                self._end_answer()
                await self._add(TalkPart(styled(f"→ {one_line(f'{name} {arguments}', _MOST_ARGUMENTS)}", QUIET)))
            case ToolResultEvent(_, name, text, failed) if failed:
                await self._add(TalkPart(styled(f"! {one_line(f'{name}: {text}', _MOST_ARGUMENTS)}", WARNING)))
            case Notice(text):
                await self._add(TalkPart(styled(f"! {one_line(text)}", WARNING)))
            case _:
                pass

    async def _hear(self, piece: str) -> None:
        """A piece of the answer. It is drawn some times a second, however small the pieces are."""
        if self._answer is None:
            self._answer = TalkPart(styled("PicoBot", TITLE) + Content("\n"))
            await self._add(self._answer)
        self._pieces.append(streamed_for_terminal(piece))
        if self._redraw is None:
            self._redraw = self.set_timer(_REDRAW_SECONDS, self._draw_answer)

    def _draw_answer(self) -> None:
        self._redraw = None
        if self._answer and self._pieces:
            self._answer.grow(Content("".join(self._pieces)))
            self._pieces.clear()

    def _end_answer(self) -> None:
        """Draw what is left of the answer; what follows is another part."""
        self._draw_answer()
        self._answer = None

    async def _add(self, part: TalkPart) -> None:
        await self._talk.mount(part)

    def show_command(self, result: CommandResult) -> None:
        """Show what a command came to as a part of the conversation."""
        self.run_worker(partial(self._show_command, result), group="command")

    async def _show_command(self, result: CommandResult) -> None:
        if result.conversation is not None:
            await self.go_on(result.conversation)
        if result.presentation != Presentation():
            await self._add(TalkPart(styled(result.line, QUIET)))
            await self._add(TalkPart(presentation=result.presentation))

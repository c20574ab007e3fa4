"""`picomem chat`: PicoBot at the terminal.

    picomem chat                        a prompt; /help lists the commands
    picomem chat "a question"           one answer; the same with a question on stdin
    picomem chat --json "a question"    one JSON document

The model works on an event loop in its own thread. So the main thread can wait for the person's next line, and an
interrupt stops an answer, not the program. The answer goes to stdout; remarks about it (which tools the model calls,
that memory is off) go to stderr.

Memory is on here unless it was turned off explicitly: a person who starts PicoBot at their own terminal expects it to
remember. The default of the setting is off, which is right where other people speak to PicoBot.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from pydantic_ai.models import Model
from rich.console import Console
from rich.text import Text

from picomem.agent.events import Notice, TextDelta, ToolCallEvent, ToolResultEvent, TurnResult
from picomem.agent.loop import PicoBot
from picomem.app import open_engine
from picomem.cli.chat_model import settings_for_a_person, with_model
from picomem.cli.presented_text import NO_HINTS, CommandHints, hints_for, text_of
from picomem.cli.run import json_document
from picomem.cli.terminal import remark
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, NotFound, PicomemError, StoreError
from picomem.jobs import EMBED, OF_A_USER, in_background
from picomem.models.provider import open_chat_model
from picomem.operations.command_names import chat_commands, command_helps, command_request, find_command, not_found
from picomem.operations.operation import ChatCommand, Operation
from picomem.paths import private_umask
from picomem.settings import Settings
from picomem.text.inert_text import one_line, streamed_for_terminal

_PROMPT = "› "
_STOPPING_SECONDS = 10.0
_MOST_PIPED = 1_000_000  # characters of a question on stdin


def run_chat(chosen: argparse.Namespace) -> int:
    """Talk until the person ends it, or answer one question."""
    private_umask()
    os.environ.setdefault("PYDANTIC_AI_NO_BANNER", "1")
    settings = settings_for_a_person()
    question = " ".join(chosen.question).strip()
    if not question and not sys.stdin.isatty():
        question = sys.stdin.read(_MOST_PIPED + 1).strip()
        if len(question) > _MOST_PIPED:
            raise InvalidInput(f"The question on stdin is longer than {_MOST_PIPED:,} characters; ask a shorter one.")
        if not question:
            raise InvalidInput('There is no question on stdin; name one, as in `picomem chat "What do you know?"`.')
    model = open_model(settings, chosen.model)
    stays = not question
    with _opened(chosen, settings, stays=stays) as (engine, trouble), start_blocking_portal() as portal:
        if trouble and chosen.session:
            raise InvalidInput(f"The conversation cannot be continued: {trouble}")
        chat = Chat(portal, model, engine, settings, trouble, session=chosen.session, hints=hints_for(chosen.given))
        if question.startswith("/") and not chosen.question:
            chat.follow(question.splitlines())
        elif question:
            chat.answer_once(question, as_json=chosen.json)
        else:
            chat.prompt()
    return 0


def open_model(settings: Settings, name: str) -> Model:
    """The model to talk with: of that name, of the settings, or Ollama's on this machine. Raises InvalidInput."""
    chosen = with_model(settings, name)
    if chosen.model.base_url not in ("", settings.model.base_url):  # the one that was found here
        remark(f"talking with {chosen.model.model} of Ollama on this machine.")
    return open_chat_model(chosen)


class Chat:
    """A conversation at a terminal, or the next one after /new."""

    def __init__(
        self,
        portal: BlockingPortal,
        model: Model,
        engine: Engine | None,
        settings: Settings,
        trouble: str,
        session: str = "",
        hints: CommandHints = NO_HINTS,
    ) -> None:
        self.engine = engine
        self._hints = hints
        self._portal = portal
        self._model = model
        self._settings = settings
        self._trouble = trouble
        self._lines: Iterator[str] | None = None  # lines that were piped in
        self._screen = Screen()
        self.bot: PicoBot = self._begun(session)

    def begin(self, session: str = "") -> None:
        """Go on with a conversation, or begin one. Raises NotFound."""
        self.bot = self._begun(session)

    def title(self) -> str:
        """The title of the conversation, in one line."""
        return one_line(self.engine.sessions().get(self.bot.talk.session).title) if self.engine else ""

    def prompt(self) -> None:
        """Talk until the person ends it."""
        with suppress(ImportError):
            import readline  # noqa: F401, PLC0415 - not on every system; lines can be edited with it, and the earlier ones come back
        print(
            f"PicoBot on {one_line(self._model.model_name)}. /help lists the commands, /quit or Ctrl-D ends.",
            file=sys.stderr,
        )
        going = True
        while going and (line := self._next()) is not None:
            going = not line or self._heeded(line)
        if going:
            print(file=sys.stderr)
        if self.bot.talk.session:
            remark(self._hints.shown(_goes_on(self.bot.talk.session)))

    def _next(self) -> str | None:
        """The person's next line; an interrupt takes back what they have typed of it."""
        while True:
            try:
                return self.ask(_PROMPT)
            except KeyboardInterrupt:
                print("\npicomem: /quit or Ctrl-D ends.", file=sys.stderr)

    def follow(self, lines: list[str]) -> None:
        """Lines as a person would type them, one after another."""
        self._lines = iter(lines)
        while (line := self.ask("")) is not None:
            if line and not self._heeded(line):
                return

    def ask(self, question: str) -> str | None:
        """The person's next line; None where there is none any more."""
        if self._lines is not None:
            line = next(self._lines, None)
            return None if line is None else line.strip()
        try:
            return input(question).strip()
        except EOFError:
            return None

    def answer_once(self, question: str, *, as_json: bool) -> None:
        """One answer. Raises GeneratorFailed where there is none."""
        self._screen.quiet = as_json
        turn = self._turn(question)
        if as_json:
            print(json_document(self._screen.account(turn), indent=2))
        elif turn.session:
            remark(self._hints.shown(_goes_on(turn.session)))
        self._settle()

    def _heeded(self, line: str) -> bool:
        """Do what a line says; whether to go on after it."""
        try:
            if line.startswith("/"):
                return obey(self, line)
            self._turn(line)
            self._settle()
        except PicomemError as error:
            remark(str(error))
        except KeyboardInterrupt:
            remark("stopped; what was said until now is kept.")
        return True

    def _begun(self, session: str) -> PicoBot:
        return PicoBot(self._model, self.engine, session=session, trouble=self._trouble, settings=self._settings)

    def _turn(self, text: str) -> TurnResult:
        try:
            with self._screen.waiting():
                return self._waited(lambda: self.bot.turn(text, self._screen.tell))
        finally:
            self._screen.end()

    def _settle(self) -> None:
        """Take up into memory what is due; a failure is a warning and no more."""
        if self.engine is None or not self.bot.talk.session:
            return
        try:
            warnings = self._waited(self.bot.settle)
        except StoreError as error:
            warnings = [str(error)]
        for warning in warnings:
            remark(warning)

    def _waited(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """Wait for a task and return its result. An interrupt stops the task; the messages until then are kept."""
        over = Event()

        async def done() -> Any:
            try:
                return await work()
            finally:
                over.set()

        future = self._portal.start_task_soon(done)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            over.wait(_STOPPING_SECONDS)  # the future ends at once, and the task when it has kept what was said
            raise


def _goes_on(session: str) -> str:
    return f"`picomem chat --session {session[:18]}` goes on."


class Screen:
    """The display of a turn in the terminal."""

    def __init__(self) -> None:
        self.quiet = False  # only the account is wanted
        self._spinner: Any = None
        self._midline = False
        self._notices: list[str] = []
        self._calls: dict[str, dict[str, Any]] = {}  # by id

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Show that the model works until it says something, where somebody watches."""
        if self.quiet or not sys.stderr.isatty():
            yield
            return
        self._spinner = Console(stderr=True).status("thinking …", spinner="dots")
        self._spinner.start()
        try:
            yield
        finally:
            self._spinner.stop()

    async def tell(self, event: Any) -> None:
        """An event of the turn; see agent/events.py."""
        if isinstance(event, TextDelta) and not self.quiet:
            if self._spinner:
                self._spinner.stop()
            print(streamed_for_terminal(event.text), end="", flush=True)
            self._midline = True
        elif isinstance(event, Notice):
            self._notices.append(event.text)
            self._aside(f"picomem: {event.text}", always=True)
        elif isinstance(event, ToolCallEvent):
            self._calls[event.id] = {"tool": event.name, "arguments": event.arguments}
            self._aside(f"  → {event.name} {event.arguments[:200]}")
            if self._spinner:
                self._spinner.update(Text(f"{one_line(event.name)} …"))
                self._spinner.start()
        elif isinstance(event, ToolResultEvent):
            if event.id in self._calls:
                self._calls[event.id] |= {"result": event.text, "failed": event.failed}
            if event.failed:
                self._aside(f"    {event.text[:300]}")

    def end(self) -> None:
        """The answer is over: its line ends."""
        if self._midline:
            print(flush=True)
        self._midline = False

    def account(self, turn: TurnResult) -> dict[str, Any]:
        """A turn as one JSON document."""
        return {
            "session": turn.session,
            "answer": turn.answer,
            "calls": list(self._calls.values()),
            "notices": self._notices,
            "input_tokens": turn.input_tokens,
            "output_tokens": turn.output_tokens,
        }

    def _aside(self, line: str, *, always: bool = False) -> None:
        """A line on stderr: what is always said, or what is of use to who watches."""
        if not self.quiet and (always or sys.stderr.isatty()):
            if self._spinner:
                self._spinner.stop()
            self.end()
            print(one_line(line), file=sys.stderr)


@contextmanager
def _opened(chosen: argparse.Namespace, settings: Settings, *, stays: bool) -> Iterator[tuple[Engine | None, str]]:
    """The engine, or why there is none. A process that only answers one question makes missing vectors, and begins
    nothing else that it would not finish."""
    try:
        engine = open_engine(chosen.db, user=chosen.user, settings=settings)
    except StoreError as error:
        yield None, str(error)
        return
    with engine, in_background(engine, OF_A_USER if stays else (EMBED,)):
        yield engine, ""


# Slash commands of the chat: a line that begins with a slash is for picomem, not for the model.
#
# Most are operations of the table under a shorter name (`ChatCommand`); a few exist only in a chat. A command that
# cannot be undone asks for confirmation, and no tool offers it to the model.

_OWN_HELP = {
    "/new": "begin another conversation",
    "/session ID": "go on with one of them",
    "/help": "this",
    "/quit": "end",
}


def help_text() -> str:
    """Every command, a line each."""
    return "\n".join(f"{usage:<20} {text}" for usage, text in {**command_helps(), **_OWN_HELP}.items())


def command_names() -> list[str]:
    """The names of the slash commands."""
    return list(dict.fromkeys([*(command.name for command, _ in chat_commands()), *_own_names()]))


def _own_names() -> list[str]:
    return [usage[1:].split()[0] for usage in _OWN_HELP]


def obey(chat: Chat, line: str) -> bool:
    """Do what the line says; whether the chat goes on. Raises InvalidInput for what is no command, and what the
    operations raise."""
    name, _, rest = line[1:].partition(" ")
    words = rest.strip()
    if name in ("quit", "exit"):
        return False
    if name in _OWN:
        _OWN[name](chat, words)
        return True
    command, operation = find_command(name, words, _own_names())
    _run(chat, command, operation, words)
    return True


def _run(chat: Chat, command: ChatCommand, operation: Operation, words: str) -> None:
    if chat.engine is None:
        raise InvalidInput("Memory cannot be used, so there is nothing to look at.")
    request = command_request(command, operation, words, chat.bot.talk.session)
    confirmation = operation.confirmation
    if confirmation and confirmation.is_needed(request):
        preview = operation.call(chat.engine, confirmation.preview(request))
        print(text_of(operation, preview), file=sys.stderr)
        if confirmation.is_empty(preview):
            return
        if (chat.ask(confirmation.question) or "").lower() not in ("y", "yes"):
            print(f"{confirmation.declined}.", file=sys.stderr)
            return
        request = confirmation.granted(request, preview)
    try:
        result = operation.call(chat.engine, request)
    except NotFound as error:
        raise not_found(command, words, error) from None
    print(text_of(operation, result))
    if command.continues_in != "same":
        chat.begin(result.session.id if command.continues_in == "result" else "")


def _new(chat: Chat, _words: str) -> None:
    chat.begin()
    print("A new conversation.", file=sys.stderr)


def _session(chat: Chat, name: str) -> None:
    if not name:
        raise InvalidInput("Say which, as in /session 01a20090-6145.")
    try:
        chat.begin(name)
    except NotFound:
        raise NotFound(f"There is no conversation “{name[:80]}”; /sessions lists them.") from None
    print(f"Going on with: {chat.title()}", file=sys.stderr)


def _help(_chat: Chat, _words: str) -> None:
    print(help_text())


_OWN: dict[str, Callable[[Chat, str], None]] = {"new": _new, "session": _session, "help": _help}

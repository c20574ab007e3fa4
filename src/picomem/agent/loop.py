"""PicoBot: one turn after another on pydantic-ai, with memory as its capability.

    the person's message is stored → window → the model runs, calling tools → each message is stored as it comes
    → `settle`: conversations that are due are consolidated

The process may be killed at each arrow: the next process continues with the messages stored by then. If the result of a
call was lost, sessions/pairs.py handles it when messages are read. Two processes in one session each answer the message
that they were given.

The prompt begins with PicoBot's persona, the instructions for memory and the index page. These have the same bytes from
turn to turn until memory changes, and are marked so. Then come the summary, the memories relevant to the question, and
the date, and then the messages, with tool results cut to the available room (context_trimming.py).

With memory off (`memory.enabled`) the conversation is stored so that it can be continued, and nothing else happens:
no tools, and nothing is remembered. If the store fails, the conversation continues in this process. Both are reported
once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from anyio import CancelScope, to_thread
from pydantic_ai import Agent
from pydantic_ai.agent.abstract import AgentRunEvents
from pydantic_ai.capabilities import AbstractCapability, Caching
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRequestTimeout,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import (
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    InstructionPart,
    PartStartEvent,
    ThinkingPart,
    ToolReturnPart,
)
from pydantic_ai.models import Model
from pydantic_ai.run import AgentRunResultEvent
from pydantic_ai.tools import Tool
from pydantic_ai.usage import UsageLimits

from picomem.agent.capability import Fence, MemoryCapability
from picomem.agent.context_trimming import ContextTrimming
from picomem.agent.events import (
    Event,
    Notice,
    SessionBegun,
    Tell,
    TextDelta,
    Thinking,
    ToolCallEvent,
    ToolResultEvent,
    TurnResult,
)
from picomem.agent.message_conversion import BufferedText, PlainCalls, to_model, to_said
from picomem.agent.tools import GROUP_TOOLS, NOTE_TOOLS, SAVING, TOOLS
from picomem.before_compaction import flush
from picomem.clock import system_clock, to_datetime
from picomem.consolidation.due import Trigger, Triggers, due
from picomem.consolidation_runner import consolidate_due
from picomem.engine.agent_support import window_of
from picomem.engine.audience import has_notes, is_in_group, safe_text
from picomem.engine.engine import Engine
from picomem.errors import GeneratorFailed, InvalidInput, StoreError
from picomem.models.selection import generator_of
from picomem.paths import named_path
from picomem.records.caller import WRITE
from picomem.records.session import Channel, Loaded, Message, NewMessage, Role
from picomem.sessions.context_window import Budgets, ContextWindow, window
from picomem.sessions.pairs import stored_message
from picomem.settings import Settings

# A conversation with PicoBot: in the store, or in the memory of this process while the store fails.
#
# Messages that could not be stored are stored before the next message that can be. A conversation that never had a
# store ends with the process.


class ChatConversation:
    """One conversation. `session` is the id of its session; empty where there is no store."""

    def __init__(
        self, engine: Engine | None, session: str = "", settings: Settings | None = None, channel: Channel = Channel.TUI
    ) -> None:
        """A new session is on `channel`. Raises NotFound where there is no such session."""
        self._channel = channel
        self.trouble = ""  # a sentence, while nothing can be stored
        self.message = ""  # the id under which the person's newest message is stored, if it is
        self._engine = engine
        self.settings = settings or (engine.settings if engine else Settings())
        self._waiting: list[NewMessage] = []  # what is to be stored when that works again
        self._spoken: list[Message] = []  # the conversation as this process knows it
        self.session = engine.sessions().get(session).id if engine and session else ""

    def begin(self, text: str, stored: Message | None = None) -> ContextWindow:
        """The person says something; what goes into the prompt. `stored` is the message, if the session holds it
        already. Raises InvalidInput for an empty message."""
        said = NewMessage(role=Role.USER, content=text)
        if not text.strip():
            raise InvalidInput("The message is empty; write something.")
        self.message = ""
        if stored is None:
            self._waiting.append(said)
        context_window = self._stored(stored) if self._engine else None
        if context_window is None:
            self._speak(said)
            return window(Loaded(tuple(self._spoken)), Budgets.of(self.settings))
        self._spoken = list(context_window.messages)
        return context_window

    def end(self, said: list[NewMessage], unsaved: list[NewMessage]) -> None:
        """The turn is over: what was said in it, and what of that is not stored yet. It is now, if that can be done."""
        self._speak(*said)
        self._waiting += unsaved
        if self._engine is not None and self.session and self._waiting:
            with suppress(StoreError):  # it waits; the next turn says what is wrong
                self._store(self._engine)

    def _store(self, engine: Engine) -> list[Message]:
        """Store what waits. Raises StoreError."""
        log = engine.sessions()
        stored = log.append(self.session, *self._waiting) if self.session else log.begin(self._channel, *self._waiting)
        self.session = stored[0].session_id
        self._waiting = []
        return stored

    def _stored(self, last: Message | None) -> ContextWindow | None:
        """The window up to the person's message: `last`, or what waits, which is stored first. None where the store
        fails."""
        assert self._engine is not None
        try:
            last = last or self._store(self._engine)[-1]
            self.message = last.id
            context_window = window_of(self._engine, self.session, until=last.seq)
        except StoreError as error:
            self.trouble = str(error)
            return None
        self.trouble = ""
        return context_window

    def _speak(self, *said: NewMessage) -> None:
        """Known in this process, redacted or not: it came from here and goes nowhere else."""
        for message in said:
            self._spoken.append(stored_message(self.session, len(self._spoken) + 1, message, system_clock()))


ACTOR = "agent:picobot"
PERSONA = "You are PicoBot, a helpful assistant. Answer briefly and to the point, in the user's language."
OFF = (
    "Memory is off (memory.enabled): this conversation is kept, and nothing is remembered from it; "
    "`memory.enabled = true` in the settings turns it on."
)
_MOST_REQUESTS = 20  # of the model in one turn: one that goes round in circles is stopped


class PicoBot:
    """A conversation with a model that remembers.

    `engine` is open and is not closed; None stands for a store that cannot be opened, `trouble` says why. `session` is
    the id of one to go on with; a new one is on `channel`. `tools` are further tools; what they say is data to the
    model and never an instruction.
    """

    def __init__(
        self,
        model: Model | str,
        engine: Engine | None = None,
        *,
        session: str = "",
        channel: Channel = Channel.TUI,
        trouble: str = "",
        settings: Settings | None = None,
        tools: Sequence[Tool[Any] | Callable[..., Any]] = (),
        capabilities: Sequence[AbstractCapability[Any]] = (),
    ) -> None:
        self.talk = ChatConversation(engine, session, settings, channel)
        self._engine = engine
        self._redact = partial(safe_text, engine)
        self._on = engine is not None and engine.settings.memory.enabled
        fence = Fence(None if self._on else ())
        seconds = self.talk.settings.model.timeout_secs
        self._agent = Agent(
            model,
            name="picobot",
            instructions=PERSONA,
            tools=list(tools),
            capabilities=[Caching(), fence, *capabilities],
            # The time until the first word and between two words: a long answer may take longer in all.
            model_settings={"timeout": seconds, "first_event_timeout": seconds},
        )
        self._notices = [_without(trouble)] if engine is None else [] if self._on else [OFF]
        self._troubled = False

    async def turn(
        self,
        text: str,
        tell: Tell,
        *,
        stored: Message | None = None,
        instructions: str = "",
        keeps_stopped: bool = True,
    ) -> TurnResult:
        """Answer. Raises GeneratorFailed where the model does not, InvalidInput for an empty message.

        `stored` is the person's message, if the session holds it already. `instructions` are added to PicoBot's own for
        this turn, and are not stored. `keeps_stopped` says whether the beginning of an answer that was stopped is
        stored: it is, if the person has read it.
        """
        is_new = not self.talk.session
        window = await to_thread.run_sync(self.talk.begin, text, stored)
        if is_new and self.talk.session:
            await tell(SessionBegun(self.talk.session))
        memory = None
        if self._engine is not None and self.talk.session and not self.talk.trouble:
            memory = MemoryCapability(
                self._engine, tools=self._tools_on(self._engine), session=self.talk.session, actor=ACTOR
            ).showing(window, self.talk.message)
        await self._notify(tell, self.talk.trouble)
        turn = await self._run(window, memory, tell, instructions, keeps_stopped)
        await self._notify(tell, memory.trouble if memory else self.talk.trouble)
        return turn

    def _tools_on(self, engine: Engine) -> tuple[str, ...]:
        if not self._on:
            return ()
        if is_in_group(engine):
            return GROUP_TOOLS
        return (*TOOLS, *NOTE_TOOLS) if has_notes(engine) else TOOLS

    async def settle(self) -> list[str]:
        """After an answer: retention where it is due, then consolidation of each conversation that is due. Return the
        notices for the person.

        Before a long conversation is cut, the model has a silent turn to store what should last (before_compaction.py).
        A failing generator is a warning, and the conversation waits (consolidation_runner.py). Raises StoreError.
        """
        engine = self._engine
        if engine is None or not self.talk.session or not engine.caller.may(WRITE):
            return []  # the background work does it for a caller who may not write memories
        await to_thread.run_sync(lambda: engine.tidy(when_due=True))
        if not self._on:
            return []
        if await to_thread.run_sync(self._is_long):
            notes = engine.settings.notes.paths
            await flush(engine, self._ask_silently, named_path(notes[0]) if notes else None)
        done = await consolidate_due(engine.acting_as(ACTOR), generator_of(engine.settings))
        return [warning for result in done for warning in result.warnings]

    def _is_long(self) -> bool:
        """Return whether this conversation is to be summarised for its size."""
        assert self._engine is not None
        log = self._engine.sessions()
        session = log.get(self.talk.session)
        fresh = log.load(session.id, after=session.last_consolidated_seq).messages
        reason = due(session, fresh, self._engine.now(), Triggers.of(self._engine.settings, self._engine.zone))
        return reason is not None and reason.trigger is Trigger.SIZE

    async def _ask_silently(self, text: str) -> str:
        """A turn that nobody sees and that is not recorded, with the tool that stores."""
        assert self._engine is not None
        window = await to_thread.run_sync(window_of, self._engine, self.talk.session)
        said = "\n\n".join(message.content for message in window.messages if message.role is Role.USER)
        memory = MemoryCapability(self._engine, tools=[SAVING], actor=ACTOR).showing(window, said=said)
        memory.hides_trouble = False
        try:
            history = to_model(window.messages)
            done = await self._agent.run(
                text,
                message_history=history,
                capabilities=self._capabilities(window, memory),
                model_settings={"request_timeout": self.talk.settings.model.timeout_secs},
            )
        except AgentRunError as error:
            raise GeneratorFailed(await to_thread.run_sync(failure, error, self._redact)) from error
        return str(done.output)

    def _capabilities(self, window: ContextWindow, memory: MemoryCapability | None) -> list[AbstractCapability[Any]]:
        """Those of one run. What is said comes to the last one first: a call that was written down is recorded as a
        call."""
        budgets = Budgets.of(self.talk.settings)
        room = ContextTrimming(budgets.memory - window.tokens.system, budgets.turn)
        return [*([memory] if memory else []), room, PlainCalls()]

    async def _run(
        self, window: ContextWindow, memory: MemoryCapability | None, tell: Tell, instructions: str, keeps_stopped: bool
    ) -> TurnResult:
        """Let the model run, and tell what it does. With `keeps_stopped`, what it said until an error is kept too."""
        *before, asked = window.messages
        result, begun = None, None
        held = BufferedText()
        try:
            async with self._agent.run_stream_events(
                asked.content,
                message_history=to_model(before),
                instructions=[*_further(instructions), _today(self._engine)],
                capabilities=self._capabilities(window, memory),
                usage_limits=UsageLimits(request_limit=_MOST_REQUESTS),
            ) as begun:
                async for event in begun:
                    if words := held.of(event):
                        await tell(TextDelta(words))
                    if isinstance(event, AgentRunResultEvent):
                        result = event.result
                    elif (told := _told(event)) is not None:
                        await tell(told)
        except AgentRunError as error:
            raise GeneratorFailed(await to_thread.run_sync(failure, error, self._redact)) from error
        finally:
            is_kept = keeps_stopped or result is not None
            await self._ended(_said_in(begun, asked.content) if is_kept else [], memory)
        assert result is not None
        usage = result.usage
        return TurnResult(str(result.output), self.talk.session, usage.input_tokens, usage.output_tokens)

    async def _ended(self, said: list[NewMessage], memory: MemoryCapability | None) -> None:
        """The turn is over, stopped or not: keep what was said in it."""
        # An answer that was stopped in its middle never came to be recorded.
        unsaved = [*memory.unsaved, *said[len(memory.told) :]] if memory else said
        with CancelScope(shield=True):
            await to_thread.run_sync(self.talk.end, said, unsaved)

    async def _notify(self, tell: Tell, trouble: str) -> None:
        """Say what is wrong, once until it is right again."""
        for notice in self._notices:
            await tell(Notice(notice))
        self._notices = []
        if self._engine is not None and trouble and not self._troubled:
            await tell(Notice(_without(trouble)))
        self._troubled = bool(trouble)


def _without(trouble: str) -> str:
    return f"Memory cannot be used, so this conversation goes on without it: {trouble}"


def _today(engine: Engine | None) -> InstructionPart:
    now = to_datetime(engine.now() if engine else system_clock(), engine.zone if engine else None)
    return InstructionPart(f"Today is {now:%A, %Y-%m-%d}.", name="today", dynamic=True)


def _further(instructions: str) -> list[InstructionPart]:
    return [InstructionPart(instructions, name="channel", dynamic=True)] if instructions.strip() else []


def _said_in(events: AgentRunEvents[Any] | None, asked: str) -> list[NewMessage]:
    """The messages of a run after the person's, including an answer that was stopped halfway."""
    said: list[NewMessage] = []
    with suppress(UserError):  # where it did not even begin
        said = to_said(events.new_messages(), asked) if events else []
    return [message for message in said if message.role is not Role.USER]


def _told(event: object) -> Event | None:
    """The form in which an event other than text is shown."""
    match event:
        case PartStartEvent(part=ThinkingPart()):
            return Thinking()
        case FunctionToolCallEvent(part=call):
            return ToolCallEvent(call.tool_call_id, call.tool_name, call.args_as_json_str())
        case FunctionToolResultEvent(part=ToolReturnPart() as part):
            text = part.model_response_str(wrap_if_error=False)
            return ToolResultEvent(part.tool_call_id, part.tool_name, text, part.outcome != "success")
    return None


# Explains why a model did not answer, in a sentence that names the remedy. Pure.

_LONGEST = 200  # characters of what a server says
_LONGEST_REDACTED = 10_000  # characters in which secrets are looked for before the text is cut: a cut hides half of one
_NO_ANSWER = "Exceeded maximum output retries"


def failure(error: AgentRunError, redact: Callable[[str], str]) -> str:
    """The sentence. What a server said of itself is redacted, shortened and in one line: some servers repeat a key."""
    if isinstance(error, ModelHTTPError):
        return f"The model did not answer: {_of_status(error, redact)}"
    if isinstance(error, (ModelTimeoutError, ModelRequestTimeout)):
        return "The model did not answer: it was silent for too long; raise timeout_secs in [model], or try again."
    if isinstance(error, ModelConnectionError) or "Connection error" in str(error):
        return "The model did not answer: its server cannot be reached; is it running, where base_url in [model] says?"
    if isinstance(error, UnexpectedModelBehavior) and _NO_ANSWER in str(error):
        return "The model did not answer: it had nothing to say; ask again, or in other words."
    line = _line(str(error), redact)
    if isinstance(error, UnexpectedModelBehavior) or (isinstance(error, ModelAPIError) and "decode" in str(error)):
        return f"The model did not answer as a model does: {line}"
    return f"The model did not answer: {line or type(error).__name__}"


def _of_status(error: ModelHTTPError, redact: Callable[[str], str]) -> str:
    status, said = error.status_code, _message(error.body, redact)
    if status in (401, 403):
        return f"its server refuses the key ({status}); check key in [model], or the provider's variable."
    if status == 404:
        return f"its server has no model “{error.model_name}” there (404{said}); check model and base_url in [model]."
    if status == 429:
        return f"its server asks to wait (429{said}); try again in a while."
    if status >= 500:
        return f"its server failed ({status}{said}); try again in a while."
    return f"its server refused the question ({status}{said})."


def _message(body: object, redact: Callable[[str], str]) -> str:
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message", "") if isinstance(inner, dict) else inner
    line = _line(said, redact) if isinstance(said, str) else ""
    return f": {line}" if line else ""


def _line(text: str, redact: Callable[[str], str]) -> str:
    return " ".join(redact(text[:_LONGEST_REDACTED]).split())[:_LONGEST]

"""A conversation with PicoBot: in the store, or in the memory of this process while the store fails.

Messages that could not be stored are stored before the next message that can be. A conversation that never had a store
ends with the process.
"""

from __future__ import annotations

from contextlib import suppress

from picomem.clock import system_clock
from picomem.engine.agent_support import window_of
from picomem.engine.engine import Engine
from picomem.errors import InvalidInput, StoreError
from picomem.records.session import Channel, Loaded, Message, NewMessage, Role
from picomem.sessions.context_window import Budgets, ContextWindow, window
from picomem.sessions.new_messages import stored_message
from picomem.settings import Settings


class ChatConversation:
    """One conversation. `session` is the id of its session; empty where there is no store."""

    def __init__(
        self,
        engine: Engine | None,
        session: str = "",
        settings: Settings | None = None,
        channel: Channel = Channel.TUI,
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

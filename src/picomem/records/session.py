"""Sessions with PicoBot, their messages, and the summary of messages that were cut from the prompt."""

from __future__ import annotations

from enum import StrEnum

from picomem.clock import Micros
from picomem.light_dataclass import dataclass, field
from picomem.records.kinds import Origin
from picomem.records.scope import Scope


class Channel(StrEnum):
    """The channel of a conversation."""

    TUI = "tui"
    WEBSOCKET = "websocket"
    API = "api"
    WHATSAPP = "whatsapp"


def session_path(session_id: str) -> str:
    """The identifier of a session, in place of the file path that transcripts of other programs have."""
    return f"picomem:session/{session_id}"


class Role(StrEnum):
    """The speaker of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation, and how much of it is consolidated.

    `last_consolidated_seq` is the number of the last message that a consolidation has read; the time beside it is for
    people. `permissions` is JSON.
    """

    id: str
    scope: Scope  # its user, agent and project
    channel: Channel
    channel_id: str = ""
    title: str = ""
    state: str = "active"
    permissions: str = "[]"
    forked_from: str = ""
    created_at: Micros
    last_active_at: Micros
    archived_at: Micros | None = None
    last_consolidated_seq: int = 0
    last_consolidated_at: Micros | None = None
    consolidation_failures: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that the assistant asked for. `arguments` is the JSON text that it wrote, whole or not."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage:
    """A message before it is stored. Without an `origin` it has its role's: a tool's answer is a tool's."""

    role: Role
    content: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""  # of a tool's answer: the call that it answers
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A stored message. `seq` numbers a session's messages from 1, without gaps, in the order they were stored."""

    session_id: str
    seq: int
    id: str
    role: Role
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    origin: Origin
    tokens: int
    created_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The summary that replaces a session's first messages in the prompt, up to and with the number `covered_seq`.
    Its origin is the least trusted of what it is made of."""

    session_id: str
    text: str
    origin: Origin = Origin.AGENT
    message_count: int
    covered_seq: int
    created_at: Micros
    updated_at: Micros


@dataclass(frozen=True, slots=True)
class Loaded:
    """Messages in their order. `damaged` are the numbers of those that do not match their hash and were left out;
    `before` is how many the session has before the first of these."""

    messages: tuple[Message, ...] = ()
    damaged: tuple[int, ...] = ()
    before: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """Some of a user's sessions, the latest first, each with the number of its messages; and where to go on."""

    sessions: tuple[tuple[Session, int], ...]
    cursor: str = ""  # of the next page; empty at the end
    damaged: tuple[str, ...] = field(default=())  # ids of rows that do not match their hash

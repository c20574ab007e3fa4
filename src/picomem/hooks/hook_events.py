"""What a host (Claude Code, Codex) tells its hooks, what is done for each event, and what the host is answered. Pure.

A hook gets one JSON object on its standard input and answers with one. Both hosts use the same names:

    SessionStart      the index page goes into the context of a new session
    UserPromptSubmit  what recall is sure of goes beside the person's prompt
    PreCompact, PostCompact, Stop, SubagentStop, SessionEnd    the transcript is read on
    PreCompact, SessionEnd    a model distils the session, with memory.consolidate_transcripts

A resumed session still has in its context what it was given, so it gets nothing again. Events that are not listed here
are answered with nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from picomem.hooks.hook_socket import LARGEST_INPUT
from picomem.injection.prompt_context import asks_memory
from picomem.light_dataclass import dataclass

_LONGEST_NAME = 256
_READING = frozenset(("PreCompact", "PostCompact", "Stop", "SubagentStop", "SessionEnd"))
_ENDING = frozenset(("PreCompact", "SessionEnd"))
_BEGINNING = frozenset(("startup", "clear", "compact", ""))  # SessionStart's sources with an empty context
_PERSONS = frozenset(("user", "sdk", ""))  # UserPromptSubmit's sources that are somebody's own words


class Action(Enum):
    """What is done for an event."""

    INDEX = "index"
    RECALL = "recall"
    READ = "read"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """An event as the host tells it; a field that it left out is empty."""

    name: str
    session: str = ""
    folder: str = ""
    transcript: str = ""
    prompt: str = ""
    source: str = ""

    @property
    def action(self) -> Action:
        """What is done for it."""
        if self.name == "SessionStart":
            return Action.INDEX if self.source in _BEGINNING else Action.NOTHING
        if self.name == "UserPromptSubmit":
            return Action.RECALL if self.source in _PERSONS and asks_memory(self.prompt) else Action.NOTHING
        return Action.READ if self.name in _READING and self.transcript else Action.NOTHING

    @property
    def ends_work(self) -> bool:
        """Whether the session is over, or will soon have forgotten what was said."""
        return self.name in _ENDING

    @property
    def gets_context(self) -> bool:
        """Whether the host waits for a text."""
        return self.action in (Action.INDEX, Action.RECALL)


def event_of(document: Mapping[str, Any]) -> HookEvent:
    """The event that a host describes."""

    def text(name: str, longest: int = _LONGEST_NAME) -> str:
        value = document.get(name)
        return value if isinstance(value, str) and len(value) <= longest else ""

    return HookEvent(
        name=text("hook_event_name"),
        session=text("session_id"),
        folder=text("cwd", 4_096),
        transcript=text("transcript_path", 4_096),
        prompt=text("prompt", LARGEST_INPUT),
        source=text("source"),
    )


def encoded(event: HookEvent, context: str) -> bytes:
    """What the host takes, a line of JSON: the text for the model's context, or nothing. Codex refuses any further
    field."""
    given = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": context}} if context else {}
    return json.dumps(given).encode() + b"\n"

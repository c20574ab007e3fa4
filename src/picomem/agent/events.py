"""What happens in a turn of PicoBot, for whoever shows it: a terminal, a web socket."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from picomem.values import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Thinks:
    """The model thinks before it answers; what it thinks is not kept."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The model calls a tool; `arguments` is JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answers:
    """A tool has answered."""

    name: str
    text: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the person should know: that memory is off, or does not work."""

    text: str


Event = Words | Thinks | Calls | Answers | Notice
Tell = Callable[[Event], Awaitable[None]]

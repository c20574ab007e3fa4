"""The interface of a channel for the worker that answers: an account that sends messages and reports their delivery."""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from picomem.light_dataclass import dataclass
from picomem.records.channel_message import ChannelMessage


class SendOutcome(StrEnum):
    """The outcome of sending a message."""

    SENT = "sent"
    LATER = "later"  # it did not go out, and may be sent again
    UNSURE = "unsure"  # it may have gone out
    CLOSED = "closed"  # it did not go out, and may once the person has written again
    REFUSED = "refused"  # it did not go out and never will


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """The result of sending a message. `native_id` is the channel's id for it; `wait_seconds` is how long to wait at
    least."""

    outcome: SendOutcome
    native_id: str = ""
    reason: str = ""
    wait_seconds: float = 0.0


class ChannelAccount(Protocol):
    """An account on a channel."""

    channel: str
    account: str
    longest: int  # characters of one message
    window_seconds: float  # after the person's last message, in which an answer may be sent; 0: always
    instructions: str  # to PicoBot, for every conversation on it

    async def send(self, message: ChannelMessage) -> Delivery:
        """Send a message, once. Raises nothing that concerns the network."""
        ...


def parts_of(text: str, longest: int) -> list[str]:
    """A text in parts that the channel takes, cut at the end of a paragraph, a line or a word where there is one."""
    rest, parts = text.strip(), []
    while len(rest) > longest:
        head = rest[:longest]
        ends = (head.rfind(mark) for mark in ("\n\n", "\n", " "))
        end = next((place for place in ends if place > longest // 2), longest)
        parts.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*parts, rest] if rest else parts

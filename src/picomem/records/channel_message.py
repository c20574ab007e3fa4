"""Messages of a channel, incoming and outgoing, and its contacts and pending senders."""

from __future__ import annotations

from enum import StrEnum

from picomem.clock import Micros
from picomem.light_dataclass import dataclass

DIRECTORY = "picomem:channels"  # the user to whom contacts and pairings belong, and answers to unknown senders


class Direction(StrEnum):
    """The direction of a message."""

    IN = "in"
    OUT = "out"


class DeliveryState(StrEnum):
    """The delivery state of a message. The first two are of incoming messages, the others of outgoing ones."""

    WAITING = "waiting"
    ANSWERED = "answered"
    READY = "ready"
    SENDING = "sending"  # it may have gone out: only the channel's word, or time, tells
    SENT = "sent"
    HELD = "held"  # the channel takes it once the person has written again
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class OtherWords:
    """The text of another person in a group before a message."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelMessage:
    """A message. `address` is where the answer goes; `said_at` is the channel's time; `reason` says why it failed.

    Of a message that came in, `session_id` and `message_id` name its message in a session, once there is one.
    """

    user: str
    id: str
    channel: str
    account: str
    conversation: str
    direction: Direction
    native_id: str = ""
    address: str
    is_group: bool = False
    text: str
    context: tuple[OtherWords, ...] = ()
    state: DeliveryState
    reason: str = ""
    session_id: str = ""
    message_id: str = ""
    said_at: Micros
    created_at: Micros
    due_at: Micros
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """An id of a sender on a channel, and the user that it stands for; revoked, it stands for nobody.

    `sender` is the same for all ids of one sender.
    """

    channel: str
    account: str
    native_id: str
    person: str
    created_at: Micros
    sender: str = ""
    revoked_at: Micros | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """A sender who waits to be accepted; `native_ids` are all ids that the channel gave for them."""

    code: str
    channel: str
    account: str
    native_ids: tuple[str, ...]
    name: str
    created_at: Micros
    expires_at: Micros

"""Finds the stored conversation that continues, by the history that a client sends with each message. Pure.

A client of a chat API sends the whole conversation each time. What is stored already must be recognised, so the history
is compared with stored conversations, message by message and without white space:

- the person's messages must be equal;
- an answer must be the beginning of the stored one, or missing: a client that stopped an answer shows a part of it;
- tool calls and their results, which no client sees, are passed over.

A history that ends where a stored conversation ends continues it. One that differs, or ends earlier, continues a fork.
One that begins later, because a client sends its last messages only, continues the conversation that ends the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from picomem.light_dataclass import dataclass, replace
from picomem.records.session import Message, Role

_FEWEST = 2  # messages of a history that is recognised by a conversation's end alone


@dataclass(frozen=True, slots=True)
class SaidLine:
    """A message as a client shows it, without white space. `seq` is the number of the last stored message in it."""

    role: Role
    text: str
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """A stored conversation. `is_answering` says that its last message is being answered now."""

    session: str
    lines: tuple[SaidLine, ...]
    is_answering: bool = False


@dataclass(frozen=True, slots=True)
class Continuation:
    """The place of a new message.

    `session` is empty for a new conversation. With `fork_at` the message belongs to a fork of the session behind that
    number. `known` messages of the history are stored already. `asked` is the number of the new message if it is
    stored too, because an earlier request with it was not answered.
    """

    session: str = ""
    fork_at: int = 0
    known: int = 0
    asked: int = 0


def compact(text: str) -> str:
    """A text without white space, which clients and models change."""
    return "".join(text.split())


def lines_of(messages: Iterable[Message]) -> tuple[SaidLine, ...]:
    """A stored conversation as a client shows it: the texts between two messages of the person are one answer."""
    lines: list[SaidLine] = []
    for message in messages:
        text = compact(message.content)
        if message.role is Role.USER:
            lines.append(SaidLine(Role.USER, text, message.seq))
        elif message.role is Role.ASSISTANT and text:
            if lines and lines[-1].role is Role.ASSISTANT:
                lines[-1] = replace(lines[-1], text=lines[-1].text + text, seq=message.seq)
            else:
                lines.append(SaidLine(Role.ASSISTANT, text, message.seq))
    return tuple(lines)


def continuation(
    history: Sequence[SaidLine], asked: str, conversations: Sequence[Conversation], *, is_named: bool = False
) -> Continuation:
    """Return where a message with this history belongs; `asked` is compact.

    `conversations` are those that may be meant, the likeliest first. With `is_named` the client named the only one.
    """
    if is_named and not history:
        (named,) = conversations
        return Continuation(named.session, asked=_at_end(named, max(0, len(named.lines) - 1), asked) or 0)
    best = Continuation(conversations[0].session) if is_named else Continuation()
    for conversation in conversations:
        known, taken = _match(history, conversation.lines)
        stored = _at_end(conversation, taken, asked) if known == len(history) else None
        if stored is not None and (history or stored):
            return Continuation(conversation.session, known=known, asked=stored)
        if known > best.known:
            best = Continuation(conversation.session, fork_at=conversation.lines[taken - 1].seq, known=known)
    if len(history) < (1 if is_named else _FEWEST):
        return best
    for conversation in conversations:
        for start in range(1, len(conversation.lines)):
            known, taken = _match(history, conversation.lines[start:])
            if known < len(history):
                continue
            if (stored := _at_end(conversation, start + taken, asked)) is not None:
                return Continuation(conversation.session, known=known, asked=stored)
    return best


def _match(history: Sequence[SaidLine], lines: Sequence[SaidLine]) -> tuple[int, int]:
    """Return how many messages of the history are the first ones of `lines`, and how many lines these are."""
    taken = 0
    for known, said in enumerate(history):
        place = taken
        if said.role is Role.USER:
            while place < len(lines) and lines[place].role is Role.ASSISTANT:
                place += 1  # the client left the answer out
        if place == len(lines) or lines[place].role is not said.role:
            return known, taken
        stored = lines[place].text
        if not (stored == said.text if said.role is Role.USER else stored.startswith(said.text)):
            return known, taken
        taken = place + 1
    return len(history), taken


def _at_end(conversation: Conversation, taken: int, asked: str) -> int | None:
    """Return whether a conversation ends behind that many lines: the number of the new message if it is stored there
    and unanswered, 0 if it is not stored, and None if the conversation goes on in another way."""
    rest = conversation.lines[taken:]
    if len(rest) == 1 and rest[0].role is Role.USER and rest[0].text == asked and not conversation.is_answering:
        return rest[0].seq
    return 0 if all(line.role is Role.ASSISTANT for line in rest) else None
